#include "chargpt/base/signal_list.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST(SignalList, IsNamesSeparatedByCommas) {
  EXPECT_EQ(parse_signal_list("INT"), std::vector<int>{SIGINT});
  EXPECT_EQ(parse_signal_list("SIGTERM,USR1 , \tHUP"), (std::vector<int>{SIGTERM, SIGUSR1, SIGHUP}));
  EXPECT_EQ(parse_signal_list("QUIT, USR2, XCPU"), (std::vector<int>{SIGQUIT, SIGUSR2, SIGXCPU}));
}

TEST(SignalList, OfOtherNamesIsRefused) {
  for (const std::string text : {"", "INT,", ",INT", "KILL", "int", "2", "INT TERM", "SIG"}) {
    expect_error(ExitCode::usage, {"run.stop_signals", "wanted names separated by commas"},
                 [&] { parse_signal_list(text); });
  }
}

}  // namespace
}  // namespace chargpt
