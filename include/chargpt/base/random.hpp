#pragma once

#include <array>
#include <cstdint>

namespace chargpt {

/// Everything random except the initial weights is a pure function of (seed, purpose, step, index): there is no
/// generator state, so nothing has to be saved for a resume and nothing depends on threads or batch layout.
enum class Purpose : std::uint32_t { data_order = 1, dropout = 2, sampling = 3, evaluation = 4, split = 5, sweep = 6 };

/// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
/// Checked against the known-answer vectors published with Random123.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// The two key words of a seed: low, high.
constexpr std::array<std::uint32_t, 2> philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
}

/// 64 random bits. The counter is {index low, index high, step low, purpose | (step high) << 8}; step < 2^56.
std::uint64_t random_bits(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t index);

/// Uniform in [0, 1), a multiple of 2^-53.
double random_unit(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t index);

/// Uniform in [0, n), n >= 1, by the high half of the 128-bit product (bias below n / 2^64).
std::uint64_t random_below(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t index,
                           std::uint64_t n);

/// A keyed permutation of [0, n) in constant memory: a balanced Feistel network over the next even power of two, with
/// cycle walking (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). The round function is
/// random_bits; `round` distinguishes permutations of one seed, e.g. the epoch. n >= 1.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed, Purpose purpose, std::uint64_t round);
  std::uint64_t size() const { return n_; }
  std::uint64_t operator()(std::uint64_t position) const;  ///< position < size()
  /// The position that operator() sends to `value` < size().
  std::uint64_t inverse(std::uint64_t value) const;

 private:
  std::uint64_t n_;
  std::uint64_t seed_;
  std::uint64_t round_;
  Purpose purpose_;
  unsigned half_bits_;
};

}  // namespace chargpt
