#include "chargpt/base/model_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/file.hpp"
#include "support/damage.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

const Tokenizer kLetters({U'a', U'b', U'"', U'😀'}, true);

ModelConfig small_config() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 4;
  config.context = 3;
  config.dropout = 0.25;
  return config;
}

/// A sound file's content, to be spoilt in one place.
class ModelFileTest : public testing::Test {
 protected:
  ModelFileTest() { std::iota(values_.begin(), values_.end(), 0.5F); }

  std::string sound() {
    write_model_file(dir_ / "sound.safetensors", small_config(), kLetters, values_);
    return dir_ / "sound.safetensors";
  }

  std::map<std::string, std::string> metadata() const { return metadata_of(small_config()); }
  static std::map<std::string, std::string> metadata_of(const ModelConfig& model) {
    Config config;
    config.model = model;
    return {{"format", "chargpt-model"},
            {"version", "1"},
            {"config", to_json_line(to_json(config).at("model"))},
            {"vocabulary", to_json_line(kLetters.to_json())}};
  }
  std::vector<TensorView> views() const { return parameter_views(layout_, values_); }

  std::string write(const std::vector<TensorView>& tensors, const std::map<std::string, std::string>& data) const {
    write_safetensors(dir_ / "spoilt.safetensors", tensors, data);
    return dir_ / "spoilt.safetensors";
  }
  std::string write_with(const std::string& key, const std::string& value) const {
    auto data = metadata();
    data[key] = value;
    return write(views(), data);
  }

  /// Every fault has a short message on one line that names the file.
  static void expect_refused(const std::string& path, const std::string& part) {
    expect_error(ExitCode::unusable_model, {path, part}, [&] {
      try {
        const ModelFile file(path);
        std::vector<float> values(static_cast<std::size_t>(file.layout().size()));
        file.copy_values(values);
      } catch (const Error& error) {
        EXPECT_LT(std::strlen(error.what()), 600U) << error.what();
        throw;
      }
    });
  }

  /// A model whose head is tied.
  struct Tied {
    Tied() {
      config.tied_head = true;
      values.resize(static_cast<std::size_t>(ParameterLayout(config, kLetters.size()).size()));
      std::iota(values.begin(), values.end(), 0.5F);
      metadata = metadata_of(config);
    }
    std::vector<TensorView> views() const { return parameter_views(ParameterLayout(config, kLetters.size()), values); }

    ModelConfig config = small_config();
    std::vector<float> values;
    std::map<std::string, std::string> metadata;
  };

  TempDir dir_;
  ParameterLayout layout_{small_config(), kLetters.size()};
  std::vector<float> values_ = std::vector<float>(static_cast<std::size_t>(layout_.size()));
};

TEST_F(ModelFileTest, GivesBackConfigVocabularyAndWeights) {
  const ModelFile file(sound());
  EXPECT_TRUE(file.verified());
  EXPECT_EQ(file.config().layers, 2);
  EXPECT_EQ(file.config().dropout, 0.25);
  EXPECT_EQ(file.tokenizer(), kLetters);
  std::vector<float> values(values_.size());
  file.copy_values(values);
  EXPECT_EQ(values, values_);
}

TEST_F(ModelFileTest, OfAnotherWriterIsReadInAnyOrder) {
  auto tensors = views();
  std::reverse(tensors.begin(), tensors.end());
  std::vector<float> values(values_.size());
  ModelFile(write(tensors, metadata())).copy_values(values);
  EXPECT_EQ(values, values_);
}

TEST_F(ModelFileTest, WithATiedHeadHoldsTheMatrixOnce) {
  const Tied tied;
  write_model_file(dir_ / "tied", tied.config, kLetters, tied.values);
  const SafetensorsFile tensors(dir_ / "tied");
  EXPECT_NE(tensors.find("token_emb.weight"), nullptr);
  EXPECT_EQ(tensors.find("lm.weight"), nullptr);
  const ModelFile file(dir_ / "tied");
  EXPECT_TRUE(file.config().tied_head);
  std::vector<float> values(tied.values.size());
  file.copy_values(values);
  EXPECT_EQ(values, tied.values);
}

