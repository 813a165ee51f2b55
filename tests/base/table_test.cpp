#include "chargpt/base/table.hpp"

#include <gtest/gtest.h>

namespace chargpt {
namespace {

TEST(Table, LinesNameTheSingleValues) {
  const Json object = {{"a", 1}, {"rows", Json::array()}, {"loss", 0.123456789}, {"step", nullptr}, {"mode", "x"}};
  EXPECT_EQ(to_lines(object),
            "a                           1\n"
            "loss                        0.1234568\n"
            "step                        -\n"
            "mode                        x\n");
}

TEST(Table, ColumnsAreAlignedByWhatATerminalShows) {
  const Json rows = {{{"char", "a"}, {"n", 5}, {"p", 0.5}},
                     {{"char", "床"}, {"n", 12345}, {"p", nullptr}},
                     {{"char", "o\u0308"}, {"n", 1}, {"p", 0.25}}};
  EXPECT_EQ(to_table(rows),
            "  char      n     p\n"
            "  a         5   0.5\n"
            "  床    12345     -\n"
            "  o\u0308         1  0.25\n");
  EXPECT_EQ(to_table(Json::array()), "");
}

TEST(Table, OtherProgramsReadMarkdownCsvAndJsonLines) {
  const Json rows = {{{"run", "a|b"}, {"loss", 0.123456789012345}, {"step", 5}},
                     {{"run", "say \"x\", y"}, {"loss", nullptr}, {"step", 12}}};
  EXPECT_EQ(to_markdown(rows),
            "| run | loss | step |\n"
            "| --- | ---: | ---: |\n"
            "| a\\|b | 0.1234568 | 5 |\n"
            "| say \"x\", y | - | 12 |\n");
  EXPECT_EQ(to_csv(rows),
            "run,loss,step\n"
            "a|b,0.123456789012345,5\n"
            "\"say \"\"x\"\", y\",,12\n");
  EXPECT_EQ(to_json_lines(rows),
            "{\"run\":\"a|b\",\"loss\":0.123456789012345,\"step\":5}\n"
            "{\"run\":\"say \\\"x\\\", y\",\"loss\":null,\"step\":12}\n");
  for (const auto& format : {to_markdown, to_csv, to_json_lines}) EXPECT_EQ(format(Json::array()), "");
}

}  // namespace
}  // namespace chargpt
