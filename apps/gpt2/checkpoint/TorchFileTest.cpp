//===- TorchFileTest.cpp --------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Zips and pickles that are written here; files of PyTorch itself are read in
// test/nanogpt_peer.py.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/TorchFile.h"

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/checkpoint/TorchTesting.h"
#include "apps/gpt2/checkpoint/WeightCollection.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <random>
#include <sys/stat.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {
class TorchFiles : public ::testing::Test {
protected:
  std::string refusal(const std::string &content) {
    writeContent(path, content);
    return errorOf([&] {
      TorchFile file(path);
      const PickleValue *x = file.value().find("x");
      if (x) {
        file.tensor(*x);
      }
    });
  }
  /// The one tensor 'x' of a file with this pickle's tensor and these elements.
  Tensor read(const std::string &tensor, const std::string &elements) {
    writeContent(path, torchZip(pickleOf({{"x", tensor}}), {{"0", elements}}));
    TorchFile file(path);
    return file.tensor(*file.value().find("x"));
  }

  TestFolder folder;
  std::string path = folder / "ckpt.pt";
  std::string floats = std::string(
      "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40"
      "\x00\x00\xa0\x40\x00\x00\xc0\x40",
      24); // 1 to 6
};
} // namespace

TEST_F(TorchFiles, readsTensorsWhichOutliveTheFile) {
  Tensor x =
      read(tensorPickle("FloatStorage", "0", 6, 0, {2, 3}, {3, 1}), floats);
  EXPECT_EQ(x.str(), "fp32[2, 3]");
  EXPECT_THAT(x.toFloat64(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(TorchFiles, readsViewsOfAStorage) {
  Tensor x =
      read(tensorPickle("FloatStorage", "0", 6, 1, {2, 2}, {1, 3}), floats);
  EXPECT_THAT(x.toFloat64(), ElementsAre(2, 5, 3, 6));
  Tensor scalar = read(tensorPickle("FloatStorage", "0", 6, 5, {}, {}), floats);
  EXPECT_EQ(scalar.item(), 6);
  EXPECT_EQ(
      read(tensorPickle("FloatStorage", "0", 6, 6, {0, 3}, {3, 1}), floats)
          .numel(),
      0);
}

TEST_F(TorchFiles, readsTypesAndParameters) {
  EXPECT_EQ(
      read(tensorPickle("HalfStorage", "0", 12, 0, {12}, {1}), floats).dtype(),
      f16);
  EXPECT_EQ(
      read(tensorPickle("LongStorage", "0", 3, 0, {3}, {1}), floats).dtype(),
      i64);
  std::string parameter =
      "ctorch._utils\n_rebuild_parameter\n(" +
      tensorPickle("BFloat16Storage", "0", 12, 0, {12}, {1}) + "\x88" +
      orderedDict() + "tR";
  EXPECT_EQ(read(parameter, floats).dtype(), bf16);
}

TEST_F(TorchFiles, elementsNeedNotBeAligned) {
  writeContent(
      path,
      torchZip(
          pickleOf({{"x", tensorPickle("FloatStorage", "0", 6, 0, {6}, {1})},
                    {"y", tensorPickle("FloatStorage", "0", 6, 5, {1}, {1})}}),
          {{"0", floats}}, {.misalignment = 1}));
  TorchFile file(path);
  Tensor x = file.tensor(*file.value().find("x")),
         y = file.tensor(*file.value().find("y"));
  EXPECT_THAT(x.toFloat64(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(y.item(), 6);
}

TEST_F(TorchFiles, readsZip64) {
  writeContent(path, torchZip(pickleOf({{"x", tensorPickle("FloatStorage", "0",
                                                           6, 0, {6}, {1})}}),
                              {{"0", floats}}, {.isWide = true}));
  TorchFile file(path);
  EXPECT_EQ(file.tensor(*file.value().find("x")).numel(), 6);
}

TEST_F(TorchFiles, whatIsNoTensorIsUndefined) {
  writeContent(path, torchZip(pickleOf({{"x", "N"}, {"y", "]"}}), {}));
  TorchFile file(path);
  EXPECT_FALSE(file.tensor(*file.value().find("x")).defined());
  EXPECT_FALSE(file.tensor(*file.value().find("y")).defined());
}

TEST_F(TorchFiles, refusesTensorsBeyondTheirStorage) {
  auto why = [&](const std::string &tensor) {
    return refusal(torchZip(pickleOf({{"x", tensor}}), {{"0", floats}}));
  };
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, 1, {2, 3}, {3, 1})),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, 0, {2}, {6})),
              HasSubstr("reaches beyond"));
  // Elements that are repeated, and products that overflow.
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, 0, {1000}, {0})),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, 0,
                               {int64_t{1} << 40, int64_t{1} << 40}, {0, 0})),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, 0, {0, INT64_MAX},
                               {INT64_MAX, INT64_MAX})),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, INT64_MAX, {1}, {1})),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 7, 0, {7}, {1})),
              HasSubstr("expected 7 elements of 4 bytes, got 24 bytes"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "1", 6, 0, {6}, {1})),
              HasSubstr("storage '1', got none"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, -1, {6}, {1})),
              HasSubstr("the file is damaged"));
  EXPECT_THAT(why(tensorPickle("FloatStorage", "0", 6, 0, {6}, {1, 1})),
              HasSubstr("the file is damaged"));
  EXPECT_THAT(why(tensorPickle("ComplexFloatStorage", "0", 3, 0, {3}, {1})),
              HasSubstr("'torch.ComplexFloatStorage'"));
}

