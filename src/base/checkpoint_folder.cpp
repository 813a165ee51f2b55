#include "chargpt/base/checkpoint_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "chargpt/base/file.hpp"
#include "descriptor.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

constexpr char kManifestName[] = "manifest.json";
constexpr std::uint64_t kMaxManifestBytes = 4 << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::unusable_model, fmt::format("{}: {}", path, why));
}

std::optional<std::int64_t> number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> step_of(const std::string& name) {
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto step = number(std::string_view(name).substr(kPrefix.size()));
  return step && *step >= 0 && checkpoint_name(*step) == name ? step : std::nullopt;
}

void move(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  throw Error(ExitCode::io, fmt::format("cannot rename {} to {}: {}", from, to, reason(errno)));
}

/// Puts `fresh` where `target` is, in one step: no moment is without one of the two. `fresh` is the old one then.
/// False where the file system has no such operation.
bool swap_names(const std::string& fresh, const std::string& target) {
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) return false;
  throw Error(ExitCode::io, fmt::format("cannot replace {}: {}", target, reason(errno)));
}

/// The same in two steps.
void move_over(const std::string& fresh, const std::string& target, const std::string& aside) {
  remove_tree(aside);
  move(target, aside);
  try {
    move(fresh, target);
  } catch (const Error&) {
    move(aside, target);
    throw;
  }
}

void make_new_folder(const std::string& path) {
  remove_tree(path);  // of an ended process that had our id
  if (::mkdir(path.c_str(), 0777) == 0) return;
  throw Error(creation_fault(errno), fmt::format("cannot create folder {}: {}", path, reason(errno)));
}

// The last member of a manifest's text is the checksum of what stands before it.
constexpr std::string_view kSealBegin = ",\"xxh3_128\":\"";
constexpr std::string_view kSealEnd = "\"}\n";
constexpr std::size_t kSealBytes = kSealBegin.size() + 32 + kSealEnd.size();

std::string sealed(const Json& manifest) {
  std::string text = to_json_line(manifest);
  text.pop_back();  // the closing brace
  return fmt::format("{}{}{}{}", text, kSealBegin, xxh3_128(text), kSealEnd);
}

void check_seal(std::string_view text, const std::string& path) {
  const std::string_view content = text.substr(0, text.size() - std::min(text.size(), kSealBytes));
  if (text.substr(content.size()) != fmt::format("{}{}{}", kSealBegin, xxh3_128(content), kSealEnd)) {
    refuse(path, "it is damaged: its checksum does not fit");
  }
}

/// Refuses what is neither a regular file nor readable in a bounded time and memory.
std::string read_part(const std::string& path, std::uint64_t limit) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) refuse(path, "it is missing or no regular file");
  return read_file(path, limit, ExitCode::unusable_model);
}

void verify_file(const std::string& path, const WrittenFile& expected) {
  const std::string contents = read_part(path, expected.size);
  if (contents.size() != expected.size) {
    refuse(path, fmt::format("it has {} bytes, the manifest says {}", contents.size(), expected.size));
  }
  const std::string found = xxh3_128(contents);
  if (found != expected.checksum) {
    refuse(path, fmt::format("its checksum is {}, the manifest says {}", found, expected.checksum));
  }
}

