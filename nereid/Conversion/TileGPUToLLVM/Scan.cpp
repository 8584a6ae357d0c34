//===- Scan.cpp - Running combinations ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of a scan has the axis in order over registers (a chunk), lanes,
// warps, and registers again (rounds). Each chunk is scanned by its thread;
// chunk totals by the lanes in log steps; warp totals through shared memory,
// where a thread combines those before its own; rounds one after the other.
// Padding at the end of the axis comes first in a reverse scan.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"
#include "nereid/Conversion/TileGPUToLLVM/Partial.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

/// One scan. `Before` is what comes before this thread's part in scan order:
/// only where `has` holds, or everywhere if that is null.
class KernelEmitter::ScanEmitter {
public:
  ScanEmitter(KernelEmitter &e, tile::ScanOp op)
      : e(e), b(e.b), loc(e.loc), op(op),
        tile(e.info(op.getSources()[0].getType())), rounds(scanRoundsOf(op)),
        lanes(1u << rounds.laneBits), parts(1u << rounds.warpBits),
        padded(op.getReverse() && !std::has_single_bit(static_cast<uint64_t>(
                                      tile.shape[op.getAxis()]))) {}

  void emit();
  Decision decision();

private:
  struct Before {
    std::optional<Partial> total;
    Value has;
  };

  Partial select(Value condition, const Partial &yes, const Partial &no);
  /// `before` comes earlier in scan order.
  Partial after(const Partial &before, const Partial &own) {
    return e.combine(op.getCombine(), before, own);
  }
  Partial shuffle(const Partial &partial, Value from) {
    return ofOtherLane(
        partial, [&](Value value) { return e.shuffleIndex(value, from); });
  }
  /// The lane `distance` earlier in scan order.
  Value earlierLane(unsigned distance);
  /// Of this lane, or warp, in scan order.
  Value positionOf(Value number, unsigned count);
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, predicate, x, e.ops().i32(y));
  }

  SmallVector<Partial> scanChunk(const ScanChunk &chunk);
  /// The total of the warp's lanes, in every lane of the row.
  Partial scanLanes(Partial total, Before &before);
  /// That of the warps; `own` is this warp's.
  Partial scanWarps(const Partial &own, bool hasFlag, Before &before);

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  tile::ScanOp op;
  const TileInfo &tile;
  // The axis bits of lanes and warps are their lowest (coalesced() puts them
  // there), in order.
  ScanRounds rounds;
  unsigned lanes, parts;
  bool padded;
  Value lanePosition, warpPosition;
};

Partial KernelEmitter::ScanEmitter::select(Value condition, const Partial &yes,
                                           const Partial &no) {
  Partial result;
  for (auto [x, y] : llvm::zip_equal(yes.values, no.values)) {
    result.values.push_back(arith::SelectOp::create(b, loc, condition, x, y));
  }
  if (yes.valid || no.valid) {
    Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    result.valid = arith::SelectOp::create(b, loc, condition,
                                           yes.valid ? yes.valid : always,
                                           no.valid ? no.valid : always);
  }
  return result;
}

Value KernelEmitter::ScanEmitter::earlierLane(unsigned distance) {
  Value offset = e.ops().i32(distance);
  return op.getReverse()
             ? arith::AddIOp::create(b, loc, e.lane, offset).getResult()
             : arith::SubIOp::create(b, loc, e.lane, offset).getResult();
}

Value KernelEmitter::ScanEmitter::positionOf(Value number, unsigned count) {
  Value index = arith::AndIOp::create(b, loc, number, e.ops().i32(count - 1));
  return op.getReverse() ? Value(arith::SubIOp::create(
                               b, loc, e.ops().i32(count - 1), index))
                         : index;
}

SmallVector<Partial>
KernelEmitter::ScanEmitter::scanChunk(const ScanChunk &chunk) {
  SmallVector<Partial> list;
  unsigned axis = op.getAxis();
  for (unsigned r : chunk.registers) {
    Partial one;
    for (Value source : op.getSources()) {
      one.values.push_back(e.regs(source)[r]);
    }
    if (padded && tile.partlyDead[r]) {
      one.valid = compare(arith::CmpIPredicate::ult, e.indexOf(tile, r, axis),
                          tile.shape[axis]);
    }
    list.push_back(list.empty() ? one : after(list.back(), one));
  }
  return list;
}

Partial KernelEmitter::ScanEmitter::scanLanes(Partial total, Before &before) {
  for (unsigned distance = 1; distance < lanes; distance *= 2) {
    Partial other = shuffle(total, earlierLane(distance));
    Value reaches = compare(arith::CmpIPredicate::uge, lanePosition, distance);
    total = select(reaches, after(other, total), total);
  }
  before.total = shuffle(total, earlierLane(1));
  before.has = compare(arith::CmpIPredicate::ne, lanePosition, 0);
  Value last =
      op.getReverse()
          ? arith::AndIOp::create(b, loc, e.lane, e.ops().i32(~(lanes - 1)))
                .getResult()
          : arith::OrIOp::create(b, loc, e.lane, e.ops().i32(lanes - 1))
                .getResult();
  return shuffle(total, last);
}

