#include "chargpt/base/machine.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "chargpt/base/version.hpp"

namespace chargpt {
namespace {

TEST(MachineFacts, AreThoseOfThisProcess) {
  const Json facts = machine_facts();
  EXPECT_EQ(facts["chargpt"], std::string(version()));
  EXPECT_EQ(facts["cpus"], std::thread::hardware_concurrency());
  EXPECT_GT(facts["memory_gib"].get<double>(), 0.1);
  EXPECT_EQ(facts["system"].get<std::string>().rfind("Linux ", 0), 0U);
}

}  // namespace
}  // namespace chargpt
