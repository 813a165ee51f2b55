#include "chargpt/base/terminal.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

namespace chargpt {
namespace {

/// A terminal and a pipe, with the environment of a person who said nothing.
class Terminal : public testing::Test {
 protected:
  Terminal() {
    winsize size{24, 57, 0, 0};
    EXPECT_EQ(openpty(&master_, &terminal_, nullptr, nullptr, &size), 0);
    EXPECT_EQ(pipe(pipe_), 0);
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
  }
  ~Terminal() override {
    for (const int descriptor : {master_, terminal_, pipe_[0], pipe_[1]}) close(descriptor);
  }

  int master_ = -1, terminal_ = -1, pipe_[2] = {-1, -1};
};

TEST_F(Terminal, KnowsItsWidth) {
  EXPECT_EQ(terminal_width(terminal_), 57);
  EXPECT_EQ(terminal_width(pipe_[1]), 80);
}

TEST_F(Terminal, ByDefaultATerminalGetsEscapeCodesAndAPipeNone) {
  EXPECT_TRUE(wants_live_line(terminal_, false));
  EXPECT_TRUE(wants_color(terminal_, false));
  EXPECT_FALSE(wants_live_line(pipe_[1], false));
  EXPECT_FALSE(wants_color(pipe_[1], false));
}

TEST_F(Terminal, EachRefusalIsHeeded) {
  EXPECT_FALSE(wants_live_line(terminal_, true));
  EXPECT_FALSE(wants_color(terminal_, true));
  for (const auto& [name, value] : {std::pair{"NO_COLOR", "1"}, std::pair{"TERM", "dumb"}, std::pair{"TERM", ""}}) {
    setenv("TERM", "xterm", 1);
    setenv(name, value, 1);
    EXPECT_FALSE(wants_live_line(terminal_, false)) << name;
    EXPECT_FALSE(wants_color(terminal_, false)) << name;
    unsetenv("NO_COLOR");
  }
  setenv("TERM", "xterm", 1);
  setenv("NO_COLOR", "", 1);  // no-color.org: "when present and not an empty string"
  EXPECT_TRUE(wants_color(terminal_, false));
}

TEST_F(Terminal, ForcedColoursReachAPipeButALiveLineDoesNot) {
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(wants_color(pipe_[1], false));
  EXPECT_FALSE(wants_live_line(pipe_[1], false));
  EXPECT_FALSE(wants_color(pipe_[1], true));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_color(pipe_[1], false));
  unsetenv("NO_COLOR");
  setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(wants_color(pipe_[1], false));
}

}  // namespace
}  // namespace chargpt
