#include "chargpt/base/text_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "chargpt/base/data_files.hpp"
#include "chargpt/base/encoding.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/unpack.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kBlock = 1 << 15;     // its characters and ids stay in a core's own cache
constexpr std::size_t kBlocksAThread = 16;  // of several threads, which wake and wait once for them all
constexpr std::uint64_t kMostThreads = 4;   // reading alone keeps no more busy

bool is_jsonl(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".jsonl");
}

/// What the file is to be read as; never `automatic`.
DataFormat format_of(const std::string& file, DataFormat format) {
  if (format != DataFormat::automatic) return format;
  return is_jsonl(file) ? DataFormat::jsonl : DataFormat::text;
}

/// Counts the bytes that pass.
class CountedSource : public ByteSource {
 public:
  CountedSource(std::unique_ptr<ByteSource> bytes, std::uint64_t& count) : bytes_(std::move(bytes)), count_(count) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t got = bytes_->read(buffer);
    count_ += got;
    return got;
  }

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::uint64_t& count_;
};

/// Hashes and counts the bytes that pass.
class HashedSource : public ByteSource {
 public:
  HashedSource(std::unique_ptr<ByteSource> bytes, Xxh3Hasher& hash, std::uint64_t& count)
      : bytes_(std::move(bytes)), hash_(hash), count_(count) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t got = bytes_->read(buffer);
    hash_.update({buffer.data(), got});
    count_ += got;
    return got;
  }

 private:
  std::unique_ptr<ByteSource> bytes_;
  Xxh3Hasher& hash_;
  std::uint64_t& count_;
};

}  // namespace

/// One reading of a text.
class TextPass {
 public:
  TextPass(const TextReader& reader, ThreadPool& pool, const BlockWork& work, const TextReader::Progress& progress)
      : reader_(reader), data_(reader.data_), pool_(pool), work_(work), progress_(progress) {
    blocks_.resize(text_slots(pool));
  }

  TextSummary read() {
    for (const std::string& file : reader_.files_) read_file(file);
    if (documents_ == 0) fail_bad_data(fmt::format("{}: {}", input_name(reader_.path_), why_empty()));
    summary_.hash = hashes_.size() == 1 ? hashes_[0] : xxh3_128(fmt::format("{}", fmt::join(hashes_, "\n")));
    return summary_;
  }

 private:
  std::unique_ptr<ByteSource> stored_bytes(const std::string& file) {
    std::unique_ptr<ByteSource> bytes;
    if (file == "-") {
      bytes = reader_.standard_input_->source();
    } else {
      bytes = std::make_unique<FileSource>(FileReader(file));
    }
    return std::make_unique<CountedSource>(std::move(bytes), stored_);
  }

  void read_file(const std::string& file) {
    const DataFormat format = format_of(file, data_.format);
    Xxh3Hasher hash;
    auto bytes = stored_bytes(file);
    if (format != DataFormat::bytes) bytes = unpacked(std::move(bytes), file);
    bytes = std::make_unique<HashedSource>(std::move(bytes), hash, summary_.bytes);
    if (format != DataFormat::bytes) bytes = to_utf8(std::move(bytes), data_.encoding, file);
    BlockCutter cutter(std::move(bytes), format, data_, kBlock, file);
    for (Blocks blocks = cut(cutter); !blocks.empty();) blocks = read_blocks(blocks, cutter, format, file);
    has_text_ = has_text_ || cutter.has_text();
    hashes_.push_back(hash.digest());
  }

  /// As many blocks as there are slots, or those before a fault.
  struct Blocks {
    std::vector<RawBlock> raw{};
    std::exception_ptr fault{};
    bool empty() const { return raw.empty() && !fault; }
  };

  Blocks cut(BlockCutter& cutter) const {
    Blocks blocks;
    try {
      while (blocks.raw.size() < blocks_.size() && !cutter.ended()) blocks.raw.push_back(cutter.next());
    } catch (...) {
      blocks.fault = std::current_exception();
    }
    return blocks;
  }

