#pragma once

#include <string>
#include <utility>

#include "chargpt/base/scored_text.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

struct ReadDocuments : Documents {
  TextSummary summary;
};

/// All documents that TextReader finds behind `path`, in memory. Errors as TextReader.
inline ReadDocuments read_documents(const std::string& path, const DataConfig& data) {
  TextReader reader(path, data);
  ReadDocuments documents{{{}, reader.end_mark(), path}, {}};
  std::u32string open;  // the document that goes on in the next block
  const auto collect = [&](const TextBlock& block, std::size_t) {
    for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
      open += characters;
      if (ended) documents.texts.push_back(std::exchange(open, {}));
    });
  };
  ThreadPool pool(1);
  documents.summary = reader.read(pool, {{}, collect});
  return documents;
}

}  // namespace chargpt
