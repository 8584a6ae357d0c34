//===- Dot.cpp - Matrix products ------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matrix instructions where the operands came in their layouts,
// multiplications and additions over shared memory otherwise.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

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
    machine->hasOwnProducts() ? emitMma(op) : emitProduct(op);
  } else {
    emitFma(op);
  }
}

/// Of `count` neighbours, how many one access to the tile's elements has.
static unsigned neighboursIn(const TileInfo &tile, unsigned count) {
  return std::min(count, accessBytes / tile::getElementBytes(tile.element));
}

/// Steps along K that one access to a row of A serves; a power of two. Few,
/// since a thread holds so much of each of its rows.
static unsigned stepsOf(int64_t depth, const TileInfo &aTile, unsigned rows) {
  constexpr unsigned mostSteps = 4, mostHeld = 32;
  unsigned steps = neighboursIn(aTile, mostSteps);
  while (steps > 1 && (depth % steps != 0 || rows * steps > mostHeld)) {
    steps /= 2;
  }
  return steps;
}

static Value addProduct(OpBuilder &b, Location loc, Value x, Value y,
                        Value sum) {
  return isa<FloatType>(sum.getType())
             ? Value(math::FmaOp::create(b, loc, x, y, sum))
             : Value(arith::AddIOp::create(
                   b, loc, sum, arith::MulIOp::create(b, loc, x, y)));
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
  auto [aBytes, bytes] = rowMajorOperands(op);
  unsigned scratch = acquireScratch();
  for (auto [value, offset] :
       {std::pair<Value, unsigned>(op.getLhs(), 0),
        std::pair<Value, unsigned>(op.getRhs(), aBytes)}) {
    storeRowMajor(scratch + offset, info(value.getType()), regs(value));
  }
  barrier();

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
  unsigned rows = 0, columns = neighboursIn(bTile, neighboursOf(cTile));
  for (const auto &[key, value] : known) {
    rows += !key.second;
  }
  unsigned steps = stepsOf(depth, aTile, rows);
  auto loop = scf::ForOp::create(b, loc, ops().i32(0), ops().i32(depth),
                                 ops().i32(steps), live);
  loop.getBody()->clear();
  b.setInsertionPointToEnd(loop.getBody());
  auto load = [&](unsigned offset, Value at, Value more, const TileInfo &tile,
                  unsigned count) {
    Value index = arith::AddIOp::create(b, loc, at, more);
    Registers loaded = loadShared(sharedAddress(offset, index, tile.element),
                                  laneType(tile.element), count);
    for (Value &value : loaded) {
      value =
          ops().convert(value, tile.element, sumElement, op.getIsUnsigned());
    }
    return loaded;
  };
  llvm::DenseMap<Value, Registers> loadedA;
  auto sums = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  for (unsigned step = 0; step < steps; ++step) {
    Value k = loop.getInductionVar();
    Value row = arith::MulIOp::create(
        b, loc, arith::AddIOp::create(b, loc, k, ops().i32(step)),
        ops().i32(n));
    llvm::DenseMap<Value, Registers> loadedB;
    for (auto [i, at] : llvm::enumerate(starts)) {
      Registers &x = loadedA[at.first];
      if (x.empty()) {
        x = load(scratch, at.first, k, aTile, steps);
      }
      // Neighbours among the registers are neighbours among the living ones.
      unsigned place = numbers[i] % columns;
      Value first = starts[i - place].second;
      Registers &y = loadedB[first];
      if (y.empty()) {
        y = load(scratch + aBytes, first, row, bTile, columns);
      }
      sums[i] = addProduct(b, loc, x[step], y[place], sums[i]);
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

void addDotLowerings(LoweringTable &table) {
  table.add<tile::DotOp, &KernelEmitter::emitDot>();
  table.add<tilegpu::WaitProductsOp, &KernelEmitter::emitWaitProducts>();
  table.add<tilegpu::WaitOlderProductsOp,
            &KernelEmitter::emitWaitOlderProducts>();
}

} // namespace nereid::togpu
