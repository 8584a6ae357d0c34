//===- Threads.cpp - Places of a thread, and moves between threads --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/AccessShape.h"
#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

const TileInfo &KernelEmitter::info(Type type) {
  std::unique_ptr<TileInfo> &slot = infos[type];
  if (!slot) {
    slot = std::make_unique<TileInfo>();
    slot->shape = tilegpu::shapeOf(type);
    slot->layout = tilegpu::layoutOf(type);
    slot->dead = deadRegisters(slot->layout, slot->shape);
    slot->partlyDead = partlyDeadRegisters(slot->layout, slot->shape);
    slot->shifts = dimensionShifts(slot->shape);
    slot->element = tile::getElement(type);
  }
  return *slot;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Runs of bits that move together cost a mask and a shift.
Value KernelEmitter::spreadBits(Value source, ArrayRef<uint32_t> columns) {
  Value sum;
  uint32_t seen = 0;
  auto add = [&](Value part, uint32_t bits) {
    if (!sum) {
      sum = part;
    } else if (seen & bits) {
      sum = arith::XOrIOp::create(b, loc, sum, part);
    } else {
      // An addition that cannot carry: address arithmetic folds it.
      sum = arith::AddIOp::create(b, loc, sum, part,
                                  arith::IntegerOverflowFlags::nsw |
                                      arith::IntegerOverflowFlags::nuw);
    }
    seen |= bits;
  };
  for (unsigned i = 0; i < columns.size();) {
    uint32_t column = columns[i];
    if (!column) {
      ++i;
      continue;
    }
    if (!std::has_single_bit(column)) {
      Value bit = arith::AndIOp::create(
          b, loc, arith::ShRUIOp::create(b, loc, source, ops().i32(i)),
          ops().i32(1));
      add(arith::MulIOp::create(b, loc, bit, ops().i32(column)), column);
      ++i;
      continue;
    }
    unsigned end = i + 1;
    while (end < columns.size() && columns[end] == columns[end - 1] << 1 &&
           columns[end]) {
      ++end;
    }
    uint32_t mask = ((end >= 32 ? 0u : 1u << end) - 1) & ~((1u << i) - 1);
    Value part = arith::AndIOp::create(b, loc, source, ops().i32(mask));
    int shift = std::countr_zero(column) - static_cast<int>(i);
    if (shift > 0) {
      part = arith::ShLIOp::create(b, loc, part, ops().i32(shift),
                                   arith::IntegerOverflowFlags::nsw |
                                       arith::IntegerOverflowFlags::nuw);
    } else if (shift < 0) {
      part = arith::ShRUIOp::create(b, loc, part, ops().i32(-shift));
    }
    uint32_t bits = 0;
    for (; i < end; ++i) {
      bits |= columns[i];
    }
    add(part, bits);
  }
  return sum ? sum : ops().i32(0);
}

Value KernelEmitter::atEntry(const std::vector<uint32_t> &columns) {
  Value &known = threadParts[columns];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(sharedBase.getDefiningOp());
    known = spreadBits(thread, columns);
  }
  return known;
}

Value KernelEmitter::indexOf(const TileInfo &tile, unsigned r, unsigned d) {
  uint32_t mask = (1u << paddedBits(tile.shape[d])) - 1;
  auto part = [&](uint32_t column) { return column >> tile.shifts[d] & mask; };
  std::vector<uint32_t> columns;
  uint32_t reach = 0;
  for (const auto *list : {&tile.layout.lanes, &tile.layout.warps}) {
    for (uint32_t column : *list) {
      columns.push_back(part(column));
      reach |= columns.back();
    }
  }
  Value threads = atEntry(columns);
  uint32_t own = part(tile.layout.ofRegister(r));
  if (!own) {
    return threads;
  }
  if (!reach) {
    return ops().i32(own);
  }
  if (reach & own) {
    return arith::XOrIOp::create(b, loc, threads, ops().i32(own));
  }
  return arith::AddIOp::create(b, loc, threads, ops().i32(own),
                               arith::IntegerOverflowFlags::nsw |
                                   arith::IntegerOverflowFlags::nuw);
}

Value KernelEmitter::rowMajorIndex(const TileInfo &tile, unsigned r) {
  Value sum;
  int64_t stride = 1;
  for (size_t d = tile.shape.size(); d-- > 0;) {
    if (tile.shape[d] > 1) {
      Value part = indexOf(tile, r, d);
      if (stride > 1) {
        part = arith::MulIOp::create(b, loc, part, ops().i32(stride));
      }
      sum = sum ? Value(arith::AddIOp::create(b, loc, sum, part)) : part;
    }
    stride *= tile.shape[d];
  }
  return sum ? sum : ops().i32(0);
}

