#include "chargpt/base/spool.hpp"

#include <gtest/gtest.h>

#include <string>

#include "chargpt/base/token_cache.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

std::string all_of(const Spool& spool) { return read_all(*spool.source()); }

TEST(Spool, GivesItsBytesAsOftenAsWanted) {
  const TempDir folder;
  const std::string few(1000, 'a'), many(kCachedFrom, 'b');
  for (const std::string& cache : {folder.path() + "/new", std::string("off")}) {
    Spool spool({.cache = cache}, "input");
    EXPECT_EQ(all_of(spool), "");
    spool.append(few);
    EXPECT_EQ(all_of(spool), few);
    spool.append(many);
    EXPECT_EQ(all_of(spool) == few + many, true) << cache;
    spool.append("c");
    EXPECT_EQ(spool.size(), few.size() + many.size() + 1);
    const auto one = spool.source(), other = spool.source();
    EXPECT_EQ(read_all(*one) == few + many + "c", true) << cache;
    EXPECT_EQ(read_all(*other) == few + many + "c", true) << cache;
  }
}

TEST(Spool, TakesAFolderOnlyForManyBytes) {
  const TempDir folder;
  Spool spool({.cache = folder / "new"}, "input");
  spool.append(std::string(kCachedFrom - 1, 'a'));
  EXPECT_TRUE(names_in(folder.path()).empty());
  spool.append("b");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"new"});
  EXPECT_TRUE(names_in(folder / "new").empty());
}

TEST(Spool, SaysWhereItCannotWrite) {
  const TempDir folder;
  folder.write("file", "");
  Spool spool({.cache = folder / "file"}, "input");
  expect_error(ExitCode::cannot_create, {folder / "file", "data.cache"},
               [&] { spool.append(std::string(kCachedFrom, 'a')); });
}

}  // namespace
}  // namespace chargpt
