//===- SafetensorsTest.cpp ------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Weights/Safetensors.h"

#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace nereid;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file with this header, as it stands, and these elements.
static std::string fileOf(const std::string &header,
                          const std::string &elements = "") {
  std::string length;
  for (int i = 0; i < 8; ++i) {
    length += char(header.size() >> 8 * i & 255);
  }
  return length + header + elements;
}

namespace {
class Safetensors : public ::testing::Test {
protected:
  std::string refusal(const std::string &content) {
    writeContent(path, content);
    return errorOf([&] { SafetensorsFile file(path); });
  }

  TestFolder folder;
  std::string path = folder / "x.safetensors";
};
} // namespace

TEST_F(Safetensors, givesBackWhatWasWritten) {
  std::vector<NamedTensor> tensors;
  for (DType dtype : {i1, i8, i16, i32, i64, u8, u16, u32, u64, fp8e4nv, fp8e5,
                      f16, bf16, f32, f64}) {
    tensors.push_back({"t " + std::string(shortName(dtype)),
                       arange({3, 5}, dtype, Device::cpu())});
  }
  tensors.push_back({"scalar", full({}, 2.5, f32, Device::cpu())});
  tensors.push_back({"nothing", zeros({4, 0}, f32, Device::cpu())});
  Tensor matrix = randn({7, 9}, f32, Device::cpu());
  tensors.push_back({"transposed", matrix.transpose(0, 1)});
  tensors.push_back({"\"\xc3\xa9\n", matrix});
  Metadata metadata = {{"format", "pt"}, {"b\"", "\xe2\x82\xac"}};
  WrittenFile written = writeSafetensors(path, tensors, metadata);
  SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(file.tensors().size(), tensors.size());
  for (const NamedTensor &one : tensors) {
    Tensor got = file.find(one.name);
    ASSERT_TRUE(got.defined()) << one.name;
    EXPECT_TRUE(haveSameBits(got, one.tensor)) << one.name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(got.data()) % byteSize(got.dtype()),
              0u);
  }
  EXPECT_FALSE(file.find("another").defined());
  EXPECT_EQ(written.bytes, std::filesystem::file_size(path));
  EXPECT_EQ(file.bytes(), written.bytes);
  EXPECT_EQ(file.digest(), written.digest);
}

TEST_F(Safetensors, tensorsOutliveTheFile) {
  writeSafetensors(
      path, std::vector<NamedTensor>{{"x", arange({4}, f32, Device::cpu())}});
  Tensor x;
  {
    SafetensorsFile file(path);
    x = file.find("x");
  }
  std::filesystem::remove(path);
  EXPECT_THAT(x.toVector<float>(), ElementsAre(0, 1, 2, 3));
}

TEST_F(Safetensors, aChangedTensorDoesNotChangeTheFile) {
  writeSafetensors(
      path, std::vector<NamedTensor>{{"x", arange({2}, f32, Device::cpu())}});
  SafetensorsFile(path).find("x").fill(7);
  EXPECT_THAT(SafetensorsFile(path).find("x").toVector<float>(),
              ElementsAre(0, 1));
}

TEST_F(Safetensors, readsElementsAtOddPlaces) {
  float value = 1.5;
  std::string elements(1, '\1');
  elements.append(reinterpret_cast<char *>(&value), 4);
  writeContent(
      path, fileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                   R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}} )",
                   elements));
  EXPECT_EQ(SafetensorsFile(path).find("b").item(), 1.5);
}

