//===- Reduce.cpp - Elements along one axis combined to one ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In three steps: the registers of a thread into running results, and those by
// a tree; the lanes of a warp by shuffles; the warps through shared memory,
// where every thread reads the partial results that it wants, or one of many.
// The order depends on the layout alone, so the same program gives the same
// bits. All threads that are given a result are given the same bits of it, also
// where they combined in different orders what does not commute (Symmetry.h).
//
// Padding takes no part: where a thread may hold none of the tile, whether it
// does travels with the value.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Symmetry.h"
#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"
#include "nereid/Conversion/TileGPUToLLVM/Partial.h"
#include "nereid/Dialect/Tile/IR/PairOrder.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

Registers KernelEmitter::combine(Region &region, ArrayRef<Value> left,
                                 ArrayRef<Value> right) {
  Block &block = region.front();
  for (unsigned i = 0; i < left.size(); ++i) {
    scalars[block.getArgument(i)] = left[i];
    scalars[block.getArgument(left.size() + i)] = right[i];
  }
  for (Operation &op : block.without_terminator()) {
    emitOp(&op);
  }
  Registers result;
  for (Value value : block.getTerminator()->getOperands()) {
    result.push_back(scalar(value));
  }
  return result;
}

Partial KernelEmitter::combine(Region &region, const Partial &left,
                               const Partial &right) {
  Partial sum;
  sum.values = combine(region, left.values, right.values);
  for (unsigned i = 0; i < sum.values.size(); ++i) {
    Value &value = sum.values[i];
    if (right.valid) {
      value =
          arith::SelectOp::create(b, loc, right.valid, value, left.values[i]);
    }
    if (left.valid) {
      value =
          arith::SelectOp::create(b, loc, left.valid, value, right.values[i]);
    }
  }
  if (left.valid && right.valid) {
    sum.valid = arith::OrIOp::create(b, loc, left.valid, right.valid);
  }
  return sum;
}

Partial KernelEmitter::combineTree(Region &region, ArrayRef<Partial> list) {
  SmallVector<Partial> level(list);
  while (level.size() > 1) {
    SmallVector<Partial> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      next.push_back(combine(region, level[i], level[i + 1]));
    }
    if (level.size() % 2) {
      next.push_back(std::move(level.back()));
    }
    level = std::move(next);
  }
  return std::move(level[0]);
}

Partial KernelEmitter::combineLanes(Region &region, const Partial &own,
                                    unsigned distance) {
  return combine(region, own, ofOtherLane(own, [&](Value value) {
                   return shuffleXor(value, distance);
                 }));
}

static Partial ofLane(KernelEmitter &e, const Partial &partial, Value lane) {
  return ofOtherLane(partial,
                     [&](Value value) { return e.shuffleIndex(value, lane); });
}

/// Do lanes that combine in different orders get the same?
static bool lanesAgree(tile::ReduceOp op) {
  return tile::pairOrderOf(op) || isSymmetric(op.getCombine());
}

namespace {
/// Partial results of warps that a thread reads all. More would take registers
/// that a further block of the processor needs; then each lane reads one where
/// lanes want the same, and shuffles combine them (docs/decisions/Tiles.md).
constexpr unsigned mostPartsRead = 8;

} // namespace

