#include "chargpt/base/ngram.hpp"

#include <algorithm>
#include <cmath>

namespace chargpt {
namespace {

/// The last `length` ids before position `at`.
std::u32string history_of(std::span<const std::int32_t> ids, std::int64_t length) {
  const auto last = ids.last(static_cast<std::size_t>(length));
  return {last.begin(), last.end()};
}

std::span<const std::int32_t> document_of(const Split& split, std::size_t d) {
  return std::span(split.ids).subspan(static_cast<std::size_t>(split.starts[d]),
                                      static_cast<std::size_t>(split.starts[d + 1] - split.starts[d]));
}

}  // namespace

NGram::NGram(std::int64_t order, const Split& train, std::int64_t vocabulary) : order_(order), vocabulary_(vocabulary) {
  for (std::size_t d = 0; d + 1 < train.starts.size(); ++d) {
    const auto document = document_of(train, d);
    for (std::size_t i = 0; i < document.size(); ++i) {
      const std::int64_t longest = std::min(static_cast<std::int64_t>(i), order - 1);
      for (std::int64_t length = 0; length <= longest; ++length) {
        Counts& counts = counts_[history_of(document.first(i), length)];
        ++counts.total;
        ++counts.of[document[i]];
      }
    }
  }
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
  for (std::size_t d = 0; d + 1 < split.starts.size(); ++d) {
    const auto document = document_of(split, d);
    for (std::size_t i = 1; i < document.size(); ++i) {
      nats -= std::log(probability(document.first(i), document[i]));
      ++characters;
    }
  }
  return nats / static_cast<double>(characters);
}

}  // namespace chargpt
