//===- Memory.cpp - Loads and stores --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers that hold consecutive elements at consecutive, aligned addresses
// move together, at most 16 bytes at a time. A masked access is one predicated
// instruction of the machine (Instructions.h), which LLVM lacks: a branch
// around each would cost ten.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AccessReasons.h"
#include "nereid/Analysis/RootPointer.h"
#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

AccessWidth KernelEmitter::accessWidth(Value pointers, Value mask) {
  if (!isa<RankedTensorType>(pointers.getType())) {
    return {};
  }
  if (checkedPointers.contains(pointers)) {
    return {1, WidthLimit::Checks};
  }
  const TileInfo &tile = info(pointers.getType());
  // The dimension with the longest runs comes first, and is right among equals.
  AccessWidth best{0, WidthLimit::Most};
  for (unsigned d : axes.order(pointers)) {
    unsigned held = contiguousRegisters(tile.layout, tile.shifts[d],
                                        paddedBits(tile.shape[d]));
    AccessWidth width = axes.accessWidth(pointers, mask, d, target.accessBytes);
    if (held < width.elements) {
      width = {held, WidthLimit::Layout};
    }
    if (width.elements > best.elements) {
      best = width;
    }
  }
  return best;
}

void KernelEmitter::reportAccess(StringRef subject, Value pointers, Value mask,
                                 AccessWidth width) {
  reportDecision(loc, [&] {
    AccessForm form{width, pointers, mask, target.accessBytes,
                    int64_t{target.lanes} * warps};
    return decisionOf(subject, form, axes);
  });
}

Value KernelEmitter::maskInside(Value pointers, Value mask, unsigned r) {
  Value all;
  if (mask) {
    all = isa<RankedTensorType>(pointers.getType()) ? regs(mask)[r]
                                                    : scalar(mask);
  }
  auto checked = checkedPointers.find(pointers);
  return checked == checkedPointers.end() ? all
                                          : andOf(all, checked->second[r]);
}

Value KernelEmitter::accessMask(Value pointers, Value mask, unsigned r) {
  Value inside;
  if (isa<RankedTensorType>(pointers.getType())) {
    inside = insideShape(info(pointers.getType()), r);
  }
  return andOf(maskInside(pointers, mask, r), inside);
}

KernelEmitter::GlobalAddresses KernelEmitter::globalAddresses(Value pointers) {
  GlobalAddresses places{pointers, {}, {}};
  if (!isa<RankedTensorType>(pointers.getType())) {
    return places;
  }
  const TileInfo &tile = info(pointers.getType());
  for (auto [d, stride] : llvm::enumerate(strides.get(pointers))) {
    uint32_t mask = (1u << paddedBits(tile.shape[d])) - 1, own = 0, threads = 0;
    for (uint32_t column : tile.layout.registers) {
      own |= column >> tile.shifts[d] & mask;
    }
    for (const auto *part : {&tile.layout.lanes, &tile.layout.warps}) {
      for (uint32_t column : *part) {
        threads |= column >> tile.shifts[d] & mask;
      }
    }
    // Otherwise the register's part is exclusive-ored in, not added.
    bool isAdded = !(own & threads);
    places.strides.push_back(stride && isAdded ? *stride : 0);
  }
  return places;
}

std::pair<Value, int64_t> KernelEmitter::globalAddress(GlobalAddresses &places,
                                                       unsigned r) {
  auto toInteger = [&](Value pointer) -> Value {
    return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
  };
  if (!isa<RankedTensorType>(places.pointers.getType())) {
    return {toInteger(scalar(places.pointers)), 0};
  }
  const TileInfo &tile = info(places.pointers.getType());
  const Registers &pointers = regs(places.pointers);
  // Beyond what an instruction adds, an address of its own.
  int64_t farthest = int64_t{1} << (target.offsetBits - 1);
  std::vector<uint32_t> index =
      splitIndex(tile.layout.ofRegister(r), tile.shape);
  int64_t distance = 0;
  std::vector<uint32_t> key = index;
  for (size_t d = 0; d < index.size(); ++d) {
    if (places.strides[d]) {
      distance += places.strides[d] * index[d];
      key[d] = 0;
    }
  }
  key.push_back(static_cast<uint32_t>(distance / farthest));
  auto [found, isNew] = places.starts.try_emplace(key);
  auto &[first, start] = found->second;
  if (isNew) {
    first = r;
    start = toInteger(pointers[r]);
    return {start, 0};
  }
  std::vector<uint32_t> from =
      splitIndex(tile.layout.ofRegister(first), tile.shape);
  for (size_t d = 0; d < from.size(); ++d) {
    distance -= places.strides[d] * from[d];
  }
  return {start, distance};
}

