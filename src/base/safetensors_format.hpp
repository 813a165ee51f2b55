#pragma once

#include <bit>
#include <cstddef>

namespace chargpt {

/// What the writer and the reader of safetensors files agree on.
static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

inline constexpr std::size_t kLengthBytes = 8;  ///< of the header length that a file begins with
inline constexpr std::size_t kMaxHeaderBytes = 8 << 20;
inline constexpr char kMetadataKey[] = "__metadata__";
inline constexpr char kChecksumKey[] = "checksum";
inline constexpr char kChecksumTypeKey[] = "checksum_type";
inline constexpr char kChecksumType[] = "XXH3-128";
inline constexpr std::size_t kChecksumDigits = 32;

}  // namespace chargpt
