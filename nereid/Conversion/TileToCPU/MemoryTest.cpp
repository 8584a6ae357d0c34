//===- MemoryTest.cpp - Order of accesses, layouts, formats ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/TileToCPU/TileText.h"
#include "nereid/Dialect/Tile/testing/OtherAccesses.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace nereid;

static std::vector<int32_t> counting(size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(Memory, ReversalInPlaceReadsBeforeItWrites) {
  TileText t;
  TextValue x = t.ptr("i32");
  TextValue range = t.range(1000);
  TextValue values = t.load(t.addptr(x, range));
  TextValue back = t.op("arith.subi", t.constant("i32", "999"), range);
  t.store(t.addptr(x, back), values);
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<int32_t> x0 = counting(1000), expected(x0.rbegin(), x0.rend());
  kernel.run({1, 1, 1}, x0.data());
  EXPECT_EQ(x0, expected);
}

TEST(Memory, LoadSurvivesAStoreToTheSameArray) {
  // y = x; x = x + 1; z = y. Nest 2 must not read x again.
  TileText t;
  TextValue x = t.ptr("i32"), z = t.ptr("i32");
  TextValue range = t.range(100);
  TextValue at = t.addptr(x, range);
  TextValue y = t.load(at);
  t.store(at, t.op("arith.addi", y, t.constant("i32", "1")));
  TextValue total = t.reduce(t.load(at), 0, "arith.addi");
  t.store(t.addptr(z, range), t.op("arith.addi", y, total));
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<int32_t> x0 = counting(100), z0(100);
  kernel.run({1, 1, 1}, x0.data(), z0.data());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(x0[i], i + 2);
    EXPECT_EQ(z0[i], i + 1 + 5150);
  }
}

TEST(Memory, AccessesOfOtherDialectsAreLoadsAndStores) {
  std::string text =
      "func.func @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) "
      "attributes {tile.kernel} {\n";
  TestKernel kernel(text + tile::testing::increment + "return\n}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  EXPECT_EQ(kernel.info().writtenParameters,
            (std::vector<bool>{false, true, false}));
  std::vector<float> x(100, 2.5f), y(100, -1.0f), expected = y;
  std::fill_n(expected.begin(), 70, 3.5f);
  kernel.run({1, 1, 1}, x.data(), y.data(), 70);
  EXPECT_EQ(y, expected);
}

/// The offsets of a block of size x size elements, row after row.
static TextValue offsetsOfSquare(TileText &t, int64_t size) {
  TextValue rows = t.op("arith.muli", t.expand(t.range(size), 1),
                        t.constant("i32", std::to_string(size)));
  return t.op("arith.addi", t.broadcast(rows, {size, size}),
              t.broadcast(t.expand(t.range(size), 0), {size, size}));
}

TEST(Memory, TranspositionInPlaceReadsBeforeItWrites) {
  for (const std::string &target : runnable({"x86-64", "x86-64-v3", "cpu"})) {
    for (int size : {3, 5, 8, 12, 64}) {
      TileText t;
      TextValue at = t.addptr(t.ptr("i32"), offsetsOfSquare(t, size));
      t.store(at, t.transpose(t.load(at), {1, 0}));
      TestKernel kernel(t.str(), target);
      ASSERT_TRUE(kernel.ok()) << kernel.error();
      std::vector<int32_t> x0 = counting(size * size);
      kernel.run({1, 1, 1}, x0.data());
      for (int i = 0; i < size * size; ++i) {
        ASSERT_EQ(x0[i], i % size * size + i / size + 1)
            << target << " " << size << " at " << i;
      }
    }
  }
}

