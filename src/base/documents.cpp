#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "chargpt/base/characters.hpp"
#include "chargpt/base/corpus.hpp"
#include "chargpt/base/data_files.hpp"
#include "chargpt/base/encoding.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/unpack.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ExitCode::bad_data, message); }

bool is_jsonl(const std::string& path) {
  std::string_view name = path;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".jsonl");
}

/// What the file is to be read as; never `automatic`.
DataFormat format_of(const std::string& path, DataFormat format) {
  if (format != DataFormat::automatic) return format;
  return is_jsonl(path) ? DataFormat::jsonl : DataFormat::text;
}

/// The place of the fault counts from the beginning of the file.
void require_utf8(std::string_view text, const std::string& path) {
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid == text.size()) return;
  const std::string encoding = likely_encoding(text);
  const std::string advice =
      encoding.empty() ? "" : fmt::format("if it is {0}, as it seems, say --set data.encoding={0}; ", encoding);
  fail(fmt::format("{}: {}; {}--set data.format=bytes takes the bytes as they are", path,
                   describe_invalid_utf8(text, invalid), advice));
}

/// The text of one JSONL line.
std::u32string parse_document(std::string_view line, const DataConfig& data, const std::string& path, int number) {
  const Json record = parse_json(line, {.source = path, .code = ExitCode::bad_data, .first_line = number});
  const std::string source = fmt::format("{}, line {}", path, number);
  if (!record.is_object()) fail(fmt::format("{}: expected an object, got a JSON {}", source, record.type_name()));
  const auto text = record.find(data.field);
  if (text == record.end()) {
    fail(fmt::format("{}: no field \"{}\"; name the field that holds the text with data.field", source, data.field));
  }
  if (!text->is_string()) {
    fail(fmt::format("{}: field \"{}\" should be a string, is a JSON {}", source, data.field, text->type_name()));
  }
  return text_characters(text->get_ref<const std::string&>(), data.normalize, source);
}

/// Calls use(line, number) with each line, without its LF.
template <typename Use>
void for_each_line(std::string_view text, Use use) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    use(line, number);
  }
}

/// Reads files one after the other into documents.
class DocumentReader {
 public:
  DocumentReader(const std::string& path, const DataConfig& data) : data_(data) { documents_.path = path; }

  void add_file(const std::string& file) {
    const DataFormat format = format_of(file, data_.format);
    std::string bytes = read_data_file(file);
    if (format != DataFormat::bytes) bytes = unpacked(std::move(bytes), file);
    documents_.bytes += bytes.size();
    hashes_.push_back(xxh3_128(bytes));
    if (format == DataFormat::bytes) {
      add_document(byte_characters(bytes));
    } else {
      add_text(to_utf8(std::move(bytes), data_.encoding, file), format, file);
    }
  }

  Documents finish() {
    if (documents_.texts.empty()) fail(documents_.path + ": " + why_empty());
    documents_.hash = hashes_.size() == 1 ? hashes_[0] : xxh3_128(fmt::format("{}", fmt::join(hashes_, "\n")));
    return std::move(documents_);
  }

 private:
  void add_document(std::u32string text) {
    if (!text.empty()) documents_.texts.push_back(std::move(text));
  }

  void add_text(std::string_view bytes, DataFormat format, const std::string& file) {
    require_utf8(bytes, file);  // all of it at once: a line could not tell where in the file it stands
    const std::string_view text = without_byte_order_mark(bytes);
    blank_lines_ = blank_lines_ || !text.empty();
    switch (format) {
      case DataFormat::jsonl:
        return add_jsonl(text, file);
      case DataFormat::lines:
        return add_lines(text, file);
      case DataFormat::automatic:
      case DataFormat::text:
      case DataFormat::bytes:
        break;
    }
    add_document(text_characters(text, data_.normalize, file));
  }

  void add_jsonl(std::string_view text, const std::string& file) {
    documents_.end_mark = true;
    for_each_line(text, [&](std::string_view line, int number) {
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
      add_document(parse_document(line, data_, file, number));
    });
  }

  void add_lines(std::string_view text, const std::string& file) {
    documents_.end_mark = true;
    for_each_line(text, [&](std::string_view line, int number) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      add_document(text_characters(line, data_.normalize, fmt::format("{}, line {}", file, number)));
    });
  }

  std::string why_empty() const {
    if (!blank_lines_) return "file is empty; give a file with text in it";
    if (data_.format == DataFormat::lines) return "every line is empty";
    return fmt::format("no document has any text in its field \"{}\"", data_.field);
  }

  const DataConfig& data_;
  Documents documents_;
  std::vector<std::string> hashes_;  // of the files
  bool blank_lines_ = false;         // there are bytes, so that only documents can be missing
};

}  // namespace

Documents read_documents(const std::string& path, const DataConfig& data) {
  DocumentReader reader(path, data);
  for (const std::string& file : data_files(path)) reader.add_file(file);
  return reader.finish();
}

}  // namespace chargpt
