#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/json.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {

inline std::string jsonl(const std::vector<std::string>& texts) {
  std::string lines;
  for (const auto& text : texts) lines += to_json_line({{"text", text}}) + "\n";
  return lines;
}

/// "doc-1000", "doc-1001", …
inline std::vector<std::string> numbered_texts(int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back("doc-" + std::to_string(1000 + i));
  return texts;
}

/// The documents of a split as text, the end mark spelled out.
inline std::vector<std::string> documents_of(const Split& split, const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (std::int64_t d = 0; d < split.documents(); ++d) texts.push_back(tokenizer.decode(split.document(d)));
  return texts;
}

class LoadCorpusTest : public ::testing::Test {
 protected:
  LoadCorpusTest() { config_.model.context = 4; }

  void set_data(const std::string& name, const std::string& contents) {
    config_.data.path = folder_.write(name, contents);
  }
  Corpus load() const { return load_corpus(config_); }
  void expect_refused(std::initializer_list<std::string> parts) const {
    expect_error(ExitCode::bad_data, parts, [&] { load(); });
  }
  std::vector<std::string> documents(Part part) const {
    const Corpus corpus = load();
    return documents_of(corpus.part(part), corpus.tokenizer);
  }
  TempDir folder_;
  Config config_;
};

}  // namespace chargpt
