#include "chargpt/base/initial_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "chargpt/base/model_file.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

const Tokenizer kOurs({U'b', U'c', U'd', U'é'}, true);  // ids: end mark, b, c, d, é

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 1;
  config.heads = 2;
  config.width = 4;
  config.context = 3;
  return config;
}

class InitialWeightsTest : public testing::Test {
 protected:
  /// Different numbers for the model with that many characters.
  static std::vector<float> numbers(std::int64_t vocabulary, float first) {
    std::vector<float> values(static_cast<std::size_t>(ParameterLayout(small_config(), vocabulary).size()));
    std::iota(values.begin(), values.end(), first);
    return values;
  }
  /// The tensors of a file, to be spoilt.
  std::vector<TensorView> views(std::int64_t vocabulary = 5) {
    theirs_ = numbers(vocabulary, 10000.0F);
    return parameter_views(ParameterLayout(small_config(), vocabulary), theirs_);
  }
  /// A file as Python saves it: without metadata, or with a vocabulary alone.
  std::string write(const std::vector<TensorView>& tensors, const std::map<std::string, std::string>& metadata = {}) {
    write_safetensors(dir_ / "m", tensors, metadata);
    return dir_ / "m";
  }
  InitialWeights load(const std::string& path) { return load_initial_weights(path, config_, kOurs, ours_); }
  void expect_refused(std::initializer_list<std::string> parts, const std::vector<TensorView>& tensors,
                      const std::map<std::string, std::string>& metadata = {}) {
    const std::string path = write(tensors, metadata);
    expect_error(ExitCode::unusable_model, parts, [&] { load(path); });
    EXPECT_EQ(ours_, numbers(5, 0.0F));
  }

  TempDir dir_;
  ModelConfig config_ = small_config();
  std::vector<float> ours_ = numbers(5, 0.0F);
  std::vector<float> theirs_;
};

TEST_F(InitialWeightsTest, AreThoseOfAModelFileWithTheSameVocabulary) {
  theirs_ = numbers(5, 10000.0F);
  write_model_file(dir_ / "m", small_config(), kOurs, theirs_);
  const InitialWeights got = load(dir_ / "m");
  EXPECT_EQ(ours_, theirs_);
  EXPECT_TRUE(got.verified);
  EXPECT_TRUE(got.has_vocabulary);
  EXPECT_EQ(got.taken, 5);
  EXPECT_EQ(got.fresh, 0);
  EXPECT_EQ(got.left_out, 0);
}

TEST_F(InitialWeightsTest, RowsFollowTheirCharactersAndNewOnesStayFresh) {
  const std::vector<TensorView> tensors = views(4);
  const InitialWeights got = load(write(tensors, {{"vocabulary", "[\"<|e|>\", \"a\", \"c\", \"é\"]"}}));
  EXPECT_EQ(got.taken, 3);
  EXPECT_EQ(got.fresh, 2);
  EXPECT_EQ(got.left_out, 1);
  const ParameterLayout to(small_config(), 5);
  const std::vector<float> fresh = numbers(5, 0.0F);
  const std::vector<std::ptrdiff_t> row_of = {0, -1, 2, -1, 3};
  for (const std::string name : {"token_emb.weight", "lm.weight", "lm.bias"}) {
    const std::ptrdiff_t columns = name == "lm.bias" ? 1 : 4;
    const auto tensor = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
    for (std::ptrdiff_t id = 0; id < 5; ++id) {
      const std::ptrdiff_t row = row_of[static_cast<std::size_t>(id)], begin = to.offset(name) + id * columns;
      const float* wanted = row < 0 ? fresh.data() + begin : tensor->data + row * columns;
      EXPECT_TRUE(std::equal(wanted, wanted + columns, ours_.data() + begin)) << name << ", id " << id;
    }
  }
  EXPECT_EQ(ours_[static_cast<std::size_t>(to.offset("pos_emb.weight"))], 10000.0F + 4 * 4);
}

TEST_F(InitialWeightsTest, WithoutAVocabularyRowsAreTakenInOrder) {
  const InitialWeights got = load(write(views()));
  EXPECT_EQ(ours_, theirs_);
  EXPECT_FALSE(got.has_vocabulary);
  EXPECT_FALSE(load(write(views(), {{"format", "pt"}})).has_vocabulary);  // as Python marks its files
}

TEST_F(InitialWeightsTest, OfBytesRowsFollowTheBytesThatAreCharacters) {
  const std::vector<TensorView> tensors = views(256);
  write_model_file(dir_ / "m", small_config(), Tokenizer::bytes(), theirs_);
  const InitialWeights got = load(dir_ / "m");
  EXPECT_TRUE(got.has_vocabulary);
  EXPECT_EQ(ours_[4 * 1], theirs_[4 * 'b']);  // kOurs: the end mark, then b
  EXPECT_EQ(got.fresh, 2);                    // the end mark and what is beyond ASCII
}

