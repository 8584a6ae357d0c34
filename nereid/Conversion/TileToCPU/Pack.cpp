//===- Pack.cpp - Elements laid out as words of scratch -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A word is the unit that a packed buffer is read in: one element, or several
// neighbours along one dimension. `count` rows of the block are evaluated at
// once, each a vector along the dimension in which its memory is contiguous:
//
//   interleave   a0 a1 a2 ..   b0 b1 b2 ..    ->   a0b0 a1b1 a2b2 ..
//   turn         words of L rows x L columns  ->   L columns x L rows
//
// The second is a transposition in registers: log2(L) shuffles a vector, where
// a gather or a scatter takes an access an element.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tocpu {

static int64_t widthOf(Value vector) {
  return cast<VectorType>(vector.getType()).getDimSize(0);
}

static Value shuffle(LaneOps &ops, Value a, Value b, ArrayRef<int64_t> order) {
  return vector::ShuffleOp::create(ops.b, ops.loc, a, b, order);
}

/// a0 b0 a1 b1 ...
static Value interleave(LaneOps &ops, Value a, Value b) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < widthOf(a); ++i) {
    order.append({i, widthOf(a) + i});
  }
  return shuffle(ops, a, b, order);
}

/// From each 128-bit part of a and b its chunk `which` of `size` words, by
/// turns: what x86's unpack instructions do.
static Value unpack(LaneOps &ops, Value a, Value b, int64_t part, int64_t size,
                    int64_t which) {
  SmallVector<int64_t> order;
  int64_t width = widthOf(a), half = part / 2;
  for (int64_t first = 0; first < width; first += part) {
    for (int64_t chunk = 0; chunk < half; chunk += size) {
      for (int64_t from : {int64_t(0), width}) {
        for (int64_t i = 0; i < size; ++i) {
          order.push_back(from + first + which * half + chunk + i);
        }
      }
    }
  }
  return shuffle(ops, a, b, order);
}

/// The 128-bit parts of a, then of b, whose number is `which` modulo 2.
static Value everyOther(LaneOps &ops, Value a, Value b, int64_t part,
                        int64_t which) {
  SmallVector<int64_t> order;
  int64_t width = widthOf(a);
  for (int64_t from : {int64_t(0), width}) {
    for (int64_t first = which * part; first < width; first += 2 * part) {
      for (int64_t i = 0; i < part; ++i) {
        order.push_back(from + first + i);
      }
    }
  }
  return shuffle(ops, a, b, order);
}

/// The 128-bit parts of `rows` as a matrix of rows.size() x rows.size(), a
/// power of two, transposed.
static SmallVector<Value> turnParts(LaneOps &ops, ArrayRef<Value> rows,
                                    int64_t part) {
  size_t count = rows.size();
  SmallVector<Value> now(rows), next(count);
  // Each step takes the lowest bit of the number of a part and puts it in front
  // of the number of a row: after log2(count) steps they have changed places.
  for (size_t step = 1; step < count; step *= 2) {
    for (size_t i = 0; i < count / 2; ++i) {
      next[i] = everyOther(ops, now[2 * i], now[2 * i + 1], part, 0);
      next[i + count / 2] =
          everyOther(ops, now[2 * i], now[2 * i + 1], part, 1);
    }
    std::swap(now, next);
  }
  return now;
}

/// a0 b0 c0 d0 a1 ... of bytes. Left as interleaving of interleaved rows, LLVM
/// takes 28 instructions for 16 words; these are 4.
static Value interleaveBytes(LaneOps &ops, ArrayRef<Value> rows) {
  constexpr int64_t part = 16; // bytes
  Value ab0 = unpack(ops, rows[0], rows[1], part, 1, 0),
        ab1 = unpack(ops, rows[0], rows[1], part, 1, 1),
        cd0 = unpack(ops, rows[2], rows[3], part, 1, 0),
        cd1 = unpack(ops, rows[2], rows[3], part, 1, 1);
  Value mixed[] = {
      unpack(ops, ab0, cd0, part, 2, 0), unpack(ops, ab0, cd0, part, 2, 1),
      unpack(ops, ab1, cd1, part, 2, 0), unpack(ops, ab1, cd1, part, 2, 1)};
  // Part p of mixed[i] holds the words 16 p + 4 i and on.
  int64_t parts = widthOf(rows[0]) / part;
  SmallVector<Value> inOrder(4);
  for (int64_t first = 0; first < 4; first += parts) {
    SmallVector<Value> turned =
        turnParts(ops, ArrayRef(mixed).slice(first, parts), part);
    for (int64_t p = 0; p < parts; ++p) {
      inOrder[p * (4 / parts) + first / parts] = turned[p];
    }
  }
  auto join = [&](Value a, Value b) {
    return shuffle(ops, a, b,
                   llvm::to_vector(llvm::seq<int64_t>(2 * widthOf(a))));
  };
  return join(join(inOrder[0], inOrder[1]), join(inOrder[2], inOrder[3]));
}