TEST(Memory, SumsOfATransposedLoadSurviveAStoreToTheSameArray) {
  // Both go over the block once, each in an order of its own.
  for (const std::string &target : runnable({"x86-64", "x86-64-v3", "cpu"})) {
    TileText t;
    TextValue x = t.ptr("i32"), y = t.ptr("i32");
    TextValue at = t.addptr(x, offsetsOfSquare(t, 64));
    TextValue values = t.load(at);
    t.store(at, t.op("arith.addi", values, t.constant("i32", "1")));
    TextValue sums = t.reduce(t.transpose(values, {1, 0}), 1, "arith.addi");
    t.store(t.addptr(y, t.range(64)), sums);
    TestKernel kernel(t.str(), target);
    ASSERT_TRUE(kernel.ok()) << kernel.error();
    std::vector<int32_t> x0 = counting(64 * 64), y0(64);
    kernel.run({1, 1, 1}, x0.data(), y0.data());
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(y0[i], 64 * (i + 1) + 64 * (64 * 63 / 2)) << target;
      ASSERT_EQ(x0[i * 64], i * 64 + 2) << target;
    }
  }
}

/// y[c, r] = x[r, c] inside of [m, n], through blocks of rows x columns.
template <typename T>
static void checkTransposition(const std::string &type,
                               const std::string &target, int64_t rows,
                               int64_t columns) {
  TileText t;
  TextValue x = t.ptr(type), y = t.ptr(type), m = t.argument("i32"),
            n = t.argument("i32");
  auto start = [&](int axis, int64_t size) {
    return t.op("arith.muli", t.programId(axis),
                t.constant("i32", std::to_string(size)));
  };
  TextValue r = t.op("arith.addi", t.expand(t.range(rows), 1), start(0, rows));
  TextValue c =
      t.op("arith.addi", t.expand(t.range(columns), 0), start(1, columns));
  TextValue inside =
      t.op("arith.andi", t.broadcast(t.compare("slt", r, m), {rows, columns}),
           t.broadcast(t.compare("slt", c, n), {rows, columns}));
  TextValue from =
      t.op("arith.addi", t.broadcast(t.op("arith.muli", r, n), {rows, columns}),
           t.broadcast(c, {rows, columns}));
  TextValue to =
      t.op("arith.addi", t.broadcast(t.op("arith.muli", c, m), {rows, columns}),
           t.broadcast(r, {rows, columns}));
  t.store(t.addptr(y, t.transpose(to, {1, 0})),
          t.transpose(t.load(t.addptr(x, from), inside), {1, 0}),
          t.transpose(inside, {1, 0}));
  TestKernel kernel(t.str(), target);
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  for (auto [height, width] : {std::pair<int, int>{128, 192}, {133, 77}}) {
    std::vector<T> x0(height * width), y0(height * width, T(7));
    for (size_t i = 0; i < x0.size(); ++i) {
      x0[i] = static_cast<T>(i * 37 + 5);
    }
    kernel.run({static_cast<int>((height + rows - 1) / rows),
                static_cast<int>((width + columns - 1) / columns), 1},
               x0.data(), y0.data(), height, width);
    for (int i = 0; i < height; ++i) {
      for (int j = 0; j < width; ++j) {
        ASSERT_EQ(y0[j * height + i], x0[i * width + j])
            << type << " " << target << " " << rows << "x" << columns << " at "
            << i << "," << j;
      }
    }
  }
}

TEST(Memory, TranspositionsOfEveryWidth) {
  for (const std::string &target : runnable({"x86-64", "x86-64-v3", "cpu"})) {
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{64, 64}, {128, 24}, {40, 64}}) {
      checkTransposition<int8_t>("i8", target, rows, columns);
      checkTransposition<int16_t>("i16", target, rows, columns);
      checkTransposition<float>("f32", target, rows, columns);
      checkTransposition<int64_t>("i64", target, rows, columns);
    }
  }
}

TEST(Memory, TransposedBlocksAreTurnedInRegisters) {
  TileText t;
  TextValue x = t.ptr("f32"), y = t.ptr("f32");
  TextValue offsets = offsetsOfSquare(t, 64);
  t.store(t.addptr(y, offsets),
          t.transpose(t.load(t.addptr(x, offsets)), {1, 0}));
  for (const char *target : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    std::string text = stageText(t.str(), "asm", target);
    EXPECT_THAT(text, testing::AnyOf(testing::HasSubstr("unpcklps"),
                                     testing::HasSubstr("unpckldq")))
        << target;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("gather"))) << target;
  }
}

