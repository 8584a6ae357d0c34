//===- DotRows.cpp - Rows of a left operand where they lie ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product broadcasts words of the left operand's rows, or loads tiles of
// them. Rows whose words are neighbours along k in memory can be read there, if
// they are read a few times: a copy in scratch would cost as much as the right
// operand's.
// Whether all of a block exists is asked at run time. Where it does not, it is
// copied, with zeros for what is missing, and both are read in one way: by an
// address and a distance of rows.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/DotEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

namespace {
/// What is asked of a block's addresses and masks in front of the product.
/// Lanes of `steps` are neighbours along one dimension, at a position that is
/// not known; `corners` is at the first and the last element.
struct Survey {
  Survey(LoopEmitter &kernel, int64_t M, int64_t K)
      : steps(kernel, 4), corners(kernel, 1) {
    steps.isProbe = true;
    for (unsigned level : {0, 1}) {
      steps.setAnchor(level, kernel.getTop());
    }
    corners.setAnchor(0, kernel.getTop());
    Coord unknown;
    unknown.base = kernel.opaqueZero;
    unknown.level = 1;
    Coords down = {unknown, unknown}, along = down, last(2);
    down[0].pattern = along[1].pattern = steps.iota();
    last[0].offset = M - 1;
    last[1].offset = K - 1;
    everywhere = {steps.intern(down), steps.intern(along),
                  corners.intern(Coords(2)), corners.intern(last)};
  }

  /// Coordinates of one tensor.
  struct Place {
    unsigned down, along, first, last;
  };
  Place source(Operation *view, Place at) {
    return {steps.mapped(view, at.down, 0), steps.mapped(view, at.along, 0),
            corners.mapped(view, at.first, 0),
            corners.mapped(view, at.last, 0)};
  }

  ElementEmitter steps, corners;
  Place everywhere;
};
} // namespace

/// Does `first + row + column < limit` hold for a whole block? It does if it
/// holds for the last element and no sum wraps on the way there.
static Value holdsForAll(LoopEmitter &kernel, Survey &survey, Value mask,
                         Survey::Place at, int64_t M, int64_t K) {
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  if (!compare || !tile::getElement(compare.getLhs().getType()).isInteger()) {
    return nullptr;
  }
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  Value grows = compare.getLhs(), limit = compare.getRhs();
  if (predicate == P::sgt || predicate == P::sge) {
    std::swap(grows, limit);
  } else if (predicate != P::slt && predicate != P::sle) {
    return nullptr;
  }
  int64_t distance = 0;
  for (auto [where, size] : {std::pair(at.down, M), std::pair(at.along, K)}) {
    LaneIndex x = survey.steps.index(grows, where);
    if (!survey.steps.index(limit, where).isUniform() || x.coefficient ||
        (!x.isUniform() && x.pattern != survey.steps.iota())) {
      return nullptr;
    }
    distance += x.isUniform() ? 0 : size - 1;
  }
  auto wide = [&](unsigned corner) -> Value {
    Lane lane = survey.corners.evaluate(grows, corner);
    LaneOps ops = survey.corners.at(0);
    return lane.value.getType().isInteger(64)
               ? lane.value
               : arith::ExtSIOp::create(ops.b, ops.loc, ops.b.getI64Type(),
                                        lane.value);
  };
  Value first = wide(at.first), last = wide(at.last),
        holds = survey.corners.evaluate(mask, at.last).value;
  LaneOps ops = survey.corners.at(0);
  Value isExact = arith::CmpIOp::create(ops.b, ops.loc, P::eq, last,
                                        ops.add(first, ops.i64(distance)));
  return arith::AndIOp::create(ops.b, ops.loc, holds, isExact);
}

/// `x` and `y`; a null `x` is true.
static Value bothHold(LaneOps ops, Value x, Value y) {
  return x ? Value(arith::AndIOp::create(ops.b, ops.loc, x, y)) : y;
}

/// An i1 that is true only if all elements of `mask` are; null if there is
/// none.
static Value allHold(LoopEmitter &kernel, Survey &survey, Value mask, int64_t M,
                     int64_t K) {
  Value result;
  SmallVector<std::pair<Value, Survey::Place>> work = {
      {mask, survey.everywhere}};
  while (!work.empty()) {
    auto [value, at] = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || kernel.buffer(value)) {
      return nullptr;
    }
    if (isa<arith::AndIOp>(op)) {
      work.push_back({op->getOperand(0), at});
      work.push_back({op->getOperand(1), at});
      continue;
    }
    if (isView(op) && op->getNumResults() == 1 && !isa<tile::ReshapeOp>(op)) {
      work.push_back({op->getOperand(0), survey.source(op, at)});
      continue;
    }
    Value holds = isa<tile::SplatOp>(op)
                      ? kernel.scalar(op->getOperand(0))
                      : holdsForAll(kernel, survey, value, at, M, K);
    if (!holds) {
      return nullptr;
    }
    result = bothHold(survey.corners.at(0), result, holds);
  }
  return result;
}

