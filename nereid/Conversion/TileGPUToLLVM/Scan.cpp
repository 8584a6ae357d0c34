//===- Scan.cpp - Running combinations, and histograms --------------------===//
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

#include "nereid/Conversion/TileGPUToLLVM/Partial.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::emitScan(tile::ScanOp op) {
  const TileInfo &tile = info(op.getSources()[0].getType());
  unsigned axis = op.getAxis();
  unsigned n = op.getSources().size();
  bool reverse = op.getReverse();
  bool padded =
      reverse && !std::has_single_bit(static_cast<uint64_t>(tile.shape[axis]));

  auto select = [&](Value condition, const Partial &yes, const Partial &no) {
    Partial result;
    for (unsigned i = 0; i < n; ++i) {
      result.values.push_back(arith::SelectOp::create(
          b, loc, condition, yes.values[i], no.values[i]));
    }
    if (yes.valid || no.valid) {
      Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
      result.valid = arith::SelectOp::create(b, loc, condition,
                                             yes.valid ? yes.valid : always,
                                             no.valid ? no.valid : always);
    }
    return result;
  };
  /// `before` comes earlier in scan order.
  auto after = [&](const Partial &before, const Partial &own) {
    return combine(op.getCombine(), before, own);
  };
  auto shuffle = [&](const Partial &partial, Value from) {
    return ofOtherLane(partial,
                       [&](Value value) { return shuffleIndex(value, from); });
  };

  // The axis bits of lanes and warps are their lowest (coalesced() puts them
  // there), in order.
  ScanRounds rounds = scanRoundsOf(op);
  unsigned laneBits = rounds.laneBits, warpBits = rounds.warpBits;
  unsigned lanes = 1u << laneBits, parts = 1u << warpBits;
  Value laneIndex = arith::AndIOp::create(b, loc, lane, ops().i32(lanes - 1));
  Value warpIndex = arith::AndIOp::create(b, loc, warp, ops().i32(parts - 1));
  auto positionOf = [&](Value index, unsigned count) -> Value {
    return reverse ? Value(arith::SubIOp::create(b, loc, ops().i32(count - 1),
                                                 index))
                   : index;
  };
  Value lanePosition = positionOf(laneIndex, lanes);
  Value warpPosition = positionOf(warpIndex, parts);

  tellDecision(op, [&] {
    const std::vector<ScanChunk> &row = rounds.rows.front();
    Decision d{"scan",
               counted(row.front().registers.size(), "element") +
                   " in each thread",
               "", "", ""};
    if (laneBits) {
      d.chosen += ", then " + counted(laneBits, "step") +
                  " of shuffles between " + counted(lanes, "lane");
    }
    if (warpBits) {
      d.chosen += ", then the totals of " + counted(parts, "warp") +
                  " through shared memory, with a barrier";
      d.rejected = "inside a warp";
      d.reason = "the axis of " + counted(tile.shape[axis], "element") +
                 " is spread over " + counted(parts, "warp");
      d.hint = "a smaller num_warps where the axis is short";
    }
    if (row.size() > 1) {
      d.chosen += ", " + counted(row.size(), "round") + " one after the other";
    }
    return d;
  });
  SmallVector<Registers> results(n, Registers(tile.count()));
  for (const auto &row : rounds.rows) {
    Partial carry;
    for (const ScanChunk &chunk : row) {
      SmallVector<Partial> list;
      for (unsigned r : chunk.registers) {
        Partial one;
        for (Value source : op.getSources()) {
          one.values.push_back(regs(source)[r]);
        }
        if (padded && tile.partlyDead[r]) {
          one.valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                            indexOf(tile, r, axis),
                                            ops().i32(tile.shape[axis]));
        }
        list.push_back(list.empty() ? one : after(list.back(), one));
      }
      // What comes before this thread's chunk in this round.
      std::optional<Partial> before;
      Value hasBefore;
      Partial total = list.back();
      if (laneBits) {
        for (unsigned distance = 1; distance < lanes; distance *= 2) {
          Value from =
              reverse ? arith::AddIOp::create(b, loc, lane, ops().i32(distance))
                            .getResult()
                      : arith::SubIOp::create(b, loc, lane, ops().i32(distance))
                            .getResult();
          Partial other = shuffle(total, from);
          Value reaches =
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                    lanePosition, ops().i32(distance));
          total = select(reaches, after(other, total), total);
        }
        Value from =
            reverse
                ? arith::AddIOp::create(b, loc, lane, ops().i32(1)).getResult()
                : arith::SubIOp::create(b, loc, lane, ops().i32(1)).getResult();
        before = shuffle(total, from);
        hasBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                          lanePosition, ops().i32(0));
      }
      // The total of the warp, in every lane of the row.
      Value lastLane = arith::OrIOp::create(b, loc, lane, ops().i32(lanes - 1));
      if (reverse) {
        lastLane = arith::AndIOp::create(b, loc, lane, ops().i32(~(lanes - 1)));
      }
      Partial round = laneBits ? shuffle(total, lastLane) : total;
      if (warpBits) {
        // One slot for each row of a warp, row after row of warps.
        SmallVector<Type> elements = scanElements(op, chunk.hasFlag);
        unsigned slots = target.lanes * warps;
        SmallVector<unsigned> offsets;
        unsigned bytes = 0;
        for (Type element : elements) {
          offsets.push_back(bytes);
          bytes += tile::getElementBytes(element) * slots;
        }
        unsigned scratch = acquireScratch();
        for (auto [i, element] : llvm::enumerate(elements)) {
          storeShared(sharedAddress(scratch + offsets[i], thread, element),
                      {i < n ? round.values[i] : round.valid}, {});
        }
        barrier();
        Value otherBits = arith::AndIOp::create(
            b, loc, thread, ops().i32(~((parts - 1) << target.laneBits())));
        std::optional<Partial> warpsBefore, all;
        for (unsigned w = 0; w < parts; ++w) {
          unsigned number = reverse ? parts - 1 - w : w;
          Value slot = arith::OrIOp::create(
              b, loc, otherBits, ops().i32(number << target.laneBits()));
          Partial part;
          for (auto [i, element] : llvm::enumerate(elements)) {
            Value loaded =
                loadShared(sharedAddress(scratch + offsets[i], slot, element),
                           laneType(element), 1)[0];
            if (i < n) {
              part.values.push_back(loaded);
            } else {
              part.valid = loaded;
            }
          }
          if (w > 0) {
            // Is the sum of parts 0 .. w-1 what comes before this warp?
            Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               warpPosition, ops().i32(w));
            warpsBefore = warpsBefore ? select(mine, *all, *warpsBefore) : *all;
          }
          all = all ? after(*all, part) : part;
        }
        Value notFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                               warpPosition, ops().i32(0));
        if (before) {
          Partial joined =
              select(hasBefore, after(*warpsBefore, *before), *warpsBefore);
          before = select(notFirst, joined, *before);
          hasBefore = arith::OrIOp::create(b, loc, hasBefore, notFirst);
        } else {
          before = *warpsBefore;
          hasBefore = notFirst;
        }
        round = *all;
      }
      if (!carry.values.empty()) {
        before =
            before ? select(hasBefore, after(carry, *before), carry) : carry;
        hasBefore = {};
        carry = after(carry, round);
      } else {
        carry = round;
      }
      for (auto [i, r] : llvm::enumerate(chunk.registers)) {
        Partial value = list[i];
        if (before) {
          Partial whole = after(*before, value);
          value = hasBefore ? select(hasBefore, whole, value) : whole;
        }
        for (unsigned s = 0; s < n; ++s) {
          results[s][r] = value.values[s];
        }
      }
    }
  }
  for (unsigned s = 0; s < n; ++s) {
    bind(op.getResult(s), std::move(results[s]));
  }
}