Partial KernelEmitter::ScanEmitter::scanWarps(const Partial &own, bool hasFlag,
                                              Before &before) {
  // One slot for each row of a warp, row after row of warps.
  SmallVector<Type> elements = scanElements(op, hasFlag);
  unsigned n = op.getSources().size(), slots = e.target.lanes * e.warps;
  SmallVector<unsigned> offsets;
  unsigned bytes = 0;
  for (Type element : elements) {
    offsets.push_back(bytes);
    bytes += tile::getElementBytes(element) * slots;
  }
  unsigned scratch = e.acquireScratch();
  for (auto [i, element] : llvm::enumerate(elements)) {
    e.storeShared(e.sharedAddress(scratch + offsets[i], e.thread, element),
                  {i < n ? own.values[i] : own.valid}, {});
  }
  e.barrier();
  Value otherBits = arith::AndIOp::create(
      b, loc, e.thread, e.ops().i32(~((parts - 1) << e.target.laneBits())));
  auto read = [&](unsigned number) {
    Value slot = arith::OrIOp::create(
        b, loc, otherBits, e.ops().i32(number << e.target.laneBits()));
    Partial part;
    for (auto [i, element] : llvm::enumerate(elements)) {
      Value loaded =
          e.loadShared(e.sharedAddress(scratch + offsets[i], slot, element),
                       laneType(element), 1)[0];
      if (i < n) {
        part.values.push_back(loaded);
      } else {
        part.valid = loaded;
      }
    }
    return part;
  };
  std::optional<Partial> warpsBefore, all;
  for (unsigned w = 0; w < parts; ++w) {
    Partial part = read(op.getReverse() ? parts - 1 - w : w);
    if (w > 0) {
      // Is the sum of parts 0 .. w-1 what comes before this warp?
      Value mine = compare(arith::CmpIPredicate::eq, warpPosition, w);
      warpsBefore = warpsBefore ? select(mine, *all, *warpsBefore) : *all;
    }
    all = all ? after(*all, part) : part;
  }
  Value notFirst = compare(arith::CmpIPredicate::ne, warpPosition, 0);
  if (before.total) {
    Partial joined =
        select(before.has, after(*warpsBefore, *before.total), *warpsBefore);
    before.total = select(notFirst, joined, *before.total);
    before.has = arith::OrIOp::create(b, loc, before.has, notFirst);
  } else {
    before = {*warpsBefore, notFirst};
  }
  return *all;
}

void KernelEmitter::ScanEmitter::emit() {
  lanePosition = positionOf(e.lane, lanes);
  warpPosition = positionOf(e.warp, parts);
  unsigned n = op.getSources().size();
  SmallVector<Registers> results(n, Registers(tile.count()));
  for (const auto &row : rounds.rows) {
    Partial carry;
    for (const ScanChunk &chunk : row) {
      SmallVector<Partial> list = scanChunk(chunk);
      Before before;
      Partial round = list.back();
      if (rounds.laneBits) {
        round = scanLanes(round, before);
      }
      if (rounds.warpBits) {
        round = scanWarps(round, chunk.hasFlag, before);
      }
      if (carry.values.empty()) {
        carry = round;
      } else {
        before.total = before.total ? select(before.has,
                                             after(carry, *before.total), carry)
                                    : carry;
        before.has = {};
        carry = after(carry, round);
      }
      for (auto [value, r] : llvm::zip_equal(list, chunk.registers)) {
        if (before.total) {
          Partial whole = after(*before.total, value);
          value = before.has ? select(before.has, whole, value) : whole;
        }
        for (unsigned s = 0; s < n; ++s) {
          results[s][r] = value.values[s];
        }
      }
    }
  }
  for (unsigned s = 0; s < n; ++s) {
    e.bind(op.getResult(s), std::move(results[s]));
  }
}

Decision KernelEmitter::ScanEmitter::decision() {
  const std::vector<ScanChunk> &row = rounds.rows.front();
  Decision d{"scan",
             counted(row.front().registers.size(), "element") +
                 " in each thread",
             "", "", ""};
  if (rounds.laneBits) {
    d.chosen += ", then " + counted(rounds.laneBits, "step") +
                " of shuffles between " + counted(lanes, "lane");
  }
  if (rounds.warpBits) {
    d.chosen += ", then the totals of " + counted(parts, "warp") +
                " through shared memory, with a barrier";
    d.rejected = "inside a warp";
    d.reason = "the axis of " + counted(tile.shape[op.getAxis()], "element") +
               " is spread over " + counted(parts, "warp");
    d.hint = "a smaller num_warps where the axis is short";
  }
  if (row.size() > 1) {
    d.chosen += ", " + counted(row.size(), "round") + " one after the other";
  }
  return d;
}

void KernelEmitter::emitScan(tile::ScanOp op) {
  ScanEmitter scan(*this, op);
  reportDecision(op, [&] { return scan.decision(); });
  scan.emit();
}

void addScanLowerings(LoweringTable &table) {
  table.add<tile::ScanOp, &KernelEmitter::emitScan>();
}

} // namespace nereid::togpu
