#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chargpt/base/sweep_plan.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {

/// A base config of a small model, with a text to train on.
class SweepTest : public testing::Test {
 protected:
  SweepTest() {
    for (int i = 0; i < 100; ++i) text_ += "the cat sat " + std::to_string(i) + "\n";
    base_.data.path = dir_.write("d.txt", text_);
    base_.model.layers = 1;
    base_.model.heads = 2;
    base_.model.width = 8;
    base_.model.context = 16;
    base_.train.steps = 10;
    base_.train.batch = 4;
  }

  std::vector<SweepRun> plan(const std::string& grid) const {
    return plan_runs(base_, parse_grid(grid, "g.json", static_cast<std::uint64_t>(base_.run.seed)), "g.json");
  }

  TempDir dir_;
  std::string text_;
  Config base_;
};

}  // namespace chargpt