/// Counts in shared memory.
void KernelEmitter::emitHistogram(tile::HistogramOp op) {
  const TileInfo &from = info(op.getSource().getType());
  const TileInfo &to = info(op.getType());
  int64_t bins = to.shape[0];
  int64_t threads = int64_t{target.lanes} * warps;
  tellDecision(op, [&] {
    return Decision{"histogram",
                    "one atomic addition to shared memory for each element, " +
                        byteCount(4 * bins) + " of counts, 2 barriers",
                    "", "", ""};
  });
  unsigned scratch = acquireScratch();
  auto address = [&](Value index) {
    return sharedAddress(scratch, index, b.getI32Type());
  };
  for (int64_t first = 0; first < bins; first += threads) {
    Value index = arith::AddIOp::create(b, loc, thread, ops().i32(first));
    Value inside =
        first + threads <= bins
            ? Value()
            : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                    ops().i32(bins));
    storeShared(address(index), {ops().i32(0)}, inside);
  }
  barrier();
  Value firstCopy = isFirstCopy(from.layout);
  for (unsigned r = 0; r < from.count(); ++r) {
    if (from.dead[r]) {
      continue;
    }
    Value bin = regs(op.getSource())[r];
    Value counted =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, bin,
                              ops().integer(bin.getType(), bins));
    counted = andOf(counted, andOf(insideShape(from, r), firstCopy));
    if (op.getMask()) {
      counted = andOf(counted, regs(op.getMask())[r]);
    }
    if (bin.getType().isInteger(64)) {
      bin = arith::TruncIOp::create(b, loc, b.getI32Type(), bin);
    }
    machine->countShared(address(bin), counted);
  }
  barrier();
  Registers result(to.count());
  for (unsigned r = 0; r < to.count(); ++r) {
    if (to.dead[r]) {
      continue;
    }
    Value index = indexOf(to, r, 0);
    if (Value inside = insideShape(to, r)) {
      index = arith::SelectOp::create(b, loc, inside, index, ops().i32(0));
    }
    result[r] = loadShared(address(index), b.getI32Type(), 1)[0];
  }
  bind(op, std::move(result));
}

} // namespace nereid::togpu
