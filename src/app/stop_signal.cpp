#include "chargpt/app/stop_signal.hpp"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace chargpt {
namespace {

/// A handler reaches nothing but statics.
std::atomic<int>& stop_signal() {
  static std::atomic<int> number{0};
  return number;
}

/// Only an impatient user's Ctrl-C ends a save: batch systems send their signals more than once.
void on_signal(int number) {
  const bool stopping = stop_signal().load() != 0;
  if (stopping && number == SIGINT) {
    // A live line may stand there, and nobody will take it away.
    [[maybe_unused]] const ssize_t written = isatty(STDERR_FILENO) == 1 ? write(STDERR_FILENO, "\n", 1) : 0;
    _exit(128 + number);
  }
  if (!stopping) stop_signal().store(number);
}

void on_interrupt(int) { ++stop_signal(); }

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  const bool ignored = action.sa_handler == SIG_IGN;
  if (ignored && number == SIGHUP) return;  // started under nohup
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

const std::atomic<int>& catch_stop_signals(std::span<const int> signals) {
  std::atomic<int>& number = stop_signal();
  for (const int signal : signals) handle(signal, on_signal);
  return number;
}

const std::atomic<int>& count_interrupts() {
  std::atomic<int>& count = stop_signal();
  handle(SIGINT, on_interrupt);
  return count;
}

}  // namespace chargpt
