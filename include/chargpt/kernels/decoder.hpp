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

  /// How many streams are best continued together, 1 to 64. Each adds to the rows that a weight read from memory is
  /// used for, and its keys and values to what has to be read: so as many as fit beside the weights into half of a
  /// cache of `cache_bytes`, or where that leaves less than 4 a thread (or is unknown, 0) as many as fit into 512 MiB.
  static std::int64_t streams_together(const ModelConfig& config, std::int64_t vocabulary, int threads,
                                       std::int64_t cache_bytes);

  /// logits (windows, vocabulary), of at least one window. No two may be of one stream. ready(row) is called for each
  /// row by the thread that completed it.
  void logits(std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready);

 private:
  /// One stream: the ids so far, and of each block its CachedKeys.
  struct Cache {
    std::vector<std::int32_t> ids;
    AlignedVector<float> keys;
    AlignedVector<float> values;
  };
  struct Scratch;

  CachedKeys cached(Cache& cache, std::size_t layer) const;
  void embed(std::int32_t id, std::size_t position, float* x) const;
  void normalise(std::size_t norm, std::size_t rows, Scratch& scratch) const;
  void prepare(const StreamWindow& window, Scratch& scratch);
  void prime(std::span<const std::int32_t> ids, Cache& cache, Scratch& scratch) const;
  void step(std::span<const StreamWindow> windows, Scratch& scratch, float* logits);
  void product(std::size_t index, const float* x, std::size_t rows, float* y) const;
  void project(std::size_t layer, std::size_t rows, Scratch& scratch) const;
  void after_attention(std::size_t layer, std::size_t rows, Scratch& scratch) const;

  std::size_t layers_, width_, heads_, vocabulary_, capacity_;
  ThreadPool& pool_;
  NetworkWeights weights_;
  std::vector<Cache> caches_;
  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace chargpt
