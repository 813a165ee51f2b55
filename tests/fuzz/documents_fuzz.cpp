#include "fuzz/fuzz.hpp"
#include "support/read_documents.hpp"

/// Whatever the bytes, each way of reading them gives characters or a refusal.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  const std::string file = file_with(text_of(data, size));
  for (const DataConfig& how : {DataConfig{.format = DataFormat::text, .normalize = Normalization::nfkc},
                                DataConfig{.format = DataFormat::lines}, DataConfig{.encoding = "GB18030"},
                                DataConfig{.encoding = "UTF-16"}, DataConfig{.encoding = "WINDOWS-1252"}}) {
    accept_or_refuse([&] { read_documents(file, how); });
  }
  if (size == 0) return 0;
  if (read_documents(file, {.format = DataFormat::bytes}).texts.at(0).size() != size) __builtin_trap();
  return 0;
}
