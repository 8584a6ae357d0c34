//===- LocalLoad.cpp - Buffers into registers -----------------------------===//
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

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

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
  f.wordBits = std::countr_zero(4 / f.elementBytes);
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
  f.usesMatrices = target.hasMatrixLoads && (isDirect || f.isTransposed) &&
                   isWholePieces(f.columns) && isWholePieces(warps);
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
  f.places = placesAt(slotAddress(op.getBuffer(), op.getSlot()), threadColumns);
  return f;
}

Value KernelEmitter::fragmentWord(Fragment &f, unsigned word) {
  if (Value known = f.words[word]) {
    return known;
  }
  unsigned first = word & ~(f.perLoad - 1);
  uint32_t own = sumOfColumns(f.columns, first);
  Type i32 = b.getI32Type();
  if (f.usesMatrices) {
    auto [start, offset] = place(f.places, own);
    std::string results, constraints;
    for (unsigned i = 0; i < f.perLoad; ++i) {
      results += (i ? ", $" : "$") + std::to_string(i);
      constraints += "=r,";
    }
    SmallVector<Value> words = inlineAsm(
        "ldmatrix.sync.aligned.m8n8.x" + std::to_string(f.perLoad) +
            (f.isTransposed ? ".trans" : "") + ".shared.b16 {" + results +
            "}, [$" + std::to_string(f.perLoad) + "+" + std::to_string(offset) +
            "];",
        constraints + "r", {start}, SmallVector<Type>(f.perLoad, i32), true);
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
    return loadShared(place(f.places, at), type, 1)[0];
  };
  if (isWord) {
    return f.words[word] = load(own, i32);
  }
  Registers elements;
  for (unsigned i = 0; i < 1u << f.wordBits; ++i) {
    elements.push_back(load(own ^ sumOfColumns(f.inner, i),
                            b.getIntegerType(8 * f.elementBytes)));
  }
  return f.words[word] = packWords(elements, 32)[0];
}

/// May the products read the operand where they need it? Nothing that ends the
/// slot's content lies between.
static bool staysInBuffer(tilegpu::LocalLoadOp op) {
  if (tile::getElementBytes(tile::getElement(op.getType())) > 4) {
    return false;
  }
  SmallPtrSet<Operation *, 4> products;
  for (OpOperand &use : op->getUses()) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot ||
        !(dot->hasAttr(tilegpu::mmaAttr) ||
          dot->hasAttr(tilegpu::warpgroupMmaAttr)) ||
        dot->getBlock() != op->getBlock() || use.getOperandNumber() > 1) {
      return false;
    }
    products.insert(dot);
  }
  for (Operation *at = op->getNextNode(); at && !products.empty();
       at = at->getNextNode()) {
    if (isa<tilegpu::WaitCopiesOp, tilegpu::FreeOp, tilegpu::CopyAsyncOp>(at)) {
      return false;
    }
    products.erase(at);
  }
  return true;
}

void KernelEmitter::emitLocalLoad(tilegpu::LocalLoadOp op) {
  if (staysInBuffer(op)) {
    return;
  }
  const TileInfo &tile = info(op.getType());
  unsigned bytes = tile::getElementBytes(tile.element);
  std::vector<uint32_t> offsets = tilegpu::offsetsOfIndex(
      op.getBuffer().getType(), op.getOrder().value_or(ArrayRef<int32_t>()));
  auto columns = bytesOf(tile.layout.registers, offsets, bytes);
  auto threadColumns = bytesOf(tile.layout.lanes, offsets, bytes);
  for (uint32_t column : bytesOf(tile.layout.warps, offsets, bytes)) {
    threadColumns.push_back(column);
  }
  // Registers in consecutive places, from an aligned one.
  unsigned width = 1;
  for (unsigned i = 0; i < columns.size() && columns[i] == width * bytes &&
                       2 * width * bytes <= 16;
       ++i) {
    width *= 2;
  }
  auto aligned = [&](ArrayRef<uint32_t> part) {
    return llvm::all_of(part,
                        [&](uint32_t c) { return c % (width * bytes) == 0; });
  };
  while (width > 1 && !(aligned(threadColumns) &&
                        aligned(ArrayRef<uint32_t>(columns).drop_front(
                            std::countr_zero(width))))) {
    width /= 2;
  }
  SlotPlaces places =
      placesAt(slotAddress(op.getBuffer(), op.getSlot()), threadColumns);
  Registers result(tile.count());
  for (unsigned r = 0; r < tile.count(); r += width) {
    Registers loaded = loadShared(place(places, sumOfColumns(columns, r)),
                                  laneType(tile.element), width);
    for (unsigned i = 0; i < width; ++i) {
      result[r + i] = loaded[i];
    }
  }
  bind(op, std::move(result));
}

} // namespace nereid::togpu
