//===- Scratch.cpp - Shared memory that an operation needs ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Scratch.h"

#include "nereid/Analysis/RegisterOperands.h"
#include "nereid/Layout/ConversionPlan.h"
#include "nereid/Layout/HalvedLayout.h"
#include "nereid/Layout/ShuffleSource.h"
#include "nereid/Layout/WarpPart.h"

#include "llvm/ADT/TypeSwitch.h"

#include <bit>

using namespace mlir;

namespace nereid {

using Pieces = SmallVector<ScratchPiece>;

/// A value that the threads agree upon.
static constexpr unsigned scalarBytes = 8;

static Pieces oneTrip(unsigned bytes) {
  ScratchPiece piece;
  piece.bytes = bytes;
  return {piece};
}

/// `count` equal trips.
static Pieces trips(unsigned count, unsigned bytes) {
  Pieces pieces;
  for (unsigned i = 0; i < count; ++i) {
    pieces.push_back(oneTrip(bytes)[0]);
    pieces.back().trip = i;
  }
  return pieces;
}

/// All elements, row by row.
static Pieces wholeTile(Type type) { return oneTrip(tile::getBytes(type)); }

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

static uint32_t axisMaskOf(const Shape &shape, unsigned axis) {
  return ((1u << paddedBits(shape[axis])) - 1) << dimensionShifts(shape)[axis];
}

Shape shapeWithout(Shape shape, unsigned axis) {
  shape[axis] = 1;
  return shape;
}

std::map<uint32_t, SmallVector<unsigned>> reducedRegisters(tile::ReduceOp op) {
  Type type = op.getSources()[0].getType();
  Shape shape = tilegpu::shapeOf(type);
  TileLayout layout = tilegpu::layoutOf(type);
  std::vector<bool> dead = deadRegisters(layout, shape);
  Shape kept = shapeWithout(shape, op.getAxis());
  uint32_t axisMask = axisMaskOf(shape, op.getAxis());
  std::map<uint32_t, SmallVector<unsigned>> groups;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    if (!dead[r]) {
      uint32_t rest = layout.ofRegister(r) & ~axisMask;
      groups[joinIndex(splitIndex(rest, shape), kept)].push_back(r);
    }
  }
  for (auto &[place, members] : groups) {
    llvm::sort(members, [&](unsigned x, unsigned y) {
      return layout.ofRegister(x) < layout.ofRegister(y);
    });
  }
  return groups;
}

/// May a thread hold nothing but padding of the axis in these registers?
static bool mayBePadding(ArrayRef<unsigned> registers,
                         const std::vector<bool> &partlyDead) {
  return llvm::all_of(registers, [&](unsigned r) { return partlyDead[r]; });
}

static bool isPadded(const Shape &shape, unsigned axis) {
  return !std::has_single_bit(static_cast<uint64_t>(shape[axis]));
}

/// How many neighbours each thread holds, if lanes hold different ones and all
/// hold more than one; else 0.
static unsigned runOfLanes(const TileLayout &layout) {
  uint32_t lanes = 0, threads = 0;
  for (uint32_t column : layout.lanes) {
    lanes |= column;
  }
  threads = lanes;
  for (uint32_t column : layout.warps) {
    threads |= column;
  }
  unsigned run = threads & -threads;
  return lanes && run > 1 ? run : 0;
}

std::optional<WarpParts> warpPartsOf(tile::ReduceOp op) {
  Type type = op.getSources()[0].getType();
  Shape shape = tilegpu::shapeOf(type);
  TileLayout layout = tilegpu::layoutOf(type);
  uint32_t axisMask = axisMaskOf(shape, op.getAxis());
  WarpParts found;
  for (uint32_t column : layout.warps) {
    found.parts *= column & axisMask ? 2 : 1;
  }
  if (found.parts == 1) {
    return std::nullopt;
  }
  if (isPadded(shape, op.getAxis())) {
    std::vector<bool> partlyDead = partlyDeadRegisters(layout, shape);
    found.hasFlags = llvm::any_of(reducedRegisters(op), [&](auto &group) {
      return mayBePadding(group.second, partlyDead);
    });
  }
  for (Value source : op.getSources()) {
    found.elements.push_back(tile::getElement(source.getType()));
  }
  if (found.hasFlags) {
    found.elements.push_back(IntegerType::get(op.getContext(), 1));
  }
  Shape kept = shapeWithout(shape, op.getAxis());
  found.run = runOfLanes(narrow(layout, shape, kept));
  unsigned places = found.padded(1u << tileBits(kept));
  for (Type element : found.elements) {
    found.offsets.push_back(found.bytes);
    found.bytes += llvm::alignTo(
        tile::getElementBytes(element) * found.parts * places, 16);
  }
  return found;
}

