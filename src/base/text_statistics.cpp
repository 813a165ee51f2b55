#include "chargpt/base/text_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "chargpt/base/character_names.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/hash_set.hpp"
#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/base/vocabulary.hpp"

namespace chargpt {
namespace {

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

std::string_view bytes_of(std::u32string_view characters) {
  return {reinterpret_cast<const char*>(characters.data()), characters.size() * sizeof(char32_t)};
}

/// Counts what stands there already, by hashes. Equal hashes are taken for equal pieces.
class Duplicates {
 public:
  explicit Duplicates(std::size_t remembered) : remembered_(remembered) {}

  /// number: of the piece, from 1 on.
  void add(std::uint64_t hash, std::int64_t number) {
    if (among_) return;
    if (seen_.size() == remembered_ && !seen_.contains(hash)) {
      among_ = number - 1;
    } else if (!seen_.insert(hash)) {
      ++count_;
    }
  }
  void write(const std::string& name, Json& json) const {
    json[name] = count_;
    if (among_) json[name + "_among"] = *among_;
  }

 private:
  std::size_t remembered_;
  HashSet seen_;
  std::int64_t count_ = 0;
  std::optional<std::int64_t> among_;  // the first pieces, where they are not all
};

/// Counts line by line.
class LineCounts {
 public:
  explicit LineCounts(std::size_t remembered) : duplicates_(remembered) {}

  void add(std::u32string_view characters, bool ended) {
    while (!characters.empty()) {
      const std::u32string_view line = characters.substr(0, characters.find(U'\n'));
      read(line);
      if (line.size() < characters.size()) finish_line();
      characters.remove_prefix(std::min(characters.size(), line.size() + 1));
    }
    if (!ended) return;
    if (size_ > 0) finish_line();
    ++document_;
    number_ = 0;
  }
  void write(Json& json) const {
    json["lines"] = lines_;
    json["longest_line"] = {
        {"characters", longest_.characters}, {"document", longest_.document}, {"line", longest_.line}};
    duplicates_.write("duplicate_lines", json);
  }

 private:
  struct Longest {
    std::uint64_t characters = 0;
    std::int64_t document = 0, line = 0;
  };

  void read(std::u32string_view characters) {
    size_ += characters.size();
    blank_ = blank_ && characters.find_first_not_of(U" \t\r") == std::u32string_view::npos;
    hash_.update(bytes_of(characters));
  }

  void finish_line() {
    ++lines_;
    ++number_;
    if (size_ > longest_.characters) longest_ = {size_, document_, number_};
    if (!blank_) duplicates_.add(hash_.digest_64(), lines_);
    size_ = 0;
    blank_ = true;
    hash_.start_anew();
  }

  std::int64_t lines_ = 0;
  std::int64_t document_ = 1;  // the one that is read
  std::int64_t number_ = 0;    // of the last line in it
  Longest longest_;
  Duplicates duplicates_;
  std::uint64_t size_ = 0;  // of the line that is read
  bool blank_ = true;
  Xxh3Hasher hash_;
};

/// Counts documents.
class DocumentCounts {
 public:
  explicit DocumentCounts(std::size_t remembered) : duplicates_(remembered) {}

  void add(std::u32string_view characters, bool ended) {
    hash_.update(bytes_of(characters));
    if (!ended) return;
    duplicates_.add(hash_.digest_64(), ++count_);
    hash_.start_anew();
  }
  std::int64_t count() const { return count_; }
  void write(Json& json) const { duplicates_.write("duplicate_documents", json); }

 private:
  std::int64_t count_ = 0;
  Duplicates duplicates_;
  Xxh3Hasher hash_;
};

/// Suspicious characters by what they are, with the first place of each.
class Suspicions {
 public:
  void add(std::u32string_view characters, bool ended) {
    for (const char32_t character : characters) {
      if (held_) look_at(*held_, character);
      held_ = character;
    }
    if (!ended) return;
    if (held_) look_at(*held_, U'\0');
    held_.reset();
    ++document_;
    line_ = 1;
  }
  Json rows() const {
    Json rows = Json::array();
    for (const auto& [key, found] : found_) {
      rows.push_back({{"code_point", code_point_name(key.first)},
                      {"name", character_name(key.first)},
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
  void look_at(char32_t character, char32_t next) {
    if (character >= U' ' && character <= U'~') return;  // most of many texts, and quickly told
    const std::string_view why = suspicion(character, next);
    if (!why.empty()) note(character, why);
    if (character == U'\n') ++line_;
  }
  void note(char32_t character, std::string_view why) {
    Found& found = found_[{character, why}];
    if (found.count++ > 0) return;
    found.document = document_;
    found.line = line_;
  }

  std::map<std::pair<char32_t, std::string_view>, Found> found_;
  std::optional<char32_t> held_;  // the last character, until what follows it is known
  std::int64_t document_ = 1, line_ = 1;
};

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
                    {"name", character_name(character)},
                    {"category", category(character)},
                    {"count", counts.count(character)}});
  }
  return rows;
}

}  // namespace

Json text_statistics(TextReader& text, ThreadPool& pool, const TextReader::Progress& progress, std::size_t remembered) {
  std::vector<CharacterCounts> counts(static_cast<std::size_t>(pool.threads()));
  LineCounts lines(remembered);
  DocumentCounts documents(remembered);
  Suspicions suspicions;
  BlockWork work;
  work.at_once = [&](const TextBlock& block, std::size_t, std::size_t worker) { counts[worker].add(block.characters); };
  work.in_order = [&](const TextBlock& block, std::size_t) {
    for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
      lines.add(characters, ended);
      documents.add(characters, ended);
      suspicions.add(characters, ended);
    });
  };
  const TextSummary summary = text.read(pool, work, progress);
  for (std::size_t worker = 1; worker < counts.size(); ++worker) counts[0].add(counts[worker]);
  const auto characters = counts[0].characters();
  Json json = {{"path", text.path()},
               {"bytes", summary.bytes},
               {"hash", summary.hash},
               {"characters", counts[0].total()},
               {"documents", documents.count()}};
  lines.write(json);
  documents.write(json);
  json["vocabulary_size"] = characters.size();
  json["suspiciously_many_characters"] = characters.size() > kSuspiciouslyManyCharacters;
  json["scripts"] = scripts(counts[0], characters);
  json["suspicious"] = suspicions.rows();
  json["vocabulary"] = vocabulary(counts[0], characters);
  return json;
}

}  // namespace chargpt