/// `running` results a thread of each row.
void KernelEmitter::reportReduce(tile::ReduceOp op, unsigned running) {
  if (!tellsDecisions(op.getContext())) {
    return;
  }
  const TileInfo &from = info(op.getSources()[0].getType());
  unsigned axis = op.getAxis();
  uint32_t axisMask = ((1u << paddedBits(from.shape[axis])) - 1)
                      << from.shifts[axis];
  auto along = [&](const std::vector<uint32_t> &columns) {
    return llvm::count_if(columns, [&](uint32_t c) { return c & axisMask; });
  };
  unsigned own = 1u << along(from.layout.registers);
  unsigned steps = along(from.layout.lanes);
  unsigned parts = 1u << along(from.layout.warps);
  Decision d{"reduce", "", "", "", ""};
  std::string each = counted(own, "element") + " in each thread";
  if (own > running) {
    each += " as " + counted(running, "running result");
  }
  if (steps) {
    each += ", then " + counted(steps, "step") + " of shuffles between " +
            counted(uint64_t{1} << steps, "lane");
  }
  if (parts > 1) {
    d.chosen = each + ", then the parts of " + counted(parts, "warp") +
               " through shared memory, with a barrier";
    d.rejected = "inside a warp";
    d.reason = "the axis of " + counted(from.shape[axis], "element") +
               " is spread over " + counted(parts, "warp");
    d.hint = "a smaller num_warps where the axis is short";
  } else if (steps) {
    d.chosen = each + ", no shared memory";
    d.reason = "each row of the axis lies in one warp";
  } else {
    d.chosen = each + ", no communication";
    d.reason = "each row of the axis lies in one thread";
  }
  recordDecision(op.getLoc(), d);
  if (!std::has_single_bit(static_cast<uint64_t>(from.shape[axis]))) {
    recordDecision(op.getLoc(),
                   {"reduce", "whether a part counts travels with it",
                    "a plain tree",
                    "the axis of " + counted(from.shape[axis], "element") +
                        " is padded to " +
                        std::to_string(1u << paddedBits(from.shape[axis])),
                    "a block of a power of two, and a mask with a neutral "
                    "'other'"});
  }
}

void KernelEmitter::emitReduce(tile::ReduceOp op) {
  Region &region = op.getCombine();
  const TileInfo &from = info(op.getSources()[0].getType());
  unsigned axis = op.getAxis();
  Shape kept = shapeWithout(from.shape, axis);
  // Registers of another layout would hold other elements.
  for (Type type : op.getResultTypes()) {
    if (isa<RankedTensorType>(type) &&
        info(type).layout != narrow(from.layout, from.shape, kept)) {
      return fail(op, "a reduction's result lies elsewhere than its sources");
    }
  }
  uint32_t axisMask = ((1u << paddedBits(from.shape[axis])) - 1)
                      << from.shifts[axis];

  auto groups = reducedRegisters(op);
  // In one tree over all its registers a thread's first loads would be combined
  // while the last have not been asked for, and memory be waited for twice
  // (docs/decisions/Tiles.md). Two chains for each cycle of an addition keep a
  // warp busy; more cost registers.
  unsigned runningResults = 2 * target.additionCycles;
  unsigned most = std::max<unsigned>(1, runningResults / groups.size());
  Partials partials;
  for (auto &[place, members] : groups) {
    SmallVector<Partial> running;
    for (auto [i, r] : llvm::enumerate(members)) {
      Partial one;
      for (Value source : op.getSources()) {
        one.values.push_back(regs(source)[r]);
      }
      // Padding along other dimensions reduces to padding.
      if (!std::has_single_bit(static_cast<uint64_t>(from.shape[axis])) &&
          from.partlyDead[r]) {
        one.valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          indexOf(from, r, axis),
                                          ops().i32(from.shape[axis]));
      }
      if (i < most) {
        running.push_back(std::move(one));
      } else {
        Partial &sum = running[i % most];
        sum = combine(region, sum, one);
      }
    }
    partials[place] = combineTree(region, running);
  }

  reportReduce(op, most);

  uint32_t axisLanes = 0;
  for (unsigned l = 0; l < from.layout.lanes.size(); ++l) {
    axisLanes |= from.layout.lanes[l] & axisMask ? 1u << l : 0;
  }
  std::optional<WarpParts> parts = warpPartsOf(op);
  // One lane writes the part of its warp.
  bool isShared = axisLanes && !parts && !lanesAgree(op);
  Value first = isShared ? laneOf(~axisLanes) : Value();
  for (auto &[place, partial] : partials) {
    if (axisLanes == target.lanes - 1 && reduceWarp(op, partial)) {
      continue;
    }
    for (unsigned l = 0; l < from.layout.lanes.size(); ++l) {
      if (axisLanes >> l & 1) {
        partial = combineLanes(region, partial, 1u << l);
      }
    }
    if (isShared) {
      partial = ofLane(*this, partial, first);
    }
  }

  if (parts) {
    reduceWarps(op, axisLanes, *parts, partials);
  }

  for (unsigned i = 0; i < op.getSources().size(); ++i) {
    Value result = op.getResult(i);
    if (!isa<RankedTensorType>(result.getType())) {
      scalars[result] = partials.begin()->second.values[i];
      continue;
    }
    const TileInfo &to = info(result.getType());
    Registers registers(to.count());
    for (unsigned r = 0; r < to.count(); ++r) {
      if (!to.dead[r]) {
        registers[r] = partials.at(to.layout.ofRegister(r)).values[i];
      }
    }
    bind(result, std::move(registers));
  }
}

