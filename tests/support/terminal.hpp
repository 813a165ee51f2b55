#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace chargpt {

/// A program with a terminal of its own, and whoever sits before it.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& command, const std::string& folder) {
    pid_ = forkpty(&master_, nullptr, nullptr, nullptr);
    if (pid_ < 0) throw std::runtime_error("forkpty");
    if (pid_ != 0) return;
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (chdir(folder.c_str()) == 0) execv(words[0], words.data());
    _exit(127);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { close(master_); }

  /// Types some keys; "\x03" is Ctrl-C, "\x04" Ctrl-D.
  void type(const std::string& keys) {
    if (write(master_, keys.data(), keys.size()) < 0) throw std::runtime_error("write");
  }

  /// Reads until `count` characters more were shown. False at the end.
  bool read_more(std::size_t count) {
    const std::size_t wanted = shown_.size() + count;
    while (shown_.size() < wanted && read_some()) {
    }
    return shown_.size() >= wanted;
  }

  /// Reads until `text` was shown after what was waited for before. False at the end.
  bool wait_for(const std::string& text) {
    for (;;) {
      const auto found = shown_.find(text, seen_);
      if (found != std::string::npos) return seen_ = found + text.size(), true;
      if (!read_some()) return false;
    }
  }

  /// Reads to the end; the exit code, or 128 + n when killed by signal n.
  int finish() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  const std::string& shown() const { return shown_; }

 private:
  bool read_some() {
    char buffer[4096];
    const ssize_t got = read(master_, buffer, sizeof buffer);
    if (got <= 0) return false;
    shown_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  int master_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

}  // namespace chargpt
