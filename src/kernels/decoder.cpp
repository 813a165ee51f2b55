#include "chargpt/kernels/decoder.hpp"

#include <algorithm>

#include "chargpt/kernels/activation.hpp"
#include "chargpt/kernels/layer_norm.hpp"

namespace chargpt {

/// Streams that go through the network together: enough rows to use each weight often, few enough for the caches.
constexpr std::size_t kRows = 64;

/// Whole blocks of positions.
std::int64_t cached_positions(const ModelConfig& config) {
  constexpr auto kPositions = static_cast<std::int64_t>(CachedKeys::kPositions);
  return (config.context + kPositions - 1) / kPositions * kPositions;
}

std::int64_t Decoder::streams_together(const ModelConfig& config, std::int64_t vocabulary, int threads,
                                       std::int64_t cache_bytes) {
  constexpr std::int64_t kFewest = 4;  // a thread: fewer rows make the products slow
  constexpr std::int64_t kMemory = std::int64_t{512} << 20U;
  constexpr auto kMost = static_cast<std::int64_t>(kRows);
  const auto float_bytes = static_cast<std::int64_t>(sizeof(float));
  const std::int64_t stream = 2 * float_bytes * config.layers * config.width * cached_positions(config);
  const std::int64_t weights = float_bytes * ParameterLayout(config, vocabulary).size();
  const std::int64_t cached = (cache_bytes / 2 - weights) / stream;  // other programs want the cache, too
  if (cached >= kFewest * threads) return std::min(cached, kMost);
  return std::clamp<std::int64_t>(kMemory / stream, 1, kMost);
}

/// Memory of a thread for some rows on their way through the network.
struct Decoder::Scratch {
  AlignedVector<float> x;          // (rows, C)
  AlignedVector<float> input;      // (rows, C)
  AlignedVector<float> normal;     // (rows, C); not needed afterwards
  AlignedVector<float> deviation;  // (rows); not needed afterwards
  AlignedVector<float> qkv;        // (rows, 3C)
  AlignedVector<float> hidden;     // (rows, 4C)
  AlignedVector<float> attention;
  AlignedVector<float> statistics;  // (H, rows, 2); not needed afterwards

  void reserve(std::size_t rows, std::size_t width, std::size_t heads, std::size_t capacity) {
    if (deviation.size() >= rows) return;
    for (auto* memory : {&x, &input, &normal}) memory->resize(rows * width);
    deviation.resize(rows);
    qkv.resize(rows * 3 * width);
    hidden.resize(rows * 4 * width);
    statistics.resize(heads * rows * 2);
    attention.resize(std::max(attention_scratch({rows, heads, width / heads}),
                              cached_attention_scratch({capacity, heads, width / heads})));
  }
};

Decoder::Decoder(const ModelConfig& config, std::int64_t vocabulary, const float* values, ThreadPool& pool)
    : layers_(static_cast<std::size_t>(config.layers)),
      width_(static_cast<std::size_t>(config.width)),
      heads_(static_cast<std::size_t>(config.heads)),
      vocabulary_(static_cast<std::size_t>(vocabulary)),
      capacity_(static_cast<std::size_t>(cached_positions(config))),
      pool_(pool),
      weights_(config, vocabulary),
      scratch_(static_cast<std::size_t>(pool.threads())) {
  weights_.load(values, false, pool);
}

Decoder::~Decoder() = default;

CachedKeys Decoder::cached(Cache& cache, std::size_t layer) const {
  const std::size_t begin = layer * width_ * capacity_;
  return {cache.keys.data() + begin, cache.values.data() + begin};
}

void Decoder::embed(std::int32_t id, std::size_t position, float* x) const {
  std::copy_n(weights_.token_embedding() + static_cast<std::size_t>(id) * width_, width_, x);
  add_to(weights_.position_embedding() + position * width_, width_, x);
}

/// From the residual stream to the input of what comes next.
void Decoder::normalise(std::size_t norm, std::size_t rows, Scratch& s) const {
  layer_norm(s.x.data(), rows, width_, weights_.norm_weight(norm), weights_.norm_bias(norm), s.normal.data(),
             s.deviation.data(), s.input.data());
}

void Decoder::product(std::size_t index, const float* x, std::size_t rows, float* y) const {
  multiply(x, rows, weights_.products()[index].forward, weights_.bias(index), y);
}

/// A block's queries, keys and values of some rows, to s.qkv.
void Decoder::project(std::size_t layer, std::size_t rows, Scratch& s) const {
  normalise(2 * layer, rows, s);
  product(4 * layer, s.input.data(), rows, s.qkv.data());
}

/// The rest of a block, from the heads' results in s.input.
void Decoder::after_attention(std::size_t layer, std::size_t rows, Scratch& s) const {
  product(4 * layer + 1, s.input.data(), rows, s.hidden.data());
  add_to(s.hidden.data(), rows * width_, s.x.data());
  normalise(2 * layer + 1, rows, s);
  product(4 * layer + 2, s.input.data(), rows, s.hidden.data());
  gelu(s.hidden.data(), rows * 4 * width_, nullptr);
  product(4 * layer + 3, s.hidden.data(), rows, s.input.data());
  add_to(s.input.data(), rows * width_, s.x.data());
}

/// Fills a cache with the keys and values of `ids`.
void Decoder::prime(std::span<const std::int32_t> ids, Cache& cache, Scratch& s) const {
  const std::size_t rows = ids.size();
  s.reserve(rows, width_, heads_, capacity_);
  for (std::size_t t = 0; t < rows; ++t) embed(ids[t], t, s.x.data() + t * width_);
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    project(layer, rows, s);
    cache_keys(width_, s.qkv.data(), 0, rows, cached(cache, layer));
    if (layer + 1 == layers_) break;  // nothing reads its result
    attention({rows, heads_, width_ / heads_}, s.qkv.data(), {}, s.statistics.data(), s.attention.data(),
              s.input.data());
    after_attention(layer, rows, s);
  }
  cache.ids.assign(ids.begin(), ids.end());
}

