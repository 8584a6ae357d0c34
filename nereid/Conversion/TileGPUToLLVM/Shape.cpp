//===- Shape.cpp - Creation, shape and element order ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts were chosen so that most of these only rename registers.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::emitRange(tile::RangeOp op) {
  const TileInfo &tile = info(op.getType());
  auto start = startOf(op);
  Registers result(tile.count());
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (tile.dead[r]) {
      continue;
    }
    Value index = indexOf(tile, r, 0);
    result[r] =
        start ? Value(arith::AddIOp::create(b, loc, index, ops().i32(start)))
              : index;
  }
  bind(op, std::move(result));
}

void KernelEmitter::emitBroadcast(tile::BroadcastOp op) {
  const TileInfo &to = info(op.getType());
  const TileInfo &from = info(op.getSource().getType());
  std::vector<unsigned> kept;
  narrow(to.layout, to.shape, from.shape, &kept);
  const Registers &source = regs(op.getSource());
  Registers result(to.count());
  for (unsigned r = 0; r < to.count(); ++r) {
    unsigned own = 0;
    for (unsigned i = 0; i < kept.size(); ++i) {
      own |= (r >> kept[i] & 1) << i;
    }
    result[r] = to.dead[r] ? Value() : source[own];
  }
  bind(op, std::move(result));
}

/// Columns stay in order, so registers do.
void KernelEmitter::emitTranspose(tile::TransposeOp op) {
  bind(op, Registers(regs(op.getSource())));
}

void KernelEmitter::emitReshape(tile::ReshapeOp op) {
  const TileInfo &from = info(op.getSource().getType());
  const TileInfo &to = info(op.getType());
  if (from.layout == to.layout && keepsFlatIndex(from.shape, to.shape)) {
    bind(op, Registers(regs(op.getSource())));
    return;
  }
  if (from.shape == to.shape) {
    bind(op,
         exchange({from.layout, to.layout, tileBits(from.shape), from.element},
                  regs(op.getSource()), to.dead));
    return;
  }
  unsigned scratch = acquireScratch();
  storeRowMajor(scratch, from, regs(op.getSource()));
  barrier();
  bind(op, loadRowMajor(scratch, to));
}

void KernelEmitter::emitJoin(tile::JoinOp op) {
  if (!isa<RankedTensorType>(op.getLhs().getType())) {
    const TileInfo &to = info(op.getType());
    Registers result;
    for (unsigned r = 0; r < to.count(); ++r) {
      Value second = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                           indexOf(to, r, 0), ops().i32(0));
      result.push_back(arith::SelectOp::create(
          b, loc, second, scalar(op.getRhs()), scalar(op.getLhs())));
    }
    bind(op, std::move(result));
    return;
  }
  Registers result;
  for (auto [x, y] : llvm::zip(regs(op.getLhs()), regs(op.getRhs()))) {
    result.push_back(x);
    result.push_back(y);
  }
  bind(op, std::move(result));
}

void KernelEmitter::emitSplit(tile::SplitOp op) {
  const TileInfo &from = info(op.getSource().getType());
  const Registers &source = regs(op.getSource());
  if (!isa<RankedTensorType>(op.getLhs().getType())) {
    // Two elements in two lanes, or in two registers.
    for (unsigned i = 0; i < 2; ++i) {
      Value found = source[0];
      if (source.size() == 2) {
        found = source[from.layout.registers[0] == 1 ? i : 0];
      } else {
        unsigned holder = 0;
        for (unsigned l = 0; l < from.layout.lanes.size(); ++l) {
          holder |= from.layout.lanes[l] & 1 ? i << l : 0;
        }
        found = shuffleIndex(source[0], ops().i32(holder));
      }
      scalars[op->getResult(i)] = found;
    }
    return;
  }
  // The source is in joined(layout of the halves).
  Registers halves[2];
  for (unsigned r = 0; r < source.size(); ++r) {
    halves[r & 1].push_back(source[r]);
  }
  bind(op.getLhs(), std::move(halves[0]));
  bind(op.getRhs(), std::move(halves[1]));
}

/// Through shared memory at the position in the result.
void KernelEmitter::emitCat(tile::CatOp op) {
  const TileInfo &to = info(op.getType());
  unsigned axis = op.getAxis();
  unsigned scratch = acquireScratch();
  int64_t first = 0;
  for (Value part : {op.getLhs(), op.getRhs()}) {
    const TileInfo &from = info(part.getType());
    const Registers &source = regs(part);
    Value firstCopy = isFirstCopy(from.layout);
    for (unsigned r = 0; r < from.count(); ++r) {
      if (from.dead[r]) {
        continue;
      }
      Value position = ops().i32(0);
      int64_t stride = 1;
      for (size_t d = to.shape.size(); d-- > 0;) {
        Value index = indexOf(from, r, d);
        if (d == axis && first) {
          index = arith::AddIOp::create(b, loc, index, ops().i32(first));
        }
        position = arith::AddIOp::create(
            b, loc, position,
            arith::MulIOp::create(b, loc, index, ops().i32(stride)));
        stride *= to.shape[d];
      }
      storeShared(sharedAddress(scratch, position, to.element), {source[r]},
                  andOf(insideShape(from, r), firstCopy));
    }
    first += from.shape[axis];
  }
  barrier();
  bind(op, loadRowMajor(scratch, to));
}

void KernelEmitter::emitGather(tile::GatherOp op) {
  const TileInfo &from = info(op.getSource().getType());
  const TileInfo &to = info(op.getType());
  unsigned axis = op.getAxis();
  const Registers &indices = regs(op.getIndex());
  unsigned scratch = acquireScratch();
  storeRowMajor(scratch, from, regs(op.getSource()));
  barrier();
  Registers result(to.count());
  for (unsigned r = 0; r < to.count(); ++r) {
    if (to.dead[r]) {
      continue;
    }
    Value position = ops().i32(0);
    int64_t stride = 1;
    for (size_t d = from.shape.size(); d-- > 0;) {
      Value index = indexOf(to, r, d);
      if (d == axis) {
        index = indices[r];
        unsigned width = index.getType().getIntOrFloatBitWidth();
        if (width > 32) {
          index = arith::TruncIOp::create(b, loc, b.getI32Type(), index);
        } else if (width < 32) {
          index = arith::ExtUIOp::create(b, loc, b.getI32Type(), index);
        }
      }
      // An index outside the axis, or padding, must not leave the tile.
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           index, ops().i32(from.shape[d]));
      index = arith::SelectOp::create(b, loc, inside, index, ops().i32(0));
      position = arith::AddIOp::create(
          b, loc, position,
          arith::MulIOp::create(b, loc, index, ops().i32(stride)));
      stride *= from.shape[d];
    }
    result[r] = loadShared(sharedAddress(scratch, position, from.element),
                           laneType(from.element), 1)[0];
  }
  bind(op, std::move(result));
}

} // namespace nereid::togpu
