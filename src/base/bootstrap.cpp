#include "chargpt/base/bootstrap.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

constexpr std::uint64_t kResamples = 1000;
constexpr double kTail = 0.025;

struct Block {
  double sum;
  double size;
};

std::vector<Block> cut(std::span<const double> values, std::size_t length) {
  std::vector<Block> blocks;
  for (std::size_t begin = 0; begin < values.size(); begin += length) {
    const auto part = values.subspan(begin, std::min(length, values.size() - begin));
    blocks.push_back({std::accumulate(part.begin(), part.end(), 0.0), static_cast<double>(part.size())});
  }
  return blocks;
}

}  // namespace

MeanInterval bootstrap_mean(std::span<const double> values, std::int64_t block, std::uint64_t seed) {
  const std::vector<Block> blocks = cut(values, static_cast<std::size_t>(block));
  std::vector<double> means;
  for (std::uint64_t r = 0; r < kResamples; ++r) {
    Block all{0.0, 0.0};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Block& drawn = blocks[random_below(seed, Purpose::evaluation, r, i, blocks.size())];
      all.sum += drawn.sum;
      all.size += drawn.size;
    }
    means.push_back(all.sum / all.size);
  }
  std::sort(means.begin(), means.end());
  const auto tail = static_cast<std::size_t>(kTail * kResamples);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return {mean, means[tail], means[means.size() - 1 - tail]};
}

}  // namespace chargpt
