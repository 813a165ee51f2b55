#include "chargpt/base/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "chargpt/base/error.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {

void write_message(const std::string& text) { std::fputs(printable(text).c_str(), stderr); }

void draw(const std::string& sequences) { std::fputs(sequences.c_str(), stderr); }

bool write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      throw Error(ExitCode::io, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
  }
  return true;
}

}  // namespace chargpt
