#include "chargpt/base/random.hpp"

#include <bit>

namespace chargpt {
namespace {

constexpr int kPhiloxRounds = 10;
constexpr std::array<std::uint32_t, 2> kMultipliers = {0xD2511F53U, 0xCD9E8D57U};
constexpr std::array<std::uint32_t, 2> kKeySteps = {0x9E3779B9U, 0xBB67AE85U};

// Four rounds hide the structure of a large domain (Luby and Rackoff); the halves of a small one have only a bit or
// two, so that more rounds are needed before all orders are about equally frequent.
constexpr std::uint64_t kFeistelRounds = 8;

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t first = std::uint64_t{kMultipliers[0]} * counter[0];
    const std::uint64_t second = std::uint64_t{kMultipliers[1]} * counter[2];
    counter = {high_word(second) ^ counter[1] ^ key[0], low_word(second), high_word(first) ^ counter[3] ^ key[1],
               low_word(first)};
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return counter;
}

std::uint64_t random_bits(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t index) {
  const std::uint32_t last = static_cast<std::uint32_t>(purpose) | high_word(step) << 8U;
  const auto words = philox({low_word(index), high_word(index), low_word(step), last}, philox_key(seed));
  return words[0] | std::uint64_t{words[1]} << 32U;
}

double random_unit(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, purpose, step, index) >> 11U) * 0x1p-53;
}

std::uint64_t random_below(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t index,
                           std::uint64_t n) {
  using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{random_bits(seed, purpose, step, index)} * n) >> 64U);
}

Permutation::Permutation(std::uint64_t n, std::uint64_t seed, Purpose purpose, std::uint64_t round)
    : n_(n),
      seed_(seed),
      round_(round),
      purpose_(purpose),
      half_bits_((static_cast<unsigned>(std::bit_width(n - 1)) + 1) / 2) {}

std::uint64_t Permutation::operator()(std::uint64_t position) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  // The network permutes a domain of fewer than 4 n, so this takes fewer than four turns on average.
  do {
    std::uint64_t left = position >> half_bits_;
    std::uint64_t right = position & mask;
    for (std::uint64_t turn = 0; turn < kFeistelRounds; ++turn) {
      const std::uint64_t mixed = left ^ (random_bits(seed_, purpose_, round_, turn << 32U | right) & mask);
      left = right;
      right = mixed;
    }
    position = left << half_bits_ | right;
  } while (position >= n_);
  return position;
}

std::uint64_t Permutation::inverse(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (std::uint64_t turn = kFeistelRounds; turn-- > 0;) {
      const std::uint64_t before = right ^ (random_bits(seed_, purpose_, round_, turn << 32U | left) & mask);
      right = left;
      left = before;
    }
    value = left << half_bits_ | right;
  } while (value >= n_);
  return value;
}

}  // namespace chargpt
