#include "chargpt/base/utf8.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    std::string again;
    for (const char32_t code_point : decode_utf8(text_of(data, size), "text")) again += encode_utf8(code_point);
    if (again != text_of(data, size)) __builtin_trap();
  });
}
