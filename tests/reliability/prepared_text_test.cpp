// What is promised of prepared texts, held against every system call that a preparation makes: each fails once, and at
// each the process is killed once. The calls are found by tracing, not listed here.

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "reliability/support.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

class PreparedText : public ReliabilityTest {
 protected:
  std::vector<std::string> prepare_words() const {
    return {"data", "prepare", "--data", "d.txt", "--set", "data.cache=" + cache_, "--json"};
  }

  ProgramResult prepare_with_fault(std::size_t at, const std::string& kind) const {
    fs::remove_all(cache_);
    ProgramOptions options;
    options.environment = {"LD_PRELOAD=" CHARGPT_FAILING_CALLS, "FAULT_FOLDER=" + cache_,
                           "FAULT_AT=" + std::to_string(at), "FAULT_KIND=" + kind, "FAULT_TRACE=" + dir_ / "trace"};
    return chargpt(prepare_words(), options);
  }

  std::size_t number_of_calls() const {
    fs::remove(dir_ / "trace");
    EXPECT_EQ(prepare_with_fault(0, "").code, 0);
    std::ifstream trace(dir_ / "trace");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(trace), {}, '\n'));
  }

  /// Whatever happened before, the same text is now prepared, and nothing else is left.
  void expect_prepared(const std::string& what) const {
    const ProgramResult result = chargpt(prepare_words());
    ASSERT_EQ(result.code, 0) << what << result.err;
    const Json json = parse_json(result.out, {.source = "stdout"});
    EXPECT_EQ(json["parts"][0]["characters"], 18000 + (std::ssize(plain_text()) - 20000) * 9 / 10) << what;
    EXPECT_EQ(std::distance(fs::directory_iterator(cache_), {}), 1) << what;
    EXPECT_EQ(chargpt({"data", "check", "--data", "d.txt", "--set", "data.cache=" + cache_}).code, 0) << what;
  }

  const std::string cache_ = dir_ / "cache";
};

TEST_F(PreparedText, SurvivesAFailureOfEverySystemCall) {
  const std::size_t calls = number_of_calls();
  ASSERT_GT(calls, 5);
  for (std::size_t at = 1; at <= calls; ++at) {
    for (const int error : {EIO, ENOSPC}) {
      const std::string what = "call " + std::to_string(at) + " with " + std::to_string(error) + '\n';
      const ProgramResult result = prepare_with_fault(at, std::to_string(error));
      EXPECT_TRUE(result.code == 0 || result.code == 73 || result.code == 74) << what << result.code << result.err;
      EXPECT_EQ(result.err.rfind("error: ", 0) == 0, result.code != 0) << what << result.err;
      expect_prepared(what);
    }
  }
}

TEST_F(PreparedText, SurvivesAKillAtEverySystemCall) {
  const std::size_t calls = number_of_calls();
  for (std::size_t at = 1; at <= calls; ++at) {
    EXPECT_EQ(prepare_with_fault(at, "kill").code, 137);
    expect_prepared("killed at call " + std::to_string(at));
  }
}

TEST_F(PreparedText, IsWholeWhenWritesTakeAByteAtATime) {
  EXPECT_EQ(prepare_with_fault(1, "short").code, 0);
  expect_prepared("short writes");
}

/// `size` bytes of text, of which no two stretches are the same. Returns how often `between` stands in it.
std::uint64_t write_text(const std::string& path, std::uint64_t size, const std::string& between) {
  std::ofstream file(path, std::ios::binary);
  std::string piece;
  std::uint64_t i = 0;
  for (std::uint64_t written = 0; written < size; written += piece.size()) {
    for (piece.clear(); piece.size() < 1 << 20; ++i) piece += std::to_string(i * 2654435761U) + " and so on" + between;
    file << piece;
  }
  return i;
}

constexpr std::int64_t kMegabyte = 1'000'000;

TEST_F(PreparedText, TakesLittleMemoryWhateverItsSize) {
  write_text(dir_ / "d.txt", 80 * kMegabyte, "\n");
  for (const std::string format : {"text", "lines"}) {
    auto words = prepare_words();
    words.insert(words.end(), {"--set", "data.format=" + format, "--set", "run.threads=2"});
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(result.max_resident, 150 * kMegabyte) << format;
  }
}

