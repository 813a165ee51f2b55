#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "chargpt/base/error.hpp"

namespace chargpt {

inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
}

/// Runs `action`, which must throw an Error of this code whose message is one line and holds all of `parts`.
template <typename Action>
void expect_error(ExitCode code, std::initializer_list<std::string> parts, Action action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), code) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    expect_parts(message, parts);
  }
}

}  // namespace chargpt