  /// Reads blocks while one of the threads cuts those that follow, which it returns.
  Blocks read_blocks(const Blocks& blocks, BlockCutter& cutter, DataFormat format, const std::string& file) {
    Blocks following;
    std::vector<std::exception_ptr> faults(blocks.raw.size());
    pool_.run(static_cast<std::int64_t>(1 + blocks.raw.size()), [&](std::int64_t task, int worker) {
      if (task == 0) {
        if (!blocks.fault) following = cut(cutter);
        return;
      }
      const auto slot = static_cast<std::size_t>(task - 1);
      try {
        decode(blocks.raw[slot], format, data_.normalize, file, blocks_[slot]);
        if (work_.at_once) work_.at_once(blocks_[slot], slot, static_cast<std::size_t>(worker));
      } catch (...) {
        faults[slot] = std::current_exception();  // of several, the first in the text is told
      }
    });
    for (std::size_t slot = 0; slot < blocks.raw.size(); ++slot) {
      if (faults[slot]) std::rethrow_exception(faults[slot]);
      leave_out_empty_documents(blocks_[slot]);
      work_.in_order(blocks_[slot], slot);
    }
    if (blocks.fault) std::rethrow_exception(blocks.fault);
    if (progress_) progress_(stored_);
    return following;
  }

  void leave_out_empty_documents(TextBlock& block) {
    std::size_t begin = 0, kept = 0;
    for (const std::size_t end : block.ends) {
      if (open_ + end > begin) block.ends[kept++] = end;
      open_ = 0;
      begin = end;
    }
    block.ends.resize(kept);
    documents_ += kept;
    open_ += block.characters.size() - begin;
  }

  std::string why_empty() const {
    if (!has_text_) return "file is empty; give a file with text in it";
    if (data_.format == DataFormat::lines) return "every line is empty";
    return fmt::format("no document has any text in its field \"{}\"", data_.field);
  }

  const TextReader& reader_;
  const DataConfig& data_;
  ThreadPool& pool_;
  const BlockWork& work_;
  const TextReader::Progress& progress_;
  std::vector<TextBlock> blocks_;
  TextSummary summary_;
  std::vector<std::string> hashes_;  // of the files
  std::uint64_t stored_ = 0;         // bytes read of the files as they are stored
  std::uint64_t documents_ = 0;
  std::size_t open_ = 0;   // characters that the document at the end of the last block has so far
  bool has_text_ = false;  // so that only documents can be missing
};

TextReader::TextReader(std::string path, DataConfig data)
    : path_(std::move(path)), data_(std::move(data)), files_(data_files(path_)) {}

bool TextReader::end_mark() const {
  return std::any_of(files_.begin(), files_.end(), [this](const std::string& file) {
    const DataFormat format = format_of(file, data_.format);
    return format == DataFormat::lines || format == DataFormat::jsonl;
  });
}

bool TextReader::is_standard_input() const { return path_ == "-"; }

std::vector<FileStamp> TextReader::stamps() const {
  std::vector<FileStamp> stamps;
  if (is_standard_input()) return stamps;
  std::transform(files_.begin(), files_.end(), std::back_inserter(stamps),
                 [](const std::string& file) { return FileReader(file).stamp(); });
  return stamps;
}

TextSummary TextReader::read(ThreadPool& pool, const BlockWork& work, const Progress& progress) {
  if (is_standard_input() && !standard_input_) {
    auto input = std::make_shared<Spool>(data_, "standard input");
    read_standard_input(*input, progress);
    standard_input_ = std::move(input);
  }
  return TextPass(*this, pool, work, progress).read();
}

std::size_t text_slots(const ThreadPool& pool) {
  return pool.threads() == 1 ? 1 : kBlocksAThread * static_cast<std::size_t>(pool.threads());
}

int reading_threads(std::uint64_t bytes, std::int64_t threads) {
  const auto most = static_cast<std::uint64_t>(threads > 0 ? threads : usable_threads());
  return static_cast<int>(
      std::clamp<std::uint64_t>(bytes / (kBlocksAThread * kBlock), 1, std::min(most, kMostThreads)));
}

}  // namespace chargpt
