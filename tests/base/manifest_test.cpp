#include <gtest/gtest.h>

#include <limits>

#include "chargpt/base/checkpoint_folder.hpp"
#include "support/some_manifest.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

TEST(Manifest, SurvivesWritingAndReadingExactly) {
  Manifest manifest = some_manifest(123);
  manifest.files["model.safetensors"] = {99, kHash};
  manifest.best_step = 100;
  manifest.best_loss = 0.1 + 0.2;
  manifest.parts = {90, 10, 0};
  const Manifest read = Manifest::from_json(parse_json(to_json_line(manifest.to_json()), {}), "m");
  EXPECT_EQ(read.step, 123);
  EXPECT_EQ(read.files.at("model.safetensors").size, 99u);
  EXPECT_EQ(read.files.at("model.safetensors").checksum, kHash);
  EXPECT_EQ(read.config, manifest.config);
  EXPECT_EQ(read.data, manifest.data);
  EXPECT_EQ(read.parts, manifest.parts);
  EXPECT_EQ(read.build, manifest.build);
  EXPECT_EQ(read.best_step, 100);
  EXPECT_EQ(read.best_loss, 0.1 + 0.2);
  EXPECT_EQ(read.smoothed_loss, 1.0 / 3);
  EXPECT_TRUE(read.acts_pending);
  EXPECT_EQ(read.to_json(), manifest.to_json());
}

TEST(Manifest, NeedNotTellHowTheDataWasSplit) {
  Json json = some_manifest(1).to_json();
  EXPECT_FALSE(Manifest::from_json(json, "m").parts);
  json["data"]["parts"] = {{"train", 1}, {"val", 2}};
  expect_error(ExitCode::unusable_model, {"m, data, parts", "test"}, [&] { Manifest::from_json(json, "m"); });
}

TEST(Manifest, HasNoBestBeforeTheFirstEvaluation) {
  const Json json = some_manifest(1).to_json();
  EXPECT_TRUE(json["best"].is_null());
  EXPECT_FALSE(Manifest::from_json(json, "m").best_step);
  EXPECT_FALSE(Manifest::from_json(json, "m").best_loss);
}

TEST(Manifest, IsReadStrictlyAndNamesTheKey) {
  const auto refuse = [](const std::string& pointer, const Json& value, const std::string& part) {
    Json json = some_manifest(1).to_json();
    json["files"]["a"] = {{"size", 1}, {"xxh3_128", kHash}};
    json["best"] = {{"step", 1}, {"loss", 0.5}};
    json[Json::json_pointer(pointer)] = value;
    expect_error(ExitCode::unusable_model, {"m.json", part}, [&] { Manifest::from_json(json, "m.json"); });
  };
  refuse("/format", "other", "format: \"chargpt-checkpoint\" is wanted");
  refuse("/version", 2, "version: 2 is not known");
  refuse("/step", -1, "step: a whole number");
  refuse("/step", 1.0, "step: a whole number");
  refuse("/step", 9223372036854775808U, "step: a whole number");
  refuse("/files", 3, "files: a JSON object");
  refuse("/files/a", 3, "files: a: a JSON object");
  refuse("/files/a/size", "1", "files, a: size: a whole number");
  refuse("/files/a/xxh3_128", kHash + "0", "xxh3_128: 32 lower-case");
  refuse("/files/a/xxh3_128", std::string(32, 'A'), "xxh3_128: 32 lower-case");
  refuse("/config", nullptr, "config: a JSON object");
  refuse("/data/hash", 3, "data: hash: a string");
  refuse("/build", Json::array(), "build: a JSON object");
  refuse("/best/loss", nullptr, "best: loss: a number");
  refuse("/smoothed_loss", "1", "smoothed_loss: a number");
  expect_error(ExitCode::unusable_model, {"m.json", "object"}, [&] { Manifest::from_json(Json::array(), "m.json"); });
  const Json complete = some_manifest(1).to_json();
  for (const auto& item : complete.items()) {
    if (item.key() == "evaluations_since_best") continue;  // older manifests have none
    Json json = complete;
    json.erase(item.key());
    expect_error(ExitCode::unusable_model, {item.key() + ": it is missing"}, [&] { Manifest::from_json(json, "m"); });
  }
}

TEST(Manifest, NamesOnlyFilesOfItsOwnFolder) {
  for (const std::string name : {"../model", "/etc/passwd", "a/b", "..", ".", ""}) {
    Json json = some_manifest(1).to_json();
    json["files"][name] = {{"size", 1}, {"xxh3_128", kHash}};
    expect_error(ExitCode::unusable_model, {"plain file name"}, [&] { Manifest::from_json(json, "m"); });
  }
}

TEST(Manifest, IsNeverWrittenWithANumberThatJsonLacks) {
  Manifest manifest = some_manifest(1);
  manifest.smoothed_loss = std::numeric_limits<double>::quiet_NaN();
  expect_error(ExitCode::internal, {"smoothed loss"}, [&] { manifest.to_json(); });
}

}  // namespace
}  // namespace chargpt
