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
//
// Elements are converted and brought into this order while they are written.
// The instruction for quads multiplies unsigned bytes of lhs by signed ones of
// rhs: those of lhs are stored 128 larger, and 128 times the sums of the
// columns of rhs are taken off, all of it modulo 2^32.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

Type dotSumType(tile::DotOp op) {
  Type type = tile::getElement(op.getC().getType());
  bool narrow = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  return narrow ? Type(Float32Type::get(op.getContext())) : type;
}

namespace {

enum class Product { Elements, Bf16Pairs, Int16Pairs, Int8Quads };

/// One dot operation.
class DotEmitter {
public:
  DotEmitter(KernelEmitter &kernel, tile::DotOp op) : kernel(kernel), op(op) {}
  void emit();

private:
  void chooseProduct();
  Buffer operand(Value value, bool isRhs);
  std::optional<Buffer> inPlace(Value value, bool isRhs);
  Buffer allocateWords(ArrayRef<int64_t> shape, int inner,
                       bool wholeRows = false);
  void chooseBlock();
  void emitColumns(int64_t first, int64_t last, int64_t vectors);
  void emitBlock(Evaluator &evaluator, const Coord &row, const Coord &column,
                 int64_t rows, int64_t vectors, int64_t inside);
  SmallVector<Value> multiply(Evaluator &evaluator, const Coord &row,
                              const Coord &column, int64_t rows,
                              int64_t vectors, SmallVector<Value> sums);
  Value word(const Buffer &buffer, Value x, int64_t dx, Value y, int64_t dy,
             int64_t lanes);
  Value multiplyAdd(LaneOps ops, Value left, Value right, Value total);
  void sumColumns(const Coord &column, int64_t vectors);

  KernelEmitter &kernel;
  tile::DotOp op;
  Buffer lhs, rhs, result;
  Product product = Product::Elements;
  Type sum;
  Type part;         ///< of the elements in a word
  int64_t group = 1; ///< elements a word
  int64_t M, N, K, batches = 1;
  bool batched = false;
  int64_t lanes = 1, rows = 1, columns = 1;
  Value batchIndex;
  SmallVector<OpBuilder::InsertPoint> anchors;
  /// Of quads, what is taken off each vector of columns.
  SmallVector<Value> excess;
};

} // namespace

