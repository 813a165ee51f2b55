#include <cmath>
#include <filesystem>

#include "app/support.hpp"

namespace chargpt {
namespace {

class Explain : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(train("runs/r", {"--set", "train.steps=2"}).code, 0); }

  ProgramResult explain(std::vector<std::string> more) {
    more.insert(more.begin(), {"explain", "--quiet"});
    return chargpt(more);
  }
};

TEST_F(Explain, ShowsTheLecturesFiveThings) {
  const ProgramResult result = explain({"--text", "the cat"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* part : {"token_emb(ids)", "(1, 7, 32)", "tril == 0", "-inf", "variance", "blocks.0.mha.heads.1",
                           "5. The next character"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out << "lacks " << part;
  }
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

TEST_F(Explain, PrintsOneJsonDocument) {
  const Json json = parse_json(explain({"--text", "the cat", "--json"}).out, {.source = "stdout"});
  EXPECT_EQ(json["characters"], Json::array({"t", "h", "e", " ", "c", "a", "t"}));
  EXPECT_EQ(json["weights"].size(), 2U);
  EXPECT_EQ(json["weights"][0].size(), 7U);
  EXPECT_TRUE(json["masked"][0][0][1].is_null());
  double sum = 0.0;
  for (const Json& row : json["next"]) sum += row["probability"].get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

TEST_F(Explain, ALongTextIsCroppedAndThatIsSaid) {
  const std::string text = plain_text().substr(0, 50);
  const ProgramResult result = explain({"--text", text, "--json"});
  EXPECT_NE(result.err.find("50"), std::string::npos) << result.err;
  const Json json = parse_json(result.out, {.source = "stdout"});
  EXPECT_EQ(json["characters"].size(), 16U);
  EXPECT_EQ(result.out, explain({"--text", text.substr(34), "--json"}).out);
}

TEST_F(Explain, WritesAPictureOfEachHead) {
  ASSERT_EQ(explain({"--text", "the cat", "--svg", "pictures/a"}).code, 0);
  for (const char* name : {"pictures/a/block0_head0.svg", "pictures/a/block0_head1.svg"}) {
    const std::string svg = read_file(dir_ / name);
    EXPECT_EQ(svg.rfind("<svg ", 0), 0U);
    EXPECT_NE(svg.find("blocks.0.mha.heads."), std::string::npos);
  }
  EXPECT_FALSE(exists("pictures/a/block0_head2.svg"));
}

TEST_F(Explain, SaysWhatItCannotExplain) {
  expect_error(explain({}), 2, {"--text"});
  expect_error(explain({"--text", "the \u00e9"}), 65, {"U+00E9"});
  expect_error(explain({"--text", "the", "--block", "1"}), 2, {"--block", "0 to 0"});
}

class Doctor : public ProgramTest {};

TEST_F(Doctor, SaysWhatThereIsAndChecksTheNumbers) {
  const ProgramResult result = chargpt({"doctor", "--json", "--numerics"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const Json json = parse_json(result.out, {.source = "stdout"});
  for (const char* name : {"chargpt", "compiler", "system", "cpus", "memory_gib", "libtorch", "instruction_set"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  EXPECT_EQ(json["devices"][0]["device"], "cpu");
  EXPECT_GT(json["checks"].size(), 5U);
  for (const Json& row : json["checks"]) EXPECT_EQ(row["result"], "ok") << row.dump();
}

TEST_F(Doctor, WithoutItsEngineSaysWhyAndFails) {
  std::filesystem::create_directories(dir_ / "alone/bin");
  std::filesystem::copy_file(CHARGPT_PROGRAM, dir_ / "alone/bin/chargpt");
  const ProgramResult result = run_program({dir_ / "alone/bin/chargpt", "doctor", "--json"}, {});
  EXPECT_EQ(result.code, 1);
  const Json json = parse_json(result.out, {.source = "stdout"});
  EXPECT_TRUE(json["libtorch"].is_null());
  EXPECT_NE(json["problem"].get<std::string>().find("libchargpt.so"), std::string::npos);
  EXPECT_TRUE(json.contains("cpus"));
}

}  // namespace
}  // namespace chargpt
