#pragma once

#include <cstdint>
#include <string>

namespace chargpt {

/// Bytes of memory that this process may still take: the least of what the system has available, what its control
/// groups (versions 1 and 2) leave, and what its limit of address space (ulimit -v) leaves. `root`: where the files of
/// the system lie.
std::int64_t available_memory(const std::string& root = "");

/// Error(out_of_memory) when `what`, such as "the ids of d.txt", takes `needed` bytes and only `available` are there;
/// `advice` says what to do.
void require_memory(std::uint64_t needed, std::int64_t available, const std::string& what, const std::string& advice);

/// Bytes of the third-level cache that the first processor shares with its neighbours, or of its second-level cache
/// where there is no third; 0 where the system does not tell. `root`: where the files of the system lie.
std::int64_t last_level_cache(const std::string& root = "");

/// Bytes of memory that this process has resident now; 0 where the system does not tell.
std::int64_t resident_memory();

/// Bytes of memory that this process has had resident at most so far.
std::int64_t peak_resident_memory();

}  // namespace chargpt
