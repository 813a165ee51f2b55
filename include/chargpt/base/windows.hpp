#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/corpus.hpp"

namespace chargpt {

/// All windows of `context` + 1 ids that lie inside one document and start at a multiple of `stride` from its start.
/// Windows are numbered in document order; a document of n ids gives (n - context - 1) / stride + 1, or none.
class WindowIndex {
 public:
  WindowIndex(const Split& split, std::int64_t context, std::int64_t stride);
  std::int64_t size() const { return first_window_.back(); }
  /// Offset into split.ids of the first id of window w, 0 <= w < size(). O(log documents).
  std::int64_t offset(std::int64_t w) const;

 private:
  std::int64_t stride_;
  std::vector<std::int64_t> first_window_;    ///< per document with windows, and the total at the end
  std::vector<std::int64_t> document_start_;  ///< offset of that document
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

/// Optimizer steps of a run: train.steps, or ceil(epochs * windows / batch).
std::int64_t total_steps(const TrainConfig& train, std::int64_t windows);

/// A stretch of one document to be scored: `length` targets, ids[offset + 1 .. offset + length], each predicted from
/// the ids before it that lie in ids[offset ..]. length <= context.
struct EvalWindow {
  std::int64_t offset;
  std::int64_t length;
};

/// Non-overlapping windows that together score every id of every document except each document's first, in order.
std::vector<EvalWindow> evaluation_windows(const Split& split, std::int64_t context);

}  // namespace chargpt
