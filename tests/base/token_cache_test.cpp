#include "chargpt/base/token_cache.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/sizes_of.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

void write_tokens(const std::string& path, const Json& key) {
  TokenFileWriter writer(path, 1, 2);
  writer.append(0, std::vector<std::int32_t>{1, 2, 3});
  writer.add_document(0, 3);
  writer.finish({{"key", key}});
}

class TokenCacheTest : public testing::Test {
 protected:
  std::shared_ptr<const TokenFile> find_or_write(const TokenCache& cache) {
    return cache.find_or_write(
        [&](const std::string& path) {
          ++written_;
          write_tokens(path, cache.key());
        },
        events_);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "c")) names.push_back(entry.path().filename().string());
    return names;
  }

  TempDir folder_;
  TokenCache cache_{folder_ / "c", {{"data", 1}}};
  PreparationEvents events_{{}, [this](const std::string& line) { notices_.push_back(line); }, {}};
  std::vector<std::string> notices_;
  int written_ = 0;
};

TEST_F(TokenCacheTest, WritesOnceWhatIsWantedOften) {
  EXPECT_EQ(cache_.find({}), nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(find_or_write(cache_)->path(), cache_.path());
  EXPECT_EQ(written_, 1);
  EXPECT_EQ(names().size(), 1);
  find_or_write(TokenCache(folder_ / "c", {{"data", 2}}));
  EXPECT_EQ(written_, 2);
  EXPECT_EQ(names().size(), 2);
  EXPECT_TRUE(notices_.empty());
}

TEST_F(TokenCacheTest, ADamagedFileIsToldAndReplaced) {
  find_or_write(cache_);
  fs::resize_file(cache_.path(), 20);
  EXPECT_EQ(sizes_of(find_or_write(cache_)->documents(0)), std::vector<std::int64_t>{3});
  EXPECT_EQ(written_, 2);
  ASSERT_EQ(notices_.size(), 1);
  EXPECT_NE(notices_[0].find("prepared anew"), std::string::npos);
}

TEST_F(TokenCacheTest, AnotherKeyIsNeverTaken) {
  find_or_write(cache_);
  const TokenCache other(folder_ / "c", {{"data", 2}});
  fs::rename(cache_.path(), other.path());
  EXPECT_EQ(other.find({}), nullptr);
}

TEST_F(TokenCacheTest, AFailureLeavesNothing) {
  const auto fail = [](const std::string& path) {
    write_tokens(path, {});
    throw Error(ExitCode::io, "no more room");
  };
  expect_error(ExitCode::io, {"no more room"}, [&] { cache_.find_or_write(fail, events_); });
  EXPECT_TRUE(names().empty());
  find_or_write(cache_);
}

TEST_F(TokenCacheTest, WhatAKilledProcessLeftIsRemovedByTheNextThatWrites) {
  for (const int key : {1, 2}) {
    const pid_t child = fork();
    if (child == 0) {
      TokenCache(folder_ / "c", {{"data", key}})
          .find_or_write(
              [](const std::string& path) {
                TokenFileWriter(path, 1, 2).append(0, std::vector<std::int32_t>(3 << 20));
                raise(SIGKILL);
              },
              {});
    }
    waitpid(child, nullptr, 0);
    ASSERT_EQ(names().size(), 1) << "what this one left, not what the one before left";
  }
  EXPECT_EQ(cache_.find({}), nullptr);
  EXPECT_EQ(sizes_of(find_or_write(cache_)->documents(0)), std::vector<std::int64_t>{3});
  EXPECT_EQ(names(), std::vector<std::string>{fs::path(cache_.path()).filename().string()});
}

/// A child writes, and does not finish before the parent has said that it waits.
TEST_F(TokenCacheTest, OfTwoProcessesOneWritesAndTheOtherWaits) {
  int begun[2], waiting[2];
  ASSERT_EQ(pipe(begun), 0);
  ASSERT_EQ(pipe(waiting), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    cache_.find_or_write(
        [&](const std::string& path) {
          if (write(begun[1], "b", 1) != 1 || read(waiting[0], &byte, 1) != 1) _exit(1);
          write_tokens(path, cache_.key());
        },
        {});
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(begun[0], &byte, 1), 1);
  events_.notice = [&](const std::string& line) {
    notices_.push_back(line);
    EXPECT_EQ(write(waiting[1], "w", 1), 1);
  };
  EXPECT_EQ(sizes_of(find_or_write(cache_)->documents(0)), std::vector<std::int64_t>{3});
  EXPECT_EQ(written_, 0);
  ASSERT_EQ(notices_.size(), 1);
  EXPECT_NE(notices_[0].find("waiting for another process"), std::string::npos);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names().size(), 1);
}

TEST_F(TokenCacheTest, WaitingCanBeStopped) {
  const auto locked_by_us = [&](const std::string&) {
    PreparationEvents stopping;
    stopping.stopped = [] { return true; };
    EXPECT_THROW(cache_.find_or_write([](const std::string&) {}, stopping), Interrupted);
    throw Error(ExitCode::io, "enough");
  };
  EXPECT_THROW(cache_.find_or_write(locked_by_us, events_), Error);
}

TEST_F(TokenCacheTest, AFolderThatCannotBeMadeBringsTheWaysOut) {
  folder_.write("file", "");
  const TokenCache cache(folder_ / "file/c", {});
  expect_error(ExitCode::cannot_create, {"data.cache", "off"}, [&] { find_or_write(cache); });
}

class CacheFolderTest : public testing::Test {
 protected:
  CacheFolderTest() {
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/u", 1);
  }
  ~CacheFolderTest() override { setenv("HOME", home_.c_str(), 1); }
  const std::string home_ = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  const std::uint64_t large_ = kCachedFrom;
};

TEST_F(CacheFolderTest, IsTheUsersCacheForLargeTexts) {
  EXPECT_EQ(cache_folder({}, large_), "/home/u/.cache/chargpt/texts");
  EXPECT_EQ(cache_folder({}, large_ - 1), "");
  EXPECT_EQ(cache_folder({}, std::nullopt), "");
  setenv("XDG_CACHE_HOME", "/c", 1);
  EXPECT_EQ(cache_folder({}, large_), "/c/chargpt/texts");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder({}, large_), "/home/u/.cache/chargpt/texts");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  expect_error(ExitCode::cannot_create, {"XDG_CACHE_HOME", "data.cache"}, [&] { cache_folder({}, large_); });
}

TEST_F(CacheFolderTest, IsThatOfTheConfigForAnyText) {
  EXPECT_EQ(cache_folder({.cache = "/d"}, 1), "/d");
  EXPECT_EQ(cache_folder({.cache = "/d"}, std::nullopt), "");
  EXPECT_EQ(cache_folder({.cache = "off"}, large_), "");
}

}  // namespace
}  // namespace chargpt
