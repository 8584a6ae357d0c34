//===- BulkTest.cpp - Boxes of tensors that the engine copies -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/TensorMap.h"
#include "nereid/Sim/testing/KernelRun.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>
#include <numeric>

using namespace nereid::sim;
using testing::HasSubstr;

namespace {

/// A matrix of words at the start of the kernel's memory.
TensorMap matrixOf(KernelRun &kernel, std::vector<uint64_t> sizes,
                   std::vector<uint32_t> box, int swizzle = 0) {
  std::vector<uint64_t> strides;
  uint64_t stride = sizes[0] * 4;
  for (size_t i = 1; i < sizes.size(); ++i) {
    strides.push_back(stride);
    stride *= sizes[i];
  }
  std::vector<uint32_t> ones(sizes.size(), 1);
  TensorMapRequest request;
  request.type = 2; // u32
  request.rank = unsigned(sizes.size());
  request.address = reinterpret_cast<uint64_t>(kernel.memory.data());
  request.sizes = sizes.data();
  request.strides = strides.data();
  request.box = box.data();
  request.elementStrides = ones.data();
  request.swizzle = swizzle;
  return *encodeTiled(request);
}

constexpr uint32_t barrierAt = 2048;

/// Word i of shared memory to word 1024 + i, after a load of one box.
std::string loadAndShow(const std::string &dimensions,
                        const std::string &coordinates, uint32_t bytes) {
  return "mov.b32 %r1, " + std::to_string(barrierAt) + R"(;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], )" +
         std::to_string(bytes) + R"(;
    mov.b32 %r2, 0;
    cp.async.bulk.tensor.)" +
         dimensions +
         ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], "
         "[%rd30, {" +
         coordinates + R"(}], [%r1];
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra W;
    mov.b64 %rd2, %rd0;
    SHOW: ld.shared.b32 %r3, [%r2];
    st.global.b32 [%rd2+4096], %r3;
    add.u32 %r2, %r2, 4;
    add.u64 %rd2, %rd2, 4;
    setp.lt.u32 %p2, %r2, )" +
         std::to_string(bytes) + ";\n@%p2 bra SHOW;\n";
}

KernelRun alone() {
  KernelRun kernel;
  kernel.threads = 1;
  kernel.sharedBytes = 4096;
  kernel.memory.resize(2048);
  std::iota(kernel.memory.begin(), kernel.memory.begin() + 1024, 1);
  return kernel;
}

TEST(Bulk, ABoxIsThereInOrder) {
  for (AsyncOrder order : {AsyncOrder::Late, AsyncOrder::Early}) {
    KernelRun kernel = alone();
    kernel.asyncOrder = order;
    kernel.checksRaces = true;
    kernel.map = matrixOf(kernel, {32, 16}, {8, 4});
    kernel.body = loadAndShow("2d", "4, 3", 128);
    ASSERT_EQ(kernel.run(), "");
    for (uint32_t row = 0; row < 4; ++row) {
      for (uint32_t column = 0; column < 8; ++column) {
        EXPECT_EQ(kernel.memory[1024 + row * 8 + column],
                  1 + (3 + row) * 32 + 4 + column);
      }
    }
  }
}

TEST(Bulk, OutsideTheTensorAreZerosAlsoInFront) {
  KernelRun kernel = alone();
  kernel.map = matrixOf(kernel, {12, 5}, {8, 4});
  for (auto [x, y] : {std::pair(-4, -2), {8, 3}, {-8, 0}, {0, 5}}) {
    kernel.body =
        loadAndShow("2d", std::to_string(x) + ", " + std::to_string(y), 128);
    ASSERT_EQ(kernel.run(), "");
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 8; ++column) {
        int r = y + row, c = x + column;
        bool isInside = r >= 0 && r < 5 && c >= 0 && c < 12;
        EXPECT_EQ(kernel.memory[size_t(1024 + row * 8 + column)],
                  isInside ? uint32_t(1 + r * 12 + c) : 0u)
            << x << ", " << y << ": " << row << ", " << column;
      }
    }
  }
}

TEST(Bulk, EveryNumberOfDimensions) {
  std::vector<uint64_t> sizes;
  std::vector<uint32_t> box;
  std::string coordinates;
  uint32_t first = 0, stride = 1;
  const uint64_t all[] = {8, 2, 3, 2, 2};
  for (unsigned rank = 1; rank <= 5; ++rank) {
    sizes.push_back(all[rank - 1]);
    box.push_back(rank == 1 ? 4 : 1);
    coordinates += rank == 1 ? "4" : ", 1";
    first += rank == 1 ? 4 : stride;
    stride *= uint32_t(all[rank - 1]);
    KernelRun kernel = alone();
    kernel.map = matrixOf(kernel, sizes, box);
    kernel.body = loadAndShow(std::to_string(rank) + "d", coordinates, 16);
    ASSERT_EQ(kernel.run(), "");
    EXPECT_EQ(kernel.memory[1024], 1 + first) << rank;
  }
}

