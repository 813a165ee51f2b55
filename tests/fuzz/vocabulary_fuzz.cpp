#include "chargpt/base/tokenizer.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    const JsonRules rules = {.source = "vocabulary", .code = ExitCode::unusable_model};
    const Tokenizer tokenizer = Tokenizer::from_json(parse_json(text_of(data, size), rules), "vocabulary");
    if (Tokenizer::from_json(tokenizer.to_json(), "again") != tokenizer) __builtin_trap();
  });
}
