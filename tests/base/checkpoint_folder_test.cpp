#include "chargpt/base/checkpoint_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>

#include "chargpt/base/file.hpp"
#include "support/damage.hpp"
#include "support/ended_process.hpp"
#include "support/some_manifest.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace {
bool swapping_is_supported = true;
}

/// Stands before the C library's: some network file systems can't swap two names.
extern "C" int renameat2(int from_dir, const char* from, int to_dir, const char* to, unsigned int flags) noexcept {
  if (swapping_is_supported) return static_cast<int>(syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
  errno = EINVAL;
  return -1;
}

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// Commits a checkpoint of one tensor with this value.
void save(const std::string& dir, std::int64_t step, float value) {
  CheckpointWriter writer(dir, step);
  Manifest manifest = some_manifest(step);
  for (const std::string file : {"model.safetensors", "optimizer.safetensors"}) {
    manifest.files[file] = write_safetensors(writer.path(file), {{"x", {1}, &value}}, {{"file", file}});
  }
  writer.commit(manifest);
}

std::string folder(const TempDir& dir, std::int64_t step) { return dir / checkpoint_name(step); }

float value_in(const std::string& checkpoint) {
  verify_checkpoint(checkpoint);
  const SafetensorsFile file(checkpoint + "/model.safetensors");
  float value = 0;
  std::memcpy(&value, file.bytes(*file.find("x")).data(), sizeof(value));
  return value;
}

std::vector<std::string> sorted_names_in(const std::string& path) {
  auto names = names_in(path);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(CheckpointWriter, CommitsAFolderThatIsThenSound) {
  const TempDir dir;
  save(dir / "checkpoints", 123, 1.5F);
  const std::string path = dir / "checkpoints/step-00000123";
  EXPECT_EQ(sorted_names_in(dir / "checkpoints"), std::vector<std::string>{"step-00000123"});
  EXPECT_EQ(sorted_names_in(path),
            (std::vector<std::string>{"manifest.json", "model.safetensors", "optimizer.safetensors"}));
  EXPECT_EQ(verify_checkpoint(path).step, 123);
  EXPECT_EQ(value_in(path), 1.5F);
}

TEST(CheckpointWriter, ShowsNothingBeforeTheCommitAndNothingWithoutIt) {
  const TempDir dir;
  {
    CheckpointWriter writer(dir.path(), 1);
    FileWriter(writer.path("model.safetensors")).close();
    EXPECT_TRUE(list_checkpoints(dir.path()).empty());
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(CheckpointWriter, ReplacesACheckpointOfTheSameStep) {
  for (const bool supported : {true, false}) {
    swapping_is_supported = supported;
    const TempDir dir;
    save(dir.path(), 1, 1.5F);
    save(dir.path(), 1, 2.5F);
    EXPECT_EQ(value_in(folder(dir, 1)), 2.5F);
    EXPECT_EQ(sorted_names_in(dir.path()), std::vector<std::string>{"step-00000001"});
  }
  swapping_is_supported = true;
}

TEST(CheckpointWriter, ThatFailsLeavesTheOldCheckpointAlone) {
  const TempDir dir;
  save(dir.path(), 1, 1.5F);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (rlim_t bytes = 0; bytes < 400; bytes += 8) {  // the files have 192 bytes and more, the manifest more than 400
    const rlimit limit{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    expect_error(ExitCode::io, {"too large"}, [&] { save(dir.path(), 1, 2.5F); });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(value_in(folder(dir, 1)), 1.5F);
    EXPECT_EQ(sorted_names_in(dir.path()), std::vector<std::string>{"step-00000001"});
  }
  std::signal(SIGXFSZ, SIG_DFL);
}

TEST(CheckpointWriter, StartsAfreshOverALeftoverWithItsName) {
  const TempDir dir;
  const std::string leftover = dir / (".tmp-step-00000001-" + std::to_string(getpid()));
  fs::create_directories(leftover + "/old");
  save(dir.path(), 1, 1.5F);
  EXPECT_EQ(sorted_names_in(folder(dir, 1)).size(), 3u);
}

TEST(CheckpointWriter, CannotWriteWhereAFileIs) {
  const TempDir dir;
  dir.write("checkpoints", "");
  expect_error(ExitCode::cannot_create, {dir / "checkpoints"}, [&] { CheckpointWriter(dir / "checkpoints", 1); });
}

TEST(ListCheckpoints, GivesStepsInOrderAndIgnoresForeignNames) {
  const TempDir dir;
  EXPECT_TRUE(list_checkpoints(dir / "none").empty());
  for (const std::int64_t step : {30, 4, 123456789, 0}) save(dir.path(), step, 1);
  for (const std::string name : {"step-1", "step-0000000005", "step-+0000006", "step-0000000x", "Step-00000007",
                                 "step-00000008.bak", ".tmp-step-00000009-1", "step--0000001", "other"}) {
    fs::create_directories(dir / name);
    dir.write(name + "/manifest.json", "{}");
  }
  fs::create_directories(dir / "step-00000010");  // it has lost its manifest
  dir.write("step-00000011", "a file");
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{0, 4, 10, 30, 123456789}));
}

void expect_unsound(const std::string& checkpoint, const std::string& part) {
  expect_error(ExitCode::unusable_model, {checkpoint, part}, [&] { verify_checkpoint(checkpoint); });
}

TEST(VerifyCheckpoint, RefusesFilesOfAnotherCheckpoint) {
  const TempDir dir;
  save(dir.path(), 1, 1);
  save(dir.path(), 2, 2);
  for (const std::string name : {"/model.safetensors", "/optimizer.safetensors"}) {
    fs::rename(folder(dir, 1) + name, dir / "swap");
    fs::rename(folder(dir, 2) + name, folder(dir, 1) + name);
    expect_unsound(folder(dir, 1), name);
    fs::rename(folder(dir, 1) + name, folder(dir, 2) + name);
    fs::rename(dir / "swap", folder(dir, 1) + name);
    EXPECT_EQ(verify_checkpoint(folder(dir, 1)).step, 1);
  }
}

TEST(VerifyCheckpoint, RefusesAWholeCheckpointInThePlaceOfAnother) {
  const TempDir dir;
  save(dir.path(), 1, 1);
  fs::copy(folder(dir, 1), folder(dir, 2), fs::copy_options::recursive);
  expect_unsound(folder(dir, 2), "it is of step 1, but stands in the folder of step 2");
  fs::rename(folder(dir, 2), dir / "mine");
  EXPECT_EQ(verify_checkpoint(dir / "mine").step, 1);
}

TEST(VerifyCheckpoint, RefusesEveryDamageToEveryFile) {
  const TempDir dir;
  save(dir.path(), 1, 1);
  for (const std::string& name : sorted_names_in(folder(dir, 1))) {
    const std::string path = folder(dir, 1) + "/" + name;
    const std::string sound = read_file(path);
    with_every_damage(path, sound, [&](const std::string& what) {
      SCOPED_TRACE(what);
      expect_unsound(folder(dir, 1), name);
    });
    dir.write("step-00000001/" + name, sound + "\n");
    expect_unsound(folder(dir, 1), name);
    dir.write("step-00000001/" + name, sound);
  }
  EXPECT_EQ(verify_checkpoint(folder(dir, 1)).step, 1);
}

TEST(VerifyCheckpoint, SaysWhichSizeIsWanted) {
  const TempDir dir;
  save(dir.path(), 1, 1);
  const std::string path = folder(dir, 1) + "/model.safetensors";
  const auto size = fs::file_size(path);
  fs::resize_file(path, size - 1);
  expect_unsound(folder(dir, 1), fmt::format("it has {} bytes, the manifest says {}", size - 1, size));
}

TEST(VerifyCheckpoint, RefusesWhatIsNoRegularFileAtOnce) {
  const TempDir dir;
  save(dir.path(), 1, 1);
  for (const std::string name : {"/model.safetensors", "/manifest.json"}) {
    fs::remove(folder(dir, 1) + name);
    expect_unsound(folder(dir, 1), name);
    ASSERT_EQ(mkfifo((folder(dir, 1) + name).c_str(), 0600), 0);
    expect_unsound(folder(dir, 1), name);
    fs::remove(folder(dir, 1) + name);
    fs::create_symlink("/dev/zero", folder(dir, 1) + name);
    expect_unsound(folder(dir, 1), name);
  }
  expect_error(ExitCode::no_input, {dir / "none"}, [&] { verify_checkpoint(dir / "none"); });
}

TEST(PruneCheckpoints, KeepsTheNewestTheBestAndWhatIsNotOurs) {
  const TempDir dir;
  for (const std::int64_t step : {1, 2, 3, 4, 5}) save(dir.path(), step, 1);
  const std::string dead = std::to_string(pid_of_an_ended_process()), own = std::to_string(getpid());
  const std::string other = std::to_string(getppid());
  const std::vector<std::string> foreign = {
      "step-00000000", ".tmp-step-00000001-" + other, ".tmp-step-00000001-", ".tmp-other-" + dead, "step-1",
      "notes.txt"};
  for (const std::string& name : foreign) fs::create_directories(dir / name);
  for (const std::string& name : {".tmp-step-00000001-" + dead, ".old-step-00000001-" + dead, ".tmp-best-" + dead,
                                  ".tmp-step-00000001-" + own, ".old-step-00000002-" + own}) {
    fs::create_directories(dir / (name + "/inner"));
  }
  prune_checkpoints(dir.path(), 2, 1);
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{0, 1, 4, 5}));
  for (const std::string& name : foreign) EXPECT_TRUE(fs::exists(dir / name)) << name;
  EXPECT_EQ(sorted_names_in(dir.path()).size(), 3 + foreign.size());
}

TEST(PruneCheckpoints, CountsTheBestAmongTheNewest) {
  const TempDir dir;
  for (const std::int64_t step : {1, 2, 3}) save(dir.path(), step, 1);
  prune_checkpoints(dir.path(), 2, 3);
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{2, 3}));
  prune_checkpoints(dir.path(), 7, std::nullopt);
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{2, 3}));
}

