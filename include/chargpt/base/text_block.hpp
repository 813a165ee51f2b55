#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/byte_source.hpp"
#include "chargpt/base/config.hpp"
#include "chargpt/base/json_field.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {

/// Bytes of a data file that can be decoded without those around them: whole characters of a text, whole lines of
/// JSONL.
struct RawBlock {
  std::string bytes;  ///< of text in UTF-8
  TextPlace place;    ///< where they stand in the file
  bool last = false;  ///< the file ends with them
};

/// Cuts a file into blocks of about `size` bytes. A block is longer only where it cannot be cut: JSONL within a line,
/// and a text that is to be normalised where neither ASCII nor an ideograph stands.
class BlockCutter {
 public:
  /// `bytes`: unpacked, and text in UTF-8 unless it is invalid; of the file `name`. `format`: not automatic.
  BlockCutter(std::unique_ptr<ByteSource> bytes, DataFormat format, Normalization form, std::size_t size,
              std::string name);
  bool ended() const { return ended_ && rest_.empty() && started_; }
  /// The next block; every file has at least one, which may be empty, and exactly one that is the last.
  /// Error(out_of_memory) where what cannot be cut would take more than there is.
  RawBlock next();

 private:
  void read_more(std::string& bytes);
  std::size_t cut_of(const std::string& bytes, std::size_t searched) const;

  std::unique_ptr<ByteSource> bytes_;
  DataFormat format_;
  Normalization form_;
  std::size_t size_;
  std::string name_;
  std::string rest_;  // read, and behind the last block
  TextPlace place_;
  bool ended_ = false, started_ = false;
};

/// A stretch of documents, one after the other.
struct TextBlock {
  std::u32string characters;      ///< normalised
  std::vector<std::size_t> ends;  ///< where in `characters` documents end; the last one may go on in the next block
};

/// Calls use(characters, ended) with the stretches of documents in a block, in order; `ended`: the document ends there.
template <class Use>
void for_each_stretch(const TextBlock& block, const Use& use) {
  const std::u32string_view text = block.characters;
  std::size_t begin = 0;
  for (const std::size_t end : block.ends) {
    use(text.substr(begin, end - begin), true);
    begin = end;
  }
  if (begin < text.size()) use(text.substr(begin), false);
}

/// Decodes a block of the file `name` into `block`, whose memory is used again, as is that of `fields`. Errors:
/// bad_data (invalid UTF-8, a line that is no JSONL document), with the place in the file.
void decode(const RawBlock& raw, DataFormat format, const DataConfig& data, const std::string& name,
            JsonFieldReader& fields, TextBlock& block);

}  // namespace chargpt
