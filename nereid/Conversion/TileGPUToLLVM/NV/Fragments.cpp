//===- Fragments.cpp - Operands of a warp's product from buffers ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix reads 8 x 8 matrices of 16-bit elements: a matrix is eight rows of
// 16 bytes, lane i of an octet says where row i begins, and lane 4*r + c
// receives the 4 bytes at column c of row r; transposed, 2 bytes each of rows
// 2*c and 2*c + 1 at column r. Whether a layout's words are that is a question
// about columns: lanes 1, 2 must add 4 and 8 bytes, everything else whole
// pieces of 16; transposed, lanes 4, 8, 16 add 2, 4, 8 bytes.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/NV/Fragment.h"
#include "nereid/Dialect/NV/IR/NV.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

static bool isWholePieces(ArrayRef<uint32_t> columns) {
  return llvm::all_of(columns, [](uint32_t c) { return c % 16 == 0; });
}

KernelEmitter::Fragment KernelEmitter::openFragment(tilegpu::LocalLoadOp op) {
  const TileInfo &tile = info(op.getType());
  Fragment f;
  f.elementBytes = tile::getElementBytes(tile.element);
  f.wordType = f.elementBytes > 4 ? laneType(tile.element) : b.getI32Type();
  f.wordBits = std::countr_zero(std::max(4 / f.elementBytes, 1u));
  std::vector<uint32_t> offsets = tilegpu::offsetsOfIndex(
      op.getBuffer().getType(), op.getOrder().value_or(ArrayRef<int32_t>()));
  auto registers = bytesOf(tile.layout.registers, offsets, f.elementBytes);
  auto lanes = bytesOf(tile.layout.lanes, offsets, f.elementBytes);
  auto warps = bytesOf(tile.layout.warps, offsets, f.elementBytes);
  f.inner.assign(registers.begin(), registers.begin() + f.wordBits);
  f.columns.assign(registers.begin() + f.wordBits, registers.end());

  bool isDirect = lanes[0] == 4 && lanes[1] == 8 && lanes[2] % 16 == 0 &&
                  lanes[3] % 16 == 0 && lanes[4] % 16 == 0;
  for (unsigned i = 0; i < f.wordBits; ++i) {
    isDirect &= f.inner[i] == f.elementBytes << i;
  }
  f.isTransposed = f.elementBytes == 2 && lanes[2] == 2 && lanes[3] == 4 &&
                   lanes[4] == 8 && lanes[0] % 16 == 0 && lanes[1] % 16 == 0 &&
                   f.inner[0] % 16 == 0;
  f.usesMatrices = target.hasMatrixLoads && f.elementBytes <= 4 &&
                   (isDirect || f.isTransposed) && isWholePieces(f.columns) &&
                   isWholePieces(warps);
  std::vector<uint32_t> threadColumns(lanes);
  if (f.usesMatrices) {
    auto column = [&](unsigned i) {
      return i < f.columns.size() ? f.columns[i] : 0;
    };
    threadColumns = f.isTransposed ? std::vector{f.inner[0], lanes[0], lanes[1]}
                                   : std::vector{lanes[2], lanes[3], lanes[4]};
    threadColumns.push_back(column(0));
    threadColumns.push_back(column(1));
    f.perLoad = 1u << std::min<size_t>(f.columns.size(), 2);
  }
  threadColumns.insert(threadColumns.end(), warps.begin(), warps.end());
  f.places = placesIn(op.getBuffer().getType(),
                      slotAddress(op.getBuffer(), op.getSlot()), threadColumns);
  return f;
}

Value KernelEmitter::fragmentWord(Fragment &f, unsigned word) {
  if (Value known = f.words[word]) {
    return known;
  }
  unsigned first = word & ~(f.perLoad - 1);
  uint32_t own = sumOfColumns(f.columns, first);
  if (f.usesMatrices) {
    constexpr unsigned rowBytes = 16;
    auto [start, offset] = placeToRead(f.places, own, rowBytes);
    auto words = nv::LoadMatrixOp::create(
                     b, loc, SmallVector<Type>(f.perLoad, f.wordType), start,
                     offset, f.isTransposed)
                     .getWords();
    for (unsigned i = 0; i < f.perLoad; ++i) {
      f.words[first + i] = words[i];
    }
    return f.words[word];
  }
  bool isWord = true;
  for (unsigned i = 0; i < f.wordBits; ++i) {
    isWord &= f.inner[i] == f.elementBytes << i;
  }
  auto load = [&](uint32_t at, Type type) {
    unsigned bytes = type.getIntOrFloatBitWidth() / 8;
    return loadShared(placeToRead(f.places, at, bytes), type, 1)[0];
  };
  if (isWord) {
    return f.words[word] = load(own, f.wordType);
  }
  Registers elements;
  for (unsigned i = 0; i < 1u << f.wordBits; ++i) {
    elements.push_back(load(own ^ sumOfColumns(f.inner, i),
                            b.getIntegerType(8 * f.elementBytes)));
  }
  return f.words[word] = packWords(elements, 32)[0];
}

} // namespace nereid::togpu