TEST_F(InitialWeightsTest, AnotherNumberOfRowsThanTheVocabularyIsRefused) {
  expect_refused({"m: tensor token_emb.weight", "[6, 4]", "vocabulary 5"}, views(6));
  expect_refused({"token_emb.weight", "[5, 4]", "vocabulary 3"}, views(), {{"vocabulary", R"(["a", "b", "c"])"}});
  expect_refused({"vocabulary"}, views(), {{"vocabulary", R"(["b", "a"])"}});
}

TEST_F(InitialWeightsTest, AMissingExtraOrMisshapenTensorIsRefusedByName) {
  const float one = 1.0F;
  auto missing = views(), extra = missing, misshapen = missing;
  const std::string last = missing.back().name;
  missing.pop_back();
  expect_refused({"tensor " + last + " is missing", "layers 1"}, missing);
  extra.push_back({"blocks.1.l1.bias", {1}, &one});
  expect_refused({"blocks.1.l1.bias", "does not belong"}, extra);
  misshapen[1].shape = {misshapen[1].shape[1], misshapen[1].shape[0]};
  expect_refused({misshapen[1].name, "[4, 3]", "context 3"}, misshapen);
}

TEST_F(InitialWeightsTest, AValueThatIsNotFiniteIsRefused) {
  const auto tensors = views();
  theirs_.back() = std::numeric_limits<float>::infinity();
  expect_refused({tensors.back().name, "not finite"}, tensors);
}

TEST_F(InitialWeightsTest, AFileWithoutAHeadOrWithoutAnEmbeddingLooksTied) {
  for (const std::string missing : {"lm.weight", "token_emb.weight"}) {
    auto tensors = views();
    std::erase_if(tensors, [&](const auto& tensor) { return tensor.name == missing; });
    expect_refused({"tensor " + missing + " is missing", "tied", "model.tied_head", "tied_head false"}, tensors);
  }
}

TEST_F(InitialWeightsTest, ATiedHeadsMatrixMayBeThereOnceUnderEitherNameOrTwice) {
  config_.tied_head = true;
  const auto size = static_cast<std::size_t>(ParameterLayout(config_, 5).size());
  std::vector<float> theirs(size);
  std::iota(theirs.begin(), theirs.end(), 10000.0F);
  const auto once = parameter_views(ParameterLayout(config_, 5), theirs);
  auto renamed = once, twice = once;
  renamed[0].name = "lm.weight";
  twice.push_back({"lm.weight", once[0].shape, once[0].data});
  for (const auto& tensors : {once, renamed, twice}) {
    ours_.assign(size, 0.0F);
    load(write(tensors));
    EXPECT_EQ(ours_, theirs);
  }
}

TEST_F(InitialWeightsTest, AHeadThatContradictsATiedOneIsRefusedNamingBoth) {
  config_.tied_head = true;
  const auto tensors = views();  // of an untied model: its matrices differ
  expect_refused({"token_emb.weight", "lm.weight", "differ", "model.tied_head", "tied_head true"}, tensors);
}

TEST_F(InitialWeightsTest, BiasesThatTheModelDoesNotHaveAreRefusedByName) {
  config_.bias = false;
  expect_refused({"blocks.0.l1.bias", "does not belong", "bias false"}, views());
}

TEST_F(InitialWeightsTest, MasksAreAcceptedIfTheyAreTheLowerTriangle) {
  std::vector<float> mask = {1, 0, 0, 1, 1, 0, 1, 1, 1};
  auto tensors = views();
  for (const std::string head : {"0", "1"}) {
    tensors.push_back({"blocks.0.mha.heads." + head + ".tril", {3, 3}, mask.data()});
  }
  load(write(tensors));
  EXPECT_EQ(ours_, theirs_);
  ours_ = numbers(5, 0.0F);
  for (const std::size_t i : {1U, 3U}) {
    mask[i] = 1.0F - mask[i];
    expect_refused({"blocks.0.mha.heads.0.tril", "lower-triangular"}, tensors);
    mask[i] = 1.0F - mask[i];
  }
  tensors.back().name = "blocks.0.mha.heads.2.tril";
  expect_refused({"blocks.0.mha.heads.2.tril", "does not belong"}, tensors);
}

TEST_F(InitialWeightsTest, AMissingFileIsNoInput) {
  expect_error(ExitCode::no_input, {"nowhere"}, [&] { load(dir_ / "nowhere"); });
}

}  // namespace
}  // namespace chargpt