Value KernelEmitter::andOf(Value a, Value c) {
  if (!a || !c) {
    return a ? a : c;
  }
  return a == c ? a : Value(arith::AndIOp::create(b, loc, a, c));
}

Value KernelEmitter::insideShape(const TileInfo &tile, unsigned r) {
  if (!tile.partlyDead[r]) {
    return {};
  }
  Value all;
  for (size_t d = 0; d < tile.shape.size(); ++d) {
    if (!std::has_single_bit(static_cast<uint64_t>(tile.shape[d]))) {
      all = andOf(all, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             indexOf(tile, r, d),
                                             ops().i32(tile.shape[d])));
    }
  }
  return all;
}

Value KernelEmitter::safeRowMajorIndex(const TileInfo &tile, unsigned r) {
  Value position = rowMajorIndex(tile, r);
  Value inside = insideShape(tile, r);
  return inside ? Value(arith::SelectOp::create(b, loc, inside, position,
                                                ops().i32(0)))
                : position;
}

Value KernelEmitter::isFirstCopy(const TileLayout &layout) {
  uint32_t free = freeThreadBits(layout);
  if (!free) {
    return {};
  }
  return arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      arith::AndIOp::create(b, loc, thread, ops().i32(free)), ops().i32(0));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

Value KernelEmitter::bitsOf(Value value) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type)) {
    return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), value);
  }
  if (type.isInteger(1)) {
    return arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  }
  if (isa<FloatType>(type)) {
    return arith::BitcastOp::create(
        b, loc, b.getIntegerType(type.getIntOrFloatBitWidth()), value);
  }
  return value;
}

Value KernelEmitter::fromBits(Value bits, Type lane) {
  if (isa<LLVM::LLVMPointerType>(lane)) {
    return LLVM::IntToPtrOp::create(b, loc, lane, bits);
  }
  if (lane.isInteger(1)) {
    return arith::TruncIOp::create(b, loc, lane, bits);
  }
  if (isa<FloatType>(lane)) {
    return arith::BitcastOp::create(b, loc, lane, bits);
  }
  return bits;
}

/// The f32 that a 16-bit element was rounded from, or null: two at a time are
/// rounded and packed in one instruction.
Value KernelEmitter::roundedFrom(Value element) {
  if (auto bits = element.getDefiningOp<arith::BitcastOp>()) {
    element = bits.getIn();
  }
  auto round = element.getDefiningOp<arith::TruncFOp>();
  bool isHalf = round && (round.getType().isF16() || round.getType().isBF16());
  return isHalf && round.getIn().getType().isF32() ? round.getIn() : Value();
}

Value KernelEmitter::packRounded(Value low, Value high) {
  Value rounded = low;
  if (auto bits = low.getDefiningOp<arith::BitcastOp>()) {
    rounded = bits.getIn();
  }
  return machine->packRounded(roundedFrom(low), roundedFrom(high),
                              rounded.getType());
}

/// Were the bits cut out of a word, or made by an instruction of ours?
bool KernelEmitter::isWhole(Value bits) {
  while (true) {
    Operation *op = bits.getDefiningOp();
    if (isa_and_nonnull<arith::BitcastOp, arith::TruncIOp,
                        LLVM::ExtractValueOp>(op)) {
      bits = op->getOperand(0);
    } else if (auto shift = bits.getDefiningOp<arith::ShRUIOp>();
               shift && shift.getRhs().getDefiningOp<arith::ConstantOp>()) {
      bits = shift.getLhs();
    } else {
      return op && (isa<arith::ConstantOp>(op) || machine->isInstruction(op));
    }
  }
}

/// Poison in one element would make the word poison, its neighbours too.
Value KernelEmitter::frozen(Value bits) {
  return isWhole(bits) ? bits : Value(LLVM::FreezeOp::create(b, loc, bits));
}

