#include "chargpt/base/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <optional>

#include "chargpt/base/file.hpp"
#include "support/ended_process.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

/// Runs `body` in a child process and gives back what the child left with.
template <typename Body>
int exit_status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RunFolder, HoldsARunWhenItHasAConfig) {
  const TempDir dir;
  EXPECT_FALSE(is_run_folder(dir.path()));
  EXPECT_FALSE(is_run_folder(dir / "none"));
  dir.write("config.json", "{}");
  EXPECT_TRUE(is_run_folder(dir.path()));
  EXPECT_EQ(RunPaths("runs/a").checkpoint(2000), "runs/a/checkpoints/step-00002000");
}

TEST(RunLock, MakesTheFolderAndSaysWhoHoldsIt) {
  const TempDir dir;
  const RunLock lock(dir / "runs/a");
  const Json holder = parse_json(read_file(dir / "runs/a/lock"), {});
  EXPECT_EQ(holder["pid"], getpid());
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  EXPECT_EQ(holder["host"], host);
  EXPECT_EQ(holder["started"].get<std::string>().size(), std::string("2026-01-31T12:00:00Z").size());
}

TEST(RunLock, RefusesASecondHolderAndNamesTheFirst) {
  const TempDir dir;
  const RunLock lock(dir.path());
  expect_error(ExitCode::locked,
               {dir.path() + " is in use: process " + std::to_string(getpid()) + " on host ", " since 2", "--out"},
               [&] { RunLock second(dir.path()); });
}

TEST(RunLock, IsFreeAgainWhenItsHolderGoes) {
  const TempDir dir;
  std::optional<RunLock> lock(std::in_place, dir.path());
  std::optional<RunLock> moved(std::move(*lock));
  lock.reset();
  expect_error(ExitCode::locked, {}, [&] { RunLock second(dir.path()); });
  moved.reset();
  RunLock second(dir.path());
}

TEST(RunLock, OfAKilledProcessIsTakenOver) {
  const TempDir dir;
  ASSERT_EQ(exit_status_of_child([&] {
              const RunLock lock(dir.path());
              _exit(7);
              return 0;
            }),
            7);
  const RunLock lock(dir.path());
  EXPECT_EQ(parse_json(read_file(dir / "lock"), {})["pid"], getpid());
}

TEST(RunLock, RemovesTheHalfWrittenConfigOfAKilledProcess) {
  const TempDir dir;
  const std::string half = fmt::format(".tmp-config.json-{}", pid_of_an_ended_process());
  const std::string foreign = ".tmp-config.json-mine";
  for (const std::string& name : {half, foreign}) dir.write(name, "{");
  const RunLock lock(dir.path());
  EXPECT_FALSE(fs::exists(dir / half));
  EXPECT_TRUE(fs::exists(dir / foreign));
}