TEST_F(ModelFileTest, WithATiedHeadMayHoldTheMatrixUnderEitherNameOrTwice) {
  const Tied tied;
  auto renamed = tied.views();
  renamed[0].name = "lm.weight";
  auto twice = tied.views();
  twice.push_back({"lm.weight", twice[0].shape, twice[0].data});
  for (const auto& tensors : {renamed, twice}) {
    std::vector<float> values(tied.values.size());
    ModelFile(write(tensors, tied.metadata)).copy_values(values);
    EXPECT_EQ(values, tied.values);
  }
}

TEST_F(ModelFileTest, WithATiedHeadIsRefusedIfBothMatricesDifferOrNoneIsThere) {
  const Tied tied;
  std::vector<float> other(tied.values.begin(), tied.values.begin() + 5 * 4);
  other.back() += 1.0F;
  auto differing = tied.views();
  differing.push_back({"lm.weight", {5, 4}, other.data()});
  expect_refused(write(differing, tied.metadata), "tensors token_emb.weight and lm.weight differ");
  differing.back().shape = {4, 5};
  expect_refused(write(differing, tied.metadata), "tensor lm.weight is F32 of shape [4, 5]");
  auto none = tied.views();
  none.erase(none.begin());
  expect_refused(write(none, tied.metadata), "tensor token_emb.weight is missing");
}

TEST_F(ModelFileTest, HasAllTensorsAndNoOther) {
  for (std::size_t i = 0; i < views().size(); ++i) {
    auto tensors = views();
    const std::string name = tensors[i].name;
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    expect_refused(write(tensors, metadata()), "tensor " + name + " is missing");
  }
  auto tensors = views();
  const float one = 1.0F;
  tensors.push_back({"stranger", {1}, &one});
  expect_refused(write(tensors, metadata()), "stranger");
}

TEST_F(ModelFileTest, HasTensorsOfTheirShapes) {
  for (std::size_t i = 0; i < views().size(); ++i) {
    auto tensors = views();
    tensors[i].shape.push_back(1);
    expect_refused(write(tensors, metadata()), "tensor " + tensors[i].name + " is F32 of shape");
  }
  auto tensors = views();
  std::swap(tensors[0].shape[0], tensors[0].shape[1]);
  expect_refused(write(tensors, metadata()), "token_emb.weight is F32 of shape [4, 5], wanted F32 of shape [5, 4]");
}

TEST_F(ModelFileTest, HasOnlyFiniteWeights) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (const auto& entry : layout_.entries()) {
      const auto last = static_cast<std::size_t>(entry.offset + entry.count - 1);
      const float before = std::exchange(values_[last], bad);
      expect_refused(sound(), "tensor " + entry.name + " holds a value that is not finite");
      values_[last] = before;
    }
  }
}

TEST_F(ModelFileTest, HasMetadataOfOurs) {
  for (const std::string key : {"format", "version", "config"}) {
    auto data = metadata();
    data.erase(key);
    expect_refused(write(views(), data), "no \"" + key + "\" in its metadata");
  }
  expect_refused(write_with("format", "other"), "its format is \"other\", wanted \"chargpt-model\"");
  expect_refused(write_with("format", std::string(1 << 20, 'x')), "its format is");
  expect_refused(write_with("version", "2"), "its version is \"2\", this program reads \"1\"");
}

TEST_F(ModelFileTest, OfBytesHasNoVocabularyInItsMetadata) {
  const Tokenizer bytes = Tokenizer::bytes();
  std::vector<float> values(static_cast<std::size_t>(ParameterLayout(small_config(), bytes.size()).size()), 0.5F);
  const std::string path = dir_ / "bytes.safetensors";
  write_model_file(path, small_config(), bytes, values);
  EXPECT_FALSE(SafetensorsFile(path).metadata().contains("vocabulary"));
  EXPECT_EQ(ModelFile(path).tokenizer(), bytes);
}

TEST_F(ModelFileTest, KeepsTheNormalisationOfItsText) {
  const Tokenizer normalised({U'a', U'b', U'"', U'😀'}, true, false, Normalization::nfc);
  const std::string path = dir_ / "nfc.safetensors";
  write_model_file(path, small_config(), normalised, values_);
  EXPECT_EQ(ModelFile(path).tokenizer(), normalised);
  EXPECT_EQ(ModelFile(sound()).tokenizer().normalization(), Normalization::none);
  expect_refused(write_with("normalization", "nfx"), "its normalization is \"nfx\", wanted none, nfc or nfkc");
}

