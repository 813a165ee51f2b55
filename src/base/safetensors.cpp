#include "chargpt/base/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"
#include "safetensors_format.hpp"

namespace chargpt {
namespace {

constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMaxDimensions = 16;

struct DtypeSize {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<DtypeSize, 13> kDtypes = {{{"F64", 8},
                                                {"F32", 4},
                                                {"F16", 2},
                                                {"BF16", 2},
                                                {"I64", 8},
                                                {"I32", 4},
                                                {"I16", 2},
                                                {"I8", 1},
                                                {"U64", 8},
                                                {"U32", 4},
                                                {"U16", 2},
                                                {"U8", 1},
                                                {"BOOL", 1}}};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::unusable_model, fmt::format("{} is not a usable safetensors file: {}", path, why));
}

std::string read_regular(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    refuse(path, "it is a folder, device or pipe; a regular file is wanted");
  }
  return read_file(path);
}

/// People who come from PyTorch offer its own files first.
std::string archive_hint(std::string_view contents) {
  const bool zip = contents.starts_with("PK");
  const bool pickle = contents.size() >= 2 && contents[0] == '\x80' && contents[1] >= 2 && contents[1] <= 5;
  if (!zip && !pickle) return "";
  return "; it looks like a PyTorch archive, which is never read: save the tensors as safetensors";
}

std::string_view header_text(std::string_view contents, const std::string& path) {
  if (contents.size() < kLengthBytes) {
    refuse(path, fmt::format("{} bytes hold no header length{}", contents.size(), archive_hint(contents)));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, contents.data(), kLengthBytes);
  const std::uint64_t room = contents.size() - kLengthBytes;
  if (length > room) {
    refuse(path, fmt::format("its header should have {} bytes, {} follow{}", length, room, archive_hint(contents)));
  }
  if (length > kMaxHeaderBytes) {
    refuse(path, fmt::format("its header has {} bytes, at most {} are accepted", length, kMaxHeaderBytes));
  }
  return contents.substr(kLengthBytes, length);
}

Json parse_header(std::string_view text, const std::string& path) {
  Json header = parse_json(text, {.source = path + ": header", .code = ExitCode::unusable_model, .max_depth = 8});
  if (!header.is_object()) refuse(path, "its header is no JSON object");
  return header;
}

std::map<std::string, std::string> take_metadata(Json& header, const std::string& path) {
  std::map<std::string, std::string> metadata;
  const auto found = header.find(kMetadataKey);
  if (found == header.end()) return metadata;
  if (!found->is_object()) refuse(path, "its __metadata__ is no JSON object");
  for (auto& [key, value] : found->get_ref<Json::object_t&>()) {
    if (!value.is_string()) refuse(path, fmt::format("metadata {} is no string", shown(key)));
    metadata.emplace(key, std::move(value.get_ref<std::string&>()));
  }
  return metadata;
}

bool is_checksum(std::string_view text) {
  return text.size() == kChecksumDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Each of the two metadata keys tells of the other, so that damage to one key can't pass for a file without a
/// checksum.
std::optional<std::string> declared_checksum(const std::map<std::string, std::string>& metadata,
                                             const std::string& path) {
  const auto checksum = metadata.find(kChecksumKey);
  const auto type = metadata.find(kChecksumTypeKey);
  if (checksum == metadata.end() && type == metadata.end()) return std::nullopt;
  if (checksum == metadata.end() || type == metadata.end() || type->second != kChecksumType ||
      !is_checksum(checksum->second)) {
    refuse(path,
           fmt::format("it is damaged: metadata {} and {} do not fit each other", kChecksumKey, kChecksumTypeKey));
  }
  return checksum->second;
}

/// Where the digits stand in the raw header. A quote behind an opening brace or comma begins a string in valid JSON,
/// this string is a key since a colon follows, and only metadata has string values under keys of that name.
std::size_t checksum_place(std::string_view header, const std::string& digits, const std::string& path) {
  const std::string member = fmt::format("\"{}\":\"{}\"", kChecksumKey, digits);
  for (std::size_t at = header.find(member); at != std::string_view::npos; at = header.find(member, at + 1)) {
    if (at > 0 && (header[at - 1] == '{' || header[at - 1] == ',')) return at + member.size() - 1 - kChecksumDigits;
  }
  refuse(path, "its checksum is not written as this program writes it");
}

void verify_checksum(std::string_view contents, std::size_t place, const std::string& digits, const std::string& path) {
  Xxh3Hasher hasher;
  hasher.update(contents.substr(0, place));
  hasher.update(std::string(kChecksumDigits, '0'));
  hasher.update(contents.substr(place + kChecksumDigits));
  const std::string found = hasher.digest();
  if (found == digits) return;
  refuse(path, fmt::format("it is damaged: its checksum is {}, {} was written", found, digits));
}

std::uint64_t unsigned_value(const Json& value, std::string_view what, const std::string& where,
                             const std::string& path) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX) return value.get<std::uint64_t>();
  refuse(path, fmt::format("{}: {} {} is no whole number from 0 to 2^63-1", where, what, shown(value.dump())));
}

