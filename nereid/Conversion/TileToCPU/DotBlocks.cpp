//===- DotBlocks.cpp - The blocks of a matrix product's result ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/DotEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

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
      ElementEmitter evaluator(kernel, lanes);
      for (auto [level, anchor] : llvm::enumerate(anchors)) {
        evaluator.setAnchor(level, anchor);
      }
      fetches = !ahead.empty() && first == 0 && loops;
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
void DotEmitter::emitBlock(ElementEmitter &evaluator, const Coord &row,
                           const Coord &column, int64_t rows, int64_t vectors,
                           int64_t inside) {
  if (usesTiles() && addsInPlace()) {
    multiplyTiles(evaluator, row, column, rows, vectors);
    return;
  }
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
  sums = usesTiles() ? multiplyTiles(evaluator, row, column, rows, vectors)
                     : multiply(evaluator, row, column, rows, vectors, sums);
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
  Type element = group == 1 ? sum : Type(kernel.b.getI32Type());
  return word(address(buffer, element, x, dx, y, dy), lanes);
}

Value DotEmitter::word(Value address, int64_t lanes) {
  LaneOps ops = kernel.ops();
  Type element = group == 1 ? sum : Type(ops.b.getI32Type());
  Type type = lanes == 1 ? element : Type(VectorType::get({lanes}, element));
  // A row in memory begins where an element may.
  unsigned alignment =
      lhsRowBytes && lanes == 1 ? bytesOf(part) : bytesOf(element);
  return LLVM::LoadOp::create(ops.b, ops.loc, type, address, alignment);
}

/// Of [x + dx, y + dy], in the batch that is being computed.
Value DotEmitter::address(const Buffer &buffer, Type element, Value x,
                          int64_t dx, Value y, int64_t dy) {
  LaneOps ops = kernel.ops();
  SmallVector<Value> index = {x, y};
  SmallVector<int64_t> offset = {dx, dy};
  if (batched) {
    index.insert(index.begin(), batchIndex);
    offset.insert(offset.begin(), 0);
  }
  Value place = buffer.base;
  int64_t constant = 0;
  for (auto [d, stride] : llvm::enumerate(buffer.strides)) {
    constant += offset[d] * stride;
    if (index[d] && stride) {
      Value step = stride == 1 ? index[d] : ops.mul(index[d], ops.i64(stride));
      place = LLVM::GEPOp::create(ops.b, ops.loc, place.getType(), element,
                                  place, ValueRange{step});
    }
  }
  if (constant) {
    place = LLVM::GEPOp::create(ops.b, ops.loc, place.getType(), element, place,
                                LLVM::GEPArg(static_cast<int32_t>(constant)));
  }
  return place;
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

SmallVector<Value> DotEmitter::multiply(ElementEmitter &evaluator,
                                        const Coord &row, const Coord &column,
                                        int64_t rows, int64_t vectors,
                                        SmallVector<Value> sums) {
  OpBuilder &b = kernel.b;
  LaneOps ops = evaluator.at(evaluator.innermost());
  scf::ForOp loop;
  Value k;
  int64_t steps = fetches ? fetchSteps : 1;
  SmallVector<Value> ofRows;
  for (int64_t r = 0; lhsRowBytes && r < rows; ++r) {
    ofRows.push_back(ofRow(row, r));
  }
  Fetching fetching;
  if (fetches) {
    fetching = startFetching(ops, row, column);
  }
  if (K > group * steps) {
    SmallVector<Value> carried = sums;
    if (fetches) {
      carried.append({fetching.address, fetching.left});
    }
    loop = kernel.createFor(ops.i64(0), ops.i64(K / group), ops.i64(steps),
                            carried);
    k = loop.getInductionVar();
    auto arguments = loop.getRegionIterArgs();
    sums.assign(arguments.begin(), arguments.begin() + sums.size());
    if (fetches) {
      fetching.address = arguments[sums.size()];
      fetching.left = arguments[sums.size() + 1];
    }
  }
  if (fetches) {
    fetchLine(ops, fetching);
  }
  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<Value> right;
    for (int64_t v = 0; v < vectors; ++v) {
      right.push_back(
          word(rhs, k, step, column.base, column.offset + v * lanes, lanes));
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value left = lhsRowBytes
                       ? word(alongRow(ofRows[r], k, step), 1)
                       : word(lhs, row.base, row.offset + r, k, step, 1);
      left = ops.splat(left, lanes);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &total = sums[r * vectors + v];
        total = multiplyAdd(ops, left, right[v], total);
      }
    }
  }
  if (loop) {
    SmallVector<Value> carried = sums;
    if (fetches) {
      carried.append({fetching.address, fetching.left});
    }
    scf::YieldOp::create(b, ops.loc, carried);
    b.setInsertionPointAfter(loop);
    auto results = loop.getResults();
    sums.assign(results.begin(), results.begin() + sums.size());
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

} // namespace nereid::tocpu
