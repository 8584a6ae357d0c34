//===- SplitRows.cpp - Rows of a tile one after the other -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One `tile.range` counts the rows. What depends on it has a dimension of rows;
// the program can be split where every operation on such a value keeps the rows
// apart, everything that is stored has rows, and no array is both read and
// written. Arrays that overlap otherwise than element by element are a race of
// threads (docs/TileToCPU.md, Memory model).
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/SplitRows.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::tocpu {
namespace {

/// More rows are a dimension of another kind, to make vectors along, say.
constexpr int64_t maxRows = 64;
/// Elements of a row's piece that are worth a loop of their own.
constexpr int64_t minPiece = 256;

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

class RowSplitter {
public:
  RowSplitter(func::FuncOp kernel, tile::RangeOp seed)
      : kernel(kernel), seed(seed),
        rows(tile::getShape(seed.getResult().getType())[0]) {}

  bool run() {
    if (rows < 2 || rows > maxRows || !memoryAllows()) {
      return false;
    }
    mark(seed.getResult(), 0);
    unit.insert(seed.getResult());
    // What loops carry is known to have rows after their bodies only: until
    // nothing is new, an operation that does not fit may fit yet.
    bool fits = true;
    while (changed) {
      changed = false;
      fits = visit(kernel.getBody().front(), /*inLoop=*/false);
    }
    if (!fits || !isWorthIt) {
      return false;
    }
    split();
    return true;
  }

private:
  //===--------------------------------------------------------------------===//
  // What has rows
  //===--------------------------------------------------------------------===//

  /// A loop stores at other addresses in each iteration. Where rows overlap, a
  /// later iteration of one row would be overtaken by an earlier one of the
  /// next: nothing says here that a row's step is at least its length.
  bool memoryAllows() {
    DenseMap<Value, Value> written; // array to addresses
    bool fits = true;
    kernel->walk([&](tile::StoreAccess store) {
      Value array = rootPointer(store.getPtr());
      auto [place, isNew] = written.insert({array, store.getPtr()});
      fits &= array && (isNew || place->second == store.getPtr()) &&
              !store->getParentOfType<LoopLikeOpInterface>();
    });
    kernel->walk([&](tile::LoadAccess load) {
      Value array = rootPointer(load.getPtr());
      fits &= array && !written.count(array) && !load.getIsVolatile();
    });
    return fits && !written.empty();
  }

  bool mark(Value value, int dim) {
    auto [place, isNew] = dimension.insert({value, dim});
    changed |= isNew;
    return place->second == dim;
  }

  int rowsOf(Value value) const {
    auto found = dimension.find(value);
    return found == dimension.end() ? -1 : found->second;
  }

  /// Is `value` the same in all rows, and made again for one of them where it
  /// is used?
  bool isCopied(Value value, int dim) const {
    Operation *op = value.getDefiningOp();
    SplatElementsAttr constant;
    if (!op || rowsOf(value) >= 0) {
      return false;
    }
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      return rowsOf(broadcast.getSource()) < 0 &&
             tile::getShape(broadcast.getSource().getType())[dim] == 1;
    }
    return isa<tile::SplatOp>(op) || matchPattern(value, m_Constant(&constant));
  }

  /// Can `value` be computed for one row?
  bool hasRows(Value value, int dim) {
    if (!isTensor(value)) {
      return true;
    }
    if (rowsOf(value) >= 0) {
      return rowsOf(value) == dim;
    }
    ArrayRef<int64_t> shape = tile::getShape(value.getType());
    if (dim >= static_cast<int>(shape.size()) || shape[dim] != rows) {
      return false;
    }
    if (isCopied(value, dim)) {
      return true;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<scf::ForOp>(argument.getOwner()->getParentOp())) {
      return mark(value, dim);
    }
    Operation *op = value.getDefiningOp();
    return op && lanes::hasLaneForm(op) &&
           llvm::all_of(op->getOperands(),
                        [&](Value v) { return hasRows(v, dim); }) &&
           mark(value, dim);
  }

  bool visit(Block &block, bool inLoop) {
    bool fits = true;
    for (Operation &op : block.without_terminator()) {
      fits &= isa<scf::ForOp>(op) ? visitLoop(cast<scf::ForOp>(op))
                                  : visit(&op, inLoop);
    }
    return fits;
  }

  bool visitLoop(scf::ForOp loop) {
    bool fits = true;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      Value init = loop.getInitArgs()[i], argument = loop.getRegionIterArg(i);
      Value yielded = loop.getYieldedValues()[i], result = loop.getResult(i);
      int dim = -1;
      for (Value value : {init, argument, yielded, result}) {
        dim = std::max(dim, rowsOf(value));
      }
      if (dim < 0) {
        continue;
      }
      fits &= mark(argument, dim);
      fits &= mark(result, dim);
      fits &= hasRows(init, dim);
      fits &= hasRows(yielded, dim);
      if (unit.contains(init) || unit.contains(yielded)) {
        step(argument);
        step(result);
      }
    }
    return visit(*loop.getBody(), /*inLoop=*/true) && fits;
  }

  void step(Value value) { changed |= unit.insert(value).second; }

  bool visit(Operation *op, bool inLoop) {
    bool isAccess = isa<tile::LoadAccess, tile::StoreAccess>(op);
    if (!isAccess && !isa<tile::AssumeOp>(op) && !isMemoryEffectFree(op)) {
      return false;
    }
    int dim = -1;
    for (Value operand : op->getOperands()) {
      dim = std::max(dim, rowsOf(operand));
    }
    for (Value result : op->getResults()) {
      dim = op == seed ? -1 : std::max(dim, rowsOf(result));
    }
    if (dim < 0) {
      // What all rows share is computed once more for each.
      bool isCostly = isa<tile::ReduceOp>(op) || lanes::isExpensive(op) ||
                      (op->getNumRegions() != 0) || isa<tile::DotOp>(op);
      return !isa<tile::StoreAccess>(op) && !(inLoop && isCostly) &&
             (op->getNumRegions() == 0 || isa<tile::ReduceOp>(op));
    }
    if (!keepsRows(op)) {
      return false;
    }
    bool steps = llvm::any_of(op->getOperands(),
                              [&](Value v) { return unit.contains(v); }) &&
                 !isa<arith::MulIOp, arith::ShLIOp, tile::LoadAccess>(op);
    for (Value result : op->getResults()) {
      if (steps) {
        step(result);
      }
    }
    return !isAccess ||
           visitAccess(cast<tile::MemoryAccess>(op).getPtr(), inLoop);
  }

  /// Marks the results of `op`, which has an operand with rows.
  bool keepsRows(Operation *op) {
    if (op->getNumOperands() == 0) {
      return false;
    }
    int dim = rowsOf(op->getOperand(0));
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      return mark(op->getResult(0),
                  dim + (static_cast<int>(expand.getAxis()) <= dim));
    }
    if (isa<tile::BroadcastOp>(op)) {
      return mark(op->getResult(0), dim);
    }
    if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      auto *found = llvm::find(transpose.getOrder(), dim);
      return mark(op->getResult(0), found - transpose.getOrder().begin());
    }
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      int axis = reduce.getAxis();
      bool fits = dim >= 0 && axis != dim;
      for (Value operand : op->getOperands()) {
        fits &= rowsOf(operand) == dim;
      }
      for (Value result : op->getResults()) {
        fits = fits && mark(result, dim - (axis < dim));
      }
      return fits;
    }
    if (!isa<tile::LoadAccess, tile::StoreAccess, tile::AddPtrOp,
             tile::PtrCastOp, tile::HintOp>(op) &&
        !lanes::hasLaneForm(op)) {
      return false;
    }
    for (Value value : op->getOperands()) {
      dim = std::max(dim, rowsOf(value));
    }
    for (Value value : op->getResults()) {
      dim = std::max(dim, rowsOf(value));
    }
    return llvm::all_of(op->getOperands(),
                        [&](Value v) { return hasRows(v, dim); }) &&
           llvm::all_of(op->getResults(),
                        [&](Value v) { return mark(v, dim); });
  }

  bool visitAccess(Value address, bool inLoop) {
    int64_t piece = 1;
    for (int64_t size : tile::getShape(address.getType())) {
      piece *= size;
    }
    piece /= rows;
    if (piece > 1 && unit.contains(address)) {
      return false; // neighbours in memory lie in different rows
    }
    isWorthIt |= inLoop && piece >= minPiece;
    return !inLoop || piece >= minPiece;
  }

  //===--------------------------------------------------------------------===//
  // One row after the other
  //===--------------------------------------------------------------------===//

  static Type oneRow(Type type, int dim) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[dim] = 1;
    return RankedTensorType::get(shape, tensor.getElementType());
  }

  Value ofOneRow(OpBuilder &b, Value value, int dim) {
    if (!isTensor(value) || rowsOf(value) >= 0) {
      return map.lookupOrDefault(value);
    }
    Operation *op = value.getDefiningOp();
    auto type = cast<RankedTensorType>(oneRow(value.getType(), dim));
    SplatElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      return arith::ConstantOp::create(b, op->getLoc(), type,
                                       constant.resizeSplat(type));
    }
    Value source = map.lookupOrDefault(op->getOperand(0));
    if (isa<tile::SplatOp>(op)) {
      return tile::SplatOp::create(b, op->getLoc(), type, source);
    }
    return source.getType() == type ? source
                                    : Value(tile::BroadcastOp::create(
                                          b, op->getLoc(), type, source));
  }

  void copy(OpBuilder &b, Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      return copyLoop(b, loop);
    }
    int dim = -1;
    for (Value value : op->getOperands()) {
      dim = std::max(dim, rowsOf(value));
    }
    for (Value value : op->getResults()) {
      dim = std::max(dim, rowsOf(value));
    }
    bool isView = isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp,
                      tile::ReduceOp>(op);
    IRMapping operands = map;
    for (Value operand : op->getOperands()) {
      if (dim >= 0 && !isView) {
        operands.map(operand, ofOneRow(b, operand, dim));
      }
    }
    Operation *made = b.clone(*op, operands);
    for (auto [old, result] : llvm::zip(op->getResults(), made->getResults())) {
      if (rowsOf(old) >= 0) {
        result.setType(oneRow(old.getType(), rowsOf(old)));
      }
      map.map(old, result);
    }
  }

  void copyLoop(OpBuilder &b, scf::ForOp loop) {
    SmallVector<Value> inits;
    for (auto [init, argument] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
      int dim = rowsOf(argument);
      inits.push_back(dim >= 0 ? ofOneRow(b, init, dim)
                               : map.lookupOrDefault(init));
    }
    auto made = scf::ForOp::create(b, loop.getLoc(),
                                   map.lookupOrDefault(loop.getLowerBound()),
                                   map.lookupOrDefault(loop.getUpperBound()),
                                   map.lookupOrDefault(loop.getStep()), inits);
    made->setAttrs(loop->getAttrs());
    made.setUnsignedCmp(loop.getUnsignedCmp());
    if (!made.getBody()->empty()) {
      made.getBody()->back().erase();
    }
    map.map(loop.getInductionVar(), made.getInductionVar());
    map.map(loop.getRegionIterArgs(), made.getRegionIterArgs());
    OpBuilder inner = OpBuilder::atBlockEnd(made.getBody());
    for (Operation &op : loop.getBody()->without_terminator()) {
      copy(inner, &op);
    }
    SmallVector<Value> yielded;
    for (auto [value, argument] :
         llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs())) {
      int dim = rowsOf(argument);
      yielded.push_back(dim >= 0 ? ofOneRow(inner, value, dim)
                                 : map.lookupOrDefault(value));
    }
    scf::YieldOp::create(inner, loop.getLoc(), yielded);
    map.map(loop.getResults(), made.getResults());
  }

  /// Is there a value with rows in it? What is shared stays before the rows.
  bool isOfRows(Operation *op) const {
    auto has = [&](Value value) { return rowsOf(value) >= 0; };
    return op != seed &&
           op->walk([&](Operation *inner) {
               return llvm::any_of(inner->getOperands(), has) ||
                              llvm::any_of(inner->getResults(), has)
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             }).wasInterrupted();
  }

  void split() {
    Block &body = kernel.getBody().front();
    llvm::SetVector<Operation *> old;
    auto usesOld = [&](Operation &op) {
      return op
          .walk([&](Operation *inner) {
            return llvm::any_of(inner->getOperands(),
                                [&](Value operand) {
                                  return old.contains(operand.getDefiningOp());
                                })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
    };
    for (Operation &op : body.without_terminator()) {
      if (isOfRows(&op) || usesOld(op)) {
        old.insert(&op);
      }
    }
    OpBuilder b(body.getTerminator());
    Location loc = seed.getLoc();
    Type i32 = b.getI32Type();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(i32, value));
    };
    auto loop = scf::ForOp::create(b, loc, number(0), number(rows), number(1));
    OpBuilder inner(loop.getBody()->getTerminator());
    Value row = loop.getInductionVar();
    if (int64_t start = lanes::startOf(seed)) {
      Value first = arith::ConstantOp::create(inner, loc,
                                              inner.getIntegerAttr(i32, start));
      row = arith::AddIOp::create(inner, loc, row, first);
    }
    auto type = RankedTensorType::get({1}, i32);
    map.map(seed.getResult(), tile::SplatOp::create(inner, loc, type, row));
    for (Operation *op : old) {
      copy(inner, op);
    }
    for (Operation *op : llvm::reverse(old)) {
      assert(op->use_empty() && "what uses rows is split with them");
      op->erase();
    }
  }

  func::FuncOp kernel;
  tile::RangeOp seed;
  int64_t rows;
  /// Which dimension of a value counts rows.
  DenseMap<Value, int> dimension;
  /// Integers and addresses that grow by one from row to row.
  DenseSet<Value> unit;
  bool changed = false, isWorthIt = false;
  IRMapping map;
};

} // namespace

bool splitRows(func::FuncOp kernel) {
  if (!llvm::hasSingleElement(kernel.getBody())) {
    return false;
  }
  SmallVector<tile::RangeOp> ranges;
  for (Operation &op : kernel.getBody().front()) {
    if (auto range = dyn_cast<tile::RangeOp>(op)) {
      ranges.push_back(range);
    }
  }
  return llvm::any_of(ranges, [&](tile::RangeOp range) {
    return RowSplitter(kernel, range).run();
  });
}

} // namespace nereid::tocpu
