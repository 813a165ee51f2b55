#include "chargpt/base/progress_line.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

ProgressState some_state() {
  ProgressState state;
  state.step = 1200;
  state.total_steps = 2000;
  state.loss = 1.84321;
  state.validation = 1.90121;
  state.learning_rate = 1e-3;
  state.gradient_norm = 0.524;
  state.chars_per_second = 28310;
  state.memory = std::uint64_t{512} << 20;
  state.elapsed = 43;
  state.left = 28.4;
  return state;
}

TEST(ProgressLine, TellsAllWhereThereIsRoom) {
  EXPECT_EQ(progress_line(some_state()),
            "step 1200/2000 (60%)  loss 1.8432  val 1.9012  lr 1.00e-03  norm 0.52  28.3k chars/s  512 MB  0:43 elapsed"
            "  0:28 left");
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
  ProgressState state = some_state();
  state.validation.reset();
  state.memory = 0;
  const std::string line = progress_line(state);
  EXPECT_EQ(line.find("val"), std::string::npos);
  EXPECT_EQ(line.find("MB"), std::string::npos);
}

TEST(ProgressLine, DropsTheLeastImportantFirstAndFitsEveryWidth) {
  const std::vector<std::string> dropped = {"MB", "norm", "elapsed", "lr", "chars/s", "val", "left", "loss"};
  std::size_t gone = 0;
  for (std::size_t width = progress_line(some_state()).size(); width > 0; --width) {
    const std::string line = progress_line(some_state(), width);
    EXPECT_LE(line.size(), width);
    while (gone < dropped.size() && line.find(dropped[gone]) == std::string::npos) ++gone;
    for (std::size_t i = 0; i < dropped.size(); ++i) {
      EXPECT_EQ(line.find(dropped[i]) == std::string::npos, i < gone) << width << ": " << line;
    }
  }
  EXPECT_EQ(gone, dropped.size());
  EXPECT_EQ(progress_line(some_state(), 6), "step 1");
}

TEST(ProgressLine, DurationsAndCountsAreReadable) {
  EXPECT_EQ(format_duration(0.4), "0:00");
  EXPECT_EQ(format_duration(309.2), "5:09");
  EXPECT_EQ(format_duration(3909), "1:05:09");
  EXPECT_EQ(format_duration(2 * 86400 + 3909), "2d 01:05:09");
  EXPECT_EQ(format_duration(-1), "0:00");
  EXPECT_EQ(format_count(812), "812");
  EXPECT_EQ(format_count(95300), "95.3k");
  EXPECT_EQ(format_count(1.24e6), "1.24M");
}

}  // namespace
}  // namespace chargpt
