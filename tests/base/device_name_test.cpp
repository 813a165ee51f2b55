#include "chargpt/base/device_name.hpp"

#include <gtest/gtest.h>

#include "chargpt/base/error.hpp"

namespace chargpt {
namespace {

TEST(DeviceName, ReadsItsFourForms) {
  EXPECT_EQ(parse_device_name("auto").kind, DeviceName::Kind::automatic);
  EXPECT_EQ(parse_device_name("cpu").kind, DeviceName::Kind::cpu);
  EXPECT_EQ(parse_device_name("cuda").index, std::nullopt);
  EXPECT_EQ(parse_device_name("cuda:12").kind, DeviceName::Kind::cuda);
  EXPECT_EQ(parse_device_name("cuda:12").index, 12);
}

TEST(DeviceName, RefusesEverythingElseNamingWhatItGot) {
  for (const std::string text :
       {"", "gpu", "CPU", "cpu:3", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "cuda: 1"}) {
    try {
      parse_device_name(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("\"" + text + "\""), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace chargpt