/// Makes the stream's cache hold all ids of the window but the last.
void Decoder::prepare(const StreamWindow& window, Scratch& scratch) {
  Cache& cache = caches_[window.stream];
  const auto before = window.ids.first(window.ids.size() - 1);
  const bool continues = std::equal(before.begin(), before.end(), cache.ids.begin(), cache.ids.end());
  if (continues && !cache.keys.empty()) return;
  cache.keys.resize(layers_ * width_ * capacity_);
  cache.values.resize(cache.keys.size());
  cache.ids.clear();
  if (!before.empty()) prime(before, cache, scratch);
}

/// The last ids of some windows, whose caches hold those before.
void Decoder::step(std::span<const StreamWindow> windows, Scratch& s, float* logits) {
  const std::size_t rows = windows.size();
  s.reserve(rows, width_, heads_, capacity_);
  for (std::size_t r = 0; r < rows; ++r)
    embed(windows[r].ids.back(), windows[r].ids.size() - 1, s.x.data() + r * width_);
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    project(layer, rows, s);
    for (std::size_t r = 0; r < rows; ++r) {
      const float* qkv = s.qkv.data() + r * 3 * width_;
      const std::size_t positions = windows[r].ids.size();
      const CachedKeys keys = cached(caches_[windows[r].stream], layer);
      cache_keys(width_, qkv, positions - 1, 1, keys);
      cached_attention({positions, heads_, width_ / heads_}, qkv, keys, s.attention.data(),
                       s.input.data() + r * width_);
    }
    after_attention(layer, rows, s);
  }
  for (const StreamWindow& window : windows) caches_[window.stream].ids.push_back(window.ids.back());
  normalise(2 * layers_, rows, s);
  product(4 * layers_, s.input.data(), rows, logits);
}

void Decoder::logits(std::span<const StreamWindow> windows, std::span<float> logits, const RowReady& ready) {
  for (const StreamWindow& window : windows) caches_.resize(std::max(caches_.size(), window.stream + 1));
  const auto threads = static_cast<std::size_t>(pool_.threads());
  const std::size_t group = std::min(kRows, (windows.size() + threads - 1) / threads);
  const auto groups = static_cast<std::int64_t>((windows.size() + group - 1) / group);
  pool_.run(groups, [&](std::int64_t i, int worker) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
    const std::size_t begin = static_cast<std::size_t>(i) * group;
    const auto some = windows.subspan(begin, std::min(group, windows.size() - begin));
    for (const StreamWindow& window : some) prepare(window, scratch);
    step(some, scratch, logits.data() + begin * vocabulary_);
    for (std::size_t r = 0; r < some.size(); ++r) ready(begin + r);
  });
}

}  // namespace chargpt
