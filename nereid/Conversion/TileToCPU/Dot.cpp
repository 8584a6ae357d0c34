//===- Dot.cpp - Matrix products ------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// result[m, n] = c[m, n] + sum_k lhs[m, k] * rhs[k, n]
//
// A register block of `rows` x `columns` vectors of the result stays in
// registers while a loop goes over k: `columns` vectors of rhs are loaded,
// `rows` scalars of lhs are broadcast, and each pair is multiplied and added.
// Operands lie in scratch as words as wide as a sum, rhs with unit stride along
// n. A word is one element in the type of the sum, or, where an instruction
// multiplies and adds several pairs, two or four narrow neighbours along k:
//
//   bf16 pairs     sum += a0 b0 + a1 b1                     AVX512-BF16
//   int8 quads     sum += a0 b0 + a1 b1 + a2 b2 + a3 b3     AVX512-VNNI
//   int16 pairs    the same of two, for int8 elsewhere      SSE2
//   tiles          words of bf16 pairs and int8 quads       AMX (DotTiles.cpp)
//
// Elements are converted and brought into this order while they are written.
// The instruction for quads multiplies unsigned bytes of lhs by signed ones of
// rhs: those of lhs are stored 128 larger, and 128 times the sums of the
// columns of rhs are taken off, all of it modulo 2^32.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/DotEmitter.h"

using namespace mlir;

namespace nereid::tocpu {

Type dotSumType(tile::DotOp op) {
  Type type = tile::getElement(op.getC().getType());
  bool narrow = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  return narrow ? Type(Float32Type::get(op.getContext())) : type;
}

Buffer viewOf(LoopEmitter &kernel, Value value) {
  if (const Buffer *buffer = kernel.buffer(value)) {
    Buffer view = *buffer;
    view.scratchOffset = ~0ull;
    return view;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !isa<tile::TransposeOp, tile::HintOp, tile::ExpandDimsOp,
                  tile::BroadcastOp>(op)) {
    return {};
  }
  Buffer source = viewOf(kernel, op->getOperand(0));
  if (!source.base) {
    return {};
  }
  Buffer view = source;
  view.shape.assign(tile::getShape(value.getType()));
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    for (auto [i, from] : llvm::enumerate(transpose.getOrder())) {
      view.strides[i] = source.strides[from];
    }
  } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    view.strides.insert(view.strides.begin() + expand.getAxis(), 0);
  } else if (isa<tile::BroadcastOp>(op)) {
    for (size_t d = 0; d < source.shape.size(); ++d) {
      view.strides[d] = source.shape[d] == 1 ? 0 : source.strides[d];
    }
  }
  return view;
}

void DotEmitter::chooseProduct() {
  Type left = tile::getElement(op.getLhs().getType());
  Type right = tile::getElement(op.getRhs().getType());
  part = sum;
  if (left != right || lanes < 4) {
    return;
  }
  bool hasDotProducts = kernel.target.hasDotProducts;
  bool ofBf16 = left.isBF16() && sum.isF32(),
       ofInt8 = left.isInteger(8) && sum.isInteger(32) && !op.getIsUnsigned();
  if ((ofBf16 || ofInt8) && fillsTiles()) {
    product = ofBf16 ? Product::Bf16Tiles : Product::Int8Tiles;
    part = left;
    group = ofBf16 ? 2 : 4;
  } else if (left.isBF16() && sum.isF32() && hasDotProducts && K % 2 == 0) {
    product = Product::Bf16Pairs;
    part = left;
    group = 2;
  } else if (left.isInteger(8) && sum.isInteger(32) && hasDotProducts &&
             !op.getIsUnsigned() && K % 4 == 0) {
    product = Product::Int8Quads;
    part = left;
    group = 4;
  } else if (left.isInteger(8) && sum.isInteger(32) && K % 2 == 0) {
    product = Product::Int16Pairs;
    part = IntegerType::get(op.getContext(), 16);
    group = 2;
  }
}

/// The words of an operand that lie in a buffer already.
std::optional<Buffer> DotEmitter::inPlace(Value value, bool isRhs) {
  Buffer view = viewOf(kernel, value);
  bool flips = product == Product::Int8Quads && !isRhs;
  if (!view.base || view.element != part || flips) {
    return std::nullopt;
  }
  if (group == 1) {
    return !isRhs || view.strides.back() == 1 ? std::optional(view)
                                              : std::nullopt;
  }
  if (isRhs || view.strides.back() != 1) {
    return std::nullopt;
  }
  view.strides.back() = group;
  for (int64_t &stride : view.strides) {
    if (stride % group != 0) {
      return std::nullopt;
    }
    stride /= group;
  }
  view.shape.back() /= group;
  return view;
}

