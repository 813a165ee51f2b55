#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chargpt {

/// Reader and writer of safetensors files (format: huggingface/safetensors README, "Format"): 8 bytes little-endian
/// header length, a JSON header, tensor bytes without holes. Only F32 tensors are written; F32, F64, F16, BF16 and
/// integer types are recognised.
struct TensorEntry {
  std::string name;
  std::string dtype;  ///< as in the header, e.g. "F32"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< byte range within the data section
};

/// A tensor to be written: `data` holds product(shape) floats, row-major.
struct TensorView {
  std::string name;
  std::vector<std::int64_t> shape;
  const float* data;
};

/// Writes a new file through to disk (not atomic by itself). Adds metadata key "checksum": XXH3-128 of the whole file
/// with the 32 digits of that value replaced by '0', and "checksum_type": "XXH3-128" (one key tells that the other is
/// damaged). Returns size and XXH3-128 of the finished file for a manifest. Errors: cannot_create, io.
struct WrittenFile {
  std::uint64_t size;
  std::string checksum;
};
WrittenFile write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata);

/// A file read whole and verified. Every fault is Error(unusable_model) naming path and reason: header length beyond
/// the file or above 8 MiB, more than 200,000 values in it (so that reading a file of any content takes at
/// most its size + 64 MiB of memory), bad JSON, unknown dtype, negative or overflowing shapes, ranges that overlap,
/// leave holes, or run backwards or beyond the file, duplicate names, a checksum that does not match. A missing file is
/// Error(no_input).
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::vector<TensorEntry>& tensors() const { return tensors_; }  ///< in order of offset
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool verified() const { return verified_; }  ///< the file carried a checksum (and it was right)
  const std::string& path() const { return path_; }

  const TensorEntry* find(std::string_view name) const;
  std::span<const std::byte> bytes(const TensorEntry& tensor) const;

 private:
  std::string path_;
  std::string contents_;
  std::uint64_t data_begin_ = 0;
  std::vector<TensorEntry> tensors_;
  std::map<std::string, std::string> metadata_;
  bool verified_ = false;
};

}  // namespace chargpt
