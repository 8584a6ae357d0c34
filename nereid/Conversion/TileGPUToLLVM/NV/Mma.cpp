//===- Mma.cpp - Products of one warp -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"
#include "nereid/Dialect/NV/IR/NV.h"

#include <set>

using namespace mlir;

namespace nereid::togpu {

/// The element type of an operand of a product, as the instruction has it: f32
/// is multiplied as tf32, and integers have a sign or none.
static Type operandType(Type element, bool isUnsigned) {
  MLIRContext *context = element.getContext();
  if (element.isF32()) {
    return FloatTF32Type::get(context);
  }
  return element.isInteger()
             ? IntegerType::get(context, 8,
                                isUnsigned ? IntegerType::Unsigned
                                           : IntegerType::Signed)
             : element;
}

/// m8n8k4 in the layouts of m16n8: half the rows of the accumulator, and a
/// quarter of an operand's block, at a time.
void KernelEmitter::emitF64Mma(tile::DotOp op) {
  const TileInfo &aTile = info(op.getLhs().getType());
  const TileInfo &bTile = info(op.getRhs().getType());
  const TileInfo &cTile = info(op.getType());
  auto aAt = registersByIndex(aTile), bAt = registersByIndex(bTile),
       cAt = registersByIndex(cTile);
  const Registers &a = regs(op.getLhs()), &right = regs(op.getRhs());
  Registers c = regs(op.getC());
  for (uint32_t k = 0; k < aTile.shape[1]; k += 4) {
    for (auto [flat, r] : cAt) {
      std::vector<uint32_t> index = splitIndex(flat, cTile.shape);
      if (index[1] & 1) {
        continue;
      }
      unsigned second = cAt.at(flat | 1u << cTile.shifts[1]);
      Value left =
          a[aAt.at(index[0] << aTile.shifts[0] | k << aTile.shifts[1])];
      Value top =
          right[bAt.at(k << bTile.shifts[0] | index[1] << bTile.shifts[1])];
      auto product =
          nv::MmaOp::create(b, loc, aTile.element, left, bTile.element, top,
                            ValueRange{c[r], c[second]});
      c[r] = product.getResult(0);
      c[second] = product.getResult(1);
    }
  }
  bind(op, std::move(c));
}

void KernelEmitter::emitMma(tile::DotOp op) {
  const TileInfo &aTile = info(op.getLhs().getType());
  const TileInfo &bTile = info(op.getRhs().getType());
  const TileInfo &cTile = info(op.getType());
  Type aType = operandType(aTile.element, op.getIsUnsigned());
  Type bType = operandType(bTile.element, op.getIsUnsigned());
  // Of one instruction 32 bytes along K, of one operand register 4.
  unsigned elementBits = aTile.element.getIntOrFloatBitWidth();
  unsigned instructionDepth = 256 / elementBits, kWidth = 32 / elementBits;
  auto aAt = registersByIndex(aTile), bAt = registersByIndex(bTile),
       cAt = registersByIndex(cTile);
  // An operand lies in registers, or in a buffer.
  struct Operand {
    const Registers *registers = nullptr;
    std::optional<Fragment> fragment;
  };
  auto open = [&](Value value) {
    Operand operand;
    auto known = registersOf.find(value);
    if (known != registersOf.end()) {
      operand.registers = &known->second;
    } else {
      operand.fragment =
          openFragment(value.getDefiningOp<tilegpu::LocalLoadOp>());
    }
    return operand;
  };
  Operand a = open(op.getLhs()), bOperand = open(op.getRhs());
  Registers c = regs(op.getC());
  Type cElement = cTile.element;
  for (Value &value : c) {
    value = cElement.isF16() ? ops().toF32(value, cElement) : value;
  }
  bool isTf32 = aTile.element.isF32();
  bool isFloat8 = elementBits == 8 && isa<FloatType>(aTile.element);
  auto roundTf32 = [&](Value value) -> Value {
    return nv::RoundTf32Op::create(b, loc, bitsOf(value));
  };
  // 32-bit operand registers, packed once each.
  std::map<std::pair<bool, uint32_t>, Value> packed;
  auto operand = [&](bool isB, uint32_t row, uint32_t column) {
    const TileInfo &tile = isB ? bTile : aTile;
    uint32_t flat = row << tile.shifts[0] | column << tile.shifts[1];
    Value &word = packed[{isB, flat}];
    Operand &from = isB ? bOperand : a;
    auto &at = isB ? bAt : aAt;
    if (!word && from.fragment) {
      word =
          fragmentWord(*from.fragment, at.at(flat) >> from.fragment->wordBits);
      word = isTf32 ? roundTf32(word) : word;
    } else if (!word) {
      uint32_t step = 1u << tile.shifts[isB ? 0 : 1];
      Registers elements;
      for (unsigned i = 0; i < kWidth; ++i) {
        elements.push_back((*from.registers)[at.at(flat + i * step)]);
      }
      word = isTf32 ? roundTf32(elements[0]) : packWords(elements, 32)[0];
      // Found by test/fuzz/test/words-of-known-zeros.mlir on 1 warp, where
      // registers are scarce.
      if (isFloat8) {
        word = nv::HideFromAssemblerOp::create(
            b, loc, word, nv::AssemblerBug::HalfOfKnownZero);
      }
    }
    return word;
  };
  std::set<uint32_t> rows, columns;
  for (auto [flat, r] : cAt) {
    std::vector<uint32_t> index = splitIndex(flat, cTile.shape);
    if (!(index[0] & 8) && !(index[1] & 1)) {
      rows.insert(index[0]);
      columns.insert(index[1]);
    }
  }
  unsigned half = instructionDepth / 2;
  uint32_t depth = aTile.shape[1];
  for (uint32_t k = 0; k < depth; k += instructionDepth) {
    for (uint32_t m : rows) {
      for (uint32_t n : columns) {
        auto cIndex = [&](unsigned i) {
          return cAt.at((m + (i & 2 ? 8 : 0)) << cTile.shifts[0] |
                        (n + (i & 1)) << cTile.shifts[1]);
        };
        Value left[] = {operand(false, m, k), operand(false, m + 8, k),
                        operand(false, m, k + half),
                        operand(false, m + 8, k + half)};
        Value right[] = {operand(true, k, n), operand(true, k + half, n)};
        Value sums[] = {c[cIndex(0)], c[cIndex(1)], c[cIndex(2)], c[cIndex(3)]};
        auto product =
            nv::MmaOp::create(b, loc, aType, left, bType, right, sums);
        for (unsigned i = 0; i < 4; ++i) {
          c[cIndex(i)] = product.getResult(i);
        }
      }
    }
  }
  for (Value &value : c) {
    value = cElement.isF16() ? ops().fromF32(value, cElement) : value;
  }
  bind(op, std::move(c));
}

} // namespace nereid::togpu
