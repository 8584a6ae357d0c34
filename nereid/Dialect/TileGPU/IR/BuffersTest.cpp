//===- BuffersTest.cpp - Tiles in shared memory ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include <gtest/gtest.h>

#include <set>

using namespace nereid;
using namespace nereid::tilegpu;

namespace {

class Buffers : public testing::Test {
protected:
  Buffers() { context.loadDialect<TileGPUDialect>(); }

  /// Offset in bytes of element (row, column), rows along `inner`.
  unsigned offset(BufferType type, unsigned inner, unsigned row,
                  unsigned column) {
    Shape shape(type.getShape().begin(), type.getShape().end());
    std::vector<uint32_t> index = {row, column};
    if (inner == 0) {
      std::swap(index[0], index[1]);
    }
    uint32_t flat = joinIndex(index, shape), at = 0;
    std::vector<uint32_t> bits = offsetsOfIndex(type);
    for (unsigned i = 0; i < bits.size(); ++i) {
      at ^= flat >> i & 1 ? bits[i] : 0;
    }
    return at * tile::getElementBytes(type.getElementType());
  }

  /// Of all elements.
  std::set<unsigned> offsets(BufferType type, unsigned inner, unsigned rows,
                             unsigned columns) {
    std::set<unsigned> seen;
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned column = 0; column < columns; ++column) {
        seen.insert(offset(type, inner, row, column));
      }
    }
    return seen;
  }

  mlir::MLIRContext context;
};

/// Rows by elements of a row.
constexpr std::pair<unsigned, unsigned> sizes[] = {
    {16, 16}, {64, 32}, {128, 64}, {64, 128}, {32, 256}, {256, 16}};

TEST_F(Buffers, PlacesAreAPermutation) {
  for (auto [rows, columns] : sizes) {
    for (unsigned inner : {0, 1}) {
      Shape shape = inner ? Shape{rows, columns} : Shape{columns, rows};
      BufferType type = swizzledBuffer(&context, 2, shape,
                                       mlir::Float16Type::get(&context), inner);
      std::set<unsigned> seen = offsets(type, inner, rows, columns);
      EXPECT_EQ(seen.size(), rows * columns);
      EXPECT_EQ(*seen.rbegin(), 2 * rows * columns - 2);
      EXPECT_EQ(type.getBytes(), 2 * 2 * rows * columns);
    }
  }
}

/// What ldmatrix reads at once, 16 bytes of eight rows, and what eight threads
/// copy at once, 128 bytes of consecutive places, meet every bank once.
TEST_F(Buffers, EightRowsAndEightPiecesMeetEveryBankOnce) {
  for (mlir::Type element :
       {mlir::Type(mlir::Float16Type::get(&context)),
        mlir::Type(mlir::Float32Type::get(&context)),
        mlir::Type(mlir::Float8E4M3FNType::get(&context))}) {
    unsigned bytes = tile::getElementBytes(element);
    for (auto [rows, columns] : sizes) {
      if (columns * bytes < 32) {
        continue; // a row is one piece
      }
      BufferType type =
          swizzledBuffer(&context, 1, {rows, columns}, element, 1);
      for (unsigned row = 0; row < rows; row += 8) {
        for (unsigned column = 0; column < columns; column += 16 / bytes) {
          std::set<unsigned> pieces;
          for (unsigned i = 0; i < 8; ++i) {
            unsigned at = offset(type, 1, row + i, column);
            EXPECT_EQ(at % 16, 0u);
            EXPECT_EQ(offset(type, 1, row + i, column + 16 / bytes - 1),
                      at + 16 - bytes);
            pieces.insert(at / 16 % 8);
          }
          EXPECT_EQ(pieces.size(), 8u) << rows << "x" << columns;
        }
      }
      // Threads in the order of the panel: 128 bytes of rows of a panel.
      unsigned inRow = std::min(columns, 128 / bytes);
      for (unsigned first = 0; first < rows * inRow; first += 128 / bytes) {
        std::set<unsigned> pieces;
        for (unsigned i = 0; i < 128 / bytes; i += 16 / bytes) {
          unsigned at = first + i;
          pieces.insert(offset(type, 1, at / inRow, at % inRow) / 16 % 8);
        }
        EXPECT_EQ(pieces.size(), 8u) << rows << "x" << columns;
      }
    }
  }
}

/// The 128-byte swizzle of the PTX manual: bits 4 to 6 of an address are
/// exclusive-ored with bits 7 to 9; for shorter rows fewer of them.
TEST_F(Buffers, RowsAreSwizzledAsTheWarpgroupInstructionReadsThem) {
  for (auto [columns, mask] : {std::pair(64u, 7u), {32u, 3u}, {16u, 1u}}) {
    BufferType type = swizzledBuffer(&context, 1, {64, columns},
                                     mlir::Float16Type::get(&context), 1);
    for (unsigned row = 0; row < 64; ++row) {
      for (unsigned column = 0; column < columns; ++column) {
        unsigned plain = 2 * (row * columns + column);
        EXPECT_EQ(offset(type, 1, row, column), plain ^ (plain >> 7 & mask)
                                                            << 4);
      }
    }
  }
}