TEST(Memory, TransposedGatheredAndWrappedAddresses) {
  for (const std::string &target : runnable({"x86-64", "x86-64-v3", "cpu"})) {
    TileText t;
    TextValue x = t.ptr("i32"), y = t.ptr("i32"), n = t.argument("i32");
    TextValue stride = t.argument("i32");
    int64_t rows = 37, columns = 50;
    TextValue r = t.broadcast(t.expand(t.range(rows), 1), {rows, columns});
    TextValue c = t.broadcast(t.expand(t.range(columns), 0), {rows, columns});
    // y[r, c] = x[(c % n) * stride + (r % n)]
    TextValue from = t.op("arith.addi",
                          t.op("arith.muli", t.op("arith.remsi", c, n), stride),
                          t.op("arith.remsi", r, n));
    TextValue to =
        t.op("arith.addi", t.op("arith.muli", r, t.constant("i32", "50")), c);
    t.store(t.addptr(y, to), t.load(t.addptr(x, from)));
    // and a run along the vector: y[1850 + i] = x[(i + 5) % n]
    TextValue i = t.range(200);
    TextValue wrapped =
        t.op("arith.remsi", t.op("arith.addi", i, t.constant("i32", "5")), n);
    t.store(t.addptr(y, t.op("arith.addi", i, t.constant("i32", "1850"))),
            t.load(t.addptr(x, wrapped)));
    TestKernel kernel(t.str(), target);
    ASSERT_TRUE(kernel.ok()) << kernel.error();
    for (int size : {1, 7, 16, 33, 64}) {
      std::vector<int32_t> x0 = counting(64 * 64), y0(2050);
      kernel.run({1, 1, 1}, x0.data(), y0.data(), size, 64);
      for (int64_t k = 0; k < 1850; ++k) {
        int64_t row = k / 50, column = k % 50;
        ASSERT_EQ(y0[k], x0[(column % size) * 64 + row % size])
            << target << " n " << size << " k " << k;
      }
      for (int64_t k = 0; k < 200; ++k) {
        ASSERT_EQ(y0[1850 + k], x0[(k + 5) % size]) << target << " " << size;
      }
    }
  }
}

/// y = x + 1 and the sums of columns, inside of [m, n], in tiles of
/// rows x columns of a matrix whose rows are 100 elements apart.
static void checkConditions(const char *target, int64_t rows) {
  constexpr int64_t columns = 80, stride = 100;
  TileText t;
  TextValue x = t.ptr("i16"), y = t.ptr("i16"), sums = t.ptr("i16"),
            m = t.argument("i32"), n = t.argument("i32");
  Shape tile = {rows, columns};
  TextValue first = t.op("arith.muli", t.programId(0),
                         t.constant("i32", std::to_string(rows)));
  TextValue c = t.broadcast(t.expand(t.range(columns), 0), tile), r, above;
  if (rows == 1) { // a row's condition is a scalar
    r = t.splat(first, tile);
    above = t.splat(t.compare("slt", first, m), tile);
  } else {
    TextValue row = t.op("arith.addi", t.expand(t.range(rows), 1), first);
    r = t.broadcast(row, tile);
    above = t.broadcast(t.compare("slt", row, m), tile);
  }
  TextValue inside = t.op("arith.andi", above, t.compare("slt", c, n));
  TextValue at =
      t.op("arith.addi",
           t.op("arith.muli", r, t.constant("i32", std::to_string(stride))), c);
  TextValue other = t.constant("i16", "3", tile);
  TextValue loaded = t.load(t.addptr(x, at), inside, other);
  t.store(t.addptr(y, at), t.op("arith.addi", loaded, t.constant("i16", "1")),
          inside);
  TextValue to = t.op("arith.addi", t.range(columns),
                      t.op("arith.muli", t.programId(0),
                           t.constant("i32", std::to_string(columns))));
  t.store(t.addptr(sums, to), t.reduce(loaded, 0, "arith.addi"));
  TestKernel kernel(t.str(), target);
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  constexpr int programs = 3;
  for (int height : {0, 1, 5, 8, 17, 24}) {
    for (int width : {0, 1, 15, 16, 33, 79, 80}) {
      std::vector<int16_t> x0(programs * rows * stride), y0(x0.size(), -7),
          sums0(programs * columns, -7);
      std::iota(x0.begin(), x0.end(), 10);
      kernel.run({programs, 1, 1}, x0.data(), y0.data(), sums0.data(), height,
                 width);
      for (int program = 0; program < programs; ++program) {
        for (int64_t j = 0; j < stride; ++j) {
          int16_t sum = 0;
          for (int64_t i = program * rows; i < (program + 1) * rows; ++i) {
            bool isInside = i < height && j < width;
            sum += isInside ? x0[i * stride + j] : 3;
            ASSERT_EQ(y0[i * stride + j],
                      isInside ? x0[i * stride + j] + 1 : -7)
                << target << " " << rows << " rows, " << height << "x" << width
                << " at " << i << "," << j;
          }
          if (j < columns) {
            ASSERT_EQ(sums0[program * columns + j], sum)
                << target << " " << rows << " rows, " << height << "x" << width
                << " column " << j;
          }
        }
      }
    }
  }
}