/// Through shared memory: at each place of the tile that is left, the parts of
/// the warps one after the other.
class KernelEmitter::WarpReduction {
public:
  WarpReduction(KernelEmitter &e, tile::ReduceOp op, const WarpParts &plan);

  /// `axisLanes`: bits of the lanes that agree by now.
  void write(const Partials &partials, uint32_t axisLanes);
  void read(Partials &partials);

private:
  Value firstPart(std::vector<uint32_t> columns);
  Value addressOf(unsigned i, uint32_t place, Value part);
  void read(unsigned i, Value address, unsigned count,
            MutableArrayRef<Partial> into);
  void readAlone(Partials &partials);
  void readTogether(Partials &partials, unsigned sameLanes);

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  tile::ReduceOp op;
  const WarpParts &plan;
  const TileInfo &from;
  TileLayout left; ///< of what the reduction leaves
  unsigned n, parts, scratch;
  ArrayRef<Type> elements;
  Value position; ///< of this thread's first place
};

KernelEmitter::WarpReduction::WarpReduction(KernelEmitter &e, tile::ReduceOp op,
                                            const WarpParts &plan)
    : e(e), b(e.b), loc(e.loc), op(op), plan(plan),
      from(e.info(op.getSources()[0].getType())),
      left(narrow(from.layout, from.shape,
                  shapeWithout(from.shape, op.getAxis()))),
      n(op.getSources().size()), parts(plan.parts), scratch(e.acquireScratch()),
      elements(plan.elements) {
  std::vector<uint32_t> threadColumns;
  for (const auto *list : {&left.lanes, &left.warps}) {
    threadColumns.insert(threadColumns.end(), list->begin(), list->end());
  }
  position = firstPart(std::move(threadColumns));
}

/// Where parts of places begin that the bits of a thread's number stand for.
Value KernelEmitter::WarpReduction::firstPart(std::vector<uint32_t> columns) {
  if (!plan.run) {
    for (uint32_t &column : columns) {
      column *= parts;
    }
    return e.spreadBits(e.thread, columns);
  }
  Value place = e.spreadBits(e.thread, columns);
  Value runs = arith::ShRUIOp::create(b, loc, place,
                                      e.ops().i32(std::countr_zero(plan.run)));
  return arith::ShLIOp::create(b, loc,
                               arith::AddIOp::create(b, loc, place, runs),
                               e.ops().i32(std::countr_zero(parts)));
}

Value KernelEmitter::WarpReduction::addressOf(unsigned i, uint32_t place,
                                              Value part) {
  Value index = position;
  if (uint32_t own = plan.padded(place) * parts) {
    index = arith::AddIOp::create(b, loc, index, e.ops().i32(own));
  }
  if (part) {
    index = arith::AddIOp::create(b, loc, index, part);
  }
  return e.sharedAddress(scratch + plan.offsets[i], index, elements[i]);
}

void KernelEmitter::WarpReduction::write(const Partials &partials,
                                         uint32_t axisLanes) {
  // Lanes of one axis agree now; one writes. So does one of copies.
  uint32_t silent = axisLanes;
  for (unsigned l = 0; l < from.layout.lanes.size(); ++l) {
    silent |= from.layout.lanes[l] ? 0 : 1u << l;
  }
  for (unsigned w = 0; w < from.layout.warps.size(); ++w) {
    silent |= from.layout.warps[w] ? 0 : 1u << (from.layout.lanes.size() + w);
  }
  Value writes;
  if (silent) {
    writes = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, loc, e.thread, e.ops().i32(silent)),
        e.ops().i32(0));
  }
  uint32_t axisMask = ((1u << paddedBits(from.shape[op.getAxis()])) - 1)
                      << from.shifts[op.getAxis()];
  SmallVector<uint32_t> warpColumns(e.target.laneBits(), 0);
  unsigned part = 1;
  for (uint32_t column : from.layout.warps) {
    bool isAxis = column & axisMask;
    warpColumns.push_back(isAxis ? part : 0);
    part *= isAxis ? 2 : 1;
  }
  Value ownPart = e.spreadBits(e.thread, warpColumns);
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (const auto &[place, partial] : partials) {
    for (unsigned i = 0; i < n; ++i) {
      e.storeShared(addressOf(i, place, ownPart), {partial.values[i]}, writes);
    }
    if (plan.hasFlags) {
      e.storeShared(addressOf(n, place, ownPart),
                    {partial.valid ? partial.valid : always}, writes);
    }
  }
}