/// Rows whose distance is a multiple of 512 bytes keep their lines in few sets
/// of the first-level cache, where a strip of columns does not stay then, nor
/// the lines of a tile.
static int64_t withRoomBetween(int64_t words, int64_t wordBytes) {
  constexpr int64_t critical = 512, line = 64;
  return words * wordBytes % critical ? words : words + line / wordBytes;
}

/// Room for words that are neighbours along `inner`; `wholeRows`: as many rows
/// as lanes fill.
Buffer DotEmitter::allocateWords(ArrayRef<int64_t> shape, int inner,
                                 bool wholeRows) {
  unsigned bits = sum.getIntOrFloatBitWidth();
  int64_t full = kernel.target.vectorBytes * 8 / bits;
  int rank = shape.size(), rows = inner == rank - 1 ? rank - 2 : rank - 1;
  SmallVector<int64_t> order(shape);
  order[rank - 2] = wholeRows ? llvm::alignTo(shape[rows], full) : shape[rows];
  order[rank - 1] = withRoomBetween(shape[inner], bits / 8);
  Type type = IntegerType::get(op.getContext(), bits);
  Buffer buffer = kernel.allocate(type, order, group);
  buffer.shape.assign(shape);
  if (inner != rank - 1) {
    std::swap(buffer.strides[rank - 2], buffer.strides[rank - 1]);
  }
  return buffer;
}

Buffer DotEmitter::operand(Value value, bool isRhs) {
  if (std::optional<Buffer> found = inPlace(value, isRhs)) {
    return *found;
  }
  if (!isRhs) {
    if (std::optional<Rows> rows = rowsInMemory(value)) {
      return rowsOrPacked(value, *rows);
    }
  }
  return packed(value, isRhs);
}

Buffer DotEmitter::packed(Value value, bool isRhs) {
  SmallVector<int64_t> shape(tile::getShape(value.getType()));
  int rank = shape.size(), k = isRhs ? rank - 2 : rank - 1,
      other = isRhs ? rank - 1 : rank - 2;
  bool flips = product == Product::Int8Quads && !isRhs;
  SmallVector<int64_t> words = shape;
  words[k] /= group;
  int64_t full = kernel.target.vectorBytes / tile::getElementBytes(part);
  int fast = fastDimension(kernel, value);
  bool alongOther = fast == other;
  Packing packing;
  packing.element = part;
  std::optional<Packing> turns;
  bool turnsLeft = !isRhs && alongOther && usesTiles();
  if (isRhs && !alongOther) {
    turns = turning(kernel.target, part, group, other, k, shape);
  } else if (turnsLeft) {
    turns = turning(kernel.target, part, 1, k, other, shape);
  }
  if (turns) {
    Buffer buffer =
        allocateWords(words, turnsLeft ? k : other, /*wholeRows=*/true);
    kernel.pack(value, buffer, *turns, op.getIsUnsigned(), flips);
    return buffer;
  }
  if (group > 1 && (isRhs || (alongOther && !turnsLeft && shape[other] >= 4))) {
    packing.vector = other;
    packing.rows = k;
    packing.count = packing.interleave = group;
    packing.lanes = std::min<uint64_t>(full, llvm::PowerOf2Ceil(shape[other]));
    Buffer buffer = allocateWords(words, other);
    Buffer rows = buffer;
    rows.strides[k] /= group; // a multiple of the vector's width
    kernel.pack(value, rows, packing, op.getIsUnsigned(), flips);
    return buffer;
  }
  if (group > 1) {
    Buffer buffer = allocateWords(words, k);
    Buffer elements = buffer;
    elements.element = part;
    elements.shape = shape;
    for (int d = 0; d < rank; ++d) {
      elements.strides[d] *= d == k ? 1 : group;
    }
    kernel.copyInto(value, elements, op.getIsUnsigned(), flips);
    return buffer;
  }
  Buffer buffer = allocateWords(shape, isRhs || alongOther ? other : k);
  buffer.element = sum;
  kernel.copyInto(value, buffer, op.getIsUnsigned());
  return buffer;
}

