#include "chargpt/base/windows.hpp"

#include <algorithm>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

std::vector<EvalWindow> side_by_side(const Split& split, std::int64_t context) {
  std::vector<EvalWindow> windows;
  for (std::size_t d = 0; d + 1 < split.starts.size(); ++d) {
    const std::int64_t last = split.starts[d + 1] - 1;
    for (std::int64_t offset = split.starts[d]; offset < last; offset += context) {
      const std::int64_t length = std::min(context, last - offset);
      windows.push_back({offset, length, length});
    }
  }
  return windows;
}

std::vector<EvalWindow> sliding(const Split& split, std::int64_t context, std::int64_t stride) {
  std::vector<EvalWindow> windows;
  for (std::size_t d = 0; d + 1 < split.starts.size(); ++d) {
    const std::int64_t first = split.starts[d], last = split.starts[d + 1] - 1;
    std::int64_t scored_to = first;  // the last id that is scored so far
    for (std::int64_t end = std::min(first + context, last); scored_to < last; end = std::min(end + stride, last)) {
      const std::int64_t offset = std::max(first, end - context);
      windows.push_back({offset, end - offset, end - scored_to});
      scored_to = end;
    }
  }
  return windows;
}

std::vector<EvalWindow> training_windows(const Split& split, std::int64_t context, std::int64_t stride) {
  const WindowIndex index(split, context, stride);
  std::vector<EvalWindow> windows;
  for (std::int64_t w = 0; w < index.size(); ++w) windows.push_back({index.offset(w), context, context});
  return windows;
}

std::vector<EvalWindow> random_windows(const Split& split, std::int64_t context, std::int64_t count, std::uint64_t seed,
                                       std::uint64_t round) {
  const WindowIndex index(split, context, 1);
  std::vector<EvalWindow> windows;
  for (std::int64_t i = 0; i < count && index.size() > 0; ++i) {
    const std::uint64_t w = random_below(seed, Purpose::evaluation, round, static_cast<std::uint64_t>(i),
                                         static_cast<std::uint64_t>(index.size()));
    windows.push_back({index.offset(static_cast<std::int64_t>(w)), context, context});
  }
  return windows;
}

}  // namespace

WindowIndex::WindowIndex(const Split& split, std::int64_t context, std::int64_t stride)
    : stride_(stride), first_window_{0} {
  for (std::int64_t d = 0; d < split.documents(); ++d) {
    const std::int64_t room = split.document_size(d) - context - 1;
    if (room < 0) continue;
    document_start_.push_back(split.starts[static_cast<std::size_t>(d)]);
    first_window_.push_back(first_window_.back() + room / stride + 1);
  }
}

std::int64_t WindowIndex::offset(std::int64_t w) const {
  const auto next = std::upper_bound(first_window_.begin(), first_window_.end(), w);
  const auto document = static_cast<std::size_t>(next - first_window_.begin()) - 1;
  return document_start_[document] + (w - first_window_[document]) * stride_;
}

WindowSchedule::WindowSchedule(std::int64_t windows, WindowOrder order, std::int64_t batch, std::uint64_t seed)
    : count_(windows), order_(order), batch_(batch), seed_(seed) {}

std::vector<std::int64_t> WindowSchedule::windows(std::int64_t step) const {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(batch_));
  for (std::int64_t i = 0; i < batch_; ++i) chosen[static_cast<std::size_t>(i)] = window(step, i);
  return chosen;
}

std::int64_t WindowSchedule::window(std::int64_t step, std::int64_t index) const {
  const auto count = static_cast<std::uint64_t>(count_);
  const auto position = static_cast<std::uint64_t>(step * batch_ + index);
  switch (order_) {
    case WindowOrder::random:
      return static_cast<std::int64_t>(random_below(seed_, Purpose::data_order, static_cast<std::uint64_t>(step),
                                                    static_cast<std::uint64_t>(index), count));
    case WindowOrder::shuffled:
      break;
  }
  const Permutation epoch(count, seed_, Purpose::data_order, position / count);
  return static_cast<std::int64_t>(epoch(position % count));
}

std::int64_t total_steps(const TrainConfig& train, std::int64_t windows, std::int64_t context) {
  if (train.steps != 0) return train.steps;
  const auto rounded_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  if (train.epochs != 0) return rounded_up(train.epochs * windows, train.batch);
  return rounded_up(train.characters, train.batch * context);
}

std::int64_t sliding_stride(const EvalConfig& eval, std::int64_t context) {
  return std::min(eval.stride == 0 ? (context + 1) / 2 : eval.stride, context);
}

std::vector<EvalWindow> evaluation_windows(const Split& split, std::int64_t context, const EvalConfig& eval,
                                           std::uint64_t seed, std::uint64_t round) {
  switch (eval.mode) {
    case EvalMode::windows:
      return eval.stride == 0 ? side_by_side(split, context) : training_windows(split, context, eval.stride);
    case EvalMode::sliding:
      return sliding(split, context, sliding_stride(eval, context));
    case EvalMode::random:
      break;
  }
  return random_windows(split, context, eval.windows, seed, round);
}

}  // namespace chargpt
