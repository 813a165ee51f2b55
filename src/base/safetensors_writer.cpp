#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/safetensors.hpp"
#include "safetensors_format.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kAlignment = 64;  // of the data section: a cache line

std::string_view raw_bytes(const TensorView& tensor) {
  std::size_t elements = 1;
  for (const std::int64_t size : tensor.shape) elements *= static_cast<std::size_t>(size);
  return {reinterpret_cast<const char*>(tensor.data), elements * sizeof(float)};
}

/// The checksum goes first, so that its digits have a fixed place.
Json metadata_object(const std::map<std::string, std::string>& metadata) {
  Json object = {{kChecksumKey, std::string(kChecksumDigits, '0')}, {kChecksumTypeKey, kChecksumType}};
  for (const auto& [key, value] : metadata) object.emplace(key, Json(value));
  return object;
}

Json header_object(const std::vector<TensorView>& tensors, const std::map<std::string, std::string>& metadata) {
  Json header = {{kMetadataKey, metadata_object(metadata)}};
  std::size_t begin = 0;
  for (const TensorView& tensor : tensors) {
    const std::size_t end = begin + raw_bytes(tensor).size();
    Json entry = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    if (!header.emplace(tensor.name, std::move(entry)).second) {
      throw Error(ExitCode::internal, fmt::format("two tensors named {} in one file", tensor.name));
    }
    begin = end;
  }
  return header;
}

/// Header length and header, with zeros for the checksum's digits.
std::string file_start(const std::vector<TensorView>& tensors, const std::map<std::string, std::string>& metadata) {
  std::string text = to_json_line(header_object(tensors, metadata));
  const std::size_t excess = (kLengthBytes + text.size()) % kAlignment;
  if (excess != 0) text.append(kAlignment - excess, ' ');
  if (text.size() > kMaxHeaderBytes) {
    throw Error(ExitCode::internal,
                fmt::format("a safetensors header of {} bytes, which no reader accepts", text.size()));
  }
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
}

std::string digest(std::string_view start, const std::vector<TensorView>& tensors) {
  Xxh3Hasher hasher;
  hasher.update(start);
  for (const TensorView& tensor : tensors) hasher.update(raw_bytes(tensor));
  return hasher.digest();
}

}  // namespace

WrittenFile write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::string start = file_start(tensors, metadata);
  const std::size_t digits = start.find(std::string(kChecksumDigits, '0'));
  start.replace(digits, kChecksumDigits, digest(start, tensors));
  WrittenFile written{start.size(), digest(start, tensors)};
  FileWriter writer(path);
  writer.write(start);
  for (const TensorView& tensor : tensors) {
    writer.write(raw_bytes(tensor));
    written.size += raw_bytes(tensor).size();
  }
  writer.close();
  return written;
}

}  // namespace chargpt
