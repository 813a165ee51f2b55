#include "chargpt/base/json.hpp"
#include "chargpt/base/jsonl.hpp"
#include "fuzz/fuzz.hpp"
#include "support/read_documents.hpp"
#include "support/strict_document.hpp"

namespace {

using namespace chargpt;

/// The document of a text of one line, read in pieces of `size` bytes; nothing where it is refused.
std::optional<std::string> by_reader(const std::string& line, std::size_t size) {
  try {
    JsonlReader reader("text", "input");
    std::string document;
    std::size_t ends = 0;
    for (std::size_t at = 0; at < line.size(); at += size) document += reader.read(line.substr(at, size)).bytes;
    ends += reader.finish().ends.size();
    return ends == 1 ? std::optional(document) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Numbers too large for a double are refused by parse_json() alone.
bool has_large_number(const std::string& line) {
  try {
    parse_json(line, {.source = "input"});
    return false;
  } catch (const Error& error) {
    return std::string(error.what()).find("number overflow") != std::string::npos;
  }
}

/// Both parsers find the same in a line, or refuse it. It begins with no byte order mark, which parse_json() drops.
void compare_parsers(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  if (find_invalid_utf8(line) < line.size() || line.starts_with("\xEF\xBB\xBF") || has_large_number(line)) return;
  for (const std::size_t size : {std::size_t{1}, std::size_t{9}, std::size_t{1000}}) {
    if (by_reader(line, size) != strict_document(line)) __builtin_trap();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(text_of(data, size));
  compare_parsers(text);
  return accept_or_refuse([&] { read_documents(file_with(text), {.format = DataFormat::jsonl}); });
}
