#include "chargpt/sampling/stop_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

/// Ids 0 and 1, so that texts overlap often.
std::vector<std::int32_t> random_ids(std::uint64_t seed, std::uint64_t step, std::uint64_t size) {
  std::vector<std::int32_t> ids;
  for (std::uint64_t i = 0; i < size; ++i) {
    ids.push_back(static_cast<std::int32_t>(random_below(seed, Purpose::sampling, step, i, 2)));
  }
  return ids;
}

bool ends(const std::vector<std::int32_t>& stream, const std::vector<std::int32_t>& with) {
  return stream.size() >= with.size() && std::equal(with.rbegin(), with.rend(), stream.rbegin());
}

/// The longest of `texts` with which the stream ends; 0 for none.
std::size_t longest_end(const std::vector<std::int32_t>& stream, const std::vector<std::vector<std::int32_t>>& texts) {
  std::size_t longest = 0;
  for (const auto& text : texts) longest = std::max(longest, ends(stream, text) ? text.size() : 0);
  return longest;
}

std::vector<std::vector<std::int32_t>> beginnings(const std::vector<std::vector<std::int32_t>>& texts) {
  std::vector<std::vector<std::int32_t>> all;
  for (const auto& text : texts) {
    for (std::size_t n = 1; n < text.size(); ++n) all.emplace_back(text.begin(), text.begin() + static_cast<long>(n));
  }
  return all;
}

TEST(StopTexts, FindTheFirstEndAndHoldBackEveryBeginning) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::vector<std::vector<std::int32_t>> texts;
    for (std::uint64_t t = 0; t < 1 + seed % 3; ++t) {
      texts.push_back(random_ids(seed, t, 1 + random_below(seed, Purpose::sampling, 9, t, 6)));
    }
    StopTexts stops(texts);
    std::vector<std::int32_t> stream;
    for (const std::int32_t id : random_ids(seed, 5, 40)) {
      stream.push_back(id);
      const std::size_t ended = longest_end(stream, texts);
      ASSERT_EQ(stops.ends_with(id), ended > 0) << "seed " << seed << ", " << stream.size();
      ASSERT_EQ(stops.held(), ended > 0 ? ended : longest_end(stream, beginnings(texts))) << "seed " << seed;
      if (ended > 0) break;
    }
  }
}

TEST(StopTexts, WithoutAnyHoldNothing) {
  StopTexts none({});
  EXPECT_FALSE(none.ends_with(1));
  EXPECT_EQ(none.held(), 0U);
}

}  // namespace
}  // namespace chargpt
