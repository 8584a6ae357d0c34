//===- ConvertLayout.cpp - The same elements in other places --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"
#include "nereid/Layout/HalvedLayout.h"
#include "nereid/Layout/ShuffleSource.h"
#include "nereid/Layout/WarpPart.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

/// "load", "dot"; "arithmetic" for what has no name in the language.
static std::string nameOf(Operation *op) {
  if (!op || !isa<tile::TileDialect>(op->getDialect())) {
    return op && isa<scf::ForOp, scf::WhileOp, scf::YieldOp>(op)
               ? "a loop-carried value"
               : "arithmetic";
  }
  return "'" + op->getName().stripDialect().str() + "'";
}

void KernelEmitter::reportConversion(tilegpu::ConvertLayoutOp op,
                                     std::string how, bool isCheap) {
  reportDecision(op, [&] {
    const TileInfo &tile = info(op.getType());
    Decision d{"layout", "", "", "", ""};
    std::string shape;
    for (unsigned size : tile.shape) {
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    }
    d.chosen = "a tile of " + shape + " moves between threads " + how;
    d.rejected = isCheap ? "" : "left where it is";
    Operation *user = op->use_empty() ? nullptr : *op->getUsers().begin();
    d.reason = nameOf(user) + " wants other elements in each thread than " +
               nameOf(op.getSource().getDefiningOp()) + " gives";
    return d;
  });
}

