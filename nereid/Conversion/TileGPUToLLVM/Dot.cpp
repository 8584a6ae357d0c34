//===- Dot.cpp - Matrix products ------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync where the operands came in its layouts, multiplications and
// additions over shared memory otherwise.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include <bit>
#include <set>

using namespace mlir;

namespace nereid::togpu {

/// The form of mma.sync for operands of one type (PTX ISA, "Matrix fragments
/// for mma"): K of one instruction, elements of a 32-bit operand register, and
/// the types as the instruction spells them.
namespace {
struct MmaForm {
  unsigned k = 0, kWidth = 0;
  std::string a, b, sum;
};
} // namespace

static MmaForm mmaForm(tile::DotOp op) {
  auto spell = [&](Type type) -> std::string {
    if (type.isF16()) {
      return "f16";
    }
    if (type.isBF16()) {
      return "bf16";
    }
    if (type.isF32()) {
      return "tf32";
    }
    if (isa<Float8E4M3FNType>(type)) {
      return "e4m3";
    }
    if (isa<Float8E5M2Type>(type)) {
      return "e5m2";
    }
    return op.getIsUnsigned() ? "u8" : "s8";
  };
  Type lhs = tile::getElement(op.getLhs().getType());
  Type rhs = tile::getElement(op.getRhs().getType());
  unsigned bits = lhs.getIntOrFloatBitWidth();
  return {256 / bits, 32 / bits, spell(lhs), spell(rhs),
          lhs.isInteger() ? "s32" : "f32"};
}

std::map<uint32_t, unsigned> registersByIndex(const TileInfo &tile) {
  std::map<uint32_t, unsigned> found;
  for (unsigned r = 0; r < tile.count(); ++r) {
    found[tile.layout.ofRegister(r)] = r;
  }
  return found;
}

void KernelEmitter::emitDot(tile::DotOp op) {
  if (op->hasAttr(tilegpu::warpgroupMmaAttr)) {
    emitWarpgroupMma(op);
  } else if (op->hasAttr(tilegpu::mmaAttr)) {
    bool isF64 = tile::getElement(op.getLhs().getType()).isF64();
    isF64 ? emitF64Mma(op) : emitMma(op);
  } else {
    emitFma(op);
  }
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
      Value operands[] = {
          a[aAt.at(index[0] << aTile.shifts[0] | k << aTile.shifts[1])],
          right[bAt.at(k << bTile.shifts[0] | index[1] << bTile.shifts[1])],
          c[r], c[second]};
      SmallVector<Value> sums =
          inlineAsm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, "
                    "{$2}, {$3}, {$4, $5};",
                    "=d,=d,d,d,0,1", operands,
                    SmallVector<Type>(2, b.getF64Type()), false);
      c[r] = sums[0];
      c[second] = sums[1];
    }
  }
  bind(op, std::move(c));
}