TEST(Memory, ConditionsOfRowsAndOfColumns) {
  for (const char *target : {"x86-64", "cpu"}) {
    for (int64_t rows : {1, 3, 8}) {
      checkConditions(target, rows);
    }
  }
}

TEST(Memory, ReshapesOfShortDimensions) {
  // [2, 2, ..., 2] as a sorting network sees it: swap neighbours 2^d apart.
  for (const std::string &target : runnable({"x86-64", "cpu"})) {
    for (int d = 0; d < 8; ++d) {
      TileText t;
      TextValue x = t.ptr("i32"), y = t.ptr("i32");
      TextValue range = t.range(256);
      Shape hypercube(8, 2), split = {256 >> (d + 1), 2, 1 << d};
      TextValue v = t.reshape(t.load(t.addptr(x, range)), hypercube);
      TextValue pairs = t.reshape(v, split);
      TextValue both = t.expand(t.reduce(pairs, 1, "arith.xori"), 1);
      TextValue swapped = t.op("arith.xori", pairs, t.broadcast(both, split));
      t.store(t.addptr(y, range), t.reshape(swapped, {256}));
      TestKernel kernel(t.str(), target);
      ASSERT_TRUE(kernel.ok()) << kernel.error();
      std::vector<int32_t> x0 = counting(256), y0(256);
      kernel.run({1, 1, 1}, x0.data(), y0.data());
      for (int k = 0; k < 256; ++k) {
        ASSERT_EQ(y0[k], x0[k ^ (1 << d)]) << target << " d " << d;
      }
    }
  }
}

TEST(Memory, CodeDoesNotGrowWithTheBlock) {
  auto text = [](int64_t block) {
    TileText t;
    TextValue x = t.ptr("f32"), y = t.ptr("f32"), n = t.argument("i32");
    TextValue range = t.range(block);
    TextValue mask = t.compare("slt", range, n);
    TextValue v = t.load(t.addptr(x, range), mask);
    TextValue e = t.unary("math.exp", v);
    TextValue sum = t.reduce(e, 0, "arith.addf");
    t.store(t.addptr(y, range), t.op("arith.divf", e, sum), mask);
    return t.str();
  };
  TestKernel small(text(256), "x86-64-v3"), large(text(65536), "x86-64-v3");
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_LT(large.objectBytes(), 1.1 * small.objectBytes());
}