/// The tables of PTX ISA 5.5.6, by rows: a piece of 16 bytes of row r goes to
/// piece p ^ r % 8 of 128 bytes, p ^ r / 2 % 4 of 64, p ^ r / 4 % 2 of 32.
TEST(Bulk, SwizzlesPermutePiecesOfRows) {
  for (int swizzle : {1, 2, 3}) {
    uint32_t pieces = 1u << swizzle, words = 4 * pieces;
    KernelRun kernel = alone();
    kernel.map = matrixOf(kernel, {words, 16}, {words, 16}, swizzle);
    kernel.body = loadAndShow("2d", "0, 0", words * 16 * 4);
    ASSERT_EQ(kernel.run(), "");
    for (uint32_t row = 0; row < 16; ++row) {
      for (uint32_t word = 0; word < words; ++word) {
        uint32_t by = (row / (8 / pieces)) % pieces;
        uint32_t at = row * words + ((word / 4) ^ by) * 4 + word % 4;
        EXPECT_EQ(kernel.memory[1024 + at], 1 + row * words + word)
            << "swizzle " << swizzle << ", row " << row;
      }
    }
  }
}

std::string storeFromShared(const std::string &coordinates,
                            const std::string &waits) {
  return R"(
    mov.b32 %r2, 0;
    FILL: st.shared.b32 [%r2], %r2;
    add.u32 %r2, %r2, 4;
    setp.lt.u32 %p1, %r2, 128;
    @%p1 bra FILL;
    fence.proxy.async.shared::cta;
    mov.b32 %r2, 0;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd30, {)" +
         coordinates + "}], [%r2];\ncp.async.bulk.commit_group;\n" + waits;
}

TEST(Bulk, AStoreWritesInsideTheTensorOnly) {
  for (AsyncOrder order : {AsyncOrder::Late, AsyncOrder::Early}) {
    KernelRun kernel = alone();
    kernel.asyncOrder = order;
    kernel.checksRaces = true;
    kernel.map = matrixOf(kernel, {12, 5}, {8, 4});
    std::vector<uint32_t> before = kernel.memory;
    kernel.body = storeFromShared("8, 3", "cp.async.bulk.wait_group 0;");
    ASSERT_EQ(kernel.run(), "");
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t row = i / 12, column = i % 12;
      bool isWritten = row >= 3 && row < 5 && column >= 8;
      EXPECT_EQ(kernel.memory[i],
                isWritten ? 4 * ((row - 3) * 8 + column - 8) : before[i])
          << i;
    }
  }
}

TEST(Bulk, BoxesBeginAtPiecesAndAreWrittenBehindTheTensorsBegin) {
  KernelRun kernel = alone();
  kernel.map = matrixOf(kernel, {12, 5}, {8, 4});
  kernel.body = loadAndShow("2d", "-3, 0", 128);
  EXPECT_THAT(kernel.run(), HasSubstr("a box that begins at byte -12 of its "
                                      "row, which is no multiple of 16"));
  kernel.body = storeFromShared("8, -1", "cp.async.bulk.wait_group 0;");
  EXPECT_THAT(kernel.run(),
              HasSubstr("a box to be written that begins in front of the "
                        "tensor, at -1 of dimension 1"));
}

TEST(Bulk, WhatIsReadIsNotYetWritten) {
  std::string look = "ld.global.b32 %r5, [%rd0];\n"
                     "st.global.b32 [%rd0+4096], %r5;\n";
  for (bool isWritten : {false, true}) {
    KernelRun kernel = alone();
    kernel.memory[0] = 77;
    kernel.map = matrixOf(kernel, {8, 4}, {8, 4});
    kernel.body = storeFromShared(
        "0, 0", (isWritten ? "cp.async.bulk.wait_group 0;\n"
                           : "cp.async.bulk.wait_group.read 0;\n") +
                    look);
    ASSERT_EQ(kernel.run(), "");
    EXPECT_EQ(kernel.memory[1024], isWritten ? 0u : 77u);
    EXPECT_EQ(kernel.memory[1], 4u);
  }
}

TEST(Bulk, YoungerGroupsAreNotWaitedFor) {
  KernelRun kernel = alone();
  kernel.map = matrixOf(kernel, {8, 4}, {8, 4});
  kernel.body = storeFromShared("0, 0", "cp.async.bulk.wait_group.read 1;\n");
  EXPECT_THAT(kernel.run(), HasSubstr("which may still read when its block "
                                      "ends, thread 0"));
}

TEST(Bulk, RunsOfBytes) {
  KernelRun kernel = alone();
  kernel.body = R"(
    mbarrier.init.shared::cta.b64 [2048], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [2048], 32;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [64], [%rd0+16], 32, [2048];
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [2048], 0;
    @!%p1 bra W;
    fence.proxy.async.shared::cta;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0+4096], [80], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;)";
  ASSERT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[1024], 9u);
}