void KernelEmitter::WarpReduction::read(unsigned i, Value address,
                                        unsigned count,
                                        MutableArrayRef<Partial> into) {
  Registers loaded = e.loadShared(address, laneType(elements[i]), count);
  for (unsigned k = 0; k < count; ++k) {
    (i < n ? into[k].values.emplace_back() : into[k].valid) = loaded[k];
  }
}

void KernelEmitter::WarpReduction::read(Partials &partials) {
  unsigned sameLanes = 0; // want the same places, 2 to the power of this
  while (sameLanes < left.lanes.size() && !left.lanes[sameLanes]) {
    ++sameLanes;
  }
  unsigned partLanes = std::countr_zero(parts);
  if (parts * partials.size() <= mostPartsRead || partLanes > sameLanes) {
    readAlone(partials);
  } else {
    readTogether(partials, sameLanes);
  }
}

/// Each thread all parts of its places.
void KernelEmitter::WarpReduction::readAlone(Partials &partials) {
  for (auto &[place, partial] : partials) {
    SmallVector<Partial> list(parts);
    for (unsigned i = 0; i < elements.size(); ++i) {
      unsigned step = std::min(parts, 16 / tile::getElementBytes(elements[i]));
      for (unsigned w = 0; w < parts; w += step) {
        read(i, addressOf(i, place, w ? e.ops().i32(w) : Value()), step,
             MutableArrayRef(list).slice(w, step));
      }
    }
    partial = e.combineTree(op.getCombine(), list);
  }
}

/// Lanes that want the same read one part each: of as many places as there are
/// lanes for. The lowest bits of the lane are the part.
void KernelEmitter::WarpReduction::readTogether(Partials &partials,
                                                unsigned sameLanes) {
  unsigned partLanes = std::countr_zero(parts);
  std::vector<uint32_t> readColumns(partLanes, 0);
  SmallVector<uint32_t> placeColumns;
  uint32_t together = 0;
  for (uint32_t column : left.registers) {
    if (std::has_single_bit(column) && !(together & column) &&
        readColumns.size() < sameLanes) {
      readColumns.push_back(column);
      placeColumns.push_back(column);
      together |= column;
    }
  }
  std::vector<uint32_t> partColumns;
  for (unsigned part = 1; part < parts; part *= 2) {
    partColumns.push_back(part);
  }
  Value ownRead = e.spreadBits(e.thread, partColumns);
  if (together) {
    ownRead = arith::AddIOp::create(b, loc, ownRead,
                                    firstPart(std::move(readColumns)));
  }
  Value otherLanes = e.laneOf(~0u << sameLanes);
  bool agree = lanesAgree(op);
  Partials rounds;
  for (auto &[place, partial] : partials) {
    auto [found, isNew] = rounds.try_emplace(place & ~together);
    Partial &round = found->second;
    if (isNew) {
      for (unsigned i = 0; i < elements.size(); ++i) {
        read(i, addressOf(i, found->first, ownRead), 1, round);
      }
      for (unsigned part = 1; part < parts; part *= 2) {
        round = e.combineLanes(op.getCombine(), round, part);
      }
    }
    partial = round;
    if (together || !agree) {
      unsigned lane = 0;
      for (auto [k, column] : llvm::enumerate(placeColumns)) {
        lane |= place & column ? parts << k : 0;
      }
      Value holder =
          arith::OrIOp::create(b, loc, otherLanes, e.ops().i32(lane));
      partial = ofLane(e, round, holder);
    }
  }
}

void KernelEmitter::reduceWarps(tile::ReduceOp op, uint32_t axisLanes,
                                const WarpParts &plan, Partials &partials) {
  WarpReduction reduction(*this, op, plan);
  reduction.write(partials, axisLanes);
  barrier();
  reduction.read(partials);
}

void addReduceLowerings(LoweringTable &table) {
  table.add<tile::ReduceOp, &KernelEmitter::emitReduce>();
}

} // namespace nereid::togpu
