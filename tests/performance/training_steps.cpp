// Some training steps of a small model by our own kernels, one thread, without LibTorch: what instruction_count_test.py
// counts. Prints the instruction set that the kernels chose and the characters that went through, as JSON.

#include <fmt/format.h>
#include <hwy/highway.h>

#include "chargpt/base/random.hpp"
#include "chargpt/kernels/network.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 65, kSteps = 1;

ModelConfig lecture_in_small() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 16;
  config.width = 128;
  config.context = 64;
  config.dropout = 0.4;
  return config;
}

std::vector<std::int32_t> some_ids(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int32_t> ids;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    ids.push_back(static_cast<std::int32_t>(random_below(seed, Purpose::data_order, 0, i, kVocabulary)));
  }
  return ids;
}

int count_steps() {
  const ModelConfig config = lecture_in_small();
  const std::int64_t windows = 2, characters = windows * config.context;
  ThreadPool pool(1);
  Network network(config, kVocabulary, pool);
  AlignedVector<float> values(static_cast<std::size_t>(network.layout().size())), gradients(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(0.1 * random_unit(1, Purpose::evaluation, 0, i) - 0.05);
  }
  const TokenBatch batch{windows, config.context, some_ids(characters, 1), some_ids(characters, 2)};
  for (std::int64_t step = 0; step < kSteps; ++step) {
    network.load(values.data(), true);
    const DropoutState dropout{config.dropout, 1, step, 0};
    network.accumulate_gradients(batch, dropout, 1.0, gradients.data());
  }
  fmt::print("{{\"instruction_set\": \"{}\", \"characters\": {}}}\n",
             hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()), kSteps * characters);
  return 0;
}

}  // namespace
}  // namespace chargpt

int main() { return chargpt::count_steps(); }
