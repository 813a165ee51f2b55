#include <utility>

#include "chargpt/base/corpus.hpp"
#include "chargpt/base/text_reader.hpp"

namespace chargpt {

Documents read_documents(const std::string& path, const DataConfig& data) {
  TextReader reader(path, data);
  Documents documents{{}, reader.end_mark(), path, 0, ""};
  std::u32string open;  // the document that goes on in the next block
  const auto collect = [&](const TextBlock& block, std::size_t) {
    for_each_stretch(block, [&](std::u32string_view characters, bool ended) {
      open += characters;
      if (ended) documents.texts.push_back(std::exchange(open, {}));
    });
  };
  ThreadPool pool(1);
  const TextSummary summary = reader.read(pool, {{}, collect});
  documents.bytes = summary.bytes;
  documents.hash = summary.hash;
  return documents;
}

}  // namespace chargpt