TEST(Memory, ConversionsOfNarrowFloats) {
  // Every bf16, through f32 and back, on a target without and one with F16C.
  for (const std::string &target : runnable({"x86-64", "cpu"})) {
    for (const char *type : {"bf16", "f16", "f8E5M2", "f8E4M3FN"}) {
      std::string name = type;
      int bits = name[1] == '8' ? 8 : 16;
      TileText t;
      TextValue x = t.ptr(type), y = t.ptr(type), z = t.ptr("f32");
      TextValue range = t.range(1 << bits);
      std::string extend = bits == 8 ? "tile.convert_float" : "arith.extf";
      std::string truncate = bits == 8 ? "tile.convert_float" : "arith.truncf";
      TextValue wide = t.convert(extend, t.load(t.addptr(x, range)), "f32");
      t.store(t.addptr(z, range), wide);
      t.store(t.addptr(y, range), t.convert(truncate, wide, type));
      TestKernel kernel(t.str(), target);
      ASSERT_TRUE(kernel.ok()) << kernel.error();
      std::vector<uint8_t> x0((bits / 8) << bits), y0(x0.size());
      std::vector<float> z0(size_t(1) << bits);
      for (size_t i = 0; i < z0.size(); ++i) {
        x0[i * bits / 8] = i & 0xff;
        if (bits == 16) {
          x0[2 * i + 1] = i >> 8;
        }
      }
      kernel.run({1, 1, 1}, x0.data(), y0.data(), z0.data());
      for (size_t i = 0; i < z0.size(); ++i) {
        bool infinite = name == "f8E5M2" && std::isinf(z0[i]); // saturates
        if (!std::isnan(z0[i]) && !infinite) {
          ASSERT_EQ(std::memcmp(&x0[i * bits / 8], &y0[i * bits / 8], bits / 8),
                    0)
              << target << " " << type << " " << i << " " << z0[i];
        }
      }
      if (name == "f16") {
        EXPECT_EQ(z0[0x3c00], 1.0f);
        EXPECT_EQ(z0[0x0001], 0x1p-24f);
        EXPECT_TRUE(std::isinf(z0[0x7c00]) && std::isnan(z0[0x7e00]));
      }
    }
  }
}

TEST(Memory, AtomicsOfOneBlockAtOneAddressAllApply) {
  for (const char *type : {"i32", "f32", "f16", "bf16"}) {
    bool integer = type[0] == 'i';
    TileText t;
    TextValue x = t.ptr(type), n = t.argument("i32");
    TextValue range = t.range(100);
    TextValue mask = t.compare("slt", range, n);
    TextValue to = t.broadcast(x, {100});
    TextValue one = t.constant(type, integer ? "1" : "1.0", {100});
    TextValue old = t.fresh(type, {100});
    t.line(old.name + " = tile.atomic_rmw " + (integer ? "add" : "fadd") +
           ", acq_rel, gpu, " + to.name + ", " + one.name + ", " + mask.name +
           " : " + to.type());
    TestKernel kernel(t.str());
    ASSERT_TRUE(kernel.ok()) << kernel.error();
    uint32_t cell = 0;
    kernel.run({2, 1, 1}, &cell, 37);
    uint32_t expected = integer                       ? 74
                        : std::string(type) == "f32"  ? 0x42940000
                        : std::string(type) == "bf16" ? 0x4294
                                                      : 0x54a0;
    EXPECT_EQ(cell, expected) << type;
  }
}

TEST(Memory, ChecksAndPrintsCallTheRuntime) {
  TileText t;
  TextValue x = t.ptr("i32");
  TextValue values = t.load(t.addptr(x, t.range(20)));
  TextValue fine = t.compare("slt", values, t.constant("i32", "18"));
  t.line("tile.assert " + fine.name +
         ", \"too large\" {tile.site = 3 : i32} : " + fine.type());
  t.line("tile.print \"x\" (" + values.name +
         ") {dtype = \"i32\", tile.site = 4 : i32} : " + values.type());
  TestKernel kernel(t.str());
  ASSERT_TRUE(kernel.ok()) << kernel.error();
  std::vector<int32_t> x0 = counting(20);
  kernel.run({2, 1, 1}, x0.data());
  ASSERT_EQ(kernel.messages.size(), 8u);
  EXPECT_EQ(kernel.messages[0], "fail site 3 element 17 program 0");
  EXPECT_EQ(kernel.messages[2], "fail site 3 element 19 program 0");
  EXPECT_EQ(kernel.messages[3].substr(0, 23), "print site 4: 1 2 3 4 5");
  EXPECT_EQ(kernel.messages[4], "fail site 3 element 17 program 1");
}
