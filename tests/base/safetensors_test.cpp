#include "chargpt/base/safetensors.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <numeric>

#include "chargpt/base/file.hpp"
#include "chargpt/base/json.hpp"
#include "support/damage.hpp"
#include "support/temp_dir.hpp"
#include "support/thrown_error.hpp"

namespace chargpt {
namespace {

const std::map<std::string, std::string> kMetadata = {{"format", "pt"}, {"vocabulary", "a\"\\\n\t中😀checksum"}};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.5F);
  return values;
}

std::string raw(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string raw(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t header_length(const std::string& contents) {
  std::uint64_t length = 0;
  std::memcpy(&length, contents.data(), sizeof(length));
  return length;
}

/// A file with this header, whatever it says, and this data.
std::string file_bytes(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header + data;
}

/// A folder with one small file that write_safetensors made.
struct SmallFile {
  TempDir dir;
  std::string path = dir / "small.safetensors";
  std::vector<float> a = numbers(6), b = numbers(1);
  WrittenFile written =
      write_safetensors(path, {{"a", {2, 3}, a.data()}, {"none", {0, 7}, nullptr}, {"b", {}, b.data()}}, kMetadata);
  std::string contents = read_file(path);
};

void expect_refused(const std::string& path, std::initializer_list<std::string> parts) {
  expect_error(ExitCode::unusable_model, parts, [&] { SafetensorsFile{path}; });
}

void expect_header_refused(const std::string& header, const std::string& data, const std::string& part) {
  const TempDir dir;
  expect_refused(dir.write("model.safetensors", file_bytes(header, data)), {part});
}

TEST(Safetensors, GivesBackTensorsAndMetadataThatWereWritten) {
  const SmallFile small;
  const SafetensorsFile file(small.path);
  EXPECT_TRUE(file.verified());
  EXPECT_EQ(file.path(), small.path);
  for (const auto& [key, value] : kMetadata) EXPECT_EQ(file.metadata().at(key), value);
  ASSERT_EQ(file.tensors().size(), 3u);
  const TensorEntry* a = file.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->dtype, "F32");
  EXPECT_EQ(a->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(raw(file.bytes(*a)), raw(small.a));
  EXPECT_EQ(raw(file.bytes(*file.find("b"))), raw(small.b));
  EXPECT_TRUE(file.bytes(*file.find("none")).empty());
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, AreWrittenAsTheFormatSays) {
  const SmallFile small;
  const std::uint64_t length = header_length(small.contents);
  EXPECT_EQ((8 + length) % 64, 0u);
  const Json header = parse_json(small.contents.substr(8, length), {});
  std::vector<std::string> keys;
  for (const auto& item : header.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"__metadata__", "a", "none", "b"}));
  EXPECT_EQ(header["a"].dump(), R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})");
  EXPECT_EQ(header["none"].dump(), R"({"dtype":"F32","shape":[0,7],"data_offsets":[24,24]})");
  EXPECT_EQ(header["b"].dump(), R"({"dtype":"F32","shape":[],"data_offsets":[24,28]})");
  EXPECT_EQ(small.contents.substr(8 + length), raw(small.a) + raw(small.b));
}

TEST(Safetensors, CarryTheChecksumOfTheFileWithItsDigitsZeroed) {
  const SmallFile small;
  const std::string checksum = SafetensorsFile(small.path).metadata().at("checksum");
  std::string zeroed = small.contents;
  zeroed.replace(zeroed.find(checksum), checksum.size(), std::string(32, '0'));
  EXPECT_EQ(checksum, xxh3_128(zeroed));
  EXPECT_EQ(small.written.size, small.contents.size());
  EXPECT_EQ(small.written.checksum, xxh3_128(small.contents));
}

TEST(Safetensors, WrittenTwiceAreTheSameBytes) {
  const SmallFile one, two;
  EXPECT_EQ(one.contents, two.contents);
}

TEST(Safetensors, ReplaceAChecksumThatTheMetadataBroughtAlong) {
  const SmallFile small;
  write_safetensors(small.path, {{"b", {}, small.b.data()}}, SafetensorsFile(small.path).metadata());
  EXPECT_TRUE(SafetensorsFile(small.path).verified());
}