TEST(Bulk, ACopyThatNobodyWaitsForIsTold) {
  KernelRun kernel = alone();
  kernel.body = R"(
    mbarrier.init.shared::cta.b64 [2048], 1;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [64], [%rd0], 32, [2048];)";
  EXPECT_THAT(kernel.run(),
              HasSubstr("the copy has not been waited for, and may still "
                        "write when its block ends"));
}

struct Wrong {
  const char *from, *to, *told;
};

TEST(Bulk, WrongArgumentsAreTold) {
  for (Wrong wrong : {
           Wrong{"mov.b32 %r2, 0;", "mov.b32 %r2, 64;",
                 "a box at 0x40 of shared memory, which is no multiple of "
                 "128"},
           Wrong{"mov.b32 %r2, 0;", "mov.b32 %r2, 3968;\n",
                 "bytes past the end of shared memory"},
           Wrong{"mov.b32 %r2, 0;", "mov.b32 %r2, 2048;",
                 "a copy touches a barrier's bytes"},
           Wrong{"[%rd30,", "[%rd30+32,", "which is no multiple of 64"},
           Wrong{"[%rd30,", "[%rd0,", "no map at"},
           Wrong{"2d", "1d", "is not simulated"},
           Wrong{"tensor.2d.shared::cluster.global.tile",
                 "tensor.2d.shared::cluster.global.im2col", "is not simulated"},
       }) {
    KernelRun kernel = alone();
    // So that %rd0 is one that a map might have.
    kernel.memory.resize(2048 + 16);
    kernel.map = matrixOf(kernel, {32, 16}, {8, 8});
    kernel.body = loadAndShow("2d", "0, 0", 256);
    size_t at = kernel.body.find(wrong.from);
    ASSERT_NE(at, std::string::npos) << wrong.from;
    kernel.body.replace(at, std::string(wrong.from).size(), wrong.to);
    if (std::string(wrong.to) == "[%rd0,") {
      kernel.body =
          "add.u64 %rd3, %rd0, 63;\nand.b64 %rd3, %rd3, -64;\n" + kernel.body;
      kernel.body.replace(kernel.body.find("[%rd0,"), 6, "[%rd3,");
    }
    EXPECT_THAT(kernel.run(), HasSubstr(wrong.told)) << wrong.to;
  }
}

TEST(Bulk, CoordinatesAreAsManyAsDimensions) {
  KernelRun kernel = alone();
  kernel.map = matrixOf(kernel, {32, 16}, {8, 8});
  kernel.body = loadAndShow("1d", "0", 256);
  EXPECT_THAT(kernel.run(),
              HasSubstr("1 coordinates for a map of 2 dimensions"));
}

TEST(Bulk, ATensorThatIsNotThereIsAFault) {
  KernelRun kernel = alone();
  kernel.map = matrixOf(kernel, {32, 1024}, {8, 8});
  kernel.body = loadAndShow("2d", "0, 1000", 256);
  EXPECT_THAT(kernel.run(), HasSubstr("where no memory is allocated"));
}

TEST(Bulk, AMulticastNeedsACluster) {
  KernelRun kernel = alone();
  kernel.map = matrixOf(kernel, {32, 16}, {8, 8});
  kernel.body = R"(
    mbarrier.init.shared::cta.b64 [2048], 1;
    mov.b16 %rs1, 3;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [0], [%rd30, {0, 0}], [2048], %rs1;)";
  EXPECT_THAT(kernel.run(),
              HasSubstr("a multicast to blocks that the cluster has not"));
}

} // namespace

//===----------------------------------------------------------------------===//
// What cuTensorMapEncodeTiled refuses
//===----------------------------------------------------------------------===//

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

struct Refused {
  std::function<void(Arguments &)> change;
  const char *told;
  nereid::ErrorCode code = nereid::ErrorCode::InvalidArgument;
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
  auto unsupported = nereid::ErrorCode::Unsupported;
  const Refused all[] = {
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
      {[](A &a) { a.box[0] = 32; },
       "a box narrower than the span of its "
       "swizzle is not simulated",
       unsupported},
      {[](A &a) { a.ones[1] = 9; },
       "a stride of elements of dimension 1 from 1 to 8, got 9"},
      {[](A &a) { a.request.interleave = 3; }, "an interleave from 0 to 2"},
      {[](A &a) { a.request.interleave = 1; }, "is not simulated", unsupported},
      {[](A &a) { a.request.swizzle = 7; }, "a swizzle from 0 to 6"},
      {[](A &a) { a.request.swizzle = 4; }, "is not simulated", unsupported},
      {[](A &a) { a.request.promotion = 4; }, "a promotion from 0 to 3"},
      {[](A &a) { a.request.fill = 2; }, "a fill of 0 or 1"},
      {[](A &a) { a.request.fill = 1; }, "is not simulated", unsupported},
  };
  for (const Refused &wrong : all) {
    Arguments arguments;
    wrong.change(arguments);
    auto map = encodeTiled(arguments.request);
    ASSERT_FALSE(map.ok()) << wrong.told;
    EXPECT_THAT(map.failure().message, HasSubstr(wrong.told));
    EXPECT_EQ(map.failure().code, wrong.code);
  }
}

} // namespace
