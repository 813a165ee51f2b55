// Stands in for libFuzzer where the compiler has none: NAME_fuzz COUNT CORPUS runs the target over the files of the
// corpus and over COUNT mutations of them. The mutations are the same in every run; a crash leaves its input in
// "crash".

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

/// One random edit: a bit flipped, a byte set, bytes cut, doubled, or put in from elsewhere in the text.
void mutate_once(std::string& text, Random& random) {
  constexpr std::string_view kTelling = "\"\\{}[],:0-\xff\x80\n e.";
  const std::size_t at = below(random, text.size() + 1), count = 1 + below(random, 16);
  switch (random() % 6) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, count);
      break;
    case 3:
      text.insert(at, text.substr(below(random, text.size()), count));
      break;
    case 4:
      text.insert(at, 1, kTelling[below(random, kTelling.size())]);
      break;
    case 5:
      text.insert(at, std::to_string(std::uint64_t{1} << random() % 64));
      break;
  }
}

std::string mutated(std::string text, Random& random) {
  for (std::size_t edits = 1 + below(random, 4); edits > 0; --edits) mutate_once(text, random);
  return text;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<std::string> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    corpus.push_back(chargpt::read_file(entry.path().string()));
  }
  std::sort(corpus.begin(), corpus.end());  // folders have no order of their own
  if (corpus.empty()) return 2;
  for (const std::string& input : corpus) run(input);
  Random random(1);
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    const std::string input = mutated(corpus[below(random, corpus.size())], random);
    std::ofstream("crash", std::ios::binary) << input;
    run(input);
    std::filesystem::remove("crash");
  }
  return 0;
}
