#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const std::string& message) { throw Error(ExitCode::bad_data, message); }

bool is_jsonl(const std::string& path, DataFormat format) {
  switch (format) {
    case DataFormat::text:
      return false;
    case DataFormat::jsonl:
      return true;
    case DataFormat::automatic:
      break;
  }
  return path.ends_with(".jsonl");
}

/// The text of one JSONL line.
std::u32string parse_document(std::string_view line, const std::string& field, const std::string& path, int number) {
  const Json record = parse_json(line, {.source = path, .code = ExitCode::bad_data, .first_line = number});
  const std::string source = fmt::format("{}, line {}", path, number);
  if (!record.is_object()) fail(fmt::format("{}: expected an object, got a JSON {}", source, record.type_name()));
  const auto text = record.find(field);
  if (text == record.end()) {
    fail(fmt::format("{}: no field \"{}\"; name the field that holds the text with data.field", source, field));
  }
  if (!text->is_string()) {
    fail(fmt::format("{}: field \"{}\" should be a string, is a JSON {}", source, field, text->type_name()));
  }
  return decode_utf8(text->get_ref<const std::string&>(), source);
}

std::vector<std::u32string> parse_lines(std::string_view text, const std::string& field, const std::string& path) {
  std::vector<std::u32string> documents;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto document = parse_document(line, field, path, number);
    if (!document.empty()) documents.push_back(std::move(document));
  }
  if (documents.empty()) fail(fmt::format("{}: no document has any text in its field \"{}\"", path, field));
  return documents;
}

}  // namespace

Documents read_documents(const std::string& path, DataFormat format, const std::string& field) {
  const std::string bytes = read_file(path);
  std::string_view text = bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) fail(fmt::format("{}: file is empty; give a file with text in it", path));
  // All of a JSONL file is checked too: its lines could not tell where in the file a bad byte stands.
  std::u32string code_points = decode_utf8(bytes, path);
  if (text.size() != bytes.size()) code_points.erase(0, 1);
  Documents documents{{}, is_jsonl(path, format), path, bytes.size(), xxh3_128(bytes)};
  if (documents.end_mark) {
    documents.texts = parse_lines(text, field, path);
  } else {
    documents.texts.push_back(std::move(code_points));
  }
  return documents;
}

}  // namespace chargpt
