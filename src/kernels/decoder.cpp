#include "chargpt/kernels/decoder.hpp"

#include <algorithm>

#include "chargpt/kernels/activation.hpp"
#include "chargpt/kernels/layer_norm.hpp"

namespace chargpt {

/// Streams that go through the network together: enough rows to use each weight often, few enough for the caches.
constexpr std::size_t kRows = 64;

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
    attention.resize(std::max(attention_scratch({rows, heads, width / heads}), heads * capacity));
  }
};

Decoder::Decoder(const ModelConfig& config, std::int64_t vocabulary, const float* values, ThreadPool& pool)
    : context_(static_cast<std::size_t>(config.context)),
      width_(static_cast<std::size_t>(config.width)),
      heads_(static_cast<std::size_t>(config.heads)),
      vocabulary_(static_cast<std::size_t>(vocabulary)),
      capacity_((context_ + 15) / 16 * 16),
      pool_(pool),
      weights_(config, vocabulary),
      scratch_(static_cast<std::size_t>(pool.threads())) {
  weights_.load(values, false, pool);
}

Decoder::~Decoder() = default;

std::size_t Decoder::stream_bytes() const {
  return 2 * sizeof(float) * (weights_.products().size() / 4) * width_ * capacity_;
}

CachedKeys Decoder::cached(const Cache& cache, std::size_t layer) const {
  const std::size_t begin = layer * width_ * capacity_;
  return {cache.keys.data() + begin, cache.values.data() + begin, capacity_};
}

/// Notes keys and values of a position.
void Decoder::keep(Cache& cache, std::size_t layer, std::size_t position, const float* qkv) const {
  const std::size_t begin = layer * width_ * capacity_;
  for (std::size_t c = 0; c < width_; ++c) cache.keys[begin + c * capacity_ + position] = qkv[width_ + c];
  std::copy_n(qkv + 2 * width_, width_, cache.values.data() + begin + position * width_);
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

/// One block for some rows; attend(qkv, y) computes attention from (rows, 3C) to (rows, C).
template <class Attend>
void Decoder::block(std::size_t layer, std::size_t rows, Scratch& s, const Attend& attend) const {
  const auto product = [&](std::size_t index, const float* x, float* y) {
    multiply(x, rows, weights_.products()[4 * layer + index].forward, weights_.bias(4 * layer + index), y);
  };
  normalise(2 * layer, rows, s);
  product(0, s.input.data(), s.qkv.data());
  attend(s.qkv.data(), s.input.data());
  product(1, s.input.data(), s.hidden.data());
  add_to(s.hidden.data(), rows * width_, s.x.data());
  normalise(2 * layer + 1, rows, s);
  product(2, s.input.data(), s.hidden.data());
  gelu(s.hidden.data(), rows * 4 * width_, nullptr);
  product(3, s.hidden.data(), s.input.data());
  add_to(s.input.data(), rows * width_, s.x.data());
}

/// Fills a cache with the keys and values of `ids`.
void Decoder::prime(std::span<const std::int32_t> ids, Cache& cache, Scratch& s) const {
  const std::size_t rows = ids.size();
  s.reserve(rows, width_, heads_, capacity_);
  for (std::size_t t = 0; t < rows; ++t) embed(ids[t], t, s.x.data() + t * width_);
  const AttentionShape shape{rows, heads_, width_ / heads_};
  for (std::size_t layer = 0; layer < weights_.products().size() / 4; ++layer) {
    block(layer, rows, s, [&](const float* qkv, float* y) {
      for (std::size_t t = 0; t < rows; ++t) keep(cache, layer, t, qkv + t * 3 * width_);
      attention(shape, qkv, {}, s.statistics.data(), s.attention.data(), y);
    });
  }
  cache.ids.assign(ids.begin(), ids.end());
}

/// Makes the stream's cache hold all ids of the window but the last.
void Decoder::prepare(const StreamWindow& window, Scratch& scratch) {
  Cache& cache = caches_[window.stream];
  const auto before = window.ids.first(window.ids.size() - 1);
  const bool continues = std::equal(before.begin(), before.end(), cache.ids.begin(), cache.ids.end());
  if (continues && !cache.keys.empty()) return;
  cache.keys.resize(stream_bytes() / (2 * sizeof(float)));
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
  for (std::size_t layer = 0; layer < weights_.products().size() / 4; ++layer) {
    block(layer, rows, s, [&](const float* qkv, float* y) {
      for (std::size_t r = 0; r < rows; ++r) {
        Cache& cache = caches_[windows[r].stream];
        const std::size_t positions = windows[r].ids.size();
        keep(cache, layer, positions - 1, qkv + r * 3 * width_);
        cached_attention({positions, heads_, width_ / heads_}, qkv + r * 3 * width_, cached(cache, layer),
                         s.attention.data(), y + r * width_);
      }
    });
  }
  for (const StreamWindow& window : windows) caches_[window.stream].ids.push_back(window.ids.back());
  const std::size_t last = weights_.products().size() - 1;
  normalise(2 * (last / 4), rows, s);
  multiply(s.input.data(), rows, weights_.products()[last].forward, weights_.bias(last), logits);
}

void Decoder::logits(std::span<const StreamWindow> windows, std::span<float> logits) {
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
  });
}

}  // namespace chargpt
