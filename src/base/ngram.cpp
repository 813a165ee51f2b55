#include "chargpt/base/ngram.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace chargpt {
namespace {

/// The last `length` ids before position `at`.
std::u32string history_of(std::span<const std::int32_t> ids, std::int64_t length) {
  const auto last = ids.last(static_cast<std::size_t>(length));
  return {last.begin(), last.end()};
}

/// Calls use(history, id) for every id of a split. The history is at least the last `most` ids before it in its
/// stretch, as far as there are so many, and is not empty behind the first.
template <class Use>
void for_each_id(const Split& split, std::int64_t most, const Use& use) {
  const auto kept = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(1, most));
  std::vector<std::int32_t> ids;
  split.for_each_stretch_piece([&](std::span<const std::int32_t> piece, bool ended) {
    ids.erase(ids.begin(), ids.end() - std::min(kept, std::ssize(ids)));
    std::size_t at = ids.size();
    ids.insert(ids.end(), piece.begin(), piece.end());
    for (; at < ids.size(); ++at) use(std::span<const std::int32_t>(ids).first(at), ids[at]);
    if (ended) ids.clear();
  });
}

}  // namespace

NGram::NGram(std::int64_t order, const Split& train, std::int64_t vocabulary) : order_(order), vocabulary_(vocabulary) {
  const auto count = [&](std::span<const std::int32_t> history, std::int32_t id) {
    const std::int64_t longest = std::min(static_cast<std::int64_t>(history.size()), order - 1);
    for (std::int64_t length = 0; length <= longest; ++length) {
      Counts& counts = counts_[history_of(history, length)];
      ++counts.total;
      ++counts.of[id];
    }
  };
  for_each_id(train, order - 1, count);
}

double NGram::probability(std::span<const std::int32_t> history, std::int32_t id) const {
  const std::int64_t longest = std::min(static_cast<std::int64_t>(history.size()), order_ - 1);
  double p = 1.0 / static_cast<double>(vocabulary_);
  for (std::int64_t length = 0; length <= longest; ++length) {
    const auto found = counts_.find(history_of(history, length));
    if (found == counts_.end()) break;  // a longer history was not seen either
    const Counts& counts = found->second;
    const auto followed = counts.of.find(id);
    const double count = followed == counts.of.end() ? 0.0 : static_cast<double>(followed->second);
    const auto kinds = static_cast<double>(counts.of.size());
    p = (count + kinds * p) / (static_cast<double>(counts.total) + kinds);
  }
  return p;
}

double NGram::nats_per_char(const Split& split) const {
  double nats = 0.0;
  std::int64_t characters = 0;
  const auto score = [&](std::span<const std::int32_t> history, std::int32_t id) {
    if (history.empty()) return;
    nats -= std::log(probability(history, id));
    ++characters;
  };
  for_each_id(split, order_ - 1, score);
  return nats / static_cast<double>(characters);
}

}  // namespace chargpt