/// Elements in order, the first lowest, as words of `wordBits`.
SmallVector<Value> KernelEmitter::packWords(ArrayRef<Value> elements,
                                            unsigned wordBits) {
  SmallVector<Value> words;
  if (elements.size() == 2) {
    auto pair = pairOf.find(elements[0]);
    if (pair != pairOf.end() && pair->second.first == elements[1] &&
        wordBits == 32) {
      return {pair->second.second};
    }
  }
  if (wordBits == 32 && elements.size() % 2 == 0 &&
      llvm::all_of(elements, [&](Value v) { return roundedFrom(v); })) {
    for (size_t i = 0; i < elements.size(); i += 2) {
      Value packed = packRounded(elements[i], elements[i + 1]);
      if (!packed) {
        break;
      }
      words.push_back(packed);
    }
    if (!words.empty()) {
      return words;
    }
  }
  if (wordBits == 32 && elements.size() % 4 == 0) {
    for (size_t i = 0; i < elements.size(); i += 4) {
      Value packed = machine->packSaturated(elements.slice(i, 4));
      packed = packed ? packed : machine->packFloat8(elements.slice(i, 4));
      if (!packed) {
        words.clear();
        break;
      }
      words.push_back(packed);
    }
    if (!words.empty()) {
      return words;
    }
  }
  Value word;
  unsigned at = 0;
  Type wordType = b.getIntegerType(wordBits);
  for (Value element : elements) {
    Value bits = bitsOf(element);
    unsigned width = bits.getType().getIntOrFloatBitWidth();
    if (width == wordBits) {
      words.push_back(bits);
      continue;
    }
    Value wide = arith::ExtUIOp::create(b, loc, wordType, frozen(bits));
    if (at) {
      wide = arith::ShLIOp::create(b, loc, wide, ops().integer(wordType, at));
      word = arith::OrIOp::create(b, loc, word, wide);
    } else {
      word = wide;
    }
    at += width;
    if (at == wordBits) {
      words.push_back(word);
      at = 0;
    }
  }
  if (at) {
    words.push_back(word);
  }
  return words;
}

Registers KernelEmitter::unpackWords(ArrayRef<Value> words, Type lane,
                                     unsigned count) {
  unsigned width = bitsInMemory(lane);
  Type bitsType = b.getIntegerType(width);
  Registers elements;
  for (Value word : words) {
    unsigned wordBits = word.getType().getIntOrFloatBitWidth();
    for (unsigned at = 0; at < wordBits && elements.size() < count;
         at += width) {
      Value bits = word;
      if (at) {
        bits = arith::ShRUIOp::create(b, loc, bits,
                                      ops().integer(word.getType(), at));
      }
      if (width < wordBits) {
        bits = arith::TruncIOp::create(b, loc, bitsType, bits);
      }
      elements.push_back(fromBits(bits, lane));
    }
  }
  return elements;
}

SmallVector<Value> KernelEmitter::toWords(ArrayRef<Value> elements,
                                          const AccessShape &shape) {
  SmallVector<Value> words = packWords(elements, shape.wordBits);
  if (shape.wordBits == 8) {
    words[0] = arith::ExtUIOp::create(b, loc, b.getI16Type(), words[0]);
  }
  return words;
}

Registers KernelEmitter::fromWords(SmallVector<Value> words,
                                   const AccessShape &shape, Type lane,
                                   unsigned count) {
  if (shape.wordBits == 8) {
    words[0] = arith::TruncIOp::create(b, loc, b.getI8Type(), words[0]);
  }
  return unpackWords(words, lane, count);
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// 32 bits at a time.
template <typename Shuffle>
Value KernelEmitter::shuffleWords(Value value, Shuffle shuffle) {
  Value bits = bitsOf(value);
  unsigned width = bits.getType().getIntOrFloatBitWidth();
  Type wordType = b.getI32Type();
  if (width == 64) {
    Value low = arith::TruncIOp::create(b, loc, wordType, bits);
    Value high = arith::TruncIOp::create(
        b, loc, wordType, arith::ShRUIOp::create(b, loc, bits, ops().i64(32)));
    Value joined = arith::OrIOp::create(
        b, loc, arith::ExtUIOp::create(b, loc, b.getI64Type(), shuffle(low)),
        arith::ShLIOp::create(
            b, loc,
            arith::ExtUIOp::create(b, loc, b.getI64Type(), shuffle(high)),
            ops().i64(32)));
    return fromBits(joined, value.getType());
  }
  if (width < 32) {
    bits = arith::ExtUIOp::create(b, loc, wordType, bits);
  }
  Value moved = shuffle(bits);
  if (width < 32) {
    moved = arith::TruncIOp::create(b, loc, b.getIntegerType(width), moved);
  }
  return fromBits(moved, value.getType());
}

Value KernelEmitter::laneOf(uint32_t mask) {
  return arith::AndIOp::create(b, loc, thread,
                               ops().i32(mask & (target.lanes - 1)));
}

Value KernelEmitter::shuffleXor(Value value, unsigned laneMask) {
  return shuffleWords(
      value, [&](Value word) { return machine->shuffleXor(word, laneMask); });
}

Value KernelEmitter::shuffleIndex(Value value, Value from) {
  return shuffleWords(
      value, [&](Value word) { return machine->shuffleIndex(word, from); });
}

} // namespace nereid::togpu