TEST_F(TorchFiles, refusesWhatWouldRunSomething) {
  std::string marker = folder / "ran";
  std::string command = "touch " + marker;
  std::string code =
      "cposix\nsystem\nX" + littleEndian(command.size(), 4) + command + "\x85R";
  EXPECT_THAT(refusal(torchZip(pickleOf({{"x", code}}), {})),
              AllOf(HasSubstr("ckpt.pt"), HasSubstr("'posix.system'")));
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST_F(TorchFiles, refusesOtherFormsByName) {
  std::string pickle = pickleOf({});
  EXPECT_THAT(refusal("PK\x03\x04"), HasSubstr("got a file of 4 bytes"));
  EXPECT_THAT(
      refusal("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."),
      HasSubstr("since 1.6, got a file of an older form"));
  EXPECT_THAT(refusal("abc"), HasSubstr("expected a file of torch.save"));
  EXPECT_THAT(refusal(torchZip(pickle, {}, {.method = 8})),
              HasSubstr("compressed by method 8"));
  EXPECT_THAT(refusal(torchZip(pickle, {}, {.flags = 1})),
              HasSubstr("an encrypted one"));
  EXPECT_THAT(refusal(torchZip(pickle, {}, {.byteOrder = "big"})),
              HasSubstr("little-endian"));
  EXPECT_THAT(refusal(torchZip(pickle, {{"../constants.pkl", ""}})),
              HasSubstr("TorchScript"));
  EXPECT_THAT(refusal(torchZip(pickle, {}, {.pickleName = "x.pkl"})),
              HasSubstr("with one data.pkl, got another zip"));
}

TEST_F(TorchFiles, aPipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(isTorchFile(path));
  EXPECT_THAT(errorOf([&] { importModel(path); }),
              HasSubstr("expected a file, got a device or pipe"));
}

TEST_F(TorchFiles, entriesHaveBytesOfTheirOwn) {
  std::string zip = torchZip(
      pickleOf({{"x", tensorPickle("FloatStorage", "1", 6, 0, {6}, {1})}}),
      {{"0", floats}, {"1", floats}});
  ASSERT_EQ(refusal(zip), "");
  // The directory's place of an entry stands in front of its name.
  size_t first = zip.rfind("ckpt/data/0") - 4,
         second = zip.rfind("ckpt/data/1") - 4;
  zip.replace(second, 4, zip.substr(first, 4));
  EXPECT_THAT(refusal(zip),
              HasSubstr("expected bytes of its own for each entry, got "
                        "'ckpt/data/"));
}

TEST_F(TorchFiles, tensorsThatAreTakenHaveElementsOfTheirOwn) {
  std::string many;
  for (int i = 0; i < 500; ++i) {
    many += floats;
  }
  // 12000 bytes each, in a file of less than twice that.
  std::string tensor = tensorPickle("FloatStorage", "0", 3000, 0, {3000}, {1});
  auto addAll = [&](const NamedTexts &tensors) {
    writeContent(path, torchZip(pickleOf(tensors), {{"0", many}}));
    TorchFile file(path);
    WeightCollection weights;
    weights.addAll(file, file.value());
  };
  // The last product may be the embedding.
  addAll({{"wte.weight", tensor}, {"lm_head.weight", tensor}});
  EXPECT_THAT(errorOf([&] { addAll({{"x", tensor}, {"y", tensor}}); }),
              HasSubstr("elements of its own for each tensor, got tensors that "
                        "share them: together 24000 bytes or more, in a file "
                        "of 1"));
}

TEST_F(TorchFiles, refusesDamage) {
  std::string whole = torchZip(
      pickleOf({{"x", tensorPickle("FloatStorage", "0", 6, 0, {6}, {1})}}),
      {{"0", floats}});
  ASSERT_EQ(refusal(whole), "");
  // A bit of the elements.
  std::string flipped = whole;
  flipped[flipped.find(floats) + 3] ^= 1;
  EXPECT_THAT(refusal(flipped), HasSubstr("its checksum is another one"));
  // Each length but the whole.
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(refusal(torchZip(pickleOf({}), {{"0", ""}, {"0", ""}})),
              HasSubstr("stands twice"));
  // Each byte, changed, is taken or refused.
  std::mt19937 draw(3);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = char(draw());
    EXPECT_THAT(refusal(changed), ::testing::Not(HasSubstr("internal")));
  }
}
