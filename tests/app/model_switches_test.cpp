#include "app/support.hpp"

namespace chargpt {
namespace {

/// A model with every switch of its section turned, and what each command makes of it.
class ModelSwitchesTest : public ProgramTest {
 protected:
  ProgramResult train(const std::string& out, std::vector<std::string> more) const {
    for (const std::string key : {"model.embedding_dropout=true", "model.tied_head=true", "model.bias=false",
                                  "model.initialization=gpt2", "model.dropout=0.2"}) {
      more.insert(more.end(), {"--set", key});
    }
    return ProgramTest::train(out, more);
  }

  std::string weights(const std::string& run, const std::string& step) const {
    return read_file(dir_ / (run + "/checkpoints/step-" + step + "/model.safetensors"));
  }
};

TEST_F(ModelSwitchesTest, AreEvaluatedSampledInspectedAndExplained) {
  const ProgramResult trained = train("runs/r", {"--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const double last = parse_json(trained.out, {"stdout"})["last_loss"].get<double>();
  const Json scored = parse_json(chargpt({"eval", "--quiet", "--checkpoint", "last", "--json"}).out, {"stdout"});
  EXPECT_NEAR(scored["nats_per_char"].get<double>(), last, 1e-6);

  const auto sample = [&](const std::string& engine) {
    return chargpt({"sample", "--quiet", "--length", "60", "--temperature", "0", "--engine", engine}).out;
  };
  EXPECT_EQ(sample("native"), sample("torch"));
  EXPECT_NE(sample("native"), "");

  const Json inspected = parse_json(chargpt({"inspect", "runs/r", "--json"}).out, {"stdout"});
  const std::int64_t V = inspected["vocabulary_size"].get<std::int64_t>(), C = 32, T = 16;
  EXPECT_EQ(inspected["sound"], true);
  EXPECT_EQ(inspected["parameters"], (V + T) * C + 12 * C * C + 3 * C);  // one block, three LayerNorms
  EXPECT_EQ(inspected["model"]["tied_head"], true);
  EXPECT_EQ(inspected["model"]["bias"], false);

  const Json explained = parse_json(chargpt({"explain", "--quiet", "--text", "the cat", "--json"}).out, {"stdout"});
  EXPECT_EQ(explained["next"].size(), static_cast<std::size_t>(V));
  EXPECT_NE(chargpt({"explain", "--quiet", "--text", "the cat"}).out.find("lm.weight is token_emb.weight"),
            std::string::npos);
}

TEST_F(ModelSwitchesTest, AreResumedExactlyAndCannotChange) {
  ASSERT_EQ(train("straight", {"--set", "train.steps=20"}).code, 0);
  ASSERT_EQ(train("stopped", {"--set", "train.steps=10"}).code, 0);
  ASSERT_EQ(chargpt({"train", "--resume", "stopped", "--set", "train.steps=20"}).code, 0);
  EXPECT_TRUE(weights("stopped", "00000020") == weights("straight", "00000020"));
  for (const std::string key : {"tied_head=false", "bias=true", "embedding_dropout=false", "initialization=pytorch"}) {
    expect_error(chargpt({"train", "--resume", "stopped", "--set", "model." + key}), 2,
                 {"model." + key.substr(0, key.find('=')), "cannot change on a resume"});
  }
}

TEST_F(ModelSwitchesTest, AreBenchmarked) {
  const ProgramResult result = chargpt({"bench", "--config", "t.json", "--seconds", "0.1", "--json", "--set",
                                        "model.tied_head=true", "--set", "model.bias=false"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = parse_json(result.out, {"stdout"});
  EXPECT_EQ(json["parameters"], (65 + 16) * 32 + 12 * 32 * 32 + 3 * 32);
}

}  // namespace
}  // namespace chargpt
