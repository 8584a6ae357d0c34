//===- ConvertLayout.cpp - The same elements in other places --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"
#include "nereid/Layout/ConversionPlan.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

/// The bytes of an element in shared memory: a power of two.
static unsigned elementBytes(Type element) {
  return tile::getElementBytes(element);
}

/// Registers and lanes of the source that place (register r, lane 0, warp 0) of
/// the target takes its element from, and how lane and warp bits change them.
namespace {
struct Pull {
  explicit Pull(const LinearLayout &map) : map(map) {}
  uint32_t registerOf(Axis axis, uint32_t value) const {
    return at(axis, value, Axis::Register);
  }
  uint32_t laneOf(Axis axis, uint32_t value) const {
    return at(axis, value, Axis::Lane);
  }
  uint32_t at(Axis from, uint32_t value, Axis to) const {
    for (auto [axis, index] : map.apply({{from, value}})) {
      if (axis == to) {
        return index;
      }
    }
    return 0;
  }
  /// Bits of the thread number that select among source registers: the
  /// register bits that each adds.
  SmallVector<std::pair<unsigned, uint32_t>> selectors() const {
    SmallVector<std::pair<unsigned, uint32_t>> found;
    for (auto [axis, first] :
         {std::pair(Axis::Lane, 0u), std::pair(Axis::Warp, 5u)}) {
      for (unsigned i = 0; i < map.inputBits(axis); ++i) {
        if (uint32_t r = registerOf(axis, 1u << i)) {
          found.push_back({first + i, r});
        }
      }
    }
    return found;
  }
  const LinearLayout &map;
};
} // namespace

void KernelEmitter::emitConvertLayout(tilegpu::ConvertLayoutOp op) {
  const TileInfo &from = info(op.getSource().getType());
  const TileInfo &to = info(op.getType());
  const Registers &source = regs(op.getSource());
  unsigned bits = tileBits(from.shape);
  ConversionPlan plan =
      planConversion(from.layout.linear(bits), to.layout.linear(bits),
                     elementBytes(from.element));
  Pull pull(plan.pull);
  auto selectors = pull.selectors();
  // Each selecting bit doubles the values to choose from; beyond two, shared
  // memory is cheaper.
  if (plan.kind == ConversionPlan::Kind::Shared || selectors.size() > 2) {
    bind(op, throughShared(from, to, source));
    return;
  }
  bool shuffles = plan.kind == ConversionPlan::Kind::Shuffles;
  Value fromLane;
  SmallVector<uint32_t> laneColumns;
  for (unsigned i = 0; i < 5; ++i) {
    laneColumns.push_back(pull.laneOf(Axis::Lane, 1u << i));
  }
  if (shuffles) {
    for (unsigned i = 0; i < plan.pull.inputBits(Axis::Warp); ++i) {
      laneColumns.push_back(pull.laneOf(Axis::Warp, 1u << i));
    }
    fromLane = spreadBits(thread, laneColumns);
  }
  Registers result(to.count());
  std::map<std::pair<uint32_t, uint32_t>, Value> moved;
  for (unsigned r = 0; r < to.count(); ++r) {
    if (to.dead[r]) {
      continue;
    }
    uint32_t own = pull.registerOf(Axis::Register, r);
    uint32_t ownLane = shuffles ? pull.laneOf(Axis::Register, r) : 0;
    auto fetch = [&](uint32_t reg) -> Value {
      Value &known = moved[{reg, ownLane}];
      if (known) {
        return known;
      }
      // A register that is dead everywhere holds padding that nobody reads.
      Value value = source[reg];
      if (!value) {
        return {};
      }
      if (shuffles) {
        Value lane = ownLane ? Value(arith::XOrIOp::create(b, loc, fromLane,
                                                           ops().i32(ownLane)))
                             : fromLane;
        value = shuffleIndex(value, lane);
      }
      return known = value;
    };
    auto choose = [&](auto &&self, size_t i, uint32_t reg) -> Value {
      if (i == selectors.size()) {
        return fetch(reg);
      }
      Value zero = self(self, i + 1, reg);
      Value one = self(self, i + 1, reg ^ selectors[i].second);
      if (!zero || !one || zero == one) {
        return zero ? zero : one;
      }
      Value bit = arith::AndIOp::create(b, loc, thread,
                                        ops().i32(1u << selectors[i].first));
      Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit,
                                          ops().i32(0));
      return arith::SelectOp::create(b, loc, isSet, one, zero);
    };
    result[r] = choose(choose, 0, own);
  }
  bind(op, std::move(result));
}