TEST(PruneCheckpoints, CountsOnlySoundOnes) {
  const TempDir dir;
  for (const std::int64_t step : {1, 2, 3, 4}) save(dir.path(), step, 1);
  fs::resize_file(folder(dir, 3) + "/model.safetensors", 5);
  prune_checkpoints(dir.path(), 2, std::nullopt);
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{2, 3, 4}));
  fs::resize_file(folder(dir, 4) + "/manifest.json", 5);
  prune_checkpoints(dir.path(), 1, std::nullopt);
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{2, 3, 4})) << "2 is the newest good one";
  fs::resize_file(folder(dir, 2) + "/manifest.json", 5);
  prune_checkpoints(dir.path(), 1, std::nullopt);
  EXPECT_EQ(list_checkpoints(dir.path()), (std::vector<std::int64_t>{2, 3, 4})) << "without a good one nothing goes";
}

TEST(PruneCheckpoints, GoesByStepsWhateverTheFilesTimesSay) {
  const TempDir dir;
  for (const std::int64_t step : {1, 2, 3}) {
    save(dir.path(), step, 1);
    fs::last_write_time(folder(dir, step), fs::file_time_type() - std::chrono::hours(step));
  }
  prune_checkpoints(dir.path(), 1, std::nullopt);
  EXPECT_EQ(list_checkpoints(dir.path()), std::vector<std::int64_t>{3});
}

