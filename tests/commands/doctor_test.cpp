#include "chargpt/commands/doctor.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <cmath>

namespace chargpt {
namespace {

const Json kFacts = {{"chargpt", "0"}, {"devices", {{{"device", "cpu"}, {"usable", true}}}}};

struct Report {
  int code;
  std::string out;
};

Report report(const std::vector<DeviceCheck>& checks, bool json) {
  spdlog::set_default_logger(spdlog::null_logger_mt("doctor"));
  testing::internal::CaptureStdout();
  const int code = report_doctor(kFacts, checks, json);
  spdlog::drop("doctor");
  return {code, testing::internal::GetCapturedStdout()};
}

const DeviceCheck kGood = {"cpu", {"logits", 1e-7, 1e-5}}, kBad = {"cuda:0", {"gradients", 1e-4, 1e-5}},
                  kNan = {"cpu", {"loss", std::nan(""), 1e-5}};

TEST(Doctor, AFailedCheckGivesExitCodeOne) {
  EXPECT_EQ(report({}, false).code, 0);
  EXPECT_EQ(report({kGood}, false).code, 0);
  EXPECT_EQ(report({kGood, kBad, kGood}, false).code, 1);
  EXPECT_EQ(report({kGood, kNan}, true).code, 1);
}

TEST(Doctor, SaysWhichCheckFailedWhere) {
  const std::string text = report({kGood, kBad}, false).out;
  const auto line = text.substr(text.find("cuda:0"));
  EXPECT_NE(line.find("gradients"), std::string::npos) << text;
  EXPECT_NE(line.find("FAILED"), std::string::npos) << text;
  EXPECT_EQ(text.substr(0, text.find("cuda:0")).find("FAILED"), std::string::npos) << text;
}

TEST(Doctor, PrintsOneJsonDocument) {
  const Json document = parse_json(report({kGood, kNan}, true).out, {.source = "stdout"});
  EXPECT_EQ(document["v"], 1);
  EXPECT_EQ(document["checks"][0]["result"], "ok");
  EXPECT_EQ(document["checks"][1]["result"], "FAILED");
  EXPECT_TRUE(document["checks"][1]["error"].is_null());
}

}  // namespace
}  // namespace chargpt
