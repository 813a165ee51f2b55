#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/file_reader.hpp"
#include "chargpt/base/spool.hpp"
#include "chargpt/base/text_block.hpp"
#include "chargpt/base/thread_pool.hpp"

namespace chargpt {

/// Blocks of a text that are held at a time when these threads read it.
std::size_t text_slots(const ThreadPool& pool);

/// What is done with the blocks of a text, each of which is held in one of text_slots(), numbered from 0.
struct BlockWork {
  /// Called once for each block from any of the pool's threads, in any order; may be empty.
  std::function<void(const TextBlock&, std::size_t slot, std::size_t worker)> at_once;
  /// Called for each block in the order of the text, after `at_once`; its documents' ends are then those of documents
  /// that have a character.
  std::function<void(const TextBlock&, std::size_t slot)> in_order;
};

/// What reading a text has found besides its characters.
struct TextSummary {
  std::uint64_t bytes = 0;  ///< of the files together, unpacked
  std::string hash;         ///< XXH3-128 of the file's unpacked bytes, or over those of several: 32 hex digits
  bool operator==(const TextSummary&) const = default;
};

/// The text behind a data path, to be read from its beginning as often as needed, with a few blocks of it in memory.
/// Standard input is read once and kept (Spool).
class TextReader {
 public:
  /// Told now and then how many bytes of the files, as they are stored, were read.
  using Progress = std::function<void(std::uint64_t bytes)>;

  /// Finds the files. Error(no_input) as data_files().
  TextReader(std::string path, DataConfig data);

  const std::string& path() const { return path_; }
  /// Whether its documents end with the end mark: there are lines or JSONL among its files.
  bool end_mark() const;
  /// Which files they are and how they stand, in order. Errors as FileReader.
  std::vector<FileStamp> stamps() const;
  const std::vector<std::string>& files() const { return files_; }
  bool is_standard_input() const;

  /// Reads everything as data.format, field, encoding and normalize say. A leading byte order mark is dropped from each
  /// file; nothing else is changed, but that a line's end (LF or CR LF) is no part of a document of `lines`. Documents
  /// without a character are left out. Errors: as FileReader; bad_data (no document at all, invalid in its encoding,
  /// damaged when packed, a JSONL line without the text field: with its line).
  TextSummary read(ThreadPool& pool, const BlockWork& work, const Progress& progress = {});

 private:
  friend class TextPass;

  std::string path_;
  DataConfig data_;
  std::vector<std::string> files_;
  std::shared_ptr<const Spool> standard_input_;  // once it was read
};

/// Threads that reading `bytes` of text is worth, `threads` at most (0: usable_threads()). The blocks in memory grow
/// with them.
int reading_threads(std::uint64_t bytes, std::int64_t threads);

}  // namespace chargpt
