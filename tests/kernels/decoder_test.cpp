#include "chargpt/kernels/decoder.hpp"

#include <atomic>

#include "chargpt/kernels/network.hpp"
#include "kernels/support.hpp"
#include "support/model_switches.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 37;

ModelConfig config_of(std::int64_t heads, std::int64_t width) {
  ModelConfig config;
  config.layers = 2;
  config.heads = heads;
  config.width = width;
  config.context = 40;
  return config;
}

/// Heads of sizes 1, 5, 8, 12, 16 and 32: whole vectors, halves and odd ones.
const std::vector<ModelConfig> kConfigs = {config_of(3, 3),  config_of(2, 10), config_of(16, 128),
                                           config_of(3, 36), config_of(2, 32), config_of(4, 128)};

class Model {
 public:
  explicit Model(const ModelConfig& config)
      : config_(config),
        weights_(some_numbers(static_cast<std::size_t>(ParameterLayout(config, kVocabulary).size()), 7)),
        network_(config, kVocabulary, pool_) {
    network_.load(weights_.data(), false);
  }

  Decoder decoder() { return Decoder(config_, kVocabulary, weights_.data(), pool_); }

  /// The logits of the last position by a whole forward pass.
  std::vector<float> uncached(std::span<const std::int32_t> ids) {
    const auto T = static_cast<std::int64_t>(ids.size());
    std::vector<float> all(ids.size() * kVocabulary);
    network_.logits({1, T, {ids.begin(), ids.end()}, {}}, {}, all);
    return {all.end() - kVocabulary, all.end()};
  }

 private:
  ModelConfig config_;
  std::vector<float> weights_;
  ThreadPool pool_{2};
  Network network_;
};

std::vector<std::int32_t> some_ids(std::size_t count, std::uint64_t seed) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<std::int32_t>(random_below(seed, Purpose::data_order, 0, i, kVocabulary)));
  }
  return ids;
}

std::vector<float> ask(Decoder& decoder, std::size_t stream, std::span<const std::int32_t> ids) {
  std::vector<float> logits(kVocabulary);
  const StreamWindow window{stream, ids};
  decoder.logits({&window, 1}, logits, [](std::size_t) {});
  return logits;
}

TEST(Decoder, CachedLogitsAreTheUncachedOnesToTheLastBit) {
  on_every_target([] {
    for (const ModelConfig& config : kConfigs) {
      Model model(config);
      Decoder decoder = model.decoder();
      const auto ids = some_ids(40, 1);
      for (std::size_t length = 1; length <= ids.size(); ++length) {
        const std::span window(ids.data(), length);
        ASSERT_EQ(ask(decoder, 0, window), model.uncached(window)) << "width " << config.width << ", " << length;
      }
    }
  });
}

TEST(Decoder, SoTheyAreWithEverySwitchOfTheModel) {
  on_every_target([] {
    for (const ModelSwitches& switches : kModelSwitches) {
      ModelConfig config = kConfigs[3];
      switches.turn(config);
      Model model(config);
      Decoder decoder = model.decoder();
      const auto ids = some_ids(40, 1);
      for (std::size_t length = 1; length <= ids.size(); ++length) {
        const std::span window(ids.data(), length);
        ASSERT_EQ(ask(decoder, 0, window), model.uncached(window)) << switches.name << ", " << length;
      }
    }
  });
}

TEST(Decoder, AWindowThatDoesNotContinueItsStreamIsComputedAnew) {
  Model model(kConfigs[2]);
  Decoder decoder = model.decoder();
  const auto ids = some_ids(80, 2);
  for (const auto& [begin, length] : {std::pair{0, 40}, {20, 20}, {20, 21}, {21, 21}, {0, 1}, {3, 1}, {0, 5}, {0, 4}}) {
    const std::span window(ids.data() + begin, static_cast<std::size_t>(length));
    EXPECT_EQ(ask(decoder, 0, window), model.uncached(window)) << begin << ", " << length;
  }
}

TEST(Decoder, StreamsAreTheSameAloneAndAmongOthers) {
  Model model(kConfigs[2]);
  Decoder together = model.decoder();
  constexpr std::size_t kStreams = 70;  // more than go through the network at a time
  std::vector<std::vector<std::int32_t>> ids;
  for (std::size_t s = 0; s < kStreams; ++s) ids.push_back(some_ids(1 + s % 38, 100 + s));
  for (int round = 0; round < 3; ++round) {
    std::vector<StreamWindow> windows;
    for (std::size_t s = 0; s < kStreams; ++s) windows.push_back({s, ids[s]});
    std::vector<float> logits(kStreams * kVocabulary);
    std::vector<std::atomic<int>> ready(kStreams);
    together.logits(windows, logits, [&](std::size_t row) { ++ready[row]; });
    EXPECT_TRUE(std::all_of(ready.begin(), ready.end(), [](const auto& times) { return times == 1; }));
    for (std::size_t s = 0; s < kStreams; ++s) {
      const auto alone = model.uncached(ids[s]);
      EXPECT_TRUE(
          std::equal(alone.begin(), alone.end(), logits.begin() + static_cast<std::ptrdiff_t>(s * kVocabulary)));
      ids[s].push_back(static_cast<std::int32_t>(s) % kVocabulary);
    }
  }
}

/// A model of about a million weights, 4 MiB, whose streams take 1 MiB each.
ModelConfig million_weights() {
  ModelConfig config;
  config.layers = 5;
  config.heads = 4;
  config.width = 128;
  config.context = 205;
  return config;
}

TEST(Decoder, AsManyStreamsGoTogetherAsTheCacheHoldsBesideTheWeights) {
  const auto together = [](int threads, std::int64_t mib) {
    return Decoder::streams_together(million_weights(), kVocabulary, threads, mib << 20);
  };
  // Half of the cache, less 3.9 MiB of weights, in pieces of 208 positions: 1.016 MiB.
  EXPECT_EQ(together(1, 32), 11);
  EXPECT_EQ(together(2, 32), 11);
  EXPECT_EQ(together(2, 1024), 64);  // more rows would make nothing faster
  EXPECT_EQ(together(3, 32), 64);    // fewer than 4 a thread: so many that the weights are used often
  EXPECT_EQ(together(1, 0), 64);
  ModelConfig large = million_weights();
  large.context = 205 * 100;
  EXPECT_EQ(Decoder::streams_together(large, kVocabulary, 1, 32 << 20), 5);
  large.context *= 100;
  EXPECT_EQ(Decoder::streams_together(large, kVocabulary, 1, 32 << 20), 1);
}

}  // namespace
}  // namespace chargpt
