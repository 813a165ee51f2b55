#include "app/support.hpp"
#include "chargpt/app/report_page.hpp"

namespace chargpt {
namespace {

class Metrics : public ProgramTest {
 protected:
  /// A run folder as a training of three steps leaves it.
  void write_run(const std::string& name, const std::string& more = "") const {
    std::filesystem::create_directories(dir_ / name);
    dir_.write(name + "/config.json", R"({"train": {"steps": 3, "batch": 4}, "model": {"context": 8}})");
    std::string text;
    for (int step = 1; step <= 3; ++step) {
      text += to_json_line({{"v", 1},
                            {"event", "step"},
                            {"step", step},
                            {"loss", 4.0 / step},
                            {"learning_rate", 0.001},
                            {"gradient_norm", 1},
                            {"seconds", 0.5}}) +
              "\n";
    }
    dir_.write(name + "/metrics.jsonl", text + more);
  }
  static constexpr const char* kEvaluation = "{\"v\":1,\"event\":\"evaluation\",\"step\":3,\"nats_per_char\":2.5}\n";
};

TEST_F(Metrics, PlotFitsTheWidthOfAPipe) {
  write_run("r", kEvaluation);
  const ProgramResult result = chargpt({"metrics", "plot", "r"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  for (const std::string part : {"loss, nats per character", "learning rate", "validation", "All 3 steps were done."}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  }
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  ProgramOptions forced;
  forced.environment = {"CLICOLOR_FORCE=1", "NO_COLOR="};
  EXPECT_NE(chargpt({"metrics", "plot", "r"}, forced).out.find("\x1b[31m"), std::string::npos);
  EXPECT_EQ(chargpt({"metrics", "plot", "r", "--no-color"}, forced).out.find('\x1b'), std::string::npos);
}

TEST_F(Metrics, PlotNamesSeveralRunsAndGivesTheirFiguresAsJson) {
  write_run("runs/a", kEvaluation);
  write_run("runs/b");
  const ProgramResult result = chargpt({"metrics", "plot", "runs"});
  EXPECT_NE(result.out.find("  A a\n  B b\n"), std::string::npos) << result.out;
  const ProgramResult figures = chargpt({"metrics", "plot", "runs", "--json", "--svg", "out.svg"});
  const Json json = parse_json(figures.out, {"stdout"});
  ASSERT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][0]["best"], 2.5);
  EXPECT_TRUE(json["runs"][1]["best"].is_null());
  EXPECT_EQ(read_file(dir_ / "out.svg").rfind("<svg ", 0), 0U);
}

TEST_F(Metrics, ExportsATable) {
  write_run("r", kEvaluation);
  const ProgramResult result = chargpt({"metrics", "export", "r", "--csv", "-"});
  EXPECT_EQ(result.out.rfind("v,event,step,loss,learning_rate,gradient_norm,seconds,nats_per_char\n1,step,1,4.0,", 0),
            0U)
      << result.out;
  EXPECT_EQ(chargpt({"metrics", "export", "r", "--csv", "t.csv"}).code, 0);
  EXPECT_EQ(read_file(dir_ / "t.csv"), result.out);
  EXPECT_EQ(chargpt({"metrics", "export", "r", "--tensorboard", "t", "--json"}).out,
            "{\"file\":\"t/events.out.tfevents.0000000001.chargpt\"}\n");
}

TEST_F(Metrics, MistakesAreTold) {
  write_run("r");
  std::filesystem::create_directory(dir_ / "empty");
  std::filesystem::create_directory(dir_ / "young");
  dir_.write("young/config.json", "{}");
  dir_.write("young/metrics.jsonl", "{\"v\":1,\"ev");
  expect_error(chargpt({"metrics", "plot", "nowhere"}), 66, {"nowhere", "no such folder"});
  expect_error(chargpt({"metrics", "plot", "empty"}), 66, {"empty is no run folder"});
  expect_error(chargpt({"metrics", "export", "r"}), 2, {"--csv", "--tensorboard"});
  expect_error(chargpt({"metrics", "export", "r", "--csv", "-", "--json"}), 2, {"--csv -", "--json"});
  expect_error(chargpt({"metrics", "export", "r", "--csv", "r/metrics.jsonl"}), 2,
               {"r/metrics.jsonl is a file of the run"});
  write_run("runs/a");
  write_run("runs/b");
  expect_error(chargpt({"metrics", "export", "runs", "--csv", "-"}), 2, {"runs holds 2 runs", "runs/a"});
  expect_error(chargpt({"metrics", "report", "r", "-o", "r/config.json"}), 2, {"r/config.json is a file of the run"});
  const std::string missing = "cannot create none/x: the folder none does not exist";
  expect_error(chargpt({"metrics", "report", "r", "-o", "none/x"}), 73, {missing});
  expect_error(chargpt({"metrics", "plot", "r", "--svg", "none/x"}), 73, {missing});
  expect_error(chargpt({"metrics", "export", "r", "--csv", "none/x"}), 73, {missing});
  expect_error(chargpt({"metrics", "plot", "r", "--svg", "empty"}), 73, {"cannot create empty: it is a folder"});
  const ProgramResult young = chargpt({"metrics", "plot", "young"});
  EXPECT_EQ(young.code, 65);
  EXPECT_NE(young.err.find("young has no step yet"), std::string::npos) << young.err;
  std::filesystem::remove(dir_ / "young/metrics.jsonl");
  expect_error(chargpt({"metrics", "plot", "young"}), 66, {"young/metrics.jsonl"});
}

TEST_F(Metrics, NeverWriteOverAFileOfARunThatIsRead) {
  write_run("runs/a", kEvaluation);
  write_run("runs/b");
  std::filesystem::create_directories(dir_ / "runs/b/checkpoints/step-00000003");
  dir_.write("runs/b/checkpoints/step-00000003/model.safetensors", "precious");
  for (const std::string name : {"metrics.jsonl", "config.json", "checkpoints/step-00000003/model.safetensors"}) {
    const std::string file = "./runs/b/" + name, before = read_file(dir_ / file);
    for (const std::vector<std::string>& words : {std::vector<std::string>{"metrics", "report", "runs", "-o", file},
                                                  {"metrics", "plot", "runs/a", "runs/b", "--svg", file},
                                                  {"metrics", "export", "runs/b", "--csv", file}}) {
      expect_error(chargpt(words), 2, {file + " is a file of the run runs/b"});
      EXPECT_EQ(read_file(dir_ / file), before) << words[1];
    }
  }
}

TEST_F(Metrics, WhatIsNoRecordIsLeftOutWithAWarning) {
  write_run("r", "what?\n" + std::string(kEvaluation) + "{\"torn");
  const ProgramResult result = chargpt({"metrics", "plot", "r"});
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(
      result.err.find("warning: r/metrics.jsonl: 1 lines that are no records are left out, the first of them line 4"),
      std::string::npos)
      << result.err;
}

TEST_F(Metrics, TheReportIsOnePageThatUntrustedTextCannotLeave) {
  write_run("r", R"({"v":1,"event":"sample","step":3,"text":"</script><!--<script> {{style}}"})"
                 "\n");
  const ProgramResult result = chargpt({"metrics", "report", "r", "-o", "x.html", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "{\"report\":\"x.html\",\"runs\":1}\n");
  const std::string page = read_file(dir_ / "x.html");
  const auto begin = page.find("id=\"report-data\">") + 17;
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_EQ(parse_json(data, {"data"})["runs"][0]["samples"][0]["text"], "</script><!--<script> {{style}}");
  EXPECT_EQ(page.find("{{data}}"), std::string::npos);
  for (const std::string outside : {"http://", "https://", "src=", "@import"}) {
    auto at = page.find(outside);
    while (at != std::string::npos && page.compare(at, 26, "http://www.w3.org/2000/svg") == 0)
      at = page.find(outside, at + 1);
    EXPECT_EQ(at, std::string::npos) << outside;
  }
}

}  // namespace
}  // namespace chargpt