void KernelEmitter::emitMma(tile::DotOp op) {
  const TileInfo &aTile = info(op.getLhs().getType());
  const TileInfo &bTile = info(op.getRhs().getType());
  const TileInfo &cTile = info(op.getType());
  MmaForm form = mmaForm(op);
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
  Type sumType = form.sum == "s32" ? Type(b.getI32Type()) : b.getF32Type();
  Type cElement = cTile.element;
  for (Value &value : c) {
    value = cElement.isF16() ? ops().toF32(value, cElement) : value;
  }
  bool isTf32 = form.a == "tf32";
  bool isFloat8 = form.k == 32 && isa<FloatType>(aTile.element);
  auto roundTf32 = [&](Value value) -> Value {
    return inlineAsm("cvt.rna.tf32.f32 $0, $1;", "=r,r", {bitsOf(value)},
                     {b.getI32Type()}, false)[0];
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
      for (unsigned i = 0; i < form.kWidth; ++i) {
        elements.push_back((*from.registers)[at.at(flat + i * step)]);
      }
      word = isTf32 ? roundTf32(elements[0]) : packWords(elements, 32)[0];
      // ptxas (12.8, 13.0) makes these two products of 16-bit floats on sm_90.
      // For the upper half of a word that it knows to be zero it can take 200
      // (test/fuzz/test/words-of-known-zeros.mlir on 1 warp, where registers
      // are scarce).
      if (isFloat8) {
        word = concealed(word);
      }
    }
    return word;
  };
  std::string kind = "m16n8k" + std::to_string(form.k) + ".row.col." +
                     form.sum + "." + form.a + "." + form.b + "." + form.sum;
  char sumClass = form.sum == "s32" ? 'r' : 'f';
  std::string constraints;
  for (int i = 0; i < 4; ++i) {
    constraints += std::string("=") + sumClass + ",";
  }
  constraints += "r,r,r,r,r,r,0,1,2,3";
  std::string text = "mma.sync.aligned." + kind +
                     " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, "
                     "$11, $12, $13};";
  std::set<uint32_t> rows, columns;
  for (auto [flat, r] : cAt) {
    std::vector<uint32_t> index = splitIndex(flat, cTile.shape);
    if (!(index[0] & 8) && !(index[1] & 1)) {
      rows.insert(index[0]);
      columns.insert(index[1]);
    }
  }
  unsigned half = form.k / 2;
  uint32_t depth = aTile.shape[1];
  for (uint32_t k = 0; k < depth; k += form.k) {
    for (uint32_t m : rows) {
      for (uint32_t n : columns) {
        auto cIndex = [&](unsigned i) {
          return cAt.at((m + (i & 2 ? 8 : 0)) << cTile.shifts[0] |
                        (n + (i & 1)) << cTile.shifts[1]);
        };
        Value operands[10] = {operand(false, m, k),
                              operand(false, m + 8, k),
                              operand(false, m, k + half),
                              operand(false, m + 8, k + half),
                              operand(true, k, n),
                              operand(true, k + half, n),
                              c[cIndex(0)],
                              c[cIndex(1)],
                              c[cIndex(2)],
                              c[cIndex(3)]};
        SmallVector<Value> sums = inlineAsm(
            text, constraints, operands, SmallVector<Type>(4, sumType), false);
        for (unsigned i = 0; i < 4; ++i) {
          c[cIndex(i)] = sums[i];
        }
      }
    }
  }
  for (Value &value : c) {
    value = cElement.isF16() ? ops().fromF32(value, cElement) : value;
  }
  bind(op, std::move(c));
}