TEST(Safetensors, HoldAVocabularyOfAHundredThousandCharacters) {
  const TempDir dir;
  std::string vocabulary;
  for (int i = 0; i < 100'000; ++i) vocabulary += "\xf0\xa0\x80\x80";
  write_safetensors(dir / "m", {}, {{"vocabulary", vocabulary}});
  EXPECT_EQ(SafetensorsFile(dir / "m").metadata().at("vocabulary"), vocabulary);
}

TEST(Safetensors, WriteNoTwoTensorsOfOneName) {
  const TempDir dir;
  const std::vector<float> x = numbers(1);
  expect_error(ExitCode::internal, {"named x"}, [&] {
    write_safetensors(dir / "m", {{"x", {}, x.data()}, {"x", {}, x.data()}}, {});
  });
}

TEST(Safetensors, ReportAFullDiskAndAMissingFolder) {
  const std::vector<float> x = numbers(1);
  expect_error(ExitCode::io, {"/dev/full"}, [&] { write_safetensors("/dev/full", {{"x", {}, x.data()}}, {}); });
  const TempDir dir;
  expect_error(ExitCode::cannot_create, {dir / "none"}, [&] { write_safetensors(dir / "none/m", {}, {}); });
}

TEST(Safetensors, OfOthersAreReadUnverified) {
  const TempDir dir;
  // Out of order in the header, types other than F32, white space: as other writers may have it.
  const std::string header = R"({ "y": {"data_offsets":[6, 8], "dtype":"BF16", "shape":[1]},
                                  "x": {"dtype":"I16","shape":[3],"data_offsets":[0,6]}, "__metadata__": {"format":"pt"}})";
  const SafetensorsFile file(dir.write("m", file_bytes(header, "abcdefgh")));
  EXPECT_FALSE(file.verified());
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].name, "x");
  EXPECT_EQ(raw(file.bytes(file.tensors()[1])), "gh");
  EXPECT_TRUE(SafetensorsFile(dir.write("empty", file_bytes("{}", ""))).tensors().empty());
}

TEST(Safetensors, WithAnyBitFlippedOrCutAtAnyLengthAreRefused) {
  const SmallFile small;
  with_every_damage(small.path, small.contents, [&](const std::string& what) {
    SCOPED_TRACE(what);
    expect_refused(small.path, {small.path});
  });
  EXPECT_TRUE(SafetensorsFile(small.path).verified());
}

TEST(Safetensors, WithBytesAddedOrRemovedAreRefused) {
  const SmallFile small;
  for (std::size_t at = 0; at < small.contents.size(); ++at) {
    SCOPED_TRACE(fmt::format("at byte {}", at));
    std::string longer = small.contents, shorter = small.contents;
    expect_refused(small.dir.write(fmt::format("longer-{}", at), longer.insert(at, 1, longer[at])), {"longer-"});
    expect_refused(small.dir.write(fmt::format("shorter-{}", at), shorter.erase(at, 1)), {"shorter-"});
  }
  expect_refused(small.dir.write("longer", small.contents + "x"), {"damaged"});
}

TEST(Safetensors, AreRefusedWhenTheirChecksumIsHiddenInAnotherKey) {
  const SmallFile small;
  const std::string checksum = SafetensorsFile(small.path).metadata().at("checksum");
  const std::string plain = R"({"__metadata__":{"checksum":"<>","checksum_type":"XXH3-128"}})";
  for (const std::string member : {R"("checksum" :"<>")", R"("a\"checksum":"<>","checksum": "<>")"}) {
    std::string header = plain;
    header.replace(header.find(R"("checksum":"<>")"), 15, member);
    for (auto at = header.find("<>"); at != std::string::npos; at = header.find("<>")) header.replace(at, 2, checksum);
    expect_header_refused(header, "", "not written as this program writes it");
  }
}

TEST(Safetensors, OfAMissingPathAreMissingInput) {
  const TempDir dir;
  expect_error(ExitCode::no_input, {dir / "none"}, [&] { SafetensorsFile{dir / "none"}; });
}

TEST(Safetensors, AreRegularFiles) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  for (const std::string& path : {dir / "pipe", dir.path(), std::string("/dev/zero")}) {
    expect_refused(path, {"a regular file is wanted"});
  }
}

TEST(Safetensors, AreNotPyTorchArchives) {
  const TempDir dir;
  const std::string hint = "looks like a PyTorch archive";
  expect_refused(dir.write("zip", std::string("PK\x03\x04\x00\x00\x08\x08", 8) + std::string(100, 'x')), {hint});
  expect_refused(dir.write("pickle",
                           "\x80\x02\x8a\nl\xfc\x9c"
                           "F\xf9 j\xa8P\x19."),
                 {hint});
  expect_refused(dir.write("short", "\x80\x02}q."), {hint});
}

TEST(Safetensors, HaveAHeaderThatLiesWithinTheFile) {
  const TempDir dir;
  for (const std::uint64_t length : {std::uint64_t{4}, std::uint64_t{1} << 31, std::uint64_t{1} << 62, UINT64_MAX}) {
    std::string contents = file_bytes("{} ", "");
    std::memcpy(contents.data(), &length, sizeof(length));
    expect_refused(dir.write("m", contents), {fmt::format("should have {} bytes, 3 follow", length)});
  }
  expect_refused(dir.write("m", ""), {"0 bytes hold no header length"});
  expect_header_refused("", "", "syntax error");
  expect_header_refused(std::string((8 << 20) + 1, ' '), "", "at most 8388608");
}

