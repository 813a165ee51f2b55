#include "chargpt/base/text_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

#include "chargpt/base/script.hpp"
#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {
namespace {

/// More different characters than Chinese texts have: that is how bytes of another encoding look.
constexpr std::size_t kManyCharacters = 12'000;

std::string code_point_name(char32_t character) {
  return fmt::format("U+{:04X}", static_cast<std::uint32_t>(character));
}

/// What is seldom meant to be in a text, and why; empty for all else. `next`: the character behind it, or 0.
std::string_view suspicion(char32_t character, char32_t next) {
  const std::string_view kind = category(character);
  const bool lead = character == 0xC2 || character == 0xC3 || character == 0xE2;
  if (lead && next >= 0x80 && next <= 0xBF) return "UTF-8 that was read as Latin-1";
  if (character == 0xFFFD) return "replacement of what could not be decoded";
  if (character == 0xFEFF) return "byte order mark inside a text";
  if (character == U'\r' && next != U'\n') return "carriage return without a line feed";
  if (character == U'\t' || character == U'\n' || character == U'\r') return "";
  if (character == 0x200C || character == 0x200D) return "";  // joiners: spelling in some scripts, and in emoji
  if (kind == "Cc") return "control character";
  if (kind == "Cf") return "invisible or direction mark";
  if (kind == "Co") return "private use";
  if (kind == "Cn") return "not assigned by Unicode";
  return "";
}

/// Counts line by line.
class LineCounts {
 public:
  void add(const std::u32string& text, std::int64_t document) {
    std::u32string_view rest = text;
    for (std::int64_t number = 1; !rest.empty(); ++number) {
      const std::u32string_view line = rest.substr(0, rest.find(U'\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      add_line(line, document, number);
    }
  }
  void write(Json& json) const {
    json["lines"] = lines_;
    json["longest_line"] = {{"characters", longest_}, {"document", document_}, {"line", line_}};
    json["duplicate_lines"] = duplicates_;
  }

 private:
  void add_line(std::u32string_view line, std::int64_t document, std::int64_t number) {
    ++lines_;
    if (line.size() > longest_) {
      longest_ = line.size();
      document_ = document;
      line_ = number;
    }
    if (line.find_first_not_of(U" \t\r") == std::u32string_view::npos) return;
    if (!seen_.insert(line).second) ++duplicates_;
  }

  std::int64_t lines_ = 0, duplicates_ = 0, document_ = 0, line_ = 0;
  std::size_t longest_ = 0;
  std::unordered_set<std::u32string_view> seen_;  // views of the documents
};

/// Suspicious characters by what they are, with the first place of each.
class Suspicions {
 public:
  void add(const std::u32string& text, std::int64_t document) {
    std::int64_t line = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view why = suspicion(text[i], i + 1 < text.size() ? text[i + 1] : U'\0');
      if (!why.empty()) note(text[i], why, document, line);
      if (text[i] == U'\n') ++line;
    }
  }
  Json rows() const {
    Json rows = Json::array();
    for (const auto& [key, found] : found_) {
      rows.push_back({{"code_point", code_point_name(key.first)},
                      {"why", key.second},
                      {"count", found.count},
                      {"document", found.document},
                      {"line", found.line}});
    }
    return rows;
  }

 private:
  struct Found {
    std::int64_t count = 0, document = 0, line = 0;
  };
  void note(char32_t character, std::string_view why, std::int64_t document, std::int64_t line) {
    Found& found = found_[{character, why}];
    if (found.count++ > 0) return;
    found.document = document;
    found.line = line;
  }

  std::map<std::pair<char32_t, std::string_view>, Found> found_;
};

std::int64_t duplicate_documents(const Documents& documents) {
  const std::unordered_set<std::u32string_view> different(documents.texts.begin(), documents.texts.end());
  return static_cast<std::int64_t>(documents.texts.size() - different.size());
}

Json scripts(const CharacterCounts& counts, const std::set<char32_t>& characters) {
  std::map<std::string_view, std::uint64_t> by_script;
  for (const char32_t character : characters) by_script[script(character)] += counts.count(character);
  Json json = Json::object();
  for (const auto& [name, count] : by_script) json[std::string(name)] = count;
  return json;
}

Json vocabulary(const CharacterCounts& counts, const std::set<char32_t>& characters) {
  Json rows = Json::array();
  for (const char32_t character : characters) {
    rows.push_back({{"char", encode_utf8(character)},
                    {"code_point", code_point_name(character)},
                    {"category", category(character)},
                    {"count", counts.count(character)}});
  }
  return rows;
}

}  // namespace

Json text_statistics(const Documents& documents) {
  CharacterCounts counts;
  counts.add(documents);
  LineCounts lines;
  Suspicions suspicions;
  std::int64_t length = 0, document = 0;
  for (const auto& text : documents.texts) {
    length += static_cast<std::int64_t>(text.size());
    lines.add(text, ++document);
    suspicions.add(text, document);
  }
  const auto characters = counts.characters();
  Json json = {{"path", documents.path},
               {"bytes", documents.bytes},
               {"hash", documents.hash},
               {"characters", length},
               {"documents", documents.texts.size()}};
  lines.write(json);
  json["duplicate_documents"] = duplicate_documents(documents);
  json["vocabulary_size"] = characters.size();
  json["suspiciously_many_characters"] = characters.size() > kManyCharacters;
  json["scripts"] = scripts(counts, characters);
  json["suspicious"] = suspicions.rows();
  json["vocabulary"] = vocabulary(counts, characters);
  return json;
}

}  // namespace chargpt
