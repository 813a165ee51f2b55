#pragma once

#include <map>
#include <string>
#include <vector>

#include "chargpt/base/output_file.hpp"
#include "chargpt/base/scored_text.hpp"
#include "chargpt/commands/request.hpp"
#include "chargpt/engine/evaluator.hpp"

namespace chargpt {

/// eval --per-char: a JSON line about each scored character, in the order of scoring, and then about each unknown one
/// that is charged. Without close() a file at `path` stays as it was. Errors: cannot_create, io; see OutputFile.
class PerCharFile {
 public:
  PerCharFile(const std::string& path, const ScoredText& text, const Tokenizer& tokenizer);
  void add(const CharScore& score);
  void add(const UnknownCharacter& character, double nats);
  void close();
  /// For an evaluation that was stopped: whoever reads a pipe gets the lines so far, no file is written. Returns
  /// whether there is such a reader.
  bool stop();

 private:
  void put(const Place& place, const std::string& symbol, double nats, const Json& rank, const Json& entropy);

  OutputFile file_;
  std::string pending_;
  const ScoredText& text_;
  const Tokenizer& tokenizer_;
};

/// eval --by: the score of each document, line or class of characters.
class PartTable {
 public:
  PartTable(PartKind kind, const ScoredText& text, const Tokenizer& tokenizer);
  void add(const CharScore& score);
  void add(const UnknownCharacter& character, double nats);
  /// [{"part": "3", "characters": 12, "nats_per_char": 1.5}], in the order of the text or of CharClass.
  Json rows() const;

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  ///< document and line, or class and 0
  struct Sum {
    std::int64_t characters = 0;
    double nats = 0.0;
  };
  Key key(std::int64_t document, std::int64_t line, std::int64_t character_class) const;
  std::int64_t line_at(std::int64_t document, std::int64_t index) const;  ///< 0 unless lines are asked for
  void add(const Key& part, double nats);
  std::string name_of(const Key& part) const;

  PartKind kind_;
  const ScoredText& text_;
  std::vector<std::int64_t> class_of_;  ///< by id
  std::vector<std::int64_t> line_of_;   ///< by index, from 1; empty unless it is asked for
  std::map<Key, Sum> sums_;
};

}  // namespace chargpt