/// cpu::RowsOfTiles::areUsable, asked at run time.
static Value areUsableByTiles(LaneOps ops, Value rowBytes) {
  using P = arith::CmpIPredicate;
  auto compareRest = [&](int64_t of, P predicate) -> Value {
    Value rest =
        arith::AndIOp::create(ops.b, ops.loc, rowBytes, ops.i64(of - 1));
    return arith::CmpIOp::create(ops.b, ops.loc, predicate, rest, ops.i64(0));
  };
  return bothHold(ops, compareRest(cpu::RowsOfTiles::line, P::eq),
                  compareRest(cpu::RowsOfTiles::crowded, P::ne));
}

/// Nothing where the operand's words have to be made or are in scratch already,
/// or its addresses are not known to be rows.
std::optional<DotEmitter::Rows> DotEmitter::rowsInMemory(Value value) {
  auto load = value.getDefiningOp<tile::LoadAccess>();
  Type element = tile::getElement(value.getType());
  if (!load || viewOf(kernel, value).base || batched || load.getIsVolatile() ||
      element != part || product == Product::Int8Quads ||
      readsMemory(load.getPtr()) ||
      (load.getMask() && readsMemory(load.getMask()))) {
    return std::nullopt;
  }
  int64_t reads = llvm::divideCeil(N, lanes * columns);
  if (reads >
      (usesTiles() ? cpu::readsInPlaceOfTiles : cpu::readsInPlaceOfVectors)) {
    return std::nullopt;
  }
  kernel.toTop();
  Survey survey(kernel, M, K);
  int64_t bytes = tile::getElementBytes(element);
  unsigned level;
  LanePointer along =
                  survey.steps.pointer(load.getPtr(), survey.everywhere.along),
              down =
                  survey.steps.pointer(load.getPtr(), survey.everywhere.down);
  const LaneIndex &step = down.index;
  if (!survey.steps.contiguousAddress(along, bytes, &level) || step.vector ||
      step.unwrapped || step.coefficientLevel != 0) {
    return std::nullopt;
  }
  int64_t distance = 0;
  if (step.pattern) {
    distance = (*step.pattern)[1] - (*step.pattern)[0];
    for (size_t i = 2; i < step.pattern->size(); ++i) {
      if ((*step.pattern)[i] - (*step.pattern)[i - 1] != distance) {
        return std::nullopt;
      }
    }
  }
  Rows result;
  if (load.getMask()) {
    result.isUsable = allHold(kernel, survey, load.getMask(), M, K);
    if (!result.isUsable) {
      return std::nullopt;
    }
  }
  LaneOps ops = survey.steps.at(0);
  result.rowBytes = ops.i64(distance * down.bytes);
  if (step.coefficient) {
    result.rowBytes = ops.mul(step.coefficient, result.rowBytes);
  }
  if (usesTiles()) {
    result.isUsable =
        bothHold(ops, result.isUsable, areUsableByTiles(ops, result.rowBytes));
  }
  Lane first = survey.corners.address(
      survey.corners.pointer(load.getPtr(), survey.everywhere.first));
  result.address = first.value;
  return result;
}

/// The operand at `found`, or a copy where that is not usable.
Buffer DotEmitter::rowsOrPacked(Value value, const Rows &found) {
  SmallVector<int64_t> shape(tile::getShape(value.getType())), words = shape;
  words[1] /= group;
  kernel.toTop();
  Buffer buffer = allocateWords(words, 1), elements = buffer;
  int64_t wordBytes = sum.getIntOrFloatBitWidth() / 8;
  lhsRowBytes = found.rowBytes;
  if (!found.isUsable) {
    buffer.base = found.address;
    return buffer;
  }
  elements.element = part;
  elements.shape = shape;
  elements.strides[0] *= group;
  kernel.emitUnless(found.isUsable, [&] {
    kernel.copyInto(value, elements, op.getIsUnsigned());
  });
  kernel.toTop();
  LaneOps ops = kernel.ops();
  auto choose = [&](Value inMemory, Value copied) -> Value {
    return arith::SelectOp::create(ops.b, ops.loc, found.isUsable, inMemory,
                                   copied);
  };
  buffer.base = choose(found.address, buffer.base);
  lhsRowBytes = choose(found.rowBytes, ops.i64(buffer.strides[0] * wordBytes));
  return buffer;
}

/// Address of the first word of row `r` of a block.
Value DotEmitter::ofRow(const Coord &row, int64_t r) {
  LaneOps ops = kernel.ops();
  Value number = ops.i64(row.offset + r);
  if (row.base) {
    number = ops.add(row.base, number);
  }
  return LLVM::GEPOp::create(ops.b, ops.loc, lhs.base.getType(),
                             ops.b.getI8Type(), lhs.base,
                             ValueRange{ops.mul(number, lhsRowBytes)});
}

/// Address of word k + step of a row.
Value DotEmitter::alongRow(Value row, Value k, int64_t step) {
  LaneOps ops = kernel.ops();
  Type word = ops.b.getIntegerType(sum.getIntOrFloatBitWidth());
  if (k) {
    row = LLVM::GEPOp::create(ops.b, ops.loc, row.getType(), word, row,
                              ValueRange{k});
  }
  return step ? LLVM::GEPOp::create(ops.b, ops.loc, row.getType(), word, row,
                                    LLVM::GEPArg(static_cast<int32_t>(step)))
              : row;
}

} // namespace nereid::tocpu