/// The buffer that `value` names, through views; a base of null if none.
static Buffer viewOf(KernelEmitter &kernel, Value value) {
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
  if (left.isBF16() && sum.isF32() && hasDotProducts && K % 2 == 0) {
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

/// Room for words that are neighbours along `inner`; `wholeRows`: as many rows
/// as lanes fill.
Buffer DotEmitter::allocateWords(ArrayRef<int64_t> shape, int inner,
                                 bool wholeRows) {
  unsigned bits = sum.getIntOrFloatBitWidth();
  int64_t full = kernel.target.vectorBytes * 8 / bits;
  int rank = shape.size(), rows = inner == rank - 1 ? rank - 2 : rank - 1;
  SmallVector<int64_t> order(shape);
  order[rank - 2] = wholeRows ? llvm::alignTo(shape[rows], full) : shape[rows];
  order[rank - 1] = shape[inner];
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
  if (isRhs && !alongOther) {
    turns = turning(kernel.target, part, group, other, k, shape);
  }
  if (turns) {
    Buffer buffer = allocateWords(words, other, /*wholeRows=*/true);
    kernel.pack(value, buffer, *turns, op.getIsUnsigned(), flips);
    return buffer;
  }
  if (group > 1 && (isRhs || (alongOther && shape[other] >= 4))) {
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
  chooseBlock();
  lhs = operand(op.getLhs(), false);
  kernel.toTop();
  rhs = operand(op.getRhs(), true);
  kernel.toTop();
  result = kernel.resultBuffer(op.getResult());
  tellDecision(op, [&] {
    return Decision{"dot",
                    std::to_string(rows) + " rows x " +
                        counted(columns, "vector") + " of " +
                        counted(lanes, "element") +
                        " of the result stay in registers, operands in the "
                        "thread's memory" +
                        (group == 1 ? ""
                                    : ", " + std::to_string(group) +
                                          " products an instruction and lane"),
                    "", "", ""};
  });
  OpBuilder &b = kernel.b;
  OpBuilder::InsertPoint outside = kernel.getTop();
  kernel.toTop();
  LaneOps ops = kernel.ops();
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
  kernel.bindResult(op.getResult());
  kernel.release(lhs);
  kernel.release(rhs);
}

void DotEmitter::emitColumns(int64_t first, int64_t last, int64_t vectors) {
  OpBuilder &b = kernel.b;
  LaneOps ops = kernel.ops();
  int64_t width = vectors * lanes;
  Coord column;
  column.offset = first;
  auto panels = [&] {
    if (product == Product::Int8Quads) {
      sumColumns(column, vectors);
    }
    for (int64_t start : {int64_t(0), M / rows * rows}) {
      int64_t count = start == 0 ? rows : M % rows;
      if (count == 0 || (start == 0 && M < rows)) {
        continue;
      }
      Coord row;
      row.offset = start;
      scf::ForOp loop;
      OpBuilder::InsertPoint saved = anchors.back();
      bool loops = start == 0 && M / rows > 1;
      if (loops) {
        LaneOps inner = kernel.ops();
        loop = kernel.createFor(inner.i64(0), inner.i64(M / rows * rows),
                                inner.i64(rows));
        anchors.back() = {loop->getBlock(), Block::iterator(loop)};
        if (anchors.size() == 1) {
          kernel.setTop(anchors.back());
        }
        anchors.push_back({loop.getBody(), loop.getBody()->end()});
        row.base = loop.getInductionVar();
        row.level = anchors.size() - 1;
      } else {
        anchors.push_back(b.saveInsertionPoint());
      }
      Evaluator evaluator(kernel, lanes);
      for (auto [level, anchor] : llvm::enumerate(anchors)) {
        evaluator.setAnchor(level, anchor);
      }
      emitBlock(evaluator, row, column, count, vectors,
                std::min(last - first, N - first));
      anchors.pop_back();
      if (loops) {
        b.setInsertionPointToEnd(loop.getBody());
        kernel.yield({});
      }
      anchors.back() = {saved.getBlock(), saved.getBlock()->end()};
    }
  };
  if (last - first > width) {
    scf::ForOp loop =
        kernel.createFor(ops.i64(first), ops.i64(last), ops.i64(width));
    OpBuilder::InsertPoint saved = anchors.back();
    anchors.back() = {loop->getBlock(), Block::iterator(loop)};
    if (anchors.size() == 1) {
      kernel.setTop(anchors.back());
    }
    column.base = loop.getInductionVar();
    column.offset = 0;
    column.level = anchors.size();
    anchors.push_back({loop.getBody(), loop.getBody()->end()});
    panels();
    anchors.pop_back();
    anchors.back() = {saved.getBlock(), saved.getBlock()->end()};
    b.setInsertionPointToEnd(loop.getBody());
    kernel.yield({});
  } else {
    panels();
  }
}

/// `rows` x `vectors` vectors of the result. `inside`: columns of the tile from
/// the first one on; lanes beyond are not stored.
void DotEmitter::emitBlock(Evaluator &evaluator, const Coord &row,
                           const Coord &column, int64_t rows, int64_t vectors,
                           int64_t inside) {
  SmallVector<unsigned> places;
  SmallVector<Value> sums;
  unsigned level = evaluator.innermost();
  Type cElement = tile::getElement(op.getC().getType());
  LaneOps outside = evaluator.at(0);
  Type vectorType = lanes == 1 ? sum : Type(VectorType::get({lanes}, sum));
  Value zero = isa<FloatType>(sum) ? outside.real(vectorType, 0)
                                   : outside.integer(vectorType, 0);
  auto setLaneMask = [&](int64_t v) {
    evaluator.laneMask = nullptr;
    if (column.base || (v + 1) * lanes <= inside) {
      return;
    }
    SmallVector<int64_t> on;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      on.push_back(v * lanes + lane < inside);
    }
    LaneOps ops = evaluator.at(0);
    evaluator.laneMask = ops.lanesOf(ops.b.getI1Type(), on);
  };
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      Coords coords;
      if (batched) {
        Coord batch;
        batch.base = batchIndex;
        batch.level = batchIndex ? 1 : 0;
        coords.push_back(batch);
      }
      coords.push_back(row);
      coords.back().offset += r;
      coords.push_back(column);
      coords.back().offset += v * lanes;
      coords.back().pattern = lanes > 1 ? evaluator.iota() : nullptr;
      places.push_back(evaluator.intern(coords));
      LaneOps ops = evaluator.at(level);
      sums.push_back(excess.empty() ? zero : ops.sub(zero, excess[v]));
    }
  }
  sums = multiply(evaluator, row, column, rows, vectors, sums);
  for (auto [i, place] : llvm::enumerate(places)) {
    setLaneMask(i % vectors);
    Value start = evaluator.vectorOf(evaluator.evaluate(op.getC(), place));
    LaneOps ops = evaluator.at(level);
    start = ops.convert(start, cElement, sum, false);
    Value value = isa<FloatType>(sum)
                      ? arith::AddFOp::create(ops.b, ops.loc, start, sums[i])
                      : ops.add(start, sums[i]);
    value = ops.convert(value, sum, cElement, false);
    evaluator.storeBuffer(result, place, {value, level}, level);
  }
  evaluator.at(level);
}

