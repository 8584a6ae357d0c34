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
// Operands lie in scratch in the type of the sum, rhs with unit stride along n;
// they are converted while they are written there.
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

/// One dot operation.
class DotEmitter {
public:
  DotEmitter(KernelEmitter &kernel, tile::DotOp op) : kernel(kernel), op(op) {}
  void emit();

private:
  Buffer operand(Value value, bool unitStride);
  void chooseBlock();
  void emitColumns(int64_t first, int64_t last, int64_t vectors);
  void emitBlock(Evaluator &evaluator, const Coord &row, const Coord &column,
                 int64_t rows, int64_t vectors, int64_t inside);
  SmallVector<Value> multiply(Evaluator &evaluator, const Coord &row,
                              const Coord &column, int64_t rows,
                              int64_t vectors, SmallVector<Value> sums);
  Value element(const Buffer &buffer, ArrayRef<Value> index,
                ArrayRef<int64_t> offset, Type type);

  KernelEmitter &kernel;
  tile::DotOp op;
  Buffer lhs, rhs, result;
  Type sum;
  int64_t M, N, K, batches = 1;
  bool batched = false;
  int64_t lanes = 1, rows = 1, columns = 1;
  Value batchIndex;
  SmallVector<OpBuilder::InsertPoint> anchors;
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

Buffer DotEmitter::operand(Value value, bool unitStride) {
  Buffer view = viewOf(kernel, value);
  if (view.base && view.element == sum &&
      (!unitStride || view.strides.back() == 1)) {
    return view;
  }
  Buffer packed = kernel.allocate(sum, tile::getShape(value.getType()));
  kernel.copyInto(value, packed, op.getIsUnsigned());
  kernel.toTop();
  return packed;
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
  lhs = operand(op.getLhs(), false);
  rhs = operand(op.getRhs(), true);
  result = kernel.resultBuffer(op.getResult());
  unsigned full = kernel.target.vectorBytes / (sum.getIntOrFloatBitWidth() / 8);
  lanes = std::min<uint64_t>(full, llvm::PowerOf2Ceil(N));
  chooseBlock();
  tellDecision(op, [&] {
    return Decision{"dot",
                    std::to_string(rows) + " rows x " +
                        counted(columns, "vector") + " of " +
                        counted(lanes, "element") +
                        " of the result stay in registers, operands in the "
                        "thread's memory",
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
      setLaneMask(v);
      Value start =
          evaluator.vectorOf(evaluator.evaluate(op.getC(), places.back()));
      LaneOps ops = evaluator.at(level);
      sums.push_back(ops.convert(start, cElement, sum, false));
    }
  }
  sums = multiply(evaluator, row, column, rows, vectors, sums);
  for (auto [i, place] : llvm::enumerate(places)) {
    int64_t v = i % vectors;
    setLaneMask(v);
    LaneOps ops = evaluator.at(level);
    Value value = ops.convert(sums[i], sum, cElement, false);
    evaluator.storeBuffer(result, place, {value, level}, level);
  }
  evaluator.at(level);
}

/// buffer[index + offset] as `type`, at the builder's place. A null index is 0.
Value DotEmitter::element(const Buffer &buffer, ArrayRef<Value> index,
                          ArrayRef<int64_t> offset, Type type) {
  LaneOps ops = kernel.ops();
  Value address = buffer.base;
  int64_t constant = 0;
  for (auto [d, stride] : llvm::enumerate(buffer.strides)) {
    constant += offset[d] * stride;
    if (index[d] && stride) {
      Value step = stride == 1 ? index[d] : ops.mul(index[d], ops.i64(stride));
      address = LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), sum,
                                    address, ValueRange{step});
    }
  }
  if (constant) {
    address =
        LLVM::GEPOp::create(ops.b, ops.loc, address.getType(), sum, address,
                            LLVM::GEPArg(static_cast<int32_t>(constant)));
  }
  return LLVM::LoadOp::create(ops.b, ops.loc, type, address,
                              sum.getIntOrFloatBitWidth() / 8);
}

SmallVector<Value> DotEmitter::multiply(Evaluator &evaluator, const Coord &row,
                                        const Coord &column, int64_t rows,
                                        int64_t vectors,
                                        SmallVector<Value> sums) {
  OpBuilder &b = kernel.b;
  LaneOps ops = evaluator.at(evaluator.innermost());
  scf::ForOp loop;
  Value k;
  if (K > 1) {
    loop = kernel.createFor(ops.i64(0), ops.i64(K), ops.i64(1), sums);
    k = loop.getInductionVar();
    sums.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
  }
  Type vectorType = lanes == 1 ? sum : Type(VectorType::get({lanes}, sum));
  auto read = [&](const Buffer &buffer, Value x, int64_t dx, Value y,
                  int64_t dy, Type type) {
    SmallVector<Value> index = {x, y};
    SmallVector<int64_t> offset = {dx, dy};
    if (batched) {
      index.insert(index.begin(), batchIndex);
      offset.insert(offset.begin(), 0);
    }
    return element(buffer, index, offset, type);
  };
  SmallVector<Value> right;
  for (int64_t v = 0; v < vectors; ++v) {
    right.push_back(
        read(rhs, k, 0, column.base, column.offset + v * lanes, vectorType));
  }
  for (int64_t r = 0; r < rows; ++r) {
    Value left = read(lhs, row.base, row.offset + r, k, 0, sum);
    left = ops.splat(left, lanes);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &total = sums[r * vectors + v];
      if (isa<IntegerType>(sum)) {
        total = ops.add(total, ops.mul(left, right[v]));
      } else if (kernel.target.hasFma) {
        total = math::FmaOp::create(b, ops.loc, left, right[v], total);
      } else {
        total = arith::AddFOp::create(
            b, ops.loc, total,
            arith::MulFOp::create(b, ops.loc, left, right[v]));
      }
    }
  }
  if (loop) {
    scf::YieldOp::create(b, ops.loc, sums);
    b.setInsertionPointAfter(loop);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return sums;
}

void KernelEmitter::emitDot(tile::DotOp op) { DotEmitter(*this, op).emit(); }

} // namespace nereid::tocpu
