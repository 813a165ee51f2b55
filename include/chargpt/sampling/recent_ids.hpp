#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace chargpt {

/// How often each id is among the last ones of a stream.
class RecentIds {
 public:
  RecentIds(std::size_t window, std::size_t vocabulary) : window_(window), counts_(vocabulary) {}

  void push(std::int32_t id) {
    ++counts_[static_cast<std::size_t>(id)];
    if (ring_.size() < window_) return ring_.push_back(id);
    --counts_[static_cast<std::size_t>(ring_[oldest_])];
    ring_[oldest_] = id;
    oldest_ = (oldest_ + 1) % window_;
  }
  std::span<const std::int32_t> counts() const { return counts_; }

 private:
  std::size_t window_;
  std::size_t oldest_ = 0;
  std::vector<std::int32_t> ring_;
  std::vector<std::int32_t> counts_;
};

}  // namespace chargpt
