#include "kernels/activations.hpp"

namespace chargpt {
namespace {

/// Hands out parts of a piece of memory one after another; without memory it counts.
class Pieces {
 public:
  explicit Pieces(float* memory) : memory_(memory) {}

  float* floats(std::size_t count) {
    float* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count + 15) / 16 * 16;  // each begins at a cache line if the memory does
    return piece;
  }
  std::uint32_t* words(std::size_t count) { return reinterpret_cast<std::uint32_t*>(floats(count)); }
  std::size_t used() const { return used_; }
  void back_to(std::size_t used) { used_ = used; }

 private:
  float* memory_;
  std::size_t used_ = 0;
};

}  // namespace

Activations::Activations(const ModelConfig& config, std::int64_t vocabulary, std::int64_t length, Use use_of)
    : use(use_of),
      positions(static_cast<std::size_t>(length)),
      attention{positions, static_cast<std::size_t>(config.heads), static_cast<std::size_t>(config.head_size())},
      x(positions * attention.width()),
      losses(positions) {
  memory_.resize(place(config, vocabulary, nullptr));
  place(config, vocabulary, memory_.data());
  const ParameterLayout layout(config, vocabulary);
  if (use != Use::inference) vector_gradients.resize(static_cast<std::size_t>(layout.size() - layout.matrix_size()));
}

std::size_t Activations::place(const ModelConfig& config, std::int64_t vocabulary, float* memory) {
  const bool training = use != Use::inference;
  const std::size_t T = positions, C = attention.width();
  Pieces pieces(memory);
  for (auto* list : {&inputs, &dy, &normal, &inverse_deviation}) list->clear();
  blocks.clear();
  const auto norm = [&] {
    normal.push_back(pieces.floats(T * C));
    inverse_deviation.push_back(pieces.floats(T));
  };
  const auto product = [&](std::size_t in, std::size_t out, bool keep_dy) {
    inputs.push_back(pieces.floats(T * in));
    dy.push_back(keep_dy ? pieces.floats(T * out) : nullptr);
  };
  const std::size_t start = pieces.used();
  for (std::int64_t i = 0; i < config.layers; ++i) {
    if (!training) pieces.back_to(start);
    norm();
    product(C, 3 * C, true);
    product(C, C, training);
    norm();
    product(C, 4 * C, training);
    product(4 * C, C, training);
    Block block{pieces.floats(attention.heads * T * 2), nullptr, nullptr, nullptr};
    if (use == Use::training_with_dropout) {
      block.attention_keep = pieces.words(attention_keep_words(attention));
      block.projection_keep = pieces.words(T * keep_words(C));
      block.feed_forward_keep = pieces.words(T * keep_words(C));
    }
    blocks.push_back(block);
  }
  norm();
  product(C, static_cast<std::size_t>(vocabulary), true);
  const bool drops_embeddings = use == Use::training_with_dropout && config.embedding_dropout;
  embedding_keep = drops_embeddings ? pieces.words(T * keep_words(C)) : nullptr;
  return pieces.used();
}

std::size_t Activations::training_bytes(const ModelConfig& config, std::int64_t vocabulary, std::int64_t length) {
  const auto T = static_cast<std::size_t>(length), C = static_cast<std::size_t>(config.width);
  const std::size_t block = 18 * T * C + 2 * static_cast<std::size_t>(config.heads) * T;
  return sizeof(float) * (static_cast<std::size_t>(config.layers) * block + T * static_cast<std::size_t>(vocabulary));
}

}  // namespace chargpt
