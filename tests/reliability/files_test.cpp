// What the program does with files that are damaged, hostile, old, or being replaced.

#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "chargpt/base/model_choice.hpp"
#include "reliability/support.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

class Files : public ReliabilityTest {
 protected:
  /// A run of ten steps in "r", with its two newest checkpoints.
  void make_run() { ASSERT_EQ(chargpt(words("r", 10)).code, 0); }
  std::string model(std::int64_t step) const { return RunPaths(dir_ / "r").checkpoint(step) + "/model.safetensors"; }

  /// No signal, no file-sized or larger memory, exit 78 with the file named; by every command that reads models.
  void expect_refused(const std::string& path, const std::string& part) const {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"inspect", path}, {"sample", "--model", path}}) {
      const ProgramResult result = chargpt(words);
      EXPECT_EQ(result.code, 78) << words[0] << ": " << result.err;
      EXPECT_NE(result.err.find(path), std::string::npos) << result.err;
      EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
      EXPECT_LT(result.err.size(), 1000U) << result.err;
      if (words[0] == "inspect") {
        EXPECT_LT(result.max_resident, 96 << 20);
      }
    }
  }

  std::string with_header(const std::string& name, std::uint64_t length, const std::string& rest) const {
    return dir_.write(name, std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + rest);
  }
};

TEST_F(Files, ThatAreNoModelsAreRefused) {
  expect_refused(dir_.write("empty", ""), "0 bytes");
  expect_refused(dir_.write("pickle", "\x80\x02}q."), "PyTorch archive");
  expect_refused(dir_.write("script.pt", "PK\x03\x04" + std::string(200, 'x')), "PyTorch archive");
  expect_refused("/dev/zero", "regular file");
  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  expect_refused(dir_ / "pipe", "regular file");
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 62, UINT64_MAX}) {
    expect_refused(with_header("header", length, "{}"), "");
  }
  fs::create_directory(dir_ / "folder");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"inspect", "folder"}, {"inspect", "none"}}) {
    expect_error(chargpt(words), 66, {words[1]});
  }
}

TEST_F(Files, ThatClaimMoreThanTheyHoldAreRefused) {
  std::string entries = "{\"t0\":{}";
  for (int i = 1; i < 1'000'000 && entries.size() < (8U << 20) - 100; ++i) entries += fmt::format(",\"t{}\":{{}}", i);
  entries += "}";
  expect_refused(with_header("many", entries.size(), entries), "more than 200000 values");
  const std::string name = "{\"" + std::string(1 << 20, 'n') + R"(":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
  expect_refused(with_header("name", name.size(), name + "1234"), "1048576 bytes");
  for (const std::string shape : {"4398046511105,4194304", "-1", "0.5", "1e300"}) {
    const std::string header = R"({"x":{"dtype":"F32","data_offsets":[0,4],"shape":[)" + shape + "]}}";
    expect_refused(with_header("shape", header.size(), header + "1234"), "tensor \"x\"");
  }
  std::string vocabulary = R"({"__metadata__":{"format":"chargpt-model","version":"1","config":"{}","vocabulary":"[0)";
  for (int i = 0; i < 2'000'000; ++i) vocabulary += ",0";
  vocabulary += "]\"}}";
  expect_refused(with_header("vocabulary", vocabulary.size(), vocabulary), "more than 1114112 values");
}

TEST_F(Files, WithWeightsThatAreNotFiniteAreShownAndRefused) {
  make_run();
  const ModelFile sound(model(10));
  std::vector<float> values(static_cast<std::size_t>(sound.layout().size()));
  sound.copy_values(values);
  values.back() = std::numeric_limits<float>::quiet_NaN();
  write_model_file(dir_ / "nan.safetensors", sound.config(), sound.tokenizer(), values);
  expect_refused(dir_ / "nan.safetensors", "tensor lm.bias holds a value that is not finite");
  const ProgramResult result = chargpt({"inspect", "nan.safetensors", "--json"});
  const Json report = parse_json(result.out, {.source = "stdout"});
  EXPECT_EQ(report["sound"], false);
  EXPECT_EQ(report["parameters"], sound.layout().size());
  EXPECT_EQ(report["vocabulary_size"], sound.tokenizer().size());
}

