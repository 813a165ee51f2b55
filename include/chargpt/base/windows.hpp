#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"

namespace chargpt {

/// The windows that lie in the stretches of a split, numbered in its order, where a stretch's size says how many it
/// has. Of many stretches together one number is in memory.
class StretchWindows {
 public:
  StretchWindows(Split split, std::function<std::int64_t(std::int64_t stretch_size)> count);
  std::int64_t size() const { return size_; }

  struct Place {
    std::int64_t start, end;  ///< of the stretch, in ids
    std::int64_t window;      ///< of those in the stretch, from 0
  };
  /// Where window w lies, 0 <= w < size(). O(log stretches).
  Place find(std::int64_t w) const;

 private:
  Split split_;
  std::function<std::int64_t(std::int64_t)> count_;
  std::vector<std::int64_t> before_;  ///< windows before each group of OffsetIndex::kGroup stretches
  std::int64_t size_ = 0;
};

/// All windows of `context` + 1 ids that lie inside one stretch of a split (a document, or all of them where windows
/// cross documents) and start at a multiple of `stride` from its start. Windows are numbered in the split's order; a
/// stretch of n ids gives (n - context - 1) / stride + 1, or none.
class WindowIndex {
 public:
  WindowIndex(Split split, std::int64_t context, std::int64_t stride);
  std::int64_t size() const { return windows_.size(); }
  /// Position in the split of the first id of window w, 0 <= w < size(). O(log documents).
  std::int64_t offset(std::int64_t w) const;

 private:
  StretchWindows windows_;
  std::int64_t stride_;
};

/// Which windows each step trains on: a pure function of (seed, step, index in the batch).
class WindowSchedule {
 public:
  WindowSchedule(std::int64_t windows, WindowOrder order, std::int64_t batch, std::uint64_t seed);
  /// Window numbers of step `step` (from 0), `batch` of them. Shuffled: window p of the endless sequence of epochs is
  /// Permutation(epoch = p / windows)(p % windows), p = step * batch + index; a batch may straddle two epochs.
  std::vector<std::int64_t> windows(std::int64_t step) const;

 private:
  std::int64_t window(std::int64_t step, std::int64_t index) const;

  std::int64_t count_;
  WindowOrder order_;
  std::int64_t batch_;
  std::uint64_t seed_;
};

/// Optimizer steps of a run: train.steps, ceil(epochs * windows / batch), or ceil(characters / (batch * context)).
std::int64_t total_steps(const TrainConfig& train, std::int64_t windows, std::int64_t context);

/// Ids of one stretch to be scored: those at offset + 1 .. offset + length are each predicted from the ids before them
/// that lie at or behind `offset`; the last `scored` of these predictions count. scored <= length <= context.
struct EvalWindow {
  std::int64_t offset;
  std::int64_t length;
  std::int64_t scored;
};

/// The windows in which eval.mode has a split scored by a model of this context, in order.
/// - windows, eval.stride 0: side by side, every id but each stretch's first once, in order.
/// - windows with a stride: all windows that training takes at that stride, whole ones only, every position of each.
///   Stride 1 is the mean over everything that a stride-1 training sees.
/// - sliding: every id but each stretch's first once, in order, from the `context` ids before it or, by the stride, at
///   least context - stride + 1 of them (fewer only at a stretch's start). The stride is at most the context; 0 stands
///   for half of it.
/// - random: eval.windows independent draws from the training windows of stride 1, a pure function of (seed, round): an
///   estimate of `windows` with stride 1.
class EvaluationWindows {
 public:
  EvaluationWindows(Split split, std::int64_t context, const EvalConfig& eval, std::uint64_t seed, std::uint64_t round);
  std::int64_t size() const;
  bool empty() const { return size() == 0; }
  /// Window w, 0 <= w < size(). O(log stretches).
  EvalWindow operator[](std::int64_t w) const;

 private:
  enum class Kind { side_by_side, sliding, training, random };
  static Kind kind_of(const EvalConfig& eval);

  std::int64_t context_;
  Kind kind_;
  std::int64_t stride_;
  std::int64_t draws_;
  std::uint64_t seed_, round_;
  std::optional<WindowIndex> training_;    ///< what training and random windows are taken from
  std::optional<StretchWindows> windows_;  ///< of the other kinds
};

/// The stride of `sliding` in ids.
std::int64_t sliding_stride(const EvalConfig& eval, std::int64_t context);

}  // namespace chargpt
