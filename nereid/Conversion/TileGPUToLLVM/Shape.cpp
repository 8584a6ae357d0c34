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

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

static void emitSplat(KernelEmitter &e, tile::SplatOp op) {
  e.bind(op, Registers(e.info(op.getType()).count(), e.scalar(op.getSource())));
}

static void emitRange(KernelEmitter &e, tile::RangeOp op) {
  const TileInfo &tile = e.info(op.getType());
  auto start = startOf(op);
  Registers result(tile.count());
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (tile.dead[r]) {
      continue;
    }
    Value index = e.indexOf(tile, r, 0);
    result[r] = start ? Value(arith::AddIOp::create(e.b, e.loc, index,
                                                    e.ops().i32(start)))
                      : index;
  }
  e.bind(op, std::move(result));
}

static void emitBroadcast(KernelEmitter &e, tile::BroadcastOp op) {
  const TileInfo &to = e.info(op.getType());
  const TileInfo &from = e.info(op.getSource().getType());
  std::vector<unsigned> kept;
  narrow(to.layout, to.shape, from.shape, &kept);
  const Registers &source = e.regs(op.getSource());
  Registers result(to.count());
  for (unsigned r = 0; r < to.count(); ++r) {
    unsigned own = 0;
    for (unsigned i = 0; i < kept.size(); ++i) {
      own |= (r >> kept[i] & 1) << i;
    }
    result[r] = to.dead[r] ? Value() : source[own];
  }
  e.bind(op, std::move(result));
}

/// A dimension of size 1 has no bits.
static void emitExpandDims(KernelEmitter &e, tile::ExpandDimsOp op) {
  e.bind(op, Registers(e.regs(op.getSource())));
}

/// Columns stay in order, so registers do.
static void emitTranspose(KernelEmitter &e, tile::TransposeOp op) {
  e.bind(op, Registers(e.regs(op.getSource())));
}

static void emitReshape(KernelEmitter &e, tile::ReshapeOp op) {
  const TileInfo &from = e.info(op.getSource().getType());
  const TileInfo &to = e.info(op.getType());
  if (from.layout == to.layout && keepsFlatIndex(from.shape, to.shape)) {
    e.bind(op, Registers(e.regs(op.getSource())));
    return;
  }
  if (from.shape == to.shape) {
    e.bind(op, e.exchange(
                   {from.layout, to.layout, tileBits(from.shape), from.element},
                   e.regs(op.getSource()), to.dead));
    return;
  }
  unsigned scratch = e.acquireScratch();
  e.storeRowMajor(scratch, from, e.regs(op.getSource()));
  e.barrier();
  e.bind(op, e.loadRowMajor(scratch, to));
}

static void emitJoin(KernelEmitter &e, tile::JoinOp op) {
  if (!isa<RankedTensorType>(op.getLhs().getType())) {
    const TileInfo &to = e.info(op.getType());
    Registers result;
    for (unsigned r = 0; r < to.count(); ++r) {
      Value second = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                           e.indexOf(to, r, 0), e.ops().i32(0));
      result.push_back(arith::SelectOp::create(
          e.b, e.loc, second, e.scalar(op.getRhs()), e.scalar(op.getLhs())));
    }
    e.bind(op, std::move(result));
    return;
  }
  Registers result;
  for (auto [x, y] : llvm::zip(e.regs(op.getLhs()), e.regs(op.getRhs()))) {
    result.push_back(x);
    result.push_back(y);
  }
  e.bind(op, std::move(result));
}

static void emitSplit(KernelEmitter &e, tile::SplitOp op) {
  const TileInfo &from = e.info(op.getSource().getType());
  const Registers &source = e.regs(op.getSource());
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
        found = e.shuffleIndex(source[0], e.ops().i32(holder));
      }
      e.scalars[op->getResult(i)] = found;
    }
    return;
  }
  // The source is in joined(layout of the halves).
  Registers halves[2];
  for (unsigned r = 0; r < source.size(); ++r) {
    halves[r & 1].push_back(source[r]);
  }
  e.bind(op.getLhs(), std::move(halves[0]));
  e.bind(op.getRhs(), std::move(halves[1]));
}

/// Through shared memory at the position in the result.
static void emitCat(KernelEmitter &e, tile::CatOp op) {
  const TileInfo &to = e.info(op.getType());
  unsigned axis = op.getAxis();
  unsigned scratch = e.acquireScratch();
  int64_t first = 0;
  for (Value part : {op.getLhs(), op.getRhs()}) {
    const TileInfo &from = e.info(part.getType());
    const Registers &source = e.regs(part);
    Value firstCopy = e.isFirstCopy(from.layout);
    for (unsigned r = 0; r < from.count(); ++r) {
      if (from.dead[r]) {
        continue;
      }
      Value position = e.ops().i32(0);
      int64_t stride = 1;
      for (size_t d = to.shape.size(); d-- > 0;) {
        Value index = e.indexOf(from, r, d);
        if (d == axis && first) {
          index = arith::AddIOp::create(e.b, e.loc, index, e.ops().i32(first));
        }
        position = arith::AddIOp::create(
            e.b, e.loc, position,
            arith::MulIOp::create(e.b, e.loc, index, e.ops().i32(stride)));
        stride *= to.shape[d];
      }
      e.storeShared(e.sharedAddress(scratch, position, to.element), {source[r]},
                    e.andOf(e.insideShape(from, r), firstCopy));
    }
    first += from.shape[axis];
  }
  e.barrier();
  e.bind(op, e.loadRowMajor(scratch, to));
}