TEST_F(ModelFileTest, AVocabularyOf200000SymbolsWorks) {
  std::set<char32_t> code_points;
  for (char32_t c = 0x10000; code_points.size() < 200'000; ++c) code_points.insert(code_points.end(), c);
  const Tokenizer large(code_points, true);
  std::vector<float> values(static_cast<std::size_t>(ParameterLayout(small_config(), large.size()).size()));
  const std::string path = dir_ / "large.safetensors";
  write_model_file(path, small_config(), large, values);
  EXPECT_EQ(ModelFile(path).tokenizer(), large);
}

TEST_F(ModelFileTest, HasAConfigWithinItsRanges) {
  expect_refused(write_with("config", "{"), "metadata \"config\"");
  expect_refused(write_with("config", "[]"), "config");
  expect_refused(write_with("config", R"({"layers": 0})"), "model.layers");
  expect_refused(write_with("config", R"({"layers": 1e300})"), "model.layers");
  expect_refused(write_with("config", R"({"width": 5, "heads": 2})"), "model.width");
  expect_refused(write_with("config", R"({"strange": 1})"), "strange");
  expect_refused(write_with("config", "{\"" + std::string(1 << 20, 'k') + "\": 1}"), "model");
  expect_refused(write_with("config", std::string(100'000, '[')), "nested deeper");
}

TEST_F(ModelFileTest, ClaimsNoMoreThanItHolds) {
  expect_refused(write_with("config", R"({"layers": 1024, "width": 65536, "context": 4096})"), "parameters");
  expect_refused(write_with("config", R"({"layers": 1024, "width": 1, "heads": 1, "context": 16384})"), "tensor");
}

TEST_F(ModelFileTest, HasAVocabularyThatFitsItsWeights) {
  expect_refused(write_with("vocabulary", "[\"a\", \"b\"]"), "token_emb.weight");
  expect_refused(write_with("vocabulary", "[\"a\", \"a\"]"), "stands twice");
  expect_refused(write_with("vocabulary", "[\"a\", \"ab\"]"), "2 characters");
  expect_refused(write_with("vocabulary", "[\"a\", \"\"]"), "0 characters");
  expect_refused(write_with("vocabulary", R"(["a", "\ud800"])"), "vocabulary");
  expect_refused(write_with("vocabulary", "[\"" + std::string(1 << 20, 'a') + "\"]"), "1048576 characters");
  expect_refused(write_with("vocabulary", "[[" + std::string(1000, '7') + "]]"), "vocabulary");
  expect_refused(write_with("vocabulary", "{}"), "not an array of strings");
  expect_refused(write_with("vocabulary", "[]"), "is empty");
}

TEST_F(ModelFileTest, IsRefusedWhenCutAtAnyLength) {
  const std::string path = sound();
  const auto size = std::filesystem::file_size(path);
  for (auto length = size; length-- > 0;) {
    std::filesystem::resize_file(path, length);
    expect_refused(path, "");
  }
}

/// Every bit of the smallest model there is; of a larger one as many as the time allows, below.
TEST_F(ModelFileTest, IsRefusedWithAnyBitFlippedAndWhenCutAtAnyLength) {
  ModelConfig config;
  config.layers = config.heads = config.width = config.context = 1;
  const std::vector<float> values(static_cast<std::size_t>(ParameterLayout(config, kLetters.size()).size()), 0.5F);
  const std::string path = dir_ / "smallest.safetensors";
  write_model_file(path, config, kLetters, values);
  with_every_damage(path, read_file(path), [&](const std::string& what) {
    SCOPED_TRACE(what);
    expect_refused(path, "");
  });
  EXPECT_TRUE(ModelFile(path).verified());
}

TEST_F(ModelFileTest, IsRefusedWithAnyOfAThousandBitsFlipped) {
  const std::string path = sound();
  const std::string contents = read_file(path);
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t bit = random() % (8 * contents.size());
    SCOPED_TRACE(fmt::format("bit {}", bit));
    std::string damaged = contents;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_refused(dir_.write("damaged", damaged), "");
  }
}

}  // namespace
}  // namespace chargpt
