#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "chargpt/base/checkpoint_folder.hpp"

namespace chargpt {
namespace {

constexpr char kFormat[] = "chargpt-checkpoint";
constexpr std::int64_t kVersion = 1;

/// JSON has no NaN: a manifest with one could be written but not read.
double finite(double value, std::string_view what) {
  if (std::isfinite(value)) return value;
  throw Error(ExitCode::internal, fmt::format("a checkpoint with {} {}", what, value));
}

Json best_object(const Manifest& manifest) {
  if (!manifest.best_step || !manifest.best_loss) return nullptr;
  return {{"step", *manifest.best_step}, {"loss", finite(*manifest.best_loss, "best loss")}};
}

Json data_object(const Manifest& manifest) {
  Json object = {{"bytes", manifest.data.bytes}, {"hash", manifest.data.hash}};
  if (const auto& parts = manifest.parts) {
    object["parts"] = {{"train", parts->train}, {"val", parts->val}, {"test", parts->test}};
  }
  return object;
}

Json files_object(const std::map<std::string, WrittenFile>& files) {
  Json object = Json::object();
  for (const auto& [name, file] : files) object[name] = {{"size", file.size}, {"xxh3_128", file.checksum}};
  return object;
}

/// Reads members of one JSON object strictly; messages name the source and the key.
class Members {
 public:
  Members(const Json& object, std::string source) : object_(object), source_(std::move(source)) {
    if (!object.is_object()) throw Error(ExitCode::unusable_model, source_ + ": a JSON object is wanted");
  }

  const Json& any(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(key, "it is missing");
    return *found;
  }

  const Json& object(const std::string& key) const {
    if (!any(key).is_object()) refuse(key, "a JSON object is wanted");
    return any(key);
  }

  Members members(const std::string& key) const { return {object(key), source_ + ", " + key}; }

  std::int64_t count(const std::string& key) const {
    const Json& value = any(key);
    // Above 2^63-1 the conversion gives a negative number.
    if (value.is_number_integer() && value.get<std::int64_t>() >= 0) return value.get<std::int64_t>();
    refuse(key, "a whole number from 0 to 2^63-1 is wanted");
  }

  double real(const std::string& key) const {
    if (!any(key).is_number()) refuse(key, "a number is wanted");
    return any(key).get<double>();
  }

  std::string text(const std::string& key) const {
    if (!any(key).is_string()) refuse(key, "a string is wanted");
    return any(key).get<std::string>();
  }

  bool boolean(const std::string& key) const {
    if (!any(key).is_boolean()) refuse(key, "true or false is wanted");
    return any(key).get<bool>();
  }

  std::string checksum(const std::string& key) const {
    std::string value = text(key);
    if (value.size() == 32 && value.find_first_not_of("0123456789abcdef") == std::string::npos) return value;
    refuse(key, "32 lower-case hexadecimal digits are wanted");
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    throw Error(ExitCode::unusable_model, fmt::format("{}: {}: {}", source_, key, why));
  }

 private:
  const Json& object_;
  std::string source_;
};

void check_version(const Members& members) {
  if (members.text("format") != kFormat) members.refuse("format", fmt::format("\"{}\" is wanted", kFormat));
  const std::int64_t version = members.count("version");
  if (version == kVersion) return;
  members.refuse("version", fmt::format("{} is not known, {} is; use the program that wrote it", version, kVersion));
}

/// The files lie in the folder itself: a manifest can't point elsewhere.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

std::map<std::string, WrittenFile> read_files(const Members& manifest) {
  const Members files = manifest.members("files");
  std::map<std::string, WrittenFile> result;
  for (const auto& [name, value] : manifest.object("files").get_ref<const Json::object_t&>()) {
    if (!is_plain_name(name)) manifest.refuse("files", "a name in it is no plain file name");
    const Members file = files.members(name);
    result[name] = {static_cast<std::uint64_t>(file.count("size")), file.checksum("xxh3_128")};
  }
  return result;
}

}  // namespace

Json Manifest::to_json() const {
  return {{"format", kFormat},
          {"version", kVersion},
          {"step", step},
          {"files", files_object(files)},
          {"config", config},
          {"data", data_object(*this)},
          {"build", build},
          {"best", best_object(*this)},
          {"evaluations_since_best", evaluations_since_best},
          {"smoothed_loss", finite(smoothed_loss, "smoothed loss")},
          {"acts_pending", acts_pending}};
}

Manifest Manifest::from_json(const Json& json, const std::string& source) {
  const Members members(json, source);
  check_version(members);
  Manifest manifest;
  manifest.step = members.count("step");
  manifest.files = read_files(members);
  manifest.config = members.object("config");
  const Members fingerprint = members.members("data");
  manifest.data = {static_cast<std::uint64_t>(fingerprint.count("bytes")), fingerprint.checksum("hash")};
  if (members.object("data").contains("parts")) {
    const Members parts = fingerprint.members("parts");
    manifest.parts = {parts.count("train"), parts.count("val"), parts.count("test")};
  }
  manifest.build = members.object("build");
  if (!members.any("best").is_null()) {
    manifest.best_step = members.members("best").count("step");
    manifest.best_loss = members.members("best").real("loss");
  }
  if (json.contains("evaluations_since_best"))
    manifest.evaluations_since_best = members.count("evaluations_since_best");
  manifest.smoothed_loss = members.real("smoothed_loss");
  manifest.acts_pending = members.boolean("acts_pending");
  return manifest;
}

}  // namespace chargpt
