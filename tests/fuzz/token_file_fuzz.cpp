#include <algorithm>
#include <cstring>
#include <vector>

#include "chargpt/base/token_file.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using namespace chargpt;

/// The input with a trailer that fits it: behind a wrong checksum nothing is read.
std::string with_fitting_trailer(std::string_view input) {
  constexpr std::string_view kMagic = "chargpt tokens 3";
  constexpr std::size_t kTrailer = 3 * sizeof(std::uint64_t) + kMagic.size();
  if (input.size() < kTrailer) return std::string(input);
  const std::string_view body = input.substr(0, input.size() - kTrailer);
  std::uint64_t offset = 0;
  std::memcpy(&offset, input.data() + body.size(), sizeof offset);
  offset = std::min<std::uint64_t>(offset, body.size());
  const std::string_view index = body.substr(offset);
  const std::uint64_t numbers[] = {offset, index.size(), xxh3_64(index)};
  std::string file(body);
  file.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  return file.append(kMagic);
}

std::int64_t size_of(const TokenFile& file, std::size_t section) {
  try {
    return file.documents(section).end();
  } catch (const std::out_of_range&) {  // there is no such section
    return 0;
  }
}

void read_everything(const TokenFile& file) {
  for (const std::size_t section : {0, 1, 2}) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(size_of(file, section)));
    if (!ids.empty()) file.read(section, 0, ids);
    if (ids.empty()) continue;
    file.documents(section).for_sizes_from(0, [](std::int64_t) { return true; });
    file.documents(section).piece_at(std::ssize(ids) - 1);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = with_fitting_trailer(text_of(data, size));
  return accept_or_refuse([&] { read_everything(TokenFile(file_with(file))); });
}
