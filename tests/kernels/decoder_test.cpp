#include "chargpt/kernels/decoder.hpp"

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
  decoder.logits({&window, 1}, logits);
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
    together.logits(windows, logits);
    for (std::size_t s = 0; s < kStreams; ++s) {
      const auto alone = model.uncached(ids[s]);
      EXPECT_TRUE(
          std::equal(alone.begin(), alone.end(), logits.begin() + static_cast<std::ptrdiff_t>(s * kVocabulary)));
      ids[s].push_back(static_cast<std::int32_t>(s) % kVocabulary);
    }
  }
}

}  // namespace
}  // namespace chargpt