/// `lanes` neighbouring words from [x + dx, y + dy] of an operand on, or one in
/// all lanes, at the builder's place. A null index is 0.
Value DotEmitter::word(const Buffer &buffer, Value x, int64_t dx, Value y,
                       int64_t dy, int64_t lanes) {
  LaneOps ops = kernel.ops();
  Type element = group == 1 ? sum : buffer.element;
  if (group > 1) {
    element = ops.b.getI32Type();
  }
  SmallVector<Value> index = {x, y};
  SmallVector<int64_t> offset = {dx, dy};
  if (batched) {
    index.insert(index.begin(), batchIndex);
    offset.insert(offset.begin(), 0);
  }
  Value address = buffer.base;
  int64_t constant = 0;
  for (auto [d, stride] : llvm::enumerate(buffer.strides)) {
    constant += offset[d] * stride;
    if (index[d] && stride) {
      Value step = stride == 1 ? index[d] : ops.mul(index[d], ops.i64(stride));
      address = LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), element,
                                    address, ValueRange{step});
    }
  }
  if (constant) {
    address =
        LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), element, address,
                            LLVM::GEPArg(static_cast<int32_t>(constant)));
  }
  Type type = lanes == 1 ? element : Type(VectorType::get({lanes}, element));
  return LLVM::LoadOp::create(ops.b, ops.loc, type, address,
                              sum.getIntOrFloatBitWidth() / 8);
}

/// total + the products of the words, a lane.
Value DotEmitter::multiplyAdd(LaneOps ops, Value left, Value right,
                              Value total) {
  OpBuilder &b = ops.b;
  if (product == Product::Elements) {
    if (isa<IntegerType>(sum)) {
      return ops.add(total, ops.mul(left, right));
    }
    if (kernel.target.hasFma) {
      return math::FmaOp::create(b, ops.loc, left, right, total);
    }
    return arith::AddFOp::create(
        b, ops.loc, total, arith::MulFOp::create(b, ops.loc, left, right));
  }
  int64_t bits = lanes * 32;
  auto parts = [&](Value words) {
    Type type = VectorType::get({lanes * group}, part);
    return LLVM::BitcastOp::create(b, ops.loc, type, words);
  };
  auto call = [&](const std::string &name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, ops.loc, total.getType(),
                                         b.getStringAttr(name), operands)
        .getResult(0);
  };
  Value x = parts(left), y = parts(right);
  switch (product) {
  case Product::Bf16Pairs:
    return call("llvm.x86.avx512bf16.dpbf16ps." + std::to_string(bits),
                {total, x, y});
  case Product::Int8Quads:
    return call("llvm.x86.avx512.vpdpbusd." + std::to_string(bits),
                {total, x, y});
  default:
    return ops.add(total, call(bits == 512   ? "llvm.x86.avx512.pmaddw.d.512"
                               : bits == 256 ? "llvm.x86.avx2.pmadd.wd"
                                             : "llvm.x86.sse2.pmadd.wd",
                               {x, y}));
  }
}

SmallVector<Value> DotEmitter::multiply(Evaluator &evaluator, const Coord &row,
                                        const Coord &column, int64_t rows,
                                        int64_t vectors,
                                        SmallVector<Value> sums) {
  OpBuilder &b = kernel.b;
  LaneOps ops = evaluator.at(evaluator.innermost());
  scf::ForOp loop;
  Value k;
  if (K > group) {
    loop = kernel.createFor(ops.i64(0), ops.i64(K / group), ops.i64(1), sums);
    k = loop.getInductionVar();
    sums.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
  }
  SmallVector<Value> right;
  for (int64_t v = 0; v < vectors; ++v) {
    right.push_back(
        word(rhs, k, 0, column.base, column.offset + v * lanes, lanes));
  }
  for (int64_t r = 0; r < rows; ++r) {
    Value left = word(lhs, row.base, row.offset + r, k, 0, 1);
    left = ops.splat(left, lanes);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &total = sums[r * vectors + v];
      total = multiplyAdd(ops, left, right[v], total);
    }
  }
  if (loop) {
    scf::YieldOp::create(b, ops.loc, sums);
    b.setInsertionPointAfter(loop);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return sums;
}

/// 128 times the sums over k of `vectors` vectors of columns of rhs.
void DotEmitter::sumColumns(const Coord &column, int64_t vectors) {
  OpBuilder &b = kernel.b;
  LaneOps ops = kernel.ops();
  Type type = VectorType::get({lanes}, sum);
  excess.assign(vectors, ops.integer(type, 0));
  Value offset = ops.integer(type, static_cast<int32_t>(0x80808080));
  scf::ForOp loop =
      kernel.createFor(ops.i64(0), ops.i64(K / group), ops.i64(1), excess);
  for (int64_t v = 0; v < vectors; ++v) {
    Value right = word(rhs, loop.getInductionVar(), 0, column.base,
                       column.offset + v * lanes, lanes);
    excess[v] = multiplyAdd(ops, offset, right, loop.getRegionIterArgs()[v]);
  }
  scf::YieldOp::create(b, ops.loc, excess);
  b.setInsertionPointAfter(loop);
  excess.assign(loop.getResults().begin(), loop.getResults().end());
}

void KernelEmitter::emitDot(tile::DotOp op) { DotEmitter(*this, op).emit(); }

} // namespace nereid::tocpu
