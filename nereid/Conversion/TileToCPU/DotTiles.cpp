//===- DotTiles.cpp - Matrix products of AMX ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile register holds 16 rows of 64 bytes. One instruction adds to 16 x 16
// sums the products of 16 rows of lhs, 16 words each, by 16 rows of rhs: rows
// of words along n, as vectors of the other products read them, too. Loading a
// tile takes half as long as a product (8 and 16 cycles), so that a block is
// 2 x 2 tiles of the result: 4 products for 4 loads.
//
//   registers   0 to 3: the result, row by row     4, 5: lhs     6, 7: rhs
//
// LLVM's own allocation of tiles is not asked: which register holds what is
// known here, and its passes look for the shapes of tiles across loops. A
// kernel holds tiles between the beginning and the end of one dot only: the
// state is 8 KiB for a thread's switch to carry.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 1, chapter 18; Optimization Reference Manual, chapter 20.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/DotEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

static constexpr int64_t tileRows = 16, tileWords = 16, tileBytes = 64;
static constexpr int64_t firstLeft = 4, firstRight = 6;

static Value imm(LoopEmitter &kernel, int64_t value) {
  return LLVM::ConstantOp::create(kernel.b, kernel.loc, kernel.b.getI8Type(),
                                  kernel.b.getI8IntegerAttr(value));
}

static void call(LoopEmitter &kernel, StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(kernel.b, kernel.loc,
                                kernel.b.getStringAttr("llvm.x86." + name),
                                operands);
}

static int64_t rowBytes(const Buffer &buffer) {
  return buffer.strides[buffer.strides.size() - 2] * 4;
}

bool DotEmitter::fillsTiles() {
  Type left = tile::getElement(op.getLhs().getType());
  int64_t words = 4 / tile::getElementBytes(left);
  return kernel.target.hasTiles && M % tileRows == 0 && N % tileRows == 0 &&
         K % (tileWords * words) == 0;
}

void DotEmitter::chooseTiles() {
  int64_t down = std::min<int64_t>(M / tileRows, 2);
  rows = down * tileRows;
  columns = std::min(N / tileRows, 4 / down);
}

/// Eight registers of 16 rows of 64 bytes.
void DotEmitter::configureTiles() {
  OpBuilder &b = kernel.b;
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1; // the palette
  for (int64_t tile = 0; tile < 8; ++tile) {
    bytes[16 + 2 * tile] = tileBytes;
    bytes[48 + tile] = tileRows;
  }
  tileConfig = kernel.allocate(b.getI8Type(), {64});
  auto type = VectorType::get({64}, b.getI8Type());
  Value value = LLVM::ConstantOp::create(
      b, kernel.loc, type, DenseElementsAttr::get(type, ArrayRef(bytes)));
  LLVM::StoreOp::create(b, kernel.loc, value, tileConfig.base, 1);
  call(kernel, "ldtilecfg", tileConfig.base);
  if (!addsInPlace()) {
    tileSums = kernel.allocate(sum, {rows, columns * tileWords});
  }
}

void DotEmitter::releaseTiles() {
  call(kernel, "tilerelease", {});
  kernel.release(tileConfig);
  if (tileSums.base) {
    kernel.release(tileSums);
  }
}

/// Both the old and the new sums lie in memory as the tiles want them.
bool DotEmitter::addsInPlace() {
  auto fits = [&](const Buffer &buffer) {
    return buffer.base && buffer.element == sum && buffer.strides.back() == 1;
  };
  return fits(viewOf(kernel, op.getC())) && fits(result);
}

/// The sums of `rows` x `vectors` tiles' columns as vectors, or nothing where
/// they have been added in place.
SmallVector<Value> DotEmitter::multiplyTiles(ElementEmitter &evaluator,
                                             const Coord &row,
                                             const Coord &column, int64_t rows,
                                             int64_t vectors) {
  OpBuilder &b = kernel.b;
  LaneOps ops = evaluator.at(evaluator.innermost());
  int64_t down = rows / tileRows;
  bool inPlace = addsInPlace();
  Buffer from = inPlace ? viewOf(kernel, op.getC()) : Buffer();
  auto forResult = [&](const Buffer &buffer, StringRef name) {
    for (int64_t i = 0; i < down; ++i) {
      for (int64_t j = 0; j < vectors; ++j) {
        Value place = address(buffer, sum, row.base, row.offset + i * tileRows,
                              column.base, column.offset + j * tileWords);
        call(kernel, name,
             {imm(kernel, i * vectors + j), place, ops.i64(rowBytes(buffer))});
      }
    }
  };
  if (inPlace) {
    forResult(from, "tileloadd64");
  } else {
    for (int64_t i = 0; i < down * vectors; ++i) {
      call(kernel, "tilezero", imm(kernel, i));
    }
  }
  scf::ForOp loop;
  Value k;
  if (K / group > tileWords) {
    loop = kernel.createFor(ops.i64(0), ops.i64(K / group), ops.i64(tileWords));
    k = loop.getInductionVar();
  }
  Type word = b.getI32Type();
  StringRef multiply = product == Product::Bf16Tiles ? "tdpbf16ps" : "tdpbssd";
  for (int64_t i = 0; i < down; ++i) {
    Value place = lhsRowBytes ? alongRow(ofRow(row, i * tileRows), k, 0)
                              : address(lhs, word, row.base,
                                        row.offset + i * tileRows, k, 0);
    call(kernel, "tileloadd64",
         {imm(kernel, firstLeft + i), place,
          lhsRowBytes ? lhsRowBytes : ops.i64(rowBytes(lhs))});
  }
  for (int64_t j = 0; j < vectors; ++j) {
    Value place =
        address(rhs, word, k, 0, column.base, column.offset + j * tileWords);
    int64_t right = firstRight + j % 2;
    call(kernel, "tileloadd64",
         {imm(kernel, right), place, ops.i64(rowBytes(rhs))});
    for (int64_t i = 0; i < down; ++i) {
      call(kernel, multiply,
           {imm(kernel, i * vectors + j), imm(kernel, firstLeft + i),
            imm(kernel, right)});
    }
  }
  if (loop) {
    kernel.yield({});
    b.setInsertionPointAfter(loop);
  }
  if (inPlace) {
    forResult(result, "tilestored64");
    return {};
  }
  SmallVector<Value> sums;
  Type type = VectorType::get({lanes}, sum);
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t j = 0; j < vectors; ++j) {
      Value place = LLVM::GEPOp::create(
          b, kernel.loc, tileSums.base.getType(), sum, tileSums.base,
          LLVM::GEPArg(static_cast<int32_t>(i * tileRows * tileSums.strides[0] +
                                            j * tileWords)));
      call(kernel, "tilestored64",
           {imm(kernel, i * vectors + j), place, ops.i64(rowBytes(tileSums))});
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < vectors; ++j) {
      Value place = LLVM::GEPOp::create(
          b, kernel.loc, tileSums.base.getType(), sum, tileSums.base,
          LLVM::GEPArg(
              static_cast<int32_t>(r * tileSums.strides[0] + j * tileWords)));
      sums.push_back(LLVM::LoadOp::create(b, kernel.loc, type, place, 4));
    }
  }
  return sums;
}

} // namespace nereid::tocpu