/// Row after row, 2 or 4 of them.
static Value interleave(LaneOps &ops, ArrayRef<Value> rows) {
  if (rows.size() == 1) {
    return rows[0];
  }
  if (rows.size() == 2) {
    return interleave(ops, rows[0], rows[1]);
  }
  int64_t bytes = widthOf(rows[0]);
  if (bytes == 16 || bytes == 32 || bytes == 64) {
    return interleaveBytes(ops, rows);
  }
  return interleave(ops, interleave(ops, rows[0], rows[2]),
                    interleave(ops, rows[1], rows[3]));
}

/// A matrix of L vectors of L words, transposed.
static SmallVector<Value> turnWords(LaneOps &ops, ArrayRef<Value> rows,
                                    unsigned wordBits) {
  int64_t part = 128 / wordBits;
  SmallVector<Value> result(rows.size());
  SmallVector<SmallVector<Value>> columns(part);
  for (size_t first = 0; first < rows.size(); first += part) {
    ArrayRef<Value> r = rows.slice(first, part);
    SmallVector<Value> block;
    if (part == 2) {
      block = {unpack(ops, r[0], r[1], 2, 1, 0),
               unpack(ops, r[0], r[1], 2, 1, 1)};
    } else {
      Value ab0 = unpack(ops, r[0], r[1], 4, 1, 0),
            ab1 = unpack(ops, r[0], r[1], 4, 1, 1),
            cd0 = unpack(ops, r[2], r[3], 4, 1, 0),
            cd1 = unpack(ops, r[2], r[3], 4, 1, 1);
      block = {unpack(ops, ab0, cd0, 4, 2, 0), unpack(ops, ab0, cd0, 4, 2, 1),
               unpack(ops, ab1, cd1, 4, 2, 0), unpack(ops, ab1, cd1, 4, 2, 1)};
    }
    for (int64_t i = 0; i < part; ++i) {
      columns[i].push_back(block[i]);
    }
  }
  for (int64_t i = 0; i < part; ++i) {
    for (auto [q, value] : llvm::enumerate(turnParts(ops, columns[i], part))) {
      result[q * part + i] = value;
    }
  }
  return result;
}

Value flipSign(LaneOps ops, Value x) {
  unsigned bits = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  return arith::XOrIOp::create(
      ops.b, ops.loc, x,
      ops.integer(x.getType(), llvm::APInt::getSignMask(bits).getSExtValue()));
}

Schedule Packing::schedule(ArrayRef<int64_t> shape) const {
  Schedule schedule;
  schedule.vector = {vector};
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (d != vector) {
      schedule.outer.push_back(d);
    }
  }
  schedule.extent = shape[vector];
  schedule.lanes = schedule.restLanes = lanes;
  return schedule;
}

unsigned Nest::packedRow(ElementEmitter &evaluator, unsigned coords,
                         int64_t i) {
  Coords row = evaluator.coordsOf(coords);
  row[packing->rows].offset += i;
  return evaluator.intern(row);
}

void Nest::emitPacked(ElementEmitter &evaluator, unsigned coords) {
  const Sink &sink = step.sinks.front();
  const Buffer &to = rootBuffers.front();
  Type from = tile::getElement(sink.value.getType());
  Type word = IntegerType::get(to.element.getContext(),
                               to.element.getIntOrFloatBitWidth());
  unsigned level = evaluator.innermost();
  SmallVector<Value> rows, words; // integers, whatever the element
  for (int64_t i = 0; i < packing->count; ++i) {
    Lane value =
        evaluator.evaluate(sink.value, packedRow(evaluator, coords, i));
    value.value =
        evaluator.at(value.level)
            .convert(value.value, from, packing->element, sink.isUnsigned);
    Value vector = evaluator.vectorOf(value);
    LaneOps ops = evaluator.at(level);
    Type bits = ops.b.getIntegerType(
        getElementTypeOrSelf(vector.getType()).getIntOrFloatBitWidth());
    vector =
        LLVM::BitcastOp::create(ops.b, ops.loc, typeLike(bits, vector), vector);
    rows.push_back(sink.flipsSign ? flipSign(ops, vector) : vector);
  }
  LaneOps ops = evaluator.at(level);
  for (size_t i = 0; i < rows.size(); i += packing->interleave) {
    Value one = interleave(ops, ArrayRef(rows).slice(i, packing->interleave));
    Type element = getElementTypeOrSelf(one.getType());
    int64_t count = widthOf(one) * element.getIntOrFloatBitWidth() /
                    word.getIntOrFloatBitWidth();
    words.push_back(LLVM::BitcastOp::create(
        ops.b, ops.loc, VectorType::get({count}, word), one));
  }
  if (!packing->turns) {
    Buffer asWords = to;
    asWords.element = word;
    return evaluator.storeBuffer(asWords, coords, {words[0], level}, level);
  }
  words = turnWords(ops, words, word.getIntOrFloatBitWidth());
  Value address = to.base;
  for (auto [d, coord] : llvm::enumerate(Coords(evaluator.coordsOf(coords)))) {
    int64_t per = static_cast<int>(d) == packing->vector ? packing->group
                  : static_cast<int>(d) == packing->rows ? packing->interleave
                                                         : 1;
    int64_t constant = coord.offset / per * to.strides[d];
    if (coord.base) {
      Value index = per == 1
                        ? coord.base
                        : arith::ShRUIOp::create(ops.b, ops.loc, coord.base,
                                                 ops.i64(llvm::Log2_64(per)));
      Value step = ops.mul(index, ops.i64(to.strides[d]));
      address = LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), word,
                                    address, ValueRange{step});
    }
    address =
        LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), word, address,
                            LLVM::GEPArg(static_cast<int32_t>(constant)));
  }
  for (auto [i, vector] : llvm::enumerate(words)) {
    int64_t step = static_cast<int64_t>(i) * to.strides[packing->vector];
    Value slot =
        LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), word, address,
                            LLVM::GEPArg(static_cast<int32_t>(step)));
    LLVM::StoreOp::create(ops.b, ops.loc, vector, slot,
                          word.getIntOrFloatBitWidth() / 8);
  }
}

