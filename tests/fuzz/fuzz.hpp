#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chargpt/base/file.hpp"
#include "support/temp_dir.hpp"

/// What libFuzzer and driver.cpp call with one input. It must come back: with 0, whatever the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace chargpt {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Reads an input; a refusal with a short message is as good as a result. Anything else that is thrown is a fault.
template <typename Read>
int accept_or_refuse(Read read) {
  try {
    read();
  } catch (const Error& error) {
    if (std::string_view(error.what()).size() > 2000) __builtin_trap();
  }
  return 0;
}

/// The path of a file, the same for all inputs, that holds this one. It is made anew each time, since emptying one that
/// has contents makes some file systems wait for the disk.
inline std::string file_with(std::string_view contents) {
  static const TempDir folder;
  std::filesystem::remove(folder / "input");
  return folder.write("input", std::string(contents));
}

}  // namespace chargpt
