//===- TensorMapTest.cpp - What cuTensorMapEncodeTiled refuses ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/TensorMap.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>

using namespace nereid;
using namespace nereid::sim;
using testing::HasSubstr;

namespace {

/// Of floats of 16 bits, with boxes of 64 x 8 of them.
struct Arguments {
  uint64_t sizes[5] = {100, 30, 1, 1, 1};
  uint64_t strides[4] = {256, 256 * 30, 256 * 30, 256 * 30};
  uint32_t box[5] = {64, 8, 1, 1, 1}, ones[5] = {1, 1, 1, 1, 1};
  TensorMapRequest request;

  Arguments() {
    request.type = 6;
    request.rank = 2;
    request.address = 4096;
    request.sizes = sizes;
    request.strides = strides;
    request.box = box;
    request.elementStrides = ones;
    request.swizzle = 3;
  }
};

struct Wrong {
  std::function<void(Arguments &)> change;
  const char *told;
  ErrorCode code = ErrorCode::InvalidArgument;
};

TEST(TensorMap, RightArgumentsAreTaken) {
  Arguments arguments;
  auto map = encodeTiled(arguments.request);
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(map->isValid());
  EXPECT_EQ(map->boxBytes(), 1024u);
}

TEST(TensorMap, AStrideOfElementsMakesABoxSmaller) {
  Arguments arguments;
  arguments.ones[1] = 3;
  auto map = encodeTiled(arguments.request);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->boxBytes(), 3 * 128u);
}

TEST(TensorMap, WrongArgumentsAreTold) {
  using A = Arguments;
  auto unsupported = ErrorCode::Unsupported;
  const Wrong all[] = {
      {[](A &a) { a.request.type = 16; }, "a type from 0 to 15, got 16"},
      {[](A &a) { a.request.type = 11; }, "is not simulated", unsupported},
      {[](A &a) { a.request.rank = 0; }, "1 to 5 dimensions, got 0"},
      {[](A &a) { a.request.rank = 6; }, "1 to 5 dimensions, got 6"},
      {[](A &a) { a.request.address = 4104; },
       "an address that is a multiple of 16, got 4104"},
      {[](A &a) { a.request.sizes = nullptr; }, "expected sizes, strides"},
      {[](A &a) { a.sizes[1] = 0; }, "a size of dimension 1 from 1 to 2^32"},
      {[](A &a) { a.sizes[0] = (uint64_t{1} << 32) + 1; },
       "a size of dimension 0 from 1 to 2^32"},
      {[](A &a) { a.strides[0] = 250; },
       "a stride of dimension 1 that is a multiple of 16 below 2^40, got 250"},
      {[](A &a) { a.strides[0] = uint64_t{1} << 40; },
       "a stride of dimension 1"},
      {[](A &a) { a.box[1] = 257; },
       "a box of dimension 1 of 1 to 256 elements, got 257"},
      {[](A &a) { a.box[0] = 0; }, "a box of dimension 0"},
      {[](A &a) { a.box[0] = 60; },
       "a box of a multiple of 16 bytes along dimension 0, got 120"},
      {[](A &a) { a.box[0] = 72; },
       "at most 128 bytes along dimension 0, the span of its swizzle"},
      {[](A &a) { a.box[0] = 32; }, "a box narrower than the span of its "
                                    "swizzle is not simulated",
       unsupported},
      {[](A &a) { a.ones[1] = 9; },
       "a stride of elements of dimension 1 from 1 to 8, got 9"},
      {[](A &a) { a.request.interleave = 3; }, "an interleave from 0 to 2"},
      {[](A &a) { a.request.interleave = 1; }, "is not simulated",
       unsupported},
      {[](A &a) { a.request.swizzle = 7; }, "a swizzle from 0 to 6"},
      {[](A &a) { a.request.swizzle = 4; }, "is not simulated", unsupported},
      {[](A &a) { a.request.promotion = 4; }, "a promotion from 0 to 3"},
      {[](A &a) { a.request.fill = 2; }, "a fill of 0 or 1"},
      {[](A &a) { a.request.fill = 1; }, "is not simulated", unsupported},
  };
  for (const Wrong &wrong : all) {
    Arguments arguments;
    wrong.change(arguments);
    auto map = encodeTiled(arguments.request);
    ASSERT_FALSE(map.ok()) << wrong.told;
    EXPECT_THAT(map.failure().message, HasSubstr(wrong.told));
    EXPECT_EQ(map.failure().code, wrong.code);
  }
}

} // namespace
