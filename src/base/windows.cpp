#include "chargpt/base/windows.hpp"

#include <algorithm>
#include <utility>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

StretchWindows::StretchWindows(Split split, std::function<std::int64_t(std::int64_t)> count)
    : split_(std::move(split)), count_(std::move(count)) {
  std::int64_t stretch = 0;
  split_.for_stretch_sizes_from(0, [&](std::int64_t size) {
    if (stretch++ % OffsetIndex::kGroup == 0) before_.push_back(size_);
    size_ += count_(size);
    return true;
  });
}

StretchWindows::Place StretchWindows::find(std::int64_t w) const {
  const auto group = std::upper_bound(before_.begin(), before_.end(), w) - 1 - before_.begin();
  const std::int64_t first = group * OffsetIndex::kGroup;
  Place place{split_.stretch_start(first), 0, w - before_[static_cast<std::size_t>(group)]};
  split_.for_stretch_sizes_from(first, [&](std::int64_t size) {
    place.end = place.start + size;
    const std::int64_t here = count_(size);
    if (place.window < here) return false;
    place.window -= here;
    place.start = place.end;
    return true;
  });
  return place;
}

WindowIndex::WindowIndex(Split split, std::int64_t context, std::int64_t stride)
    : windows_(std::move(split),
               [context, stride](std::int64_t size) {
                 const std::int64_t room = size - context - 1;
                 return room < 0 ? 0 : room / stride + 1;
               }),
      stride_(stride) {}

std::int64_t WindowIndex::offset(std::int64_t w) const {
  const StretchWindows::Place place = windows_.find(w);
  return place.start + place.window * stride_;
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
  if (train.epochs != 0) return rounded_up(train.epochs * windows, train.batch);
  return rounded_up(train.characters, train.batch * context);
}

std::int64_t sliding_stride(const EvalConfig& eval, std::int64_t context) {
  return std::min(eval.stride == 0 ? (context + 1) / 2 : eval.stride, context);
}

EvaluationWindows::Kind EvaluationWindows::kind_of(const EvalConfig& eval) {
  switch (eval.mode) {
    case EvalMode::windows:
      return eval.stride == 0 ? Kind::side_by_side : Kind::training;
    case EvalMode::sliding:
      return Kind::sliding;
    case EvalMode::random:
      break;
  }
  return Kind::random;
}

EvaluationWindows::EvaluationWindows(Split split, std::int64_t context, const EvalConfig& eval, std::uint64_t seed,
                                     std::uint64_t round)
    : context_(context), kind_(kind_of(eval)), stride_(eval.stride), draws_(eval.windows), seed_(seed), round_(round) {
  switch (kind_) {
    case Kind::training:
      training_.emplace(std::move(split), context, stride_);
      return;
    case Kind::random:
      training_.emplace(std::move(split), context, 1);
      return;
    case Kind::sliding:
      stride_ = sliding_stride(eval, context);
      break;
    case Kind::side_by_side:
      stride_ = context;
      break;
  }
  // One that is full or reaches the end, and one for each stride behind it.
  windows_.emplace(std::move(split), [context, stride = stride_](std::int64_t size) {
    return size < 2 ? 0 : 1 + rounded_up(std::max<std::int64_t>(0, size - 1 - context), stride);
  });
}

std::int64_t EvaluationWindows::size() const {
  if (!training_) return windows_->size();
  return kind_ == Kind::random && training_->size() > 0 ? draws_ : training_->size();
}

EvalWindow EvaluationWindows::operator[](std::int64_t w) const {
  switch (kind_) {
    case Kind::training:
      return {training_->offset(w), context_, context_};
    case Kind::random: {
      const std::uint64_t drawn = random_below(seed_, Purpose::evaluation, round_, static_cast<std::uint64_t>(w),
                                               static_cast<std::uint64_t>(training_->size()));
      return {training_->offset(static_cast<std::int64_t>(drawn)), context_, context_};
    }
    case Kind::sliding:
    case Kind::side_by_side:
      break;
  }
  const auto [first, behind, within] = windows_->find(w);
  const std::int64_t last = behind - 1;
  const std::int64_t end = std::min(first + context_ + within * stride_, last);
  const std::int64_t scored_before = within == 0 ? first : first + context_ + (within - 1) * stride_;
  const std::int64_t scored = end - scored_before;
  const std::int64_t length = kind_ == Kind::side_by_side ? scored : std::min(context_, end - first);
  return {end - length, length, scored};
}

}  // namespace chargpt
