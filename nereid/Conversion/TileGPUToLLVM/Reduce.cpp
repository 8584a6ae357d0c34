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
// bits.
//
// Padding takes no part: where a thread may hold none of the tile, whether it
// does travels with the value.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Partial.h"

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

namespace {
/// Partial results of warps that a thread reads all. More take too many
/// registers (softmax of 8192 on 16 warps: 40 instead of 32, and three blocks a
/// multiprocessor instead of four); then each lane reads one where lanes want
/// the same, and shuffles combine them.
constexpr unsigned mostPartsRead = 8;
/// Running results of a thread. In one tree over all its registers the first
/// loads are combined while the last have not been asked for: ptxas puts those
/// behind, and memory is waited for twice (softmax of 32768 f32 on 16 warps:
/// 335 us on an H200 where 263 are possible). A dependent addition takes 4
/// cycles, so that this many keep a warp busy.
constexpr unsigned runningResults = 8;
} // namespace

void KernelEmitter::emitReduce(tile::ReduceOp op) {
  Type sourceType = op.getSources()[0].getType();
  const TileInfo &from = info(sourceType);
  unsigned axis = op.getAxis();
  unsigned n = op.getSources().size();
  Shape kept = from.shape;
  kept[axis] = 1;
  TileLayout target = narrow(from.layout, from.shape, kept);
  uint32_t axisMask = ((1u << paddedBits(from.shape[axis])) - 1)
                      << from.shifts[axis];

  auto merge = [&](const Partial &left, const Partial &right) {
    return combine(op.getCombine(), left, right);
  };
  auto shuffled = [&](const Partial &partial, unsigned lanes) {
    return ofOtherLane(partial,
                       [&](Value value) { return shuffleXor(value, lanes); });
  };
  auto tree = [&](SmallVector<Partial> list) {
    while (list.size() > 1) {
      SmallVector<Partial> next;
      for (size_t i = 0; i + 1 < list.size(); i += 2) {
        next.push_back(merge(list[i], list[i + 1]));
      }
      if (list.size() % 2) {
        next.push_back(std::move(list.back()));
      }
      list = std::move(next);
    }
    return std::move(list[0]);
  };

  // Registers: those that agree in everything but the axis.
  std::map<uint32_t, SmallVector<unsigned>> groups;
  for (unsigned r = 0; r < from.count(); ++r) {
    if (!from.dead[r]) {
      groups[from.layout.ofRegister(r) & ~axisMask].push_back(r);
    }
  }
  std::map<uint32_t, Partial> partials;
  for (auto &[rest, members] : groups) {
    llvm::sort(members, [&](unsigned x, unsigned y) {
      return from.layout.ofRegister(x) < from.layout.ofRegister(y);
    });
    SmallVector<Partial> list;
    for (unsigned r : members) {
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
      list.push_back(std::move(one));
    }
    SmallVector<Partial> running;
    for (auto [i, one] : llvm::enumerate(list)) {
      if (i < runningResults) {
        running.push_back(std::move(one));
      } else {
        Partial &sum = running[i % runningResults];
        sum = merge(sum, one);
      }
    }
    partials[rest] = tree(std::move(running));
  }

  // Lanes.
  uint32_t axisLanes = 0;
  for (unsigned l = 0; l < from.layout.lanes.size(); ++l) {
    if (!(from.layout.lanes[l] & axisMask)) {
      continue;
    }
    axisLanes |= 1u << l;
    for (auto &[rest, partial] : partials) {
      partial = merge(partial, shuffled(partial, 1u << l));
    }
  }

  // Warps.
  SmallVector<uint32_t> warpColumns(5, 0);
  unsigned parts = 1;
  for (uint32_t column : from.layout.warps) {
    bool isAxis = column & axisMask;
    warpColumns.push_back(isAxis ? parts : 0);
    parts *= isAxis ? 2 : 1;
  }
  if (parts > 1) {
    unsigned bits = tileBits(kept);
    // A region for each source, one for validity.
    bool flags = llvm::any_of(partials, [](auto &p) { return p.second.valid; });
    SmallVector<Type> elements;
    for (Value source : op.getSources()) {
      elements.push_back(tile::getElement(source.getType()));
    }
    if (flags) {
      elements.push_back(b.getI1Type());
    }
    SmallVector<unsigned> offsets;
    unsigned bytes = 0;
    for (Type element : elements) {
      offsets.push_back(bytes);
      bytes += (tile::getElementBytes(element) * parts << bits) + 15 & ~15u;
    }
    SharedRegion region = acquire(bytes);
    std::vector<uint32_t> threadColumns;
    for (const auto *list : {&target.lanes, &target.warps}) {
      for (uint32_t column : *list) {
        threadColumns.push_back(column * parts);
      }
    }
    Value position = spreadBits(thread, threadColumns);
    Value ownPart = spreadBits(thread, warpColumns);
    // Lanes of one axis agree now; one writes. So does one of copies.
    uint32_t silent = axisLanes;
    for (unsigned l = 0; l < from.layout.lanes.size(); ++l) {
      silent |= from.layout.lanes[l] ? 0 : 1u << l;
    }
    for (unsigned w = 0; w < from.layout.warps.size(); ++w) {
      silent |= from.layout.warps[w] ? 0 : 1u << (5 + w);
    }
    Value writes;
    if (silent) {
      writes = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq,
          arith::AndIOp::create(b, loc, thread, ops().i32(silent)),
          ops().i32(0));
    }
    auto flatOf = [&](uint32_t rest) {
      return joinIndex(splitIndex(rest, from.shape), kept);
    };
    auto addressOf = [&](unsigned i, uint32_t rest, Value part) {
      Value index = position;
      if (uint32_t own = flatOf(rest) * parts) {
        index = arith::AddIOp::create(b, loc, index, ops().i32(own));
      }
      if (part) {
        index = arith::AddIOp::create(b, loc, index, part);
      }
      return sharedAddress(region.offset + offsets[i], index, elements[i]);
    };
    // Every group of `parts` lanes that want the same results reads each once.
    unsigned partLanes = std::countr_zero(parts);
    bool sharesReading =
        parts > mostPartsRead && partLanes <= target.lanes.size() &&
        llvm::all_of(ArrayRef(target.lanes).take_front(partLanes),
                     [](uint32_t column) { return column == 0; });
    Value lanePart =
        arith::AndIOp::create(b, loc, thread, ops().i32(parts - 1));
    Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    for (auto &[rest, partial] : partials) {
      for (unsigned i = 0; i < n; ++i) {
        storeShared(addressOf(i, rest, ownPart), {partial.values[i]}, writes);
      }
      if (flags) {
        storeShared(addressOf(n, rest, ownPart),
                    {partial.valid ? partial.valid : always}, writes);
      }
    }
    publish(region);
    for (auto &[rest, partial] : partials) {
      if (sharesReading) {
        partial = {};
        for (unsigned i = 0; i < elements.size(); ++i) {
          Value value = loadShared(addressOf(i, rest, lanePart),
                                   laneType(elements[i]), 1)[0];
          (i < n ? partial.values.emplace_back() : partial.valid) = value;
        }
        for (unsigned k = 1; k < parts; k *= 2) {
          partial = merge(partial, shuffled(partial, k));
        }
        continue;
      }
      SmallVector<Partial> list(parts);
      for (unsigned i = 0; i < elements.size(); ++i) {
        unsigned elementBytes = tile::getElementBytes(elements[i]);
        unsigned step = std::min(parts, 16 / elementBytes);
        for (unsigned w = 0; w < parts; w += step) {
          Registers loaded =
              loadShared(addressOf(i, rest, w ? ops().i32(w) : Value()),
                         laneType(elements[i]), step);
          for (unsigned k = 0; k < step; ++k) {
            if (i < n) {
              list[w + k].values.push_back(loaded[k]);
            } else {
              list[w + k].valid = loaded[k];
            }
          }
        }
      }
      partial = tree(std::move(list));
    }
  }

  for (unsigned i = 0; i < n; ++i) {
    Value result = op.getResult(i);
    if (!isa<RankedTensorType>(result.getType())) {
      scalars[result] = partials.begin()->second.values[i];
      continue;
    }
    const TileInfo &to = info(result.getType());
    std::map<uint32_t, Value> byIndex;
    for (auto &[rest, partial] : partials) {
      byIndex[joinIndex(splitIndex(rest, from.shape), kept)] =
          partial.values[i];
    }
    Registers registers(to.count());
    for (unsigned r = 0; r < to.count(); ++r) {
      if (!to.dead[r]) {
        registers[r] = byIndex.at(to.layout.ofRegister(r));
      }
    }
    bind(result, std::move(registers));
  }
}

} // namespace nereid::togpu