/// Between shapes of one row-major order, or layouts of one shape.
Registers KernelEmitter::throughShared(const TileInfo &from, const TileInfo &to,
                                       ArrayRef<Value> source) {
  unsigned bytes = elementBytes(from.element);
  Type lane = laneType(from.element);
  Value firstCopy = isFirstCopy(from.layout);
  Registers result(to.count());
  bool sameShape = from.shape == to.shape;
  if (!sameShape) {
    int64_t count = elementCount(from.shape);
    SharedRegion region = acquire(bytes * count);
    for (unsigned r = 0; r < from.count(); ++r) {
      if (!from.dead[r]) {
        storeShared(
            sharedAddress(region.offset, rowMajorIndex(from, r), from.element),
            {source[r]}, andOf(insideShape(from, r), firstCopy));
      }
    }
    publish(region);
    for (unsigned r = 0; r < to.count(); ++r) {
      if (to.dead[r]) {
        continue;
      }
      Value position = safeRowMajorIndex(to, r);
      result[r] = loadShared(
          sharedAddress(region.offset, position, from.element), lane, 1)[0];
    }
    return result;
  }
  unsigned bits = tileBits(from.shape);
  LinearLayout sourceMap = from.layout.linear(bits);
  LinearLayout targetMap = to.layout.linear(bits);
  ConversionPlan plan = planShared(sourceMap, targetMap, bytes);
  LinearLayout toOffset = plan.shared.invert();
  SharedRegion region = acquire(bytes << bits);
  // Offsets of registers and threads, in elements; vectors are the registers
  // whose offsets differ in the low bits only.
  auto visit = [&](const TileLayout &layout, auto access) {
    std::vector<uint32_t> threadColumns;
    for (const auto *part : {&layout.lanes, &layout.warps}) {
      for (uint32_t column : *part) {
        threadColumns.push_back(
            static_cast<uint32_t>(toOffset.applyFlat(column)) * bytes);
      }
    }
    SlotPlaces places = placesAt(sharedAddress(region.offset), threadColumns);
    std::map<uint32_t, std::vector<unsigned>> groups;
    for (unsigned r = 0; r < layout.registerCount(); ++r) {
      uint32_t offset =
          static_cast<uint32_t>(toOffset.applyFlat(layout.ofRegister(r)));
      auto &group = groups[offset / plan.vector];
      group.resize(plan.vector, ~0u);
      group[offset % plan.vector] = r;
    }
    for (auto &[group, registers] : groups) {
      access(addressAt(places, group * plan.vector * bytes), registers);
    }
  };
  visit(from.layout, [&](Value at, const std::vector<unsigned> &registers) {
    Registers elements;
    Value any;
    for (unsigned r : registers) {
      elements.push_back(r == ~0u ? Value() : source[r]);
      any = any ? any : elements.back();
    }
    if (!any) {
      return; // padding in every thread
    }
    for (Value &element : elements) {
      element = element ? element : any;
    }
    storeShared(at, elements, firstCopy);
  });
  publish(region);
  visit(to.layout, [&](Value at, const std::vector<unsigned> &registers) {
    if (llvm::all_of(registers,
                     [&](unsigned r) { return r == ~0u || to.dead[r]; })) {
      return;
    }
    Registers loaded = loadShared(at, lane, plan.vector);
    for (unsigned i = 0; i < plan.vector; ++i) {
      if (registers[i] != ~0u && !to.dead[registers[i]]) {
        result[registers[i]] = loaded[i];
      }
    }
  });
  return result;
}

} // namespace nereid::togpu