TEST(PruneCheckpoints, RefusesToKeepNone) {
  const TempDir dir;
  save(dir.path(), 1, 1);
  expect_error(ExitCode::usage, {"at least 1"}, [&] { prune_checkpoints(dir.path(), 0, std::nullopt); });
  EXPECT_EQ(list_checkpoints(dir.path()).size(), 1u);
}

TEST(BestFile, NamesTheStepThatWasWrittenLast) {
  const TempDir dir;
  EXPECT_FALSE(read_best(dir.path()));
  write_best(dir.path(), 7);
  write_best(dir.path(), 123456789);
  EXPECT_EQ(read_best(dir.path()), 123456789);
  EXPECT_EQ(read_file(dir / "best"), "{\"step\":123456789}\n");
  EXPECT_EQ(sorted_names_in(dir.path()), std::vector<std::string>{"best"});
}

TEST(BestFile, ThatIsDamagedIsRefused) {
  const TempDir dir;
  for (const std::string text : {"", "7", "{}", "{\"step\":-1}", "{\"step\":1.5}", "{\"step\":\"1\"}", "{\"step\":1",
                                 "{\"step\":9223372036854775808}", "{\"step\":1,\"x\":2}"}) {
    dir.write("best", text);
    expect_error(ExitCode::unusable_model, {dir / "best"}, [&] { read_best(dir.path()); });
  }
  fs::remove(dir / "best");
  fs::create_directories(dir / "best");
  expect_error(ExitCode::unusable_model, {dir / "best"}, [&] { read_best(dir.path()); });
}

}  // namespace
}  // namespace chargpt