TEST_F(PreparedText, TakesAFewBytesOfMemoryForADocument) {
  constexpr std::int64_t kDocuments = 8'000'000;
  std::string lines;
  for (std::int64_t d = 0; d < kDocuments; ++d) lines += d % 3 == 0 ? "abc\n" : "a\n";
  dir_.write("d.txt", lines);
  auto words = prepare_words();
  words.insert(words.end(), {"--set", "data.format=lines", "--set", "run.threads=1"});
  const ProgramResult result = chargpt(words);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(result.max_resident, 40 * kMegabyte + 8 * kDocuments);
  const auto trained = chargpt({"train", "--config", "t.json", "--data", "d.txt", "--set", "data.cache=" + cache_,
                                "--set", "data.format=lines", "--out", "r", "--set", "train.steps=1"});
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST_F(PreparedText, TakesLittleMemoryForALineOfJsonlAndForWhatIsNormalised) {
  std::string korean;  // in parts, without a space
  while (korean.size() < 80 * kMegabyte) korean += "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB";
  dir_.write("d.txt", korean);
  std::ofstream(dir_ / "d.jsonl", std::ios::binary)
      << R"({"text": "short"})"
      << "\n{\"id\": \"" << std::string(80 * kMegabyte, 'a') << R"(", "text": ")" << korean << "\"}\n";
  for (const std::string name : {"d.txt", "d.jsonl"}) {
    const ProgramResult result =
        chargpt({"data", "prepare", "--data", name, "--set", "data.normalize=nfc", "--set", "run.threads=2", "--set",
                 "data.cache=" + cache_, "--set", "data.val_fraction=0"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(result.max_resident, 150 * kMegabyte) << name;
  }
}

TEST_F(PreparedText, TakesLittleMemoryFromStandardInputOrPacked) {
  std::string text;
  while (text.size() < 80 * kMegabyte) text += "a short line that comes again\n";
  dir_.write("d.txt", text);
  ASSERT_EQ(std::system(("gzip -c " + dir_ / "d.txt" + " > " + dir_ / "d.gz").c_str()), 0);
  ASSERT_LT(fs::file_size(dir_ / "d.gz"), 16 << 20);
  fs::remove_all(cache_);
  const auto take = [&](std::vector<std::string> words, const std::string& data) {
    words.insert(words.end(), {"--data", data, "--config", "t.json", "--set", "data.val_fraction=0.0001"});
    const ProgramResult result = shell("export XDG_CACHE_HOME=\"$PWD/home\"; exec \"$0\" \"$@\" < d.txt", words);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(result.max_resident, 260 * kMegabyte) << words[0] << ' ' << data;  // LibTorch among them
    EXPECT_TRUE(fs::is_empty(dir_ / "home/chargpt/texts"));
  };
  for (const std::string data : {"-", "d.gz"}) {
    take({"data", "check"}, data);
    take({"train", "--out", "r", "--overwrite", "--set", "train.steps=1"}, data);
  }
}

TEST_F(PreparedText, NeedsNoFolderForWhatIsNotKept) {
  write_text(dir_ / "d.txt", 20 * kMegabyte, "\n");
  dir_.write("file", "");
  for (const std::string where : {"unset HOME XDG_CACHE_HOME", "export XDG_CACHE_HOME=\"$PWD/file\""}) {
    const auto check = shell(where + "; exec \"$0\" \"$@\" < d.txt", {"data", "check", "--data", "-"});
    EXPECT_EQ(check.code, 0) << check.err;
  }
  const auto named = shell("exec \"$0\" \"$@\" < d.txt", {"data", "check", "--data", "-", "--set", "data.cache=file"});
  EXPECT_EQ(named.code, 73) << named.err;
  EXPECT_NE(named.err.find("set data.cache to off"), std::string::npos) << named.err;
  const auto full =
      shell("ulimit -f 1000; exec \"$0\" \"$@\" < d.txt", {"data", "check", "--data", "-", "--set", "data.cache=c"});
  EXPECT_EQ(full.code, 74) << full.err;
  EXPECT_NE(full.err.find("which data.cache names"), std::string::npos) << full.err;
}

TEST_F(PreparedText, StandardInputThatDoesNotFitIsRefused) {
  const auto stats = shell("head -c 200000000 /dev/zero | tr '\\0' a | (ulimit -v 400000; exec \"$0\" \"$@\")",
                           {"data", "stats", "--data", "-", "--set", "data.cache=off"});
  EXPECT_EQ(stats.code, 77) << stats.err;
  EXPECT_NE(stats.err.find("the bytes of standard input"), std::string::npos) << stats.err;
}

TEST_F(PreparedText, ThatTakesLongTellsHowItGoesAndStopsAtASignal) {
  write_text(dir_ / "d.txt", 400 * kMegabyte, "\n");
  ProgramOptions options;
  std::string first;
  options.on_stderr = [&](pid_t pid, const std::string& err) {
    if (first.empty()) kill(pid, SIGTERM);
    first = err;
  };
  auto words = prepare_words();
  words.insert(words.end(), {"--set", "run.threads=1"});
  const ProgramResult result = chargpt(words, options);
  EXPECT_EQ(result.code, 143);
  EXPECT_EQ(first.rfind("preparing d.txt: ", 0), 0) << first;
  EXPECT_TRUE(fs::is_empty(cache_));
}

/// Texts of gigabytes, on the disk: run by ./dev soak.
class LargeText : public ReliabilityTest {
 protected:
  ProgramResult prepare(const std::string& format) const {
    return chargpt({"data", "prepare", "--data", "big", "--set", "data.cache=cache", "--set", "data.format=" + format,
                    "--set", "data.val_fraction=0"});
  }
};

TEST_F(LargeText, OfThreeGigabytesTrainsAcrossAnEpochInSixHundredMegabytes) {
  write_text(dir_ / "big", 3000 * kMegabyte, "\n");
  const ProgramResult result =
      shell("ulimit -d 600000; exec \"$0\" \"$@\"",  // kilobytes: its own memory, stacks of its threads included
            {"train",
             "--config",
             "t.json",
             "--data",
             "big",
             "--out",
             "r",
             "--set",
             "data.cache=cache",
             "--set",
             "data.stride=20000000",
             "--set",
             "data.windows=shuffled",
             "--set",
             "train.steps=0",
             "--set",
             "train.epochs=2",
             "--set",
             "data.val_fraction=0.000001",
             "--threads",
             "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(result.max_resident, 600 * kMegabyte);
  std::fprintf(stderr, "%ld MB resident at most\n", static_cast<long>(result.max_resident / kMegabyte));
}

TEST_F(LargeText, OfOneLineOfAGigabyteIsPrepared) {
  write_text(dir_ / "big", 1000 * kMegabyte, " ");
  for (const char* format : {"text", "lines", "bytes"}) {
    const ProgramResult result = prepare(format);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(result.max_resident, 300 * kMegabyte) << format;
    std::fprintf(stderr, "%s: %ld MB resident at most\n%s", format, static_cast<long>(result.max_resident / kMegabyte),
                 result.out.c_str());
  }
}

}  // namespace
}  // namespace chargpt