bool is_sound(const std::string& checkpoint_dir) {
  try {
    verify_checkpoint(checkpoint_dir);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Steps of the checkpoints older than the newest `keep` sound ones; none when there are fewer of these.
std::vector<std::int64_t> older_than_newest_sound(const std::string& checkpoints_dir, std::int64_t keep) {
  std::vector<std::int64_t> steps = list_checkpoints(checkpoints_dir);
  if (static_cast<std::int64_t>(steps.size()) <= keep) return {};
  while (!steps.empty() && keep > 0) {
    if (is_sound(checkpoints_dir + "/" + checkpoint_name(steps.back()))) --keep;
    steps.pop_back();
  }
  return steps;
}

}  // namespace

std::vector<std::string> optimizer_state(const OptimizerConfig& optimizer) {
  switch (optimizer.name) {
    case OptimizerName::adamw:
      return {"first_moment", "second_moment"};
    case OptimizerName::sgd:
      return optimizer.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }
  return {};
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("step-{:08}", step); }

CheckpointWriter::CheckpointWriter(std::string checkpoints_dir, std::int64_t step)
    : checkpoints_dir_(std::move(checkpoints_dir)),
      temporary_(checkpoints_dir_ + "/" + hidden_name("tmp", checkpoint_name(step))),
      step_(step) {
  make_folders(checkpoints_dir_);
  make_new_folder(temporary_);
}

CheckpointWriter::~CheckpointWriter() {
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

std::string CheckpointWriter::path(const std::string& file) const { return temporary_ + "/" + file; }

void CheckpointWriter::commit(const Manifest& manifest) {
  FileWriter writer(path(kManifestName));
  writer.write(sealed(manifest.to_json()));
  writer.close();
  sync_folder(temporary_);
  const std::string target = checkpoints_dir_ + "/" + checkpoint_name(step_);
  const std::string aside = checkpoints_dir_ + "/" + hidden_name("old", checkpoint_name(step_));
  std::error_code ignored;
  if (!fs::exists(target, ignored)) {
    move(temporary_, target);
  } else if (!swap_names(temporary_, target)) {
    move_over(temporary_, target, aside);
  }
  sync_folder(checkpoints_dir_);
  remove_tree(temporary_);
  remove_tree(aside);
}

std::vector<std::int64_t> list_checkpoints(const std::string& checkpoints_dir) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(checkpoints_dir)) {
    const auto step = step_of(name);
    std::error_code ignored;
    if (step && fs::is_directory(checkpoints_dir + "/" + name, ignored)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Manifest read_manifest(const std::string& checkpoint_dir) {
  std::error_code ignored;
  if (!fs::exists(checkpoint_dir, ignored)) {
    throw Error(ExitCode::no_input, fmt::format("there is no checkpoint {}", checkpoint_dir));
  }
  const std::string path = checkpoint_dir + "/" + kManifestName;
  const std::string text = read_part(path, kMaxManifestBytes);
  check_seal(text, path);
  Manifest manifest = Manifest::from_json(parse_json(text, {path, ExitCode::unusable_model}), path);
  const auto named = step_of(fs::path(checkpoint_dir).filename().string());
  if (named && *named != manifest.step) {
    refuse(path, fmt::format("it is of step {}, but stands in the folder of step {}", manifest.step, *named));
  }
  return manifest;
}

Manifest verify_checkpoint(const std::string& checkpoint_dir) {
  Manifest manifest = read_manifest(checkpoint_dir);
  for (const auto& [name, expected] : manifest.files) verify_file(checkpoint_dir + "/" + name, expected);
  return manifest;
}

void verify_checkpoint_file(const std::string& checkpoint_dir, const std::string& name) {
  const Manifest manifest = read_manifest(checkpoint_dir);
  const auto expected = manifest.files.find(name);
  if (expected == manifest.files.end()) refuse(checkpoint_dir, fmt::format("its manifest names no {}", name));
  verify_file(checkpoint_dir + "/" + name, expected->second);
}

std::optional<Manifest> newest_sound_checkpoint(const std::string& checkpoints_dir,
                                                const std::function<void(const std::string&)>& warn) {
  auto steps = list_checkpoints(checkpoints_dir);
  if (steps.empty()) return std::nullopt;
  std::reverse(steps.begin(), steps.end());
  for (const std::int64_t step : steps) {
    try {
      return verify_checkpoint(checkpoints_dir + "/" + checkpoint_name(step));
    } catch (const Error& error) {
      warn(fmt::format("unsound checkpoint passed over: {}", error.what()));
    }
  }
  refuse(checkpoints_dir, fmt::format("none of its {} checkpoints is sound; --overwrite starts anew", steps.size()));
}

void prune_checkpoints(const std::string& checkpoints_dir, std::int64_t keep, std::optional<std::int64_t> best) {
  if (keep < 1) throw Error(ExitCode::usage, fmt::format("keep {} checkpoints: at least 1 is wanted", keep));
  remove_leftovers(checkpoints_dir, {".tmp-step-", ".old-step-", ".tmp-best-"});
  for (const std::int64_t step : older_than_newest_sound(checkpoints_dir, keep)) {
    const std::string name = checkpoint_name(step), folder = checkpoints_dir + "/" + name;
    std::error_code ignored;
    const bool ours = fs::exists(folder + "/" + kManifestName, ignored);
    if (step == best || !ours) continue;
    // Renamed first, so that one that is half removed is never taken for a checkpoint.
    const std::string aside = checkpoints_dir + "/" + hidden_name("old", name);
    move(folder, aside);
    remove_tree(aside);
  }
}

void write_best(const std::string& checkpoints_dir, std::int64_t step) {
  write_file_atomically(checkpoints_dir + "/best", to_json_line(Json{{"step", step}}) + "\n");
}

std::optional<std::int64_t> read_best(const std::string& checkpoints_dir) {
  const std::string path = checkpoints_dir + "/best";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const Json json =
      parse_json(read_part(path, 4096), {.source = path, .code = ExitCode::unusable_model, .max_depth = 4});
  const bool valid = json.is_object() && json.size() == 1 && json.contains("step") &&
                     json.at("step").is_number_unsigned() && json.at("step").get<std::uint64_t>() <= INT64_MAX;
  if (!valid) refuse(path, "{\"step\": NUMBER} is wanted");
  return json.at("step").get<std::int64_t>();
}

}  // namespace chargpt
