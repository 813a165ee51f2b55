#pragma once

#include <string>

namespace chargpt {

/// gzip (RFC 1952) and Zstandard (RFC 8878) are known by their first bytes, with which no UTF-8 text begins: such bytes
/// are unpacked, others returned as they are. Error(bad_data) with `source` when they are damaged or cut short.
std::string unpacked(std::string bytes, const std::string& source);

}  // namespace chargpt
