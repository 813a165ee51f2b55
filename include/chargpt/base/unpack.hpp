#pragma once

#include <memory>
#include <string>

#include "chargpt/base/byte_source.hpp"

namespace chargpt {

/// gzip (RFC 1952) and Zstandard (RFC 8878) are known by their first bytes, with which no UTF-8 text begins: such bytes
/// are unpacked as they are read, others given as they are. Reading throws Error(bad_data) with `name` when they are
/// damaged or cut short.
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> bytes, const std::string& name);

}  // namespace chargpt
