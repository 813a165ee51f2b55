#include "fuzz/fuzz.hpp"
#include "support/read_documents.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] { read_documents(file_with(text_of(data, size)), {.format = DataFormat::jsonl}); });
}
