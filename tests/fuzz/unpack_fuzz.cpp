#include "chargpt/base/unpack.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] { unpacked(std::string(text_of(data, size)), "input"); });
}
