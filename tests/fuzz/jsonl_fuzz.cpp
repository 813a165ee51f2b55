#include "chargpt/base/json.hpp"
#include "chargpt/base/json_field.hpp"
#include "fuzz/fuzz.hpp"
#include "support/read_documents.hpp"

namespace {

using namespace chargpt;

/// What the fast parser finds in a text, the strict one finds too.
void compare_parsers(const std::string& text) {
  JsonFieldReader reader;
  const auto found = reader.string(text, "text");
  if (found && parse_json(text, {.source = "input"}).at("text").get_ref<const std::string&>() != *found) {
    __builtin_trap();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(text_of(data, size));
  compare_parsers(text);
  return accept_or_refuse([&] { read_documents(file_with(text), {.format = DataFormat::jsonl}); });
}
