#include "chargpt/base/ngram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 5;

/// Ids that depend on the two before them, mostly; id 4 never comes.
Split some_text(std::uint64_t seed, std::int64_t size) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint64_t draw = random_below(seed, Purpose::split, 0, static_cast<std::uint64_t>(i), 10);
    const auto n = ids.size();
    ids.push_back(draw < 2 || n < 2 ? static_cast<std::int32_t>(draw % 4) : (ids[n - 1] + 2 * ids[n - 2] + 1) % 4);
  }
  return {ids, {size / 3, size - size / 3}};
}

TEST(NGram, OrderZeroIsUniform) {
  const NGram uniform(0, some_text(1, 100), kVocabulary);
  EXPECT_NEAR(uniform.nats_per_char(some_text(2, 50)), std::log(5.0), 1e-12);
}

TEST(NGram, IsTheFormulaOnACaseDoneByHand) {
  const Split train({0, 1, 0, 1, 0, 2}, {6});
  const std::vector<std::int32_t> history = {1, 0};
  // Without history: 0 three times, 1 twice, 2 once: 6 in all, 3 kinds. After 0: 1 twice, 2 once: 3 in all, 2 kinds.
  const double one = (2 + 3 * 0.2) / 9, two = (1 + 3 * 0.2) / 9, four = 3 * 0.2 / 9;
  const NGram unigram(1, train, kVocabulary), bigram(2, train, kVocabulary);
  EXPECT_NEAR(unigram.probability(history, 1), one, 1e-12);
  EXPECT_NEAR(unigram.probability(history, 4), four, 1e-12);
  EXPECT_NEAR(bigram.probability(history, 1), (2 + 2 * one) / 5, 1e-12);
  EXPECT_NEAR(bigram.probability(history, 2), (1 + 2 * two) / 5, 1e-12);
  EXPECT_NEAR(bigram.probability(history, 4), 2 * four / 5, 1e-12);
}

TEST(NGram, ProbabilitiesSumToOneAfterAnyHistory) {
  const NGram model(4, some_text(1, 300), kVocabulary);
  for (const std::vector<std::int32_t>& history :
       {std::vector<std::int32_t>{}, {0}, {4}, {0, 1, 2}, {3, 2, 1, 0, 1}, {4, 4, 4, 4}, {1, 4, 2}}) {
    double sum = 0.0;
    for (std::int32_t id = 0; id < kVocabulary; ++id) {
      const double p = model.probability(history, id);
      EXPECT_GT(p, 0.0);
      sum += p;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(NGram, LearnsWhatDependsOnTheIdsBefore) {
  const Split train = some_text(1, 3000), held_out = some_text(2, 1000);
  const double unigram = NGram(1, train, kVocabulary).nats_per_char(held_out);
  const double trigram = NGram(3, train, kVocabulary).nats_per_char(held_out);
  EXPECT_LT(unigram, std::log(5.0));
  EXPECT_LT(trigram, unigram - 0.3);
}

TEST(NGram, IsTheSameForTextsLongerThanWhatIsReadAtOnce) {
  const Split text = some_text(1, 200'000);
  std::int64_t zeros = 0, pairs = 0;
  std::set<std::int32_t> followers;
  for (std::int64_t d = 0; d < text.documents(); ++d) {
    const auto ids = text.document(d);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      zeros += ids[i] == 0 && i + 1 < ids.size() ? 1 : 0;
      pairs += i > 0 && ids[i - 1] == 0 && ids[i] == 1 ? 1 : 0;
      if (i > 0 && ids[i - 1] == 0) followers.insert(ids[i]);
    }
  }
  const NGram unigram(1, text, kVocabulary), bigram(2, text, kVocabulary);
  const auto kinds = static_cast<double>(followers.size());
  EXPECT_NEAR(bigram.probability(std::vector<std::int32_t>{0}, 1),
              (static_cast<double>(pairs) + kinds * unigram.probability({}, 1)) / (static_cast<double>(zeros) + kinds),
              1e-12);
}

TEST(NGram, ADocumentsHistoryDoesNotReachIntoTheOneBefore) {
  const Split train({0, 1, 2, 3}, {2, 2});
  const std::vector<std::int32_t> history = {1};  // never seen before anything
  EXPECT_EQ(NGram(2, train, kVocabulary).probability(history, 2), NGram(1, train, kVocabulary).probability({}, 2));
}

}  // namespace
}  // namespace chargpt
