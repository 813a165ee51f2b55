#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "chargpt/base/offsets.hpp"
#include "chargpt/base/token_file.hpp"

namespace chargpt {

/// Token ids of one part of a text, document after document; those of document d are [start(d), start(d + 1)), its end
/// mark included where there is one. They are in memory or in a token file; copies share them.
class Split {
 public:
  Split();  ///< no document
  /// In memory. documents: of all the ids. cross: windows may reach from one document into the next.
  Split(std::vector<std::int32_t> ids, Offsets documents, bool cross = false);
  /// A section of a token file.
  Split(std::shared_ptr<const TokenFile> file, std::size_t section, bool cross = false);

  std::int64_t size() const { return offsets().end(); }
  std::int64_t documents() const { return offsets().pieces(); }
  std::int64_t start(std::int64_t d) const { return offsets().start(d); }
  /// The document that the id at `position` belongs to.
  std::int64_t document_at(std::int64_t position) const { return offsets().piece_at(position); }

  /// Stretches of ids that windows may lie in: each document, or all of them together where windows cross them.
  std::int64_t stretches() const { return cross_ ? std::min(std::int64_t{1}, size()) : documents(); }
  std::int64_t stretch_start(std::int64_t s) const { return cross_ ? s * size() : start(s); }
  /// Calls use(size) with that of each from `first` on, in order, until it returns false. first: a multiple of
  /// OffsetIndex::kGroup.
  template <class Use>
  void for_stretch_sizes_from(std::int64_t first, const Use& use) const {
    if (!cross_) return offsets().for_sizes_from(first, use);
    if (first < stretches()) use(size());
  }

  /// As many ids as there is room for, from `position` on; they must be there. Errors as TokenFile::read.
  void read(std::int64_t position, std::span<std::int32_t> ids) const;
  std::vector<std::int32_t> ids(std::int64_t begin, std::int64_t end) const;
  std::vector<std::int32_t> document(std::int64_t d) const { return ids(start(d), start(d + 1)); }
  /// Calls use(ids) with all ids from `begin` to before `end`, some of them at a time, in order.
  void for_each_piece(std::int64_t begin, std::int64_t end,
                      const std::function<void(std::span<const std::int32_t>)>& use) const;
  /// Calls use(ids, ended) with all ids of each document, some of them at a time, in order; ended: the document ends
  /// behind them. An empty document has one call.
  void for_each_document_piece(const std::function<void(std::span<const std::int32_t>, bool ended)>& use) const;
  /// The same of stretches.
  void for_each_stretch_piece(const std::function<void(std::span<const std::int32_t>, bool ended)>& use) const;

 private:
  struct InMemory {
    std::vector<std::int32_t> ids;
    Offsets documents;
  };
  const Offsets& offsets() const { return file_ ? file_->documents(section_) : memory_->documents; }

  std::shared_ptr<const InMemory> memory_;
  std::shared_ptr<const TokenFile> file_;
  std::size_t section_ = 0;
  bool cross_ = false;
};

}  // namespace chargpt