/// Row-major operands in shared memory; every thread walks K for its elements.
void KernelEmitter::emitFma(tile::DotOp op) {
  const TileInfo &aTile = info(op.getLhs().getType());
  const TileInfo &bTile = info(op.getRhs().getType());
  const TileInfo &cTile = info(op.getType());
  unsigned rank = cTile.shape.size();
  int64_t m = cTile.shape[rank - 2], n = cTile.shape[rank - 1];
  int64_t depth = aTile.shape[rank - 1];
  int64_t batches = rank == 3 ? cTile.shape[0] : 1;
  unsigned aBytes = tile::getElementBytes(aTile.element) * batches * m * depth;
  aBytes = (aBytes + 15) & ~15u;
  unsigned bBytes = tile::getElementBytes(bTile.element) * batches * depth * n;
  SharedRegion region = acquire(aBytes + bBytes);
  for (auto [value, offset] :
       {std::pair<Value, unsigned>(op.getLhs(), 0),
        std::pair<Value, unsigned>(op.getRhs(), aBytes)}) {
    storeRowMajor(region.offset + offset, info(value.getType()), regs(value));
  }
  publish(region);

  Type cElement = cTile.element;
  bool isNarrow =
      isa<FloatType>(cElement) && cElement.getIntOrFloatBitWidth() < 32;
  Type sumElement = isNarrow ? Type(b.getF32Type()) : cElement;
  Registers live;
  SmallVector<unsigned> numbers;
  for (unsigned r = 0; r < cTile.count(); ++r) {
    if (!cTile.dead[r]) {
      Value start = regs(op.getC())[r];
      live.push_back(isNarrow ? ops().toF32(start, cElement) : start);
      numbers.push_back(r);
    }
  }
  // An index outside the tile must not leave the operands.
  auto clamp = [&](Value index, int64_t size) -> Value {
    if (std::has_single_bit(static_cast<uint64_t>(size))) {
      return index;
    }
    return arith::MinUIOp::create(b, loc, index, ops().i32(size - 1));
  };
  SmallVector<std::pair<Value, Value>> starts; // of the row of A, column of B
  std::map<std::pair<uint32_t, bool>, Value> known;
  for (unsigned r : numbers) {
    std::vector<uint32_t> own =
        splitIndex(cTile.layout.ofRegister(r), cTile.shape);
    Value batch;
    if (rank == 3) {
      batch = clamp(indexOf(cTile, r, 0), batches);
    }
    auto start = [&](bool isB) {
      uint32_t key = isB ? own[rank - 1] : own[rank - 2];
      key |= rank == 3 ? own[0] << 16 : 0;
      Value &value = known[{key, isB}];
      if (value) {
        return value;
      }
      value = isB ? clamp(indexOf(cTile, r, rank - 1), n)
                  : Value(arith::MulIOp::create(
                        b, loc, clamp(indexOf(cTile, r, rank - 2), m),
                        ops().i32(depth)));
      if (batch) {
        int64_t stride = isB ? depth * n : m * depth;
        value = arith::AddIOp::create(
            b, loc, value,
            arith::MulIOp::create(b, loc, batch, ops().i32(stride)));
      }
      return value;
    };
    starts.push_back({start(false), start(true)});
  }
  auto loop = scf::ForOp::create(b, loc, ops().i32(0), ops().i32(depth),
                                 ops().i32(1), live);
  loop.getBody()->clear();
  b.setInsertionPointToEnd(loop.getBody());
  Value k = loop.getInductionVar();
  Value row = arith::MulIOp::create(b, loc, k, ops().i32(n));
  auto widen = [&](Value value, Type from) {
    return ops().convert(value, from, sumElement, op.getIsUnsigned());
  };
  llvm::DenseMap<Value, Value> loadedA, loadedB;
  SmallVector<Value> sums;
  for (auto [i, at] : llvm::enumerate(starts)) {
    Value &x = loadedA[at.first];
    if (!x) {
      x = widen(
          loadShared(sharedAddress(region.offset,
                                   arith::AddIOp::create(b, loc, at.first, k),
                                   aTile.element),
                     laneType(aTile.element), 1)[0],
          aTile.element);
    }
    Value &y = loadedB[at.second];
    if (!y) {
      y = widen(loadShared(
                    sharedAddress(region.offset + aBytes,
                                  arith::AddIOp::create(b, loc, at.second, row),
                                  bTile.element),
                    laneType(bTile.element), 1)[0],
                bTile.element);
    }
    Value sum = loop.getRegionIterArg(i);
    if (isa<FloatType>(sumElement)) {
      sums.push_back(math::FmaOp::create(b, loc, x, y, sum));
    } else {
      sums.push_back(arith::AddIOp::create(
          b, loc, sum, arith::MulIOp::create(b, loc, x, y)));
    }
  }
  scf::YieldOp::create(b, loc, sums);
  b.setInsertionPointAfter(loop);
  Registers result(cTile.count());
  for (auto [i, r] : llvm::enumerate(numbers)) {
    Value sum = loop.getResult(i);
    result[r] = isNarrow ? ops().fromF32(sum, cElement) : sum;
  }
  bind(op, std::move(result));
}

} // namespace nereid::togpu