/// Through shared memory at the position in the result.
static void emitSlice(KernelEmitter &e, tile::SliceOp op) {
  const TileInfo &from = e.info(op.getSource().getType());
  const TileInfo &to = e.info(op.getType());
  unsigned scratch = e.acquireScratch();
  const Registers &source = e.regs(op.getSource());
  Value firstCopy = e.isFirstCopy(from.layout);
  for (unsigned r = 0; r < from.count(); ++r) {
    if (from.dead[r]) {
      continue;
    }
    Value position = e.ops().i32(0), wanted = firstCopy;
    int64_t step = 1;
    for (size_t d = to.shape.size(); d-- > 0;) {
      // An index in front of the offset is a large one.
      Value place = arith::SubIOp::create(e.b, e.loc, e.indexOf(from, r, d),
                                          e.ops().i32(op.getOffsets()[d]));
      Value stride = e.ops().i32(op.getStrides()[d]);
      Value index = arith::DivUIOp::create(e.b, e.loc, place, stride);
      auto keep = [&](arith::CmpIPredicate is, Value x, int64_t y) {
        wanted = e.andOf(
            wanted, arith::CmpIOp::create(e.b, e.loc, is, x, e.ops().i32(y)));
      };
      keep(arith::CmpIPredicate::ult, index, to.shape[d]);
      if (op.getStrides()[d] != 1) {
        keep(arith::CmpIPredicate::eq,
             arith::RemUIOp::create(e.b, e.loc, place, stride), 0);
      }
      position = arith::AddIOp::create(
          e.b, e.loc, position,
          arith::MulIOp::create(e.b, e.loc, index, e.ops().i32(step)));
      step *= to.shape[d];
    }
    e.storeShared(e.sharedAddress(scratch, position, to.element), {source[r]},
                  wanted);
  }
  e.barrier();
  e.bind(op, e.loadRowMajor(scratch, to));
}

static void emitGather(KernelEmitter &e, tile::GatherOp op) {
  const TileInfo &from = e.info(op.getSource().getType());
  const TileInfo &to = e.info(op.getType());
  unsigned axis = op.getAxis();
  const Registers &indices = e.regs(op.getIndex());
  unsigned scratch = e.acquireScratch();
  e.storeRowMajor(scratch, from, e.regs(op.getSource()));
  e.barrier();
  Registers result(to.count());
  for (unsigned r = 0; r < to.count(); ++r) {
    if (to.dead[r]) {
      continue;
    }
    Value position = e.ops().i32(0);
    int64_t stride = 1;
    for (size_t d = from.shape.size(); d-- > 0;) {
      Value index = e.indexOf(to, r, d);
      if (d == axis) {
        index = indices[r];
        unsigned width = index.getType().getIntOrFloatBitWidth();
        if (width > 32) {
          index = arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), index);
        } else if (width < 32) {
          index = arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), index);
        }
      }
      // An index outside the axis, or padding, must not leave the tile.
      Value inside =
          arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, index,
                                e.ops().i32(from.shape[d]));
      index =
          arith::SelectOp::create(e.b, e.loc, inside, index, e.ops().i32(0));
      position = arith::AddIOp::create(
          e.b, e.loc, position,
          arith::MulIOp::create(e.b, e.loc, index, e.ops().i32(stride)));
      stride *= from.shape[d];
    }
    result[r] = e.loadShared(e.sharedAddress(scratch, position, from.element),
                             laneType(from.element), 1)[0];
  }
  e.bind(op, std::move(result));
}

void addShapeLowerings(LoweringTable &table) {
  table.add<tile::SplatOp, emitSplat>();
  table.add<tile::RangeOp, emitRange>();
  table.add<tile::ExpandDimsOp, emitExpandDims>();
  table.add<tile::BroadcastOp, emitBroadcast>();
  table.add<tile::TransposeOp, emitTranspose>();
  table.add<tile::ReshapeOp, emitReshape>();
  table.add<tile::JoinOp, emitJoin>();
  table.add<tile::SplitOp, emitSplit>();
  table.add<tile::CatOp, emitCat>();
  table.add<tile::SliceOp, emitSlice>();
  table.add<tile::GatherOp, emitGather>();
}

} // namespace nereid::togpu