TEST_F(Safetensors, refusesFilesThatBreakARule) {
  std::string row = R"("dtype":"F32","shape":[1],"data_offsets")";
  auto two = [&](const std::string &first, const std::string &second) {
    return fileOf("{\"a\":{" + row + ":" + first + "},\"b\":{" + row + ":" +
                      second + "}}",
                  "12345678");
  };
  auto one = [&](const std::string &text, const std::string &elements = "") {
    return fileOf("{\"a\":" + text + "}", elements);
  };
  const std::pair<std::string, const char *> cases[] = {
      {"", "expected 8 bytes of the header's length, got 0"},
      {"1234567", "the file is cut off"},
      {std::string("\1\0\0\0\0\0\0\0", 8), "expected 1 bytes of its header"},
      {std::string("\377\377\377\377\377\377\377\377", 8),
       "expected a safetensors file, whose header has at most 100000000"},
      {std::string("\1\341\365\5\0\0\0\0", 8), "at most 100000000 bytes"},
      {fileOf(""), "whose header begins with '{'"},
      {fileOf(" {}"), "whose header begins with '{'"},
      {fileOf("{\"a\":"), "expected a header that is a JSON object"},
      {fileOf("{} x"), "expected a header that is a JSON object"},
      {fileOf("{\"\xff\":1}"), "expected a header that is a JSON object"},
      {fileOf("{\"a\":" + std::string(100000, '[')), "deeper structures"},
      {fileOf(R"({"a":{},"a":{}})"), "the name 'a' stands twice"},
      {one(R"({"dtype":"F32","dtype":"F32"})"), "'dtype' stands twice"},
      {fileOf(R"({"__metadata__":{"a":1}})"), "expected '__metadata__'"},
      {fileOf(R"({"__metadata__":[]})"), "expected '__metadata__'"},
      {one("3"), "expected dtype, shape and data_offsets, got number"},
      {one("{}"), "expected 'dtype' to be the name of a type"},
      {one(R"({"dtype":"F31"})"), "expected a type among BOOL, I8"},
      {one(R"({"dtype":"F32"})"), "expected 'shape' to be a list"},
      {one(R"({"dtype":"F32","shape":[-1]})"), "expected 'shape' to be a list"},
      {one(R"({"dtype":"F32","shape":[1.5]})"), "expected 'shape'"},
      {one(R"({"dtype":"F32","shape":[]})"), "expected 'data_offsets'"},
      {one("{" + row + ":[0]}"), "a begin and an end"},
      {one("{" + row + ":[4,0]}"), "a begin and an end"},
      {one("{" + row + ":[0,3]}", "123"), "expected 4 bytes of elements"},
      {one(R"({"dtype":"F32","shape":[4611686018427387904,4],)"
           R"("data_offsets":[0,0]})"),
       "more than 2^63 bytes"},
      {one(R"({"dtype":"F32","shape":[0,4611686018427387904,4],)"
           R"("data_offsets":[0,0]})"),
       "more than 2^63 bytes"},
      {one("{" + row + ":[0,4]}", "123"), "the file is cut off: expected 4"},
      {one("{" + row + ":[0,4]}", "12345"), "got 1 bytes after it"},
      {two("[0,4]", "[0,4]"), "it overlaps the tensor before it"},
      {two("[4,8]", "[0,4]"), ""},
      {two("[0,4]", "[5,9]"), "there is a gap in front of it"},
      {two("[1,5]", "[5,9]"), "there is a gap in front of it"},
  };
  for (const auto &[content, message] : cases) {
    std::string got = refusal(content);
    EXPECT_THAT(got, HasSubstr(message)) << content.substr(0, 200);
    EXPECT_EQ(got.empty(), *message == 0) << got;
    EXPECT_TRUE(got.empty() || got.starts_with("'" + path + "': ")) << got;
  }
  EXPECT_THAT(errorOf([&] { SafetensorsFile(folder / "none"); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(errorOf([&] { SafetensorsFile file(folder.path); }),
              HasSubstr("expected a file, got a folder"));
  EXPECT_THAT(errorOf([&] { SafetensorsFile file("/dev/null"); }),
              HasSubstr("expected a file, got a device or pipe"));
}

TEST_F(Safetensors, refusesWhatCannotBeWritten) {
  Tensor x = zeros({1000}, f32, Device::cpu());
  auto write = [&](const std::string &to, std::vector<NamedTensor> tensors) {
    return errorOf([&] { writeSafetensors(to, tensors); });
  };
  EXPECT_THAT(write(path, {{"x", x}, {"x", x}}),
              HasSubstr("two tensors are named 'x'"));
  EXPECT_THAT(write(path, {{"__metadata__", x}}), HasSubstr("__metadata__"));
  EXPECT_THAT(write(path, {{"x", Tensor()}}), HasSubstr("an undefined one"));
  EXPECT_THAT(write(path, {{"\xff", x}}), HasSubstr("names in UTF-8"));
  EXPECT_THAT(write(folder / "none/x", {{"x", x}}),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(write(folder.path, {{"x", x}}),
              HasSubstr("expected a file, got a folder"));
  EXPECT_THAT(write("/dev/null", {{"x", x}}),
              HasSubstr("expected a file, got a device or pipe"));
  EXPECT_FALSE(std::filesystem::exists(path));

  // A limit on file sizes stands for a disk that is full.
  writeContent(path, "old");
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message = write(path, {{"x", x}});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(message, HasSubstr("File too large; files may not be as large"));
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path),
                          std::filesystem::directory_iterator()),
            1);
}

/// Whatever a file holds, it is read, and all its elements can be, or refused
/// with a message.
TEST_F(Safetensors, survivesRandomDamage) {
  std::vector<NamedTensor> tensors = {{"a", randn({3, 4}, f32, Device::cpu())},
                                      {"b", arange({5}, bf16, Device::cpu())},
                                      {"c", zeros({2, 0}, f64, Device::cpu())}};
  writeSafetensors(path, tensors, {{"k", "v"}});
  const std::string whole = contentOf(path);
  std::mt19937_64 random(1);
  int refused = 0;
  constexpr int rounds = 3000;
  for (int round = 0; round < rounds; ++round) {
    std::string content = whole;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      size_t at = random() % content.size();
      switch (random() % 4) {
      case 0:
        content[at] = char(random());
        break;
      case 1:
        content[at] = "0123456789,:[]{}\" -"[random() % 19];
        break;
      case 2:
        content.erase(at, 1 + random() % 9);
        break;
      default:
        content.insert(at, content.substr(random() % content.size(), 7));
      }
      if (content.empty()) {
        break;
      }
    }
    // Rewriting a file on a disk would wait for the disk.
    int fd = ::memfd_create("damaged", MFD_CLOEXEC);
    std::string name = "/proc/self/fd/" + std::to_string(fd);
    writeContent(name, content);
    try {
      SafetensorsFile file(name);
      for (const NamedTensor &one : file.tensors()) {
        one.tensor.toFloat64();
      }
    } catch (const Error &error) {
      ++refused;
      EXPECT_NE(error.code(), ErrorCode::Internal);
      EXPECT_THAT(error.message(), HasSubstr(name));
    }
    ::close(fd);
  }
  EXPECT_GT(refused, rounds / 2);
  EXPECT_LT(refused, rounds);
}