std::optional<Packing> turning(const cpu::CpuTarget &target, Type element,
                               unsigned group, int rows, int vector,
                               ArrayRef<int64_t> shape) {
  unsigned bytes = tile::getElementBytes(element);
  Packing packing;
  packing.element = element;
  packing.rows = rows;
  packing.vector = vector;
  packing.turns = true;
  packing.group = group;
  unsigned wordBytes = std::max(bytes * group, 4u);
  packing.interleave = wordBytes / (bytes * group);
  unsigned words = target.vectorBytes / wordBytes;
  packing.count = static_cast<int64_t>(words) * packing.interleave;
  packing.lanes = words * group;
  if (shape[rows] % packing.count != 0 || shape[vector] % group != 0 ||
      (group > 1 && packing.interleave > 1)) {
    return std::nullopt;
  }
  return packing;
}

/// A block that is read against its order in memory is turned into scratch
/// first: 16 vectors are loaded and shuffled where 16 gathers, or 256 single
/// accesses, would stand. All of it is read before the nest writes anything.
void Nest::turnLoads() {
  for (TurnedLoad candidate : schedule.turned) {
    Value value = candidate.load.getResult();
    ArrayRef<int64_t> shape = tile::getShape(value.getType());
    Type element = tile::getElement(value.getType());
    if (kernel.buffer(value) || shape.size() != 2 || element.isInteger(1) ||
        isa<tile::PtrType>(element) || candidate.load.getIsVolatile()) {
      continue;
    }
    std::optional<Packing> packing = turning(
        kernel.target, element, 1, candidate.vector, candidate.fast, shape);
    if (!packing || shape[candidate.fast] < packing->lanes) {
      continue;
    }
    reportDecision(candidate.load, [&] {
      return Decision{
          "load",
          "turned in registers on the way into the thread's memory, " +
              byteCount(tile::getBytes(value.getType())),
          "a gather",
          "the vectors of the pass lie across its neighbours in memory", ""};
    });
    int64_t columns = llvm::alignTo(shape[candidate.fast], packing->lanes);
    kernel.toTop();
    Buffer buffer =
        kernel.allocate(element, {columns, shape[candidate.vector]});
    buffer.shape.assign(shape);
    int64_t row = buffer.strides[0];
    buffer.strides[candidate.vector] = 1;
    buffer.strides[candidate.fast] = row;
    Buffer words = buffer;
    words.element = IntegerType::get(element.getContext(),
                                     8 * tile::getElementBytes(element) *
                                         packing->interleave);
    words.strides[candidate.fast] /= packing->interleave;
    kernel.pack(value, words, *packing);
    turned.push_back({value, buffer});
  }
  for (auto &[value, buffer] : turned) {
    kernel.bind(value, buffer);
  }
}

void LoopEmitter::pack(Value value, const Buffer &words, const Packing &packing,
                       bool isUnsigned, bool flipsSign) {
  Step step;
  step.isNest = true;
  step.shape.assign(tile::getShape(value.getType()));
  step.sinks.push_back({SinkKind::Yield, nullptr, value, 0});
  step.sinks.back().isUnsigned = isUnsigned;
  step.sinks.back().flipsSign = flipsSign;
  blocks.push_back({nullptr, {words}, {}});
  Nest(*this, step, &packing).emit();
  blocks.pop_back();
}

} // namespace nereid::tocpu