TEST(RunLock, NamesTheNewHolderThoughTheFileStillTellsOfADeadOne) {
  const TempDir dir;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const RunLock lock(dir.path());
  // The state between a takeover and the new holder's writing, which the other process meets first.
  const std::string truth = read_file(dir / "lock");
  const int dead = 999'999'999;
  dir.write("lock", R"({"pid":)" + std::to_string(dead) + "," + truth.substr(truth.find("\"host\"")));
  const pid_t child = fork();
  if (child == 0) {
    try {
      [[maybe_unused]] const auto written = write(ready[1], "x", 1);
      RunLock second(dir.path());
      _exit(1);
    } catch (const Error& error) {
      const bool named = std::string(error.what()).find(fmt::format("process {} ", getppid())) != std::string::npos;
      _exit(named ? 0 : 2);
    }
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  dir.write("lock", truth);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(RunLock, IsOfTheFileThatIsThereThoughAnotherWasOpened) {
  const TempDir dir;
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  std::optional<RunLock> lock(std::in_place, dir.path());
  dir.write("lock", "");  // so that the other process waits for the name of the holder
  const pid_t child = fork();
  if (child == 0) {
    lock.reset();
    close(done[1]);
    const RunLock second(dir.path());
    [[maybe_unused]] const auto written = write(ready[1], "x", 1);
    char byte = 0;
    [[maybe_unused]] const auto got = read(done[0], &byte, 1);  // until the other end is closed
    _exit(0);
  }
  fs::remove(dir / "lock");
  lock.reset();
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  expect_error(ExitCode::locked, {"process " + std::to_string(child)}, [&] { RunLock third(dir.path()); });
  close(done[1]);
  waitpid(child, nullptr, 0);
}

TEST(RunLock, ThatCannotBeCreatedLeavesNoFolder) {
  const TempDir dir;
  dir.write("file", "");
  expect_error(ExitCode::cannot_create, {dir / "file"}, [&] { RunLock lock(dir / "file/run"); });
  fs::create_directories(dir / "a/lock");
  expect_error(ExitCode::cannot_create, {dir / "a/lock"}, [&] { RunLock lock(dir / "a"); });
  EXPECT_TRUE(fs::exists(dir / "a")) << "it was there before";
}

TEST(MetricsLog, WritesOneVersionedRecordALine) {
  const TempDir dir;
  {
    MetricsLog log(dir / "metrics.jsonl", 0);
    log.append({{"step", 1}, {"loss", 0.1}});
    log.append({{"event", "节\n"}, {"loss", std::numeric_limits<double>::quiet_NaN()}});
  }
  EXPECT_EQ(read_file(dir / "metrics.jsonl"),
            "{\"v\":1,\"step\":1,\"loss\":0.1}\n{\"v\":1,\"event\":\"\\u8282\\n\",\"loss\":null}\n");
}

std::string after_resume(const std::string& before, std::int64_t last_step) {
  const TempDir dir;
  MetricsLog(dir.write("metrics.jsonl", before), last_step).append({{"step", last_step + 1}});
  const std::string after = read_file(dir / "metrics.jsonl");
  const std::string added = fmt::format("{{\"v\":1,\"step\":{}}}\n", last_step + 1);
  EXPECT_TRUE(after.ends_with(added)) << after;
  return after.substr(0, after.size() - added.size());
}

TEST(MetricsLog, DropsWhatLiesBehindTheStepOfTheResume) {
  const std::string one = "{\"event\":\"start\"}\n{\"step\":1}\n{\"step\":1,\"event\":\"eval\"}\n",
                    two = "{\"step\":2}\n";
  const std::string three = "{\"step\":3}\n{\"event\":\"stop\"}\n";
  EXPECT_EQ(after_resume(one + two + three, 3), one + two + three);
  EXPECT_EQ(after_resume(one + two + three, 2), one + two);
  EXPECT_EQ(after_resume(one + two + three, 1), one);
  EXPECT_EQ(after_resume(one + two + three, 0), "{\"event\":\"start\"}\n");
  EXPECT_EQ(after_resume("", 0), "");
}

TEST(MetricsLog, DropsATornLastLine) {
  const std::string good = "{\"step\":1}\n";
  for (const std::string torn : {"{\"st", "{\"step\":2}", "{\"st\n", "7\n"}) {
    EXPECT_EQ(after_resume(good + torn, 5), good) << torn;
  }
  EXPECT_EQ(after_resume(good + std::string(9, '\0'), 5), good);
}

TEST(MetricsLog, DropsWhatTellsOfAnEndThatWasNone) {
  const std::string step = "{\"event\":\"step\",\"step\":1}\n", end = "{\"event\":\"end\",\"step\":1}\n";
  EXPECT_EQ(after_resume(step + end, 1), step);
  EXPECT_EQ(after_resume(step + end, 9), step);
}

TEST(MetricsLog, KeepsALineInTheMiddleThatIsNoRecord) {
  EXPECT_EQ(after_resume("{\"step\":1}\nnote\n{\"step\":2}\n", 2), "{\"step\":1}\nnote\n{\"step\":2}\n");
}

TEST(MetricsLog, ReportsWhereItCannotBeCreated) {
  const TempDir dir;
  expect_error(ExitCode::cannot_create, {dir / "none/m"}, [&] { MetricsLog log(dir / "none/m", 0); });
}

}  // namespace
}  // namespace chargpt
