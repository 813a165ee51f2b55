#include "chargpt/app/sweep_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/report_errors.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kKeptBytes = 4096;
constexpr std::size_t kKeptLines = 20;

struct Pipe {
  int read_end, write_end;
};

[[noreturn]] void refuse(const char* what) {
  throw Error(ExitCode::internal,
              fmt::format("cannot start a worker of the sweep: {}: {}", what, std::strerror(errno)));
}

Pipe open_pipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse("pipe");
  return {ends[0], ends[1]};
}

struct Order {
  std::size_t run;
  bool check_only;
};

/// What `train --resume auto --out FOLDER` with every key of the config as a flag would be: nothing overrides it.
Arguments arguments_of(const SweepPaths& paths, const SweepRun& run, bool verbose, bool check_only) {
  Arguments arguments;
  arguments.dry_run = arguments.check_only = check_only;
  arguments.out = paths.run(run);
  arguments.resume = "auto";
  arguments.verbose = verbose;
  arguments.no_color = true;
  Config config = run.config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    const Json value = key.get();
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    arguments.overrides.push_back({key.name, text, "the sweep"});
  }
  return arguments;
}

void use_processors(const std::vector<int>& processors) {
  if (processors.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);  // pinning is for speed: without it the runs are the same
}

// Values so small are written and read at once, or not at all.

/// False at the end of the stream.
template <class T>
bool receive(int descriptor, T& value) {
  ssize_t got = 0;
  do {
    got = ::read(descriptor, &value, sizeof value);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof value);
}

template <class T>
bool send(int descriptor, const T& value) {
  return ::write(descriptor, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

/// The process ends with the one that started it, however that ends.
void live_as_long_as(pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

void redirect_streams(int messages) {
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
}

}  // namespace

SweepWorker::SweepWorker(const SweepPaths& paths, const std::vector<SweepRun>& runs, const Setup& setup) {
  const Pipe orders = open_pipe(), results = open_pipe(), messages = open_pipe();
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) refuse("fork");
  if (pid_ == 0) {
    live_as_long_as(parent);
    redirect_streams(messages.write_end);
    use_processors(setup.processors);
    if (!setup.gpu.empty()) setenv("CUDA_VISIBLE_DEVICES", setup.gpu.c_str(), 1);
    for (Order order{}; receive(orders.read_end, order);) {
      const SweepRun& run = runs[order.run];
      const int code = report_errors(
          [&] { return run_train_on(run.corpus.get(), arguments_of(paths, run, setup.verbose, order.check_only)); });
      if (!send(results.write_end, code)) break;
    }
    _exit(0);
  }
  for (const int end : {orders.read_end, results.write_end, messages.write_end}) ::close(end);
  orders_ = orders.write_end;
  results_ = results.read_end;
  messages_ = messages.read_end;
  fcntl(messages_, F_SETFL, O_NONBLOCK);
  fcntl(results_, F_SETFL, O_NONBLOCK);
}

SweepWorker::SweepWorker(SweepWorker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      orders_(std::exchange(other.orders_, -1)),
      results_(std::exchange(other.results_, -1)),
      messages_(std::exchange(other.messages_, -1)),
      run_(other.run_),
      said_(std::move(other.said_)) {}

SweepWorker::~SweepWorker() {
  if (pid_ >= 0) {
    kill(pid_, SIGKILL);
    wait_for_end();
  }
  for (const int end : {orders_, results_, messages_}) {
    if (end >= 0) ::close(end);
  }
}

void SweepWorker::order(std::size_t run, bool check_only) {
  run_ = run;
  said_.clear();
  // A process that is dead already is found so by take().
  send(orders_, Order{run, check_only});
}

void SweepWorker::check(std::size_t run) { order(run, true); }

void SweepWorker::start(std::size_t run) { order(run, false); }

void SweepWorker::stop() const { kill(pid_, SIGTERM); }

std::optional<int> SweepWorker::take() {
  int code = 0;
  const ssize_t got = ::read(results_, &code, sizeof code);
  take_messages();  // after the result: what the run said before it is there
  if (got < 0) return std::nullopt;
  if (got == 0) code = wait_for_end();
  run_.reset();
  return code;
}

void SweepWorker::take_messages() {
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(messages_, buffer.data(), buffer.size())) > 0;) {
    said_.append(buffer.data(), static_cast<std::size_t>(got));
    if (said_.size() > 2 * kKeptBytes) said_.erase(0, said_.size() - kKeptBytes);
  }
}

int SweepWorker::wait_for_end() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  // A process that ends before its run has told how must not pass for success.
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : std::max(1, WEXITSTATUS(status));
}

std::vector<std::string> SweepWorker::last_lines() const {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < said_.size();) {
    const auto end = std::min(said_.find('\n', begin), said_.size());
    if (end > begin) lines.push_back(said_.substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines.size() > kKeptLines) lines.erase(lines.begin(), lines.end() - kKeptLines);
  return lines;
}

}  // namespace chargpt
