#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/byte_source.hpp"
#include "chargpt/base/config.hpp"
#include "chargpt/base/jsonl.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {

/// Bytes of a data file that can be decoded without those around them: whole characters.
struct RawBlock {
  std::string bytes{};              ///< of the file; of JSONL the documents in it, of valid UTF-8
  std::vector<std::size_t> ends{};  ///< of JSONL: where in `bytes` documents end
  TextPlace place{};                ///< of text: where they stand in the file
  bool last = false;                ///< the file ends with them
};

/// Cuts a file into blocks of about `size` bytes, fewer or up to kLongestRest more where it cannot be cut there. JSONL
/// is parsed here, since where its lines end a parser tells best; all else is left to decode(), which any thread can
/// do.
class BlockCutter {
 public:
  /// `bytes`: unpacked, and text in UTF-8 unless it is invalid; of the file `name`. `format`: not automatic.
  BlockCutter(std::unique_ptr<ByteSource> bytes, DataFormat format, const DataConfig& data, std::size_t size,
              std::string name);
  bool ended() const { return ended_ && rest_.empty() && started_; }
  /// Whether anything but a byte order mark was read.
  bool has_text() const { return has_text_; }
  /// The next block; every file has at least one, which may be empty, and exactly one that is the last. Errors:
  /// bad_data (JSONL that is invalid, with the place in the file; more than kLongestRest bytes of marks to normalise).
  RawBlock next();

 private:
  static constexpr std::size_t kLongestRest = 1 << 18;

  void read_bytes(std::string& bytes);
  void read_documents(RawBlock& block);
  std::size_t cut_of(const RawBlock& block) const;
  void require_short_rest() const;

  std::unique_ptr<ByteSource> bytes_;
  DataFormat format_;
  Normalization form_;
  std::size_t size_;
  std::string name_;
  JsonlReader jsonl_;
  std::string cut_character_;  // of JSONL: its first bytes, whose rest is not read yet
  std::string rest_;           // read, and behind the last block
  TextPlace place_;            // of what is behind the last block; of JSONL, of what is read next
  bool ended_ = false, started_ = false, has_text_ = false;
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

/// Decodes a block of the file `name` into `block`, whose memory is used again. Error(bad_data) with the place in the
/// file for invalid UTF-8.
void decode(const RawBlock& raw, DataFormat format, Normalization form, const std::string& name, TextBlock& block);

}  // namespace chargpt
