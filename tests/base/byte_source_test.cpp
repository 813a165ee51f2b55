#include "chargpt/base/byte_source.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/temp_dir.hpp"

namespace chargpt {
namespace {

/// The letters of a text, in pieces of 1, 2, 3, ... letters.
class Pieces : public PieceSource {
 public:
  explicit Pieces(std::string text) : text_(std::move(text)) {}

 protected:
  void make(std::string& piece) override {
    piece = text_.substr(0, ++size_);
    text_.erase(0, size_);
  }

 private:
  std::string text_;
  std::size_t size_ = 0;
};

std::string read_in_steps_of(std::size_t step, ByteSource& source) {
  std::string all, some(step, '\0');
  for (std::size_t got = step; got == step;) {
    got = source.read(some);
    all.append(some, 0, got);
  }
  EXPECT_EQ(source.read(some), 0);
  return all;
}

TEST(ByteSource, GivesAllBytesWhateverIsAskedFor) {
  const std::string text = "what is read is the same in any steps";
  const TempDir folder;
  folder.write("t", text);
  for (std::size_t step = 1; step < text.size() + 2; ++step) {
    TextSource from_text(text);
    FileSource from_file(FileReader(folder / "t"));
    Pieces from_pieces(text);
    for (ByteSource* source : std::initializer_list<ByteSource*>{&from_text, &from_file, &from_pieces}) {
      EXPECT_EQ(read_in_steps_of(step, *source), text) << step;
    }
  }
}

TEST(ByteSource, AllThatIsLeftIsReadInOneGo) {
  const std::string text(200'000, 'a');
  TextSource source(text);
  std::string some(5, '\0');
  source.read(some);
  EXPECT_EQ(read_all(source).size(), text.size() - 5);
  EXPECT_EQ(read_all(source), "");
}

}  // namespace
}  // namespace chargpt
