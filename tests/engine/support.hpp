#pragma once

#include <string>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"
#include "support/temp_dir.hpp"

namespace chargpt {

/// About 4,000 characters of which a small model learns something in a few steps.
inline std::string rhyme() {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += "the cat sat on mat " + std::to_string(i * 37 % 101) + ", and the rat ran at the bat.\n";
  return text;
}

/// A config whose steps take a few milliseconds, with all that can make a resume go wrong: dropout, a schedule,
/// clipping.
inline Config tiny_config(const TempDir& dir) {
  Config config;
  config.data.path = dir.write("rhyme.txt", rhyme());
  config.model.layers = 1;
  config.model.heads = 2;
  config.model.width = 16;
  config.model.context = 8;
  config.model.dropout = 0.2;
  config.train.steps = 12;
  config.train.batch = 4;
  config.train.eval_every = 5;
  config.train.save_every = 3;
  config.optimizer.learning_rate = 1e-2;
  config.optimizer.betas = {0.8, 0.95};
  config.optimizer.decay = DecayScope::matrices;
  config.optimizer.clip = 1.0;
  config.schedule.name = ScheduleName::cosine;
  config.schedule.warmup = 3;
  return config;
}

}  // namespace chargpt
