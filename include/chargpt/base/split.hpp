#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "chargpt/base/token_file.hpp"

namespace chargpt {

/// Token ids of one part of a text, document after document; those of document d are [start(d), start(d + 1)), its end
/// mark included where there is one. They are in memory or in a token file; copies share them.
class Split {
 public:
  Split();  ///< no document
  /// In memory. starts: where documents start, from 0 on, and at last the number of ids. cross: windows may reach from
  /// one document into the next.
  Split(std::vector<std::int32_t> ids, std::vector<std::int64_t> starts, bool cross = false);
  /// A section of a token file.
  Split(std::shared_ptr<const TokenFile> file, std::size_t section, bool cross = false);

  std::int64_t size() const { return starts().back(); }
  std::int64_t documents() const { return static_cast<std::int64_t>(starts().size()) - 1; }
  std::int64_t start(std::int64_t d) const { return starts()[static_cast<std::size_t>(d)]; }
  std::int64_t document_size(std::int64_t d) const { return start(d + 1) - start(d); }
  std::int64_t document_at(std::int64_t position) const;  ///< the document that the id at `position` belongs to

  /// Stretches of ids that windows may lie in: each document, or all of them together where windows cross them.
  std::int64_t stretches() const { return cross_ ? std::min(std::int64_t{1}, size()) : documents(); }
  std::int64_t stretch_start(std::int64_t s) const { return cross_ ? s * size() : start(s); }
  std::int64_t stretch_size(std::int64_t s) const { return stretch_start(s + 1) - stretch_start(s); }

  /// As many ids as there is room for, from `position` on; they must be there. Errors as TokenFile::read.
  void read(std::int64_t position, std::span<std::int32_t> ids) const;
  std::vector<std::int32_t> ids(std::int64_t begin, std::int64_t end) const;
  std::vector<std::int32_t> document(std::int64_t d) const { return ids(start(d), start(d + 1)); }
  /// Calls use(ids) with all ids from `begin` to before `end`, some of them at a time, in order.
  void for_each_piece(std::int64_t begin, std::int64_t end,
                      const std::function<void(std::span<const std::int32_t>)>& use) const;

 private:
  struct InMemory {
    std::vector<std::int32_t> ids;
    std::vector<std::int64_t> starts;
  };
  const std::vector<std::int64_t>& starts() const { return file_ ? file_->starts(section_) : memory_->starts; }

  std::shared_ptr<const InMemory> memory_;
  std::shared_ptr<const TokenFile> file_;
  std::size_t section_ = 0;
  bool cross_ = false;
};

}  // namespace chargpt