std::uint64_t element_bytes(const std::string& dtype, const std::string& where, const std::string& path) {
  const auto* found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const auto& row) { return row.name == dtype; });
  if (found == kDtypes.end()) refuse(path, fmt::format("{}: unknown dtype {}", where, shown(dtype)));
  return found->bytes;
}

std::vector<std::int64_t> read_shape(const Json& shape, const std::string& where, const std::string& path) {
  if (shape.size() > kMaxDimensions) {
    refuse(path, fmt::format("{}: {} dimensions, at most {} are accepted", where, shape.size(), kMaxDimensions));
  }
  std::vector<std::int64_t> sizes;
  for (const Json& size : shape) {
    sizes.push_back(static_cast<std::int64_t>(unsigned_value(size, "dimension", where, path)));
  }
  return sizes;
}

void check_extent(const TensorEntry& tensor, const std::string& where, const std::string& path) {
  std::uint64_t bytes = element_bytes(tensor.dtype, where, path);
  for (const std::int64_t size : tensor.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      refuse(path, fmt::format("{}: a size of 2^64 bytes or more", where));
    }
  }
  if (tensor.begin > tensor.end) {
    refuse(path, fmt::format("{}: data_offsets run backwards, {} to {}", where, tensor.begin, tensor.end));
  }
  if (tensor.end - tensor.begin != bytes) {
    refuse(path,
           fmt::format("{}: its shape has {} bytes, its data_offsets {}", where, bytes, tensor.end - tensor.begin));
  }
}

TensorEntry read_entry(const std::string& name, const Json& value, const std::string& path) {
  const std::string where = "tensor " + shown(name);
  if (name.size() > kMaxNameBytes) {
    refuse(path, fmt::format("{}: a name of {} bytes, at most {} are accepted", where, name.size(), kMaxNameBytes));
  }
  const bool complete = value.is_object() && value.size() == 3 && value.contains("dtype") && value.contains("shape") &&
                        value.contains("data_offsets");
  if (!complete) refuse(path, fmt::format("{}: exactly dtype, shape and data_offsets are wanted", where));
  const Json& offsets = value.at("data_offsets");
  if (!value.at("dtype").is_string() || !value.at("shape").is_array() || !offsets.is_array() || offsets.size() != 2) {
    refuse(path, fmt::format("{}: dtype must be a string, shape a list, data_offsets a list of two", where));
  }
  TensorEntry tensor;
  tensor.name = name;
  tensor.dtype = value.at("dtype").get<std::string>();
  tensor.shape = read_shape(value.at("shape"), where, path);
  tensor.begin = unsigned_value(offsets[0], "offset", where, path);
  tensor.end = unsigned_value(offsets[1], "offset", where, path);
  check_extent(tensor, where, path);
  return tensor;
}

/// Every byte of the data section belongs to exactly one tensor. `tensors` are in order of offset.
void check_cover(const std::vector<TensorEntry>& tensors, std::uint64_t data_bytes, const std::string& path) {
  std::uint64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.begin != covered) {
      refuse(path, fmt::format("tensor {} begins at byte {} of the data; with neither overlap nor hole it would be {}",
                               shown(tensor.name), tensor.begin, covered));
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    refuse(path, fmt::format("its tensors have {} bytes, its data section {}", covered, data_bytes));
  }
}

std::vector<TensorEntry> read_tensors(const Json& header, std::uint64_t data_bytes, const std::string& path) {
  std::vector<TensorEntry> tensors;
  for (const auto& [name, value] : header.get_ref<const Json::object_t&>()) {
    if (name != kMetadataKey) tensors.push_back(read_entry(name, value, path));
  }
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_cover(tensors, data_bytes, path);
  return tensors;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), contents_(read_regular(path)) {
  const std::string_view text = header_text(contents_, path_);
  data_begin_ = kLengthBytes + text.size();
  Json header = parse_header(text, path_);
  metadata_ = take_metadata(header, path_);
  if (const auto digits = declared_checksum(metadata_, path_)) {
    verify_checksum(contents_, kLengthBytes + checksum_place(text, *digits, path_), *digits, path_);
    verified_ = true;
  }
  tensors_ = read_tensors(header, contents_.size() - data_begin_, path_);
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorEntry& tensor) const {
  return std::as_bytes(std::span(contents_)).subspan(data_begin_ + tensor.begin, tensor.end - tensor.begin);
}

}  // namespace chargpt
