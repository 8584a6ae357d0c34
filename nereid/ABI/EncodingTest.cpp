//===- EncodingTest.cpp - Images survive, and no bytes crash the reader ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/Encoding.h"

#include <gtest/gtest.h>
#include <random>

using namespace nereid;

static KernelImage sampleImage() {
  KernelImage image;
  image.format = ImageFormat::TileIR;
  image.kernel = "add_kernel";
  image.entry = "add_kernel_0";
  image.target = "x86-64-v4";
  image.parameters = {{"x_ptr", DType::BFloat16, true, true, false},
                      {"n", DType::Int64, false, false, false}};
  ImageSite site;
  site.kind = ImageSite::Kind::Bounds;
  site.message = "load";
  site.location = {"k.py", 3, 5, 3, 20};
  site.sourceLine = "    x = tl.load(x_ptr)";
  site.dtype = DType::Float64;
  site.shape = {4, 128};
  site.hex = true;
  site.parameter = 1;
  site.elementBytes = 2;
  image.sites = {site, ImageSite()};
  image.scratchBytes = 12345;
  image.sharedBytes = 678;
  image.numWarps = 8;
  image.threadsPerBlock = 512;
  image.hasFaultRecord = true;
  image.tensorMaps = {{1, 2, 128, {64, 256}, {1, 1, 0, -1}}, {}};
  image.numRegisters = 42;
  image.spillBytes = 16;
  image.localBytes = 8;
  image.stageTimes = {{"parse", 0.25}, {"llvm", 12.5}};
  Diagnostic warning;
  warning.severity = Severity::Warning;
  warning.message = "fp16 accumulator";
  warning.hint = "use fp32";
  warning.notes.resize(2);
  warning.notes[1].message = "called from";
  image.warnings = {warning};
  image.code = {std::byte{0}, std::byte{255}, std::byte{7}};
  return image;
}

TEST(Encoding, ImagesRoundTrip) {
  KernelImage image = sampleImage();
  std::string bytes = encodeImage(image);
  std::optional<KernelImage> back = decodeImage(bytes);
  ASSERT_TRUE(back);
  // Field by field through the encoder itself: it is injective, which the next
  // test shows by changing every byte.
  EXPECT_EQ(encodeImage(*back), bytes);
  EXPECT_EQ(back->kernel, "add_kernel");
  EXPECT_EQ(back->target, "x86-64-v4");
  EXPECT_EQ(back->parameters[0].dtype, DType::BFloat16);
  EXPECT_TRUE(back->parameters[0].isConst);
  EXPECT_EQ(back->sites[0].shape, (std::vector<int64_t>{4, 128}));
  EXPECT_EQ(back->sites[0].location.endColumn, 20u);
  EXPECT_EQ(back->sites[0].parameter, 1);
  EXPECT_EQ(back->sites[1].parameter, -1);
  EXPECT_EQ(back->scratchBytes, 12345u);
  EXPECT_EQ(back->numWarps, 8u);
  EXPECT_EQ(back->threadsPerBlock, 512u);
  EXPECT_TRUE(back->hasFaultRecord);
  EXPECT_EQ(back->tensorMaps, image.tensorMaps);
  EXPECT_EQ(back->numRegisters, 42u);
  EXPECT_EQ(back->spillBytes, 16u);
  EXPECT_EQ(back->localBytes, 8u);
  EXPECT_EQ(back->stageTimes[1].second, 12.5);
  EXPECT_EQ(back->warnings[0].notes[1].message, "called from");
  EXPECT_EQ(back->code, image.code);
}

TEST(Encoding, DamagedBytesGiveNothingOrAnotherImage) {
  std::string bytes = encodeImage(sampleImage());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decodeImage(bytes.substr(0, i))) << i;
    for (int flip : {1, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      if (std::optional<KernelImage> other = decodeImage(changed)) {
        EXPECT_EQ(encodeImage(*other), changed) << i;
      }
    }
  }
  EXPECT_FALSE(decodeImage(bytes + "x"));
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string noise(random() % 300, '\0');
    for (char &c : noise) {
      c = static_cast<char>(random());
    }
    decodeImage(noise);
    decodeImage(bytes.substr(0, 4) + noise);
  }
}

TEST(Encoding, DifferentStaticValuesHaveDifferentBytes) {
  using Tuple = StaticValue::Tuple;
  const StaticValue values[] = {
      {},
      StaticValue(true),
      StaticValue(1),
      StaticValue(1.0),
      StaticValue("1"),
      StaticValue(DType::Int1),
      StaticValue(Tuple{}),
      StaticValue(Tuple{StaticValue(1), StaticValue(2)}),
      StaticValue(Tuple{StaticValue(Tuple{StaticValue(1)}), StaticValue(2)}),
      StaticValue(Tuple{StaticValue("a', 'b")}),
      StaticValue(Tuple{StaticValue("a"), StaticValue("b")}),
      StaticValue(StaticValue::Dict{}),
      StaticValue(StaticValue::Dict{{"a", StaticValue(1)}})};
  for (const StaticValue &a : values) {
    for (const StaticValue &b : values) {
      EXPECT_EQ(Encoder().add(a).bytes == Encoder().add(b).bytes, a == b)
          << a.str() << " " << b.str();
    }
  }
}