/// What half a warp reads of an operand of f32 or f64 at once, 32 bytes of four
/// rows, meets every bank once, wherever these rows begin.
TEST_F(Buffers, FourRowsOfTwoPiecesMeetEveryBankOnce) {
  for (mlir::Type element : {mlir::Type(mlir::Float32Type::get(&context)),
                             mlir::Type(mlir::Float64Type::get(&context))}) {
    unsigned bytes = tile::getElementBytes(element);
    for (auto [rows, columns] : sizes) {
      BufferType type =
          swizzledBuffer(&context, 1, {rows, columns}, element, 1);
      for (unsigned row = 0; row < rows; row += 4) {
        for (unsigned column = 0; column < columns; column += 32 / bytes) {
          std::set<unsigned> pieces;
          for (unsigned i = 0; i < 8; ++i) {
            unsigned at =
                offset(type, 1, row + i / 2, column + i % 2 * (16 / bytes));
            pieces.insert(at / 16 % 8);
          }
          EXPECT_EQ(pieces.size(), 8u) << rows << "x" << columns;
        }
      }
    }
  }
}

/// A warp's product reads bytes that do not run along K one by one, those of a
/// lane from four rows: at once 8 bytes of every fourth row. Of sizes that are
/// powers of two buffers are as products of several warps read them.
TEST_F(Buffers, EightBytesOfEveryFourthRowMeetEveryBankOnce) {
  mlir::Type element = mlir::Float8E5M2Type::get(&context);
  for (auto [rows, columns] : {std::pair(96u, 128u), {48u, 256u}, {96u, 64u}}) {
    BufferType type = swizzledBuffer(&context, 1, {rows, columns}, element, 1);
    for (unsigned row = 0; row < rows; row += row % 4 == 3 ? 13 : 1) {
      for (unsigned column = 0; column < columns; column += 8) {
        std::set<unsigned> words;
        for (unsigned i = 0; i < 4; ++i) {
          unsigned at = offset(type, 1, row + 4 * i, column);
          words.insert({at / 4 % 32, (at / 4 + 1) % 32});
        }
        EXPECT_EQ(words.size(), 8u) << rows << "x" << columns;
      }
    }
  }
}

/// Lines of 128 bytes are whole, and rows or panels padded, whichever takes
/// less.
TEST_F(Buffers, ASlotEndsWithTheLastElement) {
  struct {
    unsigned rows, columns, bytes;
  } padded[] = {{96, 96, 96 * 256},
                {96, 192, 2 * 128 * 128 + 96 * 128},
                {100, 100, 100 * 256},
                {3, 5, 128},
                {33, 64, 33 * 128}};
  for (auto [rows, columns, bytes] : padded) {
    for (unsigned inner : {0, 1}) {
      Shape shape = inner ? Shape{rows, columns} : Shape{columns, rows};
      BufferType type = swizzledBuffer(&context, 2, shape,
                                       mlir::Float16Type::get(&context), inner);
      std::set<unsigned> seen = offsets(type, inner, rows, columns);
      EXPECT_EQ(seen.size(), rows * columns);
      EXPECT_LT(*seen.rbegin(), type.getSlotBytes());
      EXPECT_GT(*seen.rbegin() + 128, type.getSlotBytes());
      EXPECT_EQ(type.getSlotBytes(), bytes) << rows << "x" << columns;
    }
  }
}

TEST_F(Buffers, LongRowsLieInPanels) {
  BufferType type = swizzledBuffer(&context, 1, {64, 256},
                                   mlir::Float16Type::get(&context), 1);
  EXPECT_EQ(offset(type, 1, 0, 64), 64u * 128);
  EXPECT_EQ(offset(type, 1, 8, 0), 1024u);
  EXPECT_EQ(offset(type, 1, 0, 192), 3 * 64u * 128);
}

TEST_F(Buffers, ATransposeIsAnOrder) {
  BufferType type = swizzledBuffer(&context, 1, {16, 64},
                                   mlir::Float16Type::get(&context), 1);
  std::vector<uint32_t> plain = offsetsOfIndex(type),
                        turned = offsetsOfIndex(type, {1, 0});
  // Bits of the last dimension come first.
  EXPECT_EQ(std::vector(plain.begin(), plain.begin() + 6),
            std::vector(turned.begin() + 4, turned.end()));
  EXPECT_EQ(std::vector(plain.begin() + 6, plain.end()),
            std::vector(turned.begin(), turned.begin() + 4));
}

} // namespace
