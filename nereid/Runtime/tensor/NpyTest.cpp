//===- NpyTest.cpp - NumPy files, byte by byte ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Npy.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <filesystem>
#include <gmock/gmock.h>

using namespace nereid;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class Npy : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-npy-XXXXXX";
    root = ::mkdtemp(name);
    path = root + "/a.npy";
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string &content) {
    ASSERT_TRUE(writeFileAtomically(path, content).ok());
  }
  /// A file as NumPy lays it out.
  void write(int major, const std::string &dict, const std::string &data) {
    std::string header = dict;
    size_t prefix = major == 1 ? 10 : 12;
    while ((prefix + header.size() + 1) % 64) {
      header += ' ';
    }
    header += '\n';
    std::string file = "\x93NUMPY";
    file += static_cast<char>(major);
    file += '\0';
    for (size_t i = 0; i < (major == 1 ? 2u : 4u); ++i) {
      file += static_cast<char>(header.size() >> (8 * i));
    }
    write(file + header + data);
  }
  std::string errorOf(std::optional<DType> dtype = std::nullopt) {
    try {
      loadNpy(path, dtype);
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("a.npy"));
      return error.what();
    }
    return "";
  }
  std::string root, path;
};
} // namespace

TEST_F(Npy, EveryDTypeSurvives) {
  for (int i = 0; i < numDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    Tensor t = randint({3, 5}, 0, 2, dtype);
    saveNpy(path, t);
    bool named = dtype != fp8e4nv && dtype != fp8e5;
    Tensor back = loadNpy(path, named ? std::nullopt : std::optional(dtype));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_EQ(back.toFloat64(), t.toFloat64()) << languageName(dtype);
  }
}

TEST_F(Npy, ShapesAndViews) {
  for (const Shape &shape :
       {Shape{}, Shape{0}, Shape{7}, Shape{2, 0, 3}, Shape{2, 3, 4, 5}}) {
    Tensor t = arange(shape, i32);
    saveNpy(path, t);
    EXPECT_EQ(loadNpy(path).shape(), shape);
    EXPECT_EQ(loadNpy(path).toFloat64(), t.toFloat64());
  }
  Tensor view = arange({4, 6}, f32).transpose(0, 1).slice(0, 1, 4);
  saveNpy(path, view);
  EXPECT_EQ(loadNpy(path).toFloat64(), view.toFloat64());
}

TEST_F(Npy, WrittenBytesAreTheFormat) {
  saveNpy(path, arange({2}, i16));
  std::string file = *readFile(path);
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  size_t header = static_cast<uint8_t>(file[8]) |
                  static_cast<size_t>(static_cast<uint8_t>(file[9])) << 8;
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_THAT(file, HasSubstr("{'descr': '<i2', 'fortran_order': False, "
                              "'shape': (2,), }"));
  EXPECT_EQ(file[10 + header - 1], '\n');
  EXPECT_EQ(file.substr(10 + header), std::string("\0\0\1\0", 4));
}

TEST_F(Npy, VersionsOrdersAndEndianness) {
  std::string little("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  std::string big("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  for (int version : {1, 2, 3}) {
    write(version,
          "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
          little);
    EXPECT_THAT(loadNpy(path).toVector<int>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
  write(1, "{'shape': (2L, 3L), 'fortran_order': True, 'descr': '>i2'}", big);
  Tensor t = loadNpy(path);
  EXPECT_TRUE(t.isContiguous());
  EXPECT_THAT(t.toVector<int>(), ElementsAre(1, 3, 5, 2, 4, 6));
  write(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}",
        std::string("\1\0", 2));
  EXPECT_EQ(loadNpy(path).dtype(), i1);
}

TEST_F(Npy, RawBitsByName) {
  // 1.0 and -2.0 in bfloat16.
  std::string bits("\x80\x3f\x00\xc0", 4);
  for (const char *descr : {"<u2", "<V2", "<i2", "|V2"}) {
    write(1,
          std::string("{'descr': '") + descr +
              "', 'fortran_order': False, 'shape': (2,), }",
          bits);
    EXPECT_THAT(loadNpy(path, bf16).toFloat64(), ElementsAre(1, -2)) << descr;
  }
  EXPECT_EQ(loadNpy(path).dtype(), bf16); // as ml_dtypes writes it
  EXPECT_THAT(errorOf(fp8e5), HasSubstr("2 bytes"));
  write(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (4,), }", bits);
  EXPECT_THAT(errorOf(), HasSubstr("@file.npy:bf16"));
}

TEST_F(Npy, DamagedFilesAreRefused) {
  EXPECT_THAT(errorOf(), HasSubstr("No such file"));
  write("hello");
  EXPECT_THAT(errorOf(), HasSubstr("expected a .npy file"));
  write(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (100,), }", "xx");
  EXPECT_THAT(errorOf(), HasSubstr("expected 400 bytes"));
  write(4, "{}", "");
  EXPECT_THAT(errorOf(), HasSubstr("from 1 to 3, got 4"));
  write(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "12345678");
  EXPECT_THAT(errorOf(), HasSubstr("'<c8'"));
  write(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "1234");
  EXPECT_THAT(errorOf(), HasSubstr("structured"));
  for (const char *dict :
       {"", "{", "{'descr'", "{'descr': '<f4'}", "{'shape': (1,}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} rubbish"}) {
    write(1, dict, "1234");
    EXPECT_THAT(errorOf(), HasSubstr("header")) << dict;
  }
}

TEST_F(Npy, TypesWithRubbishBehindThemAreRefused) {
  for (const char *descr : {"<f4x", "<f4 ", "<f04x", "<f", "<i4,", "f-4"}) {
    write(1,
          std::string("{'descr': '") + descr +
              "', 'fortran_order': False, 'shape': (1,), }",
          "1234");
    EXPECT_THAT(errorOf(), HasSubstr("NumPy type")) << descr;
  }
}

TEST_F(Npy, SizesAreCheckedBeforeMemoryIsTaken) {
  write(1,
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,)}",
        "12345678");
  EXPECT_THAT(errorOf(), HasSubstr("expected 8796093022208 bytes"));
  write(1,
        "{'descr': '<f8', 'fortran_order': False, 'shape': "
        "(9223372036854775807,9223372036854775807)}",
        "12345678");
  EXPECT_THAT(errorOf(), HasSubstr("cut off"));
  write(std::string("\x93NUMPY\x02\0\xff\xff\xff\x7f", 12));
  EXPECT_THAT(errorOf(), HasSubstr("a header of at most"));
}

TEST_F(Npy, HeadersLongerThanVersionOneHas) {
  Shape shape(40000, 1);
  shape[0] = 2;
  saveNpy(path, arange(shape, i32));
  EXPECT_EQ(loadNpy(path).shape(), shape);
}

TEST_F(Npy, AnUndefinedTensorIsNotSaved) {
  EXPECT_THROW(saveNpy(path, Tensor()), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// Every prefix and every single-byte change of a file is answered with a
/// tensor or an Error.
TEST_F(Npy, NoBytesCrashTheReader) {
  saveNpy(path, arange({3, 2}, f32));
  std::string file = *readFile(path);
  auto probe = [&](const std::string &content) {
    write(content);
    try {
      loadNpy(path);
    } catch (const Error &) {
    }
  };
  for (size_t i = 0; i < file.size(); ++i) {
    probe(file.substr(0, i));
    for (char c : {'\0', '9', '\xff'}) {
      std::string changed = file;
      changed[i] = c;
      probe(changed);
    }
  }
}