void KernelEmitter::emitConvertLayout(tilegpu::ConvertLayoutOp op) {
  const TileInfo &from = info(op.getSource().getType());
  const TileInfo &to = info(op.getType());
  const Registers &source = regs(op.getSource());
  unsigned bits = tileBits(from.shape);
  ConversionPlan plan =
      planConversion(from.layout.linear(bits), to.layout.linear(bits),
                     tile::getElementBytes(from.element), target.shared);
  ShuffleSource pull(plan.pull);
  auto selectors = pull.selectors();
  if (Value buffer = op.getThrough()) {
    reportConversion(op, "through shared memory, inside its warp",
                     /*isCheap=*/true);
    PartsOfWarp parts = *partsOfWarp(from.layout, to.layout);
    auto alloc = buffer.getDefiningOp<tilegpu::AllocOp>();
    Value offset = arith::MulIOp::create(
        b, loc, warp, ops().i32(alloc.getType().getSlotBytes() / warps));
    Value own = arith::AddIOp::create(b, loc, sharedAddress(*alloc.getOffset()),
                                      offset);
    bind(op, exchange({parts.from, parts.to,
                       bits - unsigned(from.layout.warps.size()), from.element,
                       own},
                      source, to.dead));
    return;
  }
  if (goesThroughSharedMemory(plan)) {
    unsigned bytes = tile::getElementBytes(from.element) << bits;
    reportConversion(op,
                     "through shared memory, " + byteCount(bytes) +
                         (bytes > tilegpu::conversionBytes
                              ? " in pieces of at most " +
                                    byteCount(tilegpu::conversionBytes) +
                                    ", each with a barrier"
                              : " with a barrier"),
                     /*isCheap=*/false);
    bind(op, exchange({from.layout, to.layout, bits, from.element, {}}, source,
                      to.dead));
    return;
  }
  bool shuffles = plan.kind == ConversionPlan::Kind::Shuffles;
  if (shuffles) {
    reportConversion(op, "by shuffles inside its warp", /*isCheap=*/true);
  }
  Value fromLane;
  SmallVector<uint32_t> laneColumns;
  for (unsigned i = 0; i < plan.pull.inputBits(Axis::Lane); ++i) {
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
      // A register that is dead everywhere holds padding that nothing reads.
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

/// Large tiles go in halves, as far as both layouts have them in registers: the
/// shared memory of a block is worth more than barriers.
Registers KernelEmitter::exchange(const Exchange &tile, ArrayRef<Value> source,
                                  const std::vector<bool> &dead) {
  unsigned bytes = tile::getElementBytes(tile.element);
  unsigned most = tilegpu::conversionBytes / (tile.own ? warps : 1);
  if (bytes << tile.bits > most) {
    if (auto bit = commonRegisterBit(tile.from, tile.to, tile.bits)) {
      unsigned fromColumn, toColumn;
      Exchange half{halfOf(tile.from, *bit, &fromColumn),
                    halfOf(tile.to, *bit, &toColumn), tile.bits - 1,
                    tile.element, tile.own};
      // Register r of the half that has `value` in `column`.
      auto wholeOf = [](unsigned r, unsigned column, unsigned value) {
        unsigned below = (1u << column) - 1;
        return (r & below) | value << column | (r & ~below) << 1;
      };
      Registers result(tile.to.registerCount());
      for (unsigned value : {0, 1}) {
        Registers part;
        std::vector<bool> deadPart;
        for (unsigned r = 0; r < half.from.registerCount(); ++r) {
          part.push_back(source[wholeOf(r, fromColumn, value)]);
        }
        for (unsigned r = 0; r < half.to.registerCount(); ++r) {
          deadPart.push_back(dead[wholeOf(r, toColumn, value)]);
        }
        Registers moved = exchange(half, part, deadPart);
        for (unsigned r = 0; r < moved.size(); ++r) {
          result[wholeOf(r, toColumn, value)] = moved[r];
        }
      }
      return result;
    }
  }
  Type lane = laneType(tile.element);
  Value firstCopy = isFirstCopy(tile.from);
  Registers result(tile.to.registerCount());
  ConversionPlan plan =
      planShared(tile.from.linear(tile.bits), tile.to.linear(tile.bits), bytes,
                 target.shared);
  LinearLayout toOffset = plan.shared.invert();
  Value start = tile.own;
  if (start) {
    machine->barrierOfWarp(); // the trip before has been read
  } else {
    start = sharedAddress(acquireScratch());
  }
  // Offsets of registers and threads, in elements; vectors are the registers
  // whose offsets differ in the low bits only.
  auto visit = [&](const TileLayout &layout, unsigned vector, auto access) {
    std::vector<uint32_t> threadColumns;
    for (const auto *part : {&layout.lanes, &layout.warps}) {
      for (uint32_t column : *part) {
        threadColumns.push_back(
            static_cast<uint32_t>(toOffset.applyFlat(column)) * bytes);
      }
    }
    SlotPlaces places = placesAt(start, threadColumns);
    std::map<uint32_t, std::vector<unsigned>> groups;
    for (unsigned r = 0; r < layout.registerCount(); ++r) {
      uint32_t offset =
          static_cast<uint32_t>(toOffset.applyFlat(layout.ofRegister(r)));
      auto &group = groups[offset / vector];
      group.resize(vector, ~0u);
      group[offset % vector] = r;
    }
    for (auto &[group, registers] : groups) {
      access(place(places, group * vector * bytes), registers);
    }
  };
  visit(tile.from, plan.storeVector,
        [&](SharedPlace at, const std::vector<unsigned> &registers) {
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
  tile.own ? machine->barrierOfWarp() : barrier();
  visit(tile.to, plan.loadVector,
        [&](SharedPlace at, const std::vector<unsigned> &registers) {
          if (llvm::all_of(registers,
                           [&](unsigned r) { return r == ~0u || dead[r]; })) {
            return;
          }
          Registers loaded = loadShared(at, lane, plan.loadVector);
          for (unsigned i = 0; i < plan.loadVector; ++i) {
            if (registers[i] != ~0u && !dead[registers[i]]) {
              result[registers[i]] = loaded[i];
            }
          }
        });
  return result;
}

void addConversionLowerings(LoweringTable &table) {
  table.add<tilegpu::ConvertLayoutOp, &KernelEmitter::emitConvertLayout>();
}

} // namespace nereid::togpu