TEST_F(Files, AreInspected) {
  make_run();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "r"},
                                                {"checkpoint", "r/checkpoints/step-00000010"},
                                                {"model", "r/checkpoints/step-00000010/model.safetensors"}}) {
    const ProgramResult result = chargpt({"inspect", words[1], "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const Json report = parse_json(result.out, {.source = "stdout"});
    EXPECT_EQ(report["kind"], words[0]);
    EXPECT_EQ(report["sound"], true);
    EXPECT_EQ(report["step"], words[0] == "model" ? Json(nullptr) : Json(10));
    EXPECT_EQ(report["parameters"], ModelFile(model(10)).layout().size());
    EXPECT_EQ(report["vocabulary_size"], ModelFile(model(10)).tokenizer().size());
    EXPECT_NE(chargpt({"inspect", words[1]}).out.find(words[0]), std::string::npos);
  }
}

TEST_F(Files, OfTensorsAloneAreInspectedAsAStateDict) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  write_safetensors(dir_ / "python.safetensors", {{"lm.weight", {2, 3}, values}}, {});
  const ProgramResult result = chargpt({"inspect", "python.safetensors", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json report = parse_json(result.out, {.source = "stdout"});
  EXPECT_EQ(report["kind"], "state_dict");
  EXPECT_EQ(report["parameters"], 6);
  EXPECT_EQ(report["tensors"]["lm.weight"]["shape"], (Json{2, 3}));
  const float infinite[] = {1, std::numeric_limits<float>::infinity()};
  write_safetensors(dir_ / "infinite.safetensors", {{"lm.bias", {2}, infinite}}, {});
  const ProgramResult refused = chargpt({"inspect", "infinite.safetensors"});
  EXPECT_EQ(refused.code, 78);
  EXPECT_NE(refused.err.find("tensor lm.bias holds a value that is not finite"), std::string::npos) << refused.err;
}

TEST_F(Files, ADamagedNewestCheckpointIsPassedOverWithAWarning) {
  make_run();
  ASSERT_EQ(chargpt(words("straight", 14)).code, 0);
  std::string bytes = read_file(model(10));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  write_file_atomically(model(10), bytes);
  const ProgramResult inspected = chargpt({"inspect", "r", "--json"});
  EXPECT_EQ(inspected.code, 78);
  EXPECT_EQ(parse_json(inspected.out, {.source = "stdout"})["step"], 9);
  const ProgramResult resumed = chargpt(words("r", 14));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("warning: unsound checkpoint passed over"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming r at step 9 of 14"), std::string::npos) << resumed.err;
  expect_same_run("r", "straight", 14);
}

TEST_F(Files, ADamagedNewestCheckpointIsPassedOverOnOtherDataToo) {
  make_run();
  fs::resize_file(model(10), 100);
  dir_.write("d.txt", plain_text().substr(0, 15000));
  const ProgramResult resumed = chargpt(words("r", 11, {"--allow-data-change"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming r at step 9 of 11"), std::string::npos) << resumed.err;
}

TEST_F(Files, ACheckpointThatHasLostItsManifestIsADamagedOne) {
  make_run();
  fs::remove(RunPaths(dir_ / "r").checkpoint(10) + "/manifest.json");
  EXPECT_EQ(chargpt({"inspect", "r"}).code, 78);
  const ProgramResult resumed = chargpt(words("r", 11));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("warning: unsound checkpoint passed over"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming r at step 9 of 11"), std::string::npos) << resumed.err;
  EXPECT_EQ(chargpt({"inspect", "r"}).code, 0);
}

TEST_F(Files, ARunWhoseBestIsGoneIsUnsound) {
  make_run();
  write_best(RunPaths(dir_ / "r").checkpoints(), 3);
  const ProgramResult result = chargpt({"inspect", "r"});
  EXPECT_EQ(result.code, 78);
  EXPECT_NE(result.err.find("r has no checkpoint of step 3, which is its best"), std::string::npos) << result.err;
}

TEST_F(Files, ARunWithoutASoundCheckpointNeverStartsAnew) {
  make_run();
  for (const std::int64_t step : list_checkpoints(dir_ / "r/checkpoints")) fs::resize_file(model(step), 100);
  const ProgramResult result = chargpt(words("r", 14));
  EXPECT_EQ(result.code, 78);
  EXPECT_NE(result.err.find("none of its"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("starting"), std::string::npos) << result.err;
}

/// The files that version 1 of the formats began with.
TEST_F(Files, OfFormatVersionOneAreReadForEver) {
  fs::copy(CHARGPT_SOURCE_DIR "/tests/golden/v1", dir_ / "v1", fs::copy_options::recursive);
  const ProgramResult inspected = chargpt({"inspect", "v1/run", "--json"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_EQ(parse_json(inspected.out, {.source = "stdout"})["parameters"], 427);
  const std::vector<std::string> data = {"--set", "data.path=v1/text.txt"};
  const ProgramResult scored = chargpt({"eval", "--run", "v1/run", "--json", data[0], data[1]});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_NEAR(parse_json(scored.out, {.source = "stdout"})["nats_per_char"].get<double>(), 2.958206906, 1e-5);
  const ProgramResult resumed = chargpt({"train", "--resume", "v1/run", "--set", "train.steps=6", data[0], data[1]});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("at step 4 of 6"), std::string::npos) << resumed.err;
}

TEST_F(Files, OfAnotherVersionAreRefusedBothNamed) {
  make_run();
  std::string manifest = read_file(dir_ / "r/checkpoints/step-00000010/manifest.json");
  manifest.replace(manifest.find("\"version\":1"), 11, "\"version\":2");
  const auto seal = manifest.rfind(",\"xxh3_128\"");
  manifest = manifest.substr(0, seal) + ",\"xxh3_128\":\"" + xxh3_128(manifest.substr(0, seal)) + "\"}\n";
  dir_.write("r/checkpoints/step-00000010/manifest.json", manifest);
  expect_error(
      [&] {
        ProgramResult result = chargpt({"inspect", "r/checkpoints/step-00000010"});
        result.out.clear();  // the report
        return result;
      }(),
      78, {"manifest.json", "version", "2", "1"});
}

/// By the whole program, and by that part of it that chooses and reads.
TEST_F(Files, AreReadWholeWhileTheyAreReplaced) {
  ASSERT_EQ(chargpt(words("r", 5)).code, 0);
  ProgramResult trained;
  std::atomic<bool> ended = false;
  std::thread training([&] {
    trained = chargpt(words("r", 100'000'000, {"--set", "train.keep=1"}));
    ended = true;
  });
  // At least until it has saved: on a busy machine two hundred reads may be over before training begins.
  for (int i = 0; (i < 200 || newest_checkpoint("r") == 5) && !HasFailure() && !ended; ++i) {
    const std::string which = i % 2 == 0 ? "last" : "best";
    const ProgramResult sample = chargpt({"sample", "--run", "r", "--length", "3", "--checkpoint", which});
    EXPECT_EQ(sample.code, 0) << "sample " << i << ": " << sample.err;
    EXPECT_TRUE(open_model({dir_ / "r", "", which}).file.verified());
  }
  kill(parse_json(read_file(dir_ / "r/lock"), {.source = "lock"})["pid"].get<pid_t>(), SIGTERM);
  training.join();
  EXPECT_EQ(trained.code, 128 + SIGTERM);
  EXPECT_GT(newest_checkpoint("r"), 5);
}

TEST_F(Files, ThatAreReadAreNeverWritten) {
  make_run();
  for (const std::string name : {"metrics.jsonl", "log.txt", "config.json", "checkpoints/best"}) {
    const std::string before = read_file(dir_ / ("r/" + name));
    const ProgramResult result =
        chargpt({"train", "--config", "t.json", "--out", "r", "--overwrite", "--data", "./r/../r/" + name});
    expect_error(result, 2, {"r/" + name, "is one that the run in r writes"});
    EXPECT_EQ(read_file(dir_ / ("r/" + name)), before);
  }
  const std::string weights = fs::relative(model(10), dir_.path());
  expect_error(chargpt({"train", "--config", "t.json", "--out", "r", "--overwrite", "--init", weights}), 2,
               {weights, "is one that the run in r writes"});
  for (const std::string& vocabulary : {std::string("r"), weights}) {
    expect_error(
        chargpt({"train", "--config", "t.json", "--out", "r", "--overwrite", "--set", "data.vocabulary=" + vocabulary}),
        2, {vocabulary, "is one that the run in r writes"});
  }
  EXPECT_EQ(newest_checkpoint("r"), 10);
  expect_error(chargpt({"train", "--config", "t.json", "--out", "d.txt"}), 73, {"d.txt is a file"});
}

}  // namespace
}  // namespace chargpt