void KernelEmitter::emitLoad(tile::LoadAccess op) {
  bool isTensor = isa<RankedTensorType>(op.getType());
  Type element = tile::getElement(op.getType());
  Type lane = laneType(element);
  AccessWidth most = accessWidth(op.getPtr(), op.getMask());
  reportAccess("load", op.getPtr(), op.getMask(), most);
  unsigned width = most.elements;
  GlobalAddresses places = globalAddresses(op.getPtr());
  Registers result(isTensor ? info(op.getType()).count() : 1);
  AccessShape shape(bitsInMemory(lane), width);
  AccessHints hints{op.getCache(), op.getEvict(), op.getIsVolatile(),
                    /*isStreamed=*/false};
  for (unsigned r = 0; r < result.size(); r += width) {
    if (isTensor && info(op.getType()).dead[r]) {
      continue;
    }
    Value mask = accessMask(op.getPtr(), op.getMask(), r);
    auto [address, distance] = globalAddress(places, r);
    SmallVector<Value> others;
    if (mask && op.getOther()) {
      Registers of;
      for (unsigned i = 0; i < width; ++i) {
        of.push_back(isTensor ? regs(op.getOther())[r + i]
                              : scalar(op.getOther()));
      }
      others = toWords(of, shape);
    }
    Values words = machine->load(
        {Space::Global, address, distance, shape, mask}, others, hints);
    Registers loaded = fromWords(words, shape, lane, width);
    for (unsigned i = 0; i < width; ++i) {
      result[r + i] = loaded[i];
    }
  }
  if (isTensor) {
    bind(op.getResult(), std::move(result));
  } else {
    scalars[op.getResult()] = result[0];
  }
}

/// What an element-wise kernel only writes leaves the first-level cache to what
/// it loads, if that is more (docs/decisions/Tiles.md).
static bool leavesCache(tile::StoreAccess op, bool isStreamed) {
  return isStreamed && op.getCache() == tile::CacheModifier::None &&
         op.getEvict() == tile::EvictionPolicy::Normal;
}

void KernelEmitter::emitStore(tile::StoreAccess op) {
  bool isTensor = isa<RankedTensorType>(op.getPtr().getType());
  Type element = tile::getElement(op.getValue().getType());
  Type lane = laneType(element);
  AccessWidth most = accessWidth(op.getPtr(), op.getMask());
  reportAccess("store", op.getPtr(), op.getMask(), most);
  unsigned width = most.elements;
  GlobalAddresses places = globalAddresses(op.getPtr());
  Registers values =
      isTensor ? regs(op.getValue()) : Registers{scalar(op.getValue())};
  AccessShape shape(bitsInMemory(lane), width);
  AccessHints hints{
      op.getCache(), op.getEvict(), /*isVolatile=*/false,
      leavesCache(op, streamed.contains(rootPointer(op.getPtr())))};
  if (hints.isStreamed) {
    reportDecision(op, [] {
      return Decision{"store", "leaves the nearest cache to the loads", "",
                      "the kernel writes this array and does not read it, and "
                      "loads more bytes than it stores",
                      ""};
    });
  }
  // Copies write once.
  Value once =
      isTensor ? isFirstCopy(info(op.getPtr().getType()).layout)
               : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             thread, ops().i32(0)));
  for (unsigned r = 0; r < values.size(); r += width) {
    if (isTensor && info(op.getPtr().getType()).dead[r]) {
      continue;
    }
    Value mask = andOf(once, accessMask(op.getPtr(), op.getMask(), r));
    SmallVector<Value> words =
        toWords(ArrayRef<Value>(values).slice(r, width), shape);
    auto [address, distance] = globalAddress(places, r);
    machine->store({Space::Global, address, distance, shape, mask}, words,
                   hints);
  }
}

void addMemoryLowerings(LoweringTable &table) {
  table.addAll<tile::LoadAccess, &KernelEmitter::emitLoad>();
  table.addAll<tile::StoreAccess, &KernelEmitter::emitStore>();
}

} // namespace nereid::togpu