static Pieces ofReduce(tile::ReduceOp op) {
  std::optional<WarpParts> parts = warpPartsOf(op);
  return parts ? oneTrip(parts->bytes) : Pieces();
}

ScanRounds scanRoundsOf(tile::ScanOp op) {
  Type type = op.getSources()[0].getType();
  Shape shape = tilegpu::shapeOf(type);
  TileLayout layout = tilegpu::layoutOf(type);
  std::vector<bool> dead = deadRegisters(layout, shape);
  std::vector<bool> partlyDead = partlyDeadRegisters(layout, shape);
  bool reverse = op.getReverse();
  // Padding at the end of the axis comes first in a reverse scan.
  bool padded = reverse && isPadded(shape, op.getAxis());
  uint32_t axisMask = axisMaskOf(shape, op.getAxis());
  unsigned shift = dimensionShifts(shape)[op.getAxis()];
  ScanRounds found;
  for (uint32_t column : layout.lanes) {
    found.laneBits += (column & axisMask) != 0;
  }
  for (uint32_t column : layout.warps) {
    found.warpBits += (column & axisMask) != 0;
  }
  bool isSpread = found.laneBits + found.warpBits > 0;
  unsigned count = layout.registerCount(), chunk = 1;
  while (chunk < count &&
         std::countr_zero(chunk) < int(layout.registers.size()) &&
         layout.registers[std::countr_zero(chunk)] == chunk << shift &&
         chunk < (axisMask >> shift) + 1 && isSpread) {
    chunk *= 2;
  }
  std::map<uint32_t, SmallVector<unsigned>> rows;
  for (unsigned r = 0; r < count; ++r) {
    rows[layout.ofRegister(r) & ~axisMask].push_back(r);
  }
  for (auto &[rest, members] : rows) {
    llvm::sort(members, [&](unsigned x, unsigned y) {
      uint32_t a = layout.ofRegister(x), b = layout.ofRegister(y);
      return reverse ? a > b : a < b;
    });
    size_t step = isSpread ? chunk : members.size();
    std::vector<ScanChunk> &row = found.rows.emplace_back();
    for (size_t first = 0; first < members.size(); first += step) {
      ScanChunk next;
      for (size_t i = first; i < std::min(first + step, members.size()); ++i) {
        if (!dead[members[i]]) {
          next.registers.push_back(members[i]);
        }
      }
      if (!next.registers.empty()) {
        next.hasFlag = padded && mayBePadding(next.registers, partlyDead);
        row.push_back(std::move(next));
      }
    }
  }
  return found;
}

SmallVector<Type> scanElements(tile::ScanOp op, bool hasFlag) {
  SmallVector<Type> elements;
  for (Value source : op.getSources()) {
    elements.push_back(tile::getElement(source.getType()));
  }
  if (hasFlag) {
    elements.push_back(IntegerType::get(op.getContext(), 1));
  }
  return elements;
}