/// Fewest loads a multiplication over all blocks of the tile, with at least
/// enough sums to cover the latency of the multiplier (4 cycles, 2 a cycle).
void DotEmitter::chooseBlock() {
  unsigned registers = kernel.target.vectorRegisters;
  int64_t all = llvm::divideCeil(N, lanes);
  double best = 0;
  for (int64_t c = 1; c <= std::min<int64_t>(all, 4); ++c) {
    for (int64_t r = 1; r <= M && r * c + c + 2 <= registers; ++r) {
      double loads = static_cast<double>(M / r) * (r + c);
      loads += M % r ? M % r + c : 0;
      double perColumn = loads / (static_cast<double>(M) * c);
      if (int64_t left = all % c) { // narrower blocks at the end
        double rest = (static_cast<double>(M / r) * (r + left) +
                       (M % r ? M % r + left : 0)) /
                      (static_cast<double>(M) * left);
        perColumn = (perColumn * (all - left) + rest * left) / all;
      }
      double cost = perColumn + (r * c < 10 ? 0.1 * (10 - r * c) : 0);
      if (best == 0 || cost < best) {
        best = cost;
        rows = r;
        columns = c;
      }
    }
  }
}

void DotEmitter::emit() {
  sum = dotSumType(op);
  ArrayRef<int64_t> shape = tile::getShape(op.getC().getType());
  batched = shape.size() == 3;
  batches = batched ? shape[0] : 1;
  M = shape[shape.size() - 2];
  N = shape.back();
  K = tile::getShape(op.getLhs().getType()).back();
  unsigned full = kernel.target.vectorBytes / (sum.getIntOrFloatBitWidth() / 8);
  lanes = std::min<uint64_t>(full, llvm::PowerOf2Ceil(N));
  chooseProduct();
  usesTiles() ? chooseTiles() : chooseBlock();
  lhs = operand(op.getLhs(), false);
  kernel.toTop();
  rhs = operand(op.getRhs(), true);
  kernel.toTop();
  planFetches();
  kernel.toTop();
  result = kernel.resultBuffer(op.getResult());
  reportDecision(op, [&] {
    std::string operands =
        lhsRowBytes ? "the right operand in the thread's memory, "
                      "the left one where it lies if all of it exists"
                    : "operands in the thread's memory";
    if (lhsRowBytes && usesTiles()) {
      operands += " and its rows begin at lines of the cache, no multiple of " +
                  std::to_string(cpu::RowsOfTiles::crowded) + " bytes apart";
    }
    if (usesTiles()) {
      return Decision{"dot",
                      "blocks of " + std::to_string(rows) + " x " +
                          std::to_string(columns * lanes) +
                          " of the result in tile registers, " + operands,
                      "", "", ""};
    }
    return Decision{"dot",
                    std::to_string(rows) + " rows x " +
                        counted(columns, "vector") + " of " +
                        counted(lanes, "element") +
                        " of the result stay in registers, " + operands +
                        (group == 1 ? ""
                                    : ", " + std::to_string(group) +
                                          " products an instruction and lane"),
                    "", "", ""};
  });
  OpBuilder &b = kernel.b;
  OpBuilder::InsertPoint outside = kernel.getTop();
  kernel.toTop();
  LaneOps ops = kernel.ops();
  if (usesTiles()) {
    configureTiles();
  }
  anchors.push_back(outside);
  if (batched && batches > 1) {
    scf::ForOp loop =
        kernel.createFor(ops.i64(0), ops.i64(batches), ops.i64(1));
    anchors.back() = {loop->getBlock(), Block::iterator(loop)};
    kernel.setTop(anchors.back());
    batchIndex = loop.getInductionVar();
    anchors.push_back({loop.getBody(), loop.getBody()->end()});
  }
  int64_t width = lanes * columns;
  int64_t whole = N / width * width;
  if (whole) {
    emitColumns(0, whole, columns);
  }
  if (whole < N) {
    emitColumns(whole, N, llvm::divideCeil(N - whole, lanes));
  }
  if (batchIndex) {
    kernel.yield({});
  }
  kernel.setTop({outside.getBlock(), outside.getBlock()->end()});
  b.restoreInsertionPoint(kernel.getTop());
  if (usesTiles()) {
    releaseTiles();
  }
  kernel.bindResult(op.getResult());
  kernel.release(lhs);
  kernel.release(rhs);
}

void LoopEmitter::emitDot(tile::DotOp op) { DotEmitter(*this, op).emit(); }

} // namespace nereid::tocpu