TEST(Safetensors, HaveAJsonObjectForAHeader) {
  expect_header_refused("[]", "", "no JSON object");
  expect_header_refused("{\"\xff\":1}", "", "header, line 1, column 3");
  expect_header_refused(std::string(100'000, '['), "", "nested deeper than 8 levels");
  expect_header_refused(R"({"x":{},"x":{}})", "", "\"x\" stands twice");
  expect_header_refused(R"({"__metadata__":3})", "", "__metadata__");
  expect_header_refused(R"({"__metadata__":{"a":3}})", "", "metadata \"a\" is no string");
}

TEST(Safetensors, HaveABoundedNumberOfEntries) {
  std::string header = "{\"t\":0";
  for (int i = 0; i < 250'000; ++i) header += fmt::format(",\"{}\":0", i);
  expect_header_refused(header + "}", "", "more than 200000 values");
  // Commas and brackets inside strings are no entries.
  const TempDir dir;
  const SafetensorsFile file(
      dir.write("m", file_bytes(R"({"__metadata__":{"a\"":")" + std::string(300'000, ',') + "\"}}", "")));
  EXPECT_EQ(file.metadata().at("a\"").size(), 300'000u);
}

TEST(Safetensors, DescribeEachTensorCompletely) {
  const std::string data(4, 'x');
  expect_header_refused(R"({"x":3})", data, "tensor \"x\": exactly dtype, shape and data_offsets");
  expect_header_refused(R"({"x":{"dtype":"F32","shape":[1]}})", data, "exactly dtype, shape and data_offsets");
  expect_header_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", data, "exactly");
  expect_header_refused(R"({"x":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", data, "shape a list");
  expect_header_refused(R"({"x":{"dtype":32,"shape":[1],"data_offsets":[0,4]}})", data, "dtype must be a string");
  expect_header_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", data, "list of two");
  expect_header_refused(R"({"x":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", data, "unknown dtype \"F31\"");
}

TEST(Safetensors, HaveShapesOfWholeNumbersThatDoNotOverflow) {
  const auto refuse_shape = [](const std::string& shape, const std::string& part) {
    expect_header_refused(R"({"x":{"dtype":"F32","data_offsets":[0,4],"shape":[)" + shape + "]}}", "abcd", part);
  };
  refuse_shape("-1", "dimension \"-1\" is no whole number");
  refuse_shape("1.0", "dimension \"1.0\"");
  refuse_shape("\"1\"", "dimension");
  refuse_shape("18446744073709551615", "no whole number from 0 to 2^63-1");
  refuse_shape("4611686018427387905", "2^64 bytes or more");
  refuse_shape("4294967296,4294967297", "2^64 bytes or more");
  refuse_shape("2", "its shape has 8 bytes, its data_offsets 4");
  std::string many = "1";
  for (int i = 1; i < 10'000; ++i) many += ",1";
  refuse_shape(many, "10000 dimensions");
}

TEST(Safetensors, CoverTheirDataWithoutHoleAndOverlap) {
  const auto refuse_offsets = [](const std::string& x, const std::string& y, const std::string& part) {
    const std::string header = R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[)" + x +
                               R"(]},"y":{"dtype":"U8","shape":[4],"data_offsets":[)" + y + "]}}";
    expect_header_refused(header, "12345678", part);
  };
  refuse_offsets("0,4", "3,7",
                 "tensor \"y\" begins at byte 3 of the data; with neither overlap nor hole it would be 4");
  refuse_offsets("0,4", "0,4", "begins at byte 0");
  refuse_offsets("0,4", "5,9", "begins at byte 5");
  refuse_offsets("1,5", "5,9", "begins at byte 1");
  refuse_offsets("4,0", "4,8", "backwards");
  refuse_offsets("0,4", "-4,8", "offset");
  refuse_offsets("0,4", "9223372036854775804,9223372036854775808", "offset");
  expect_header_refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "12345",
                        "tensors have 4 bytes, its data section 5");
  expect_header_refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "123",
                        "tensors have 4 bytes, its data section 3");
}

TEST(Safetensors, HaveNamesThatFitIntoAMessage) {
  const std::string name(1 << 20, 'n');
  const TempDir dir;
  const std::string path =
      dir.write("m", file_bytes("{\"" + name + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", ""));
  try {
    SafetensorsFile{path};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unusable_model);
    EXPECT_LT(std::string(error.what()).size(), 400u) << error.what();
  }
}

}  // namespace
}  // namespace chargpt