static Pieces ofScan(tile::ScanOp op) {
  ScanRounds rounds = scanRoundsOf(op);
  Pieces pieces;
  if (!rounds.warpBits) {
    return pieces;
  }
  TileLayout layout = tilegpu::layoutOf(op.getSources()[0].getType());
  unsigned threads = 1u << (layout.lanes.size() + layout.warps.size());
  for (const auto &row : rounds.rows) {
    for (const ScanChunk &chunk : row) {
      unsigned bytes = 0;
      for (Type element : scanElements(op, chunk.hasFlag)) {
        bytes += tile::getElementBytes(element) * threads;
      }
      Pieces one = oneTrip(bytes);
      one[0].trip = pieces.size();
      pieces.append(one);
    }
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// Other layouts
//===----------------------------------------------------------------------===//

/// Large tiles go in halves, as far as both layouts have them in registers: the
/// shared memory of a block is worth more than barriers.
static Pieces ofExchange(TileLayout from, TileLayout to, unsigned bits,
                         unsigned bytes, unsigned most) {
  unsigned count = 1;
  while (bytes << bits > most) {
    std::optional<unsigned> bit = commonRegisterBit(from, to, bits);
    if (!bit) {
      break;
    }
    from = halfOf(from, *bit);
    to = halfOf(to, *bit);
    --bits;
    count *= 2;
  }
  return trips(count, bytes << bits);
}

static Pieces ofExchange(Type source, Type result) {
  return ofExchange(tilegpu::layoutOf(source), tilegpu::layoutOf(result),
                    tileBits(tilegpu::shapeOf(source)),
                    tile::getElementBytes(tile::getElement(source)),
                    tilegpu::conversionBytes);
}

unsigned bytesWithinWarp(tilegpu::ConvertLayoutOp op) {
  Type source = op.getSource().getType(), result = op.getType();
  TileLayout from = tilegpu::layoutOf(source), to = tilegpu::layoutOf(result);
  unsigned bits = tileBits(tilegpu::shapeOf(source));
  std::optional<ConversionPlan> plan =
      planWithinWarp(from.linear(bits), to.linear(bits));
  std::optional<PartsOfWarp> parts = partsOfWarp(from, to);
  // A shuffle moves one value, an access of shared memory several.
  constexpr unsigned mostShuffles = 8;
  bool moves = plan && plan->kind == ConversionPlan::Kind::Shuffles;
  if (!moves || !parts ||
      (to.registerCount() <= mostShuffles && !goesThroughSharedMemory(*plan))) {
    return 0;
  }
  unsigned warpBits = from.warps.size();
  return ofExchange(parts->from, parts->to, bits - warpBits,
                    tile::getElementBytes(tile::getElement(source)),
                    tilegpu::conversionBytes >> warpBits)[0]
      .bytes;
}

static Pieces ofConversion(tilegpu::ConvertLayoutOp op) {
  if (op.getThrough()) {
    return {};
  }
  Type source = op.getSource().getType(), result = op.getType();
  unsigned bits = tileBits(tilegpu::shapeOf(source));
  std::optional<ConversionPlan> plan =
      planWithinWarp(tilegpu::layoutOf(source).linear(bits),
                     tilegpu::layoutOf(result).linear(bits));
  return !plan || goesThroughSharedMemory(*plan) ? ofExchange(source, result)
                                                 : Pieces();
}

static Pieces ofReshape(tile::ReshapeOp op) {
  Type source = op.getSource().getType(), result = op.getType();
  Shape from = tilegpu::shapeOf(source), to = tilegpu::shapeOf(result);
  if (tilegpu::layoutOf(source) == tilegpu::layoutOf(result) &&
      keepsFlatIndex(from, to)) {
    return {};
  }
  return from == to ? ofExchange(source, result) : wholeTile(source);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool staysInBuffer(tilegpu::LocalLoadOp op) {
  SmallPtrSet<Operation *, 4> products;
  for (OpOperand &use : op->getUses()) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot ||
        !(dot->hasAttr(tilegpu::mmaAttr) ||
          dot->hasAttr(tilegpu::warpgroupMmaAttr)) ||
        dot->getBlock() != op->getBlock() || use.getOperandNumber() > 1) {
      return false;
    }
    products.insert(dot);
  }
  for (Operation *at = op->getNextNode(); at && !products.empty();
       at = at->getNextNode()) {
    if (isa<tilegpu::WaitCopiesOp, tilegpu::FreeOp, tilegpu::CopyAsyncOp>(at)) {
      return false;
    }
    products.erase(at);
  }
  return true;
}

bool isWarpgroupOperand(tile::DotOp op) {
  Type left = op.getLhs().getType(), result = op.getType();
  TileLayout c = tilegpu::layoutOf(result);
  unsigned rowShift = dimensionShifts(tilegpu::shapeOf(result))[0];
  std::vector<unsigned> groups = {1, 1};
  for (uint32_t column : ArrayRef<uint32_t>(c.warps).drop_front(2)) {
    groups[column >> rowShift ? 0 : 1] *= 2;
  }
  return tilegpu::layoutOf(left) ==
         flatten(warpgroupOperand(tilegpu::shapeOf(left), 2, groups));
}

bool isStagedOperand(tile::DotOp op, unsigned index) {
  auto load = op->getOperand(index).getDefiningOp<tilegpu::LocalLoadOp>();
  if (load && staysInBuffer(load)) {
    return false;
  }
  return index != 0 || !isWarpgroupOperand(op) || !mayBeRegisterOperand(op);
}

RowMajorOperands rowMajorOperands(tile::DotOp op) {
  unsigned lhs = llvm::alignTo(tile::getBytes(op.getLhs().getType()), 16);
  return {lhs,
          lhs + static_cast<unsigned>(tile::getBytes(op.getRhs().getType()))};
}

static Pieces ofDot(tile::DotOp op) {
  if (!op->hasAttr(tilegpu::warpgroupMmaAttr)) {
    return op->hasAttr(tilegpu::mmaAttr) ? Pieces()
                                         : oneTrip(rowMajorOperands(op).bytes);
  }
  Pieces pieces;
  for (unsigned i : {0u, 1u}) {
    if (isStagedOperand(op, i)) {
      auto type = cast<RankedTensorType>(op->getOperand(i).getType());
      auto slot = tilegpu::oneSlotFor(type, tilegpu::innerOfOperand(op, i));
      pieces.push_back({slot.getBytes(), tilegpu::swizzlePeriodBytes, 0});
    }
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// All operations
//===----------------------------------------------------------------------===//

static Pieces ofAtomic(Operation *op) {
  Type type = op->getResult(0).getType();
  if (op->getResult(0).use_empty()) {
    return {};
  }
  if (!isa<RankedTensorType>(type)) {
    return oneTrip(scalarBytes);
  }
  // One thread of those that hold an element has its old value.
  Type pointers = op->getOperand(0).getType();
  return freeThreadBits(tilegpu::layoutOf(pointers)) ? wholeTile(type)
                                                     : Pieces();
}

static Pieces ofAssembly(tile::InlineAsmOp op) {
  bool agrees =
      !op.getPure() && !isa<RankedTensorType>(op.getOutputs()[0].getType());
  return agrees ? trips(op.getOutputs().size(), scalarBytes) : Pieces();
}

Pieces scratchOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Pieces>(op)
      .Case([](tile::ReduceOp op) { return ofReduce(op); })
      .Case([](tile::ScanOp op) { return ofScan(op); })
      .Case([](tilegpu::ConvertLayoutOp op) { return ofConversion(op); })
      .Case([](tile::ReshapeOp op) { return ofReshape(op); })
      .Case([](tile::DotOp op) { return ofDot(op); })
      .Case<tile::AtomicRMWOp, tile::AtomicCASOp>(
          [](Operation *op) { return ofAtomic(op); })
      .Case([](tile::InlineAsmOp op) { return ofAssembly(op); })
      .Case([](tile::GlobalTimerOp op) {
        return op.getResult().use_empty() ? Pieces() : oneTrip(scalarBytes);
      })
      .Case([](tile::StructuredOp op) {
        Pieces pieces;
        for (Type block : op.getSharedBlocks()) {
          pieces.append(wholeTile(block));
        }
        return pieces;
      })
      .Default(Pieces());
}

static tile::MemSemantic semanticOf(Operation *op) {
  auto rmw = dyn_cast<tile::AtomicRMWOp>(op);
  return rmw ? rmw.getSemantic() : cast<tile::AtomicCASOp>(op).getSemantic();
}

bool beginsWithBarrier(Operation *op) {
  using S = tile::MemSemantic;
  return isa<tile::BarrierOp, tilegpu::BarrierOp>(op) ||
         // A release covers what the other threads have written.
         (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(op) &&
          llvm::is_contained({S::Release, S::AcqRel}, semanticOf(op)));
}

bool endsWithBarrier(Operation *op) {
  using S = tile::MemSemantic;
  return isa<tilegpu::WaitCopiesOp, tilegpu::LocalStoreOp>(op) ||
         // After an acquire the other threads must not be ahead of it; a trip
         // of the old value holds them back too.
         (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(op) &&
          llvm::is_contained({S::Acquire, S::AcqRel}, semanticOf(op)) &&
          scratchOf(op).empty());
}

} // namespace nereid
