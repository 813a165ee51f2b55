#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chargpt/base/aligned_vector.hpp"
#include "chargpt/base/stream_window.hpp"
#include "chargpt/kernels/cached_attention.hpp"
#include "chargpt/kernels/network_weights.hpp"

namespace chargpt {

/// The logits that follow windows of ids, on the CPU by our own kernels. Each stream's keys and values are kept: a
/// window that continues its stream by one id costs one position, any other is computed anew. The results are, to the
/// last bit, those of Network::logits() on the same ids, whatever is kept and whatever streams are asked for together.
class Decoder {
 public:
  /// values: the flat weights (layout().size() floats), which must outlive this object.
  Decoder(const ModelConfig& config, std::int64_t vocabulary, const float* values, ThreadPool& pool);
  ~Decoder();

  /// Bytes that a stream's keys and values take.
  std::size_t stream_bytes() const;

  /// logits (windows, vocabulary), of at least one window. No two may be of one stream.
  void logits(std::span<const StreamWindow> windows, std::span<float> logits);

 private:
  /// One stream: the ids so far, and of each block the keys (C, capacity) and the values (capacity, C).
  struct Cache {
    std::vector<std::int32_t> ids;
    AlignedVector<float> keys;
    AlignedVector<float> values;
  };
  struct Scratch;

  CachedKeys cached(const Cache& cache, std::size_t layer) const;
  void keep(Cache& cache, std::size_t layer, std::size_t position, const float* qkv) const;
  void embed(std::int32_t id, std::size_t position, float* x) const;
  void normalise(std::size_t norm, std::size_t rows, Scratch& scratch) const;
  void prepare(const StreamWindow& window, Scratch& scratch);
  void prime(std::span<const std::int32_t> ids, Cache& cache, Scratch& scratch) const;
  void step(std::span<const StreamWindow> windows, Scratch& scratch, float* logits);
  template <class Attend>
  void block(std::size_t layer, std::size_t rows, Scratch& scratch, const Attend& attend) const;

  std::size_t context_, width_, heads_, vocabulary_, capacity_;
  ThreadPool& pool_;
  NetworkWeights weights_;
  std::vector<Cache> caches_;
  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace chargpt
