//===- OverlapProducts.cpp - Products of two iterations at once -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/OverlapProducts.h"

#include "nereid/Analysis/RegisterOperands.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::tilegpu {

namespace {

/// A product, with the wait for its ring in front of it and the release behind.
struct RingProduct {
  tile::DotOp dot;
  SmallVector<LocalLoadOp, 2> reads;
  WaitSlotOp wait;
  ReleaseSlotOp release;

  /// What moves with it. The wait stays where the operand of registers is
  /// there: a loop between the operations in front of it and those after the
  /// product's end, which the assembler would mix.
  bool moves(Operation *op) const {
    return op == dot || op == release || llvm::is_contained(reads, op);
  }
};

class Overlapper {
public:
  Overlapper(scf::ForOp loop, bool hasGroups)
      : loop(loop), hasGroups(hasGroups), body(*loop.getBody()), b(loop) {}
  bool run();

private:
  std::optional<RingProduct> find(tile::DotOp dot);
  bool findProducts();
  bool findCarried();
  Value emitLast(IRMapping &map);
  void emitRest(IRMapping &map);
  void emitLoop(ValueRange begun);
  void start(scf::ForOp made);
  SmallVector<Value> carriedOf(IRMapping &map);

  scf::ForOp loop;
  bool hasGroups;
  Block &body;
  OpBuilder b;
  RingProduct first, last;
  unsigned sum = 0; ///< of the loop's results, the last product's
  /// Values of an iteration that its last product takes from registers or from
  /// the ring's state, which the next iteration runs it with.
  SmallVector<Value> handed;
  llvm::DenseSet<Operation *> dependents; ///< on the sum, as it comes in
  SmallVector<Value> results;
};

} // namespace

/// The ring that the product alone reads; nothing where it shares one.
std::optional<RingProduct> Overlapper::find(tile::DotOp dot) {
  RingProduct product;
  product.dot = dot;
  for (Value operand : dot->getOperands().take_front(2)) {
    if (auto read = operand.getDefiningOp<LocalLoadOp>()) {
      if (read->getBlock() != &body || !read->hasOneUse()) {
        return std::nullopt;
      }
      product.reads.push_back(read);
    }
  }
  Operation *front = dot;
  while (Operation *op = front->getPrevNode()) {
    if (!llvm::is_contained(product.reads, op)) {
      break;
    }
    front = op;
  }
  product.wait = dyn_cast_or_null<WaitSlotOp>(front->getPrevNode());
  product.release = dyn_cast_or_null<ReleaseSlotOp>(dot->getNextNode());
  if (product.reads.empty() || !product.wait || !product.release ||
      product.wait.getBarriers() != product.release.getBarriers()) {
    return std::nullopt;
  }
  return product;
}

/// What an operand that is written to shared memory for the product leaves
/// there, others may overwrite while it runs.
static bool canBeInFlight(tile::DotOp dot) {
  return dot.getRhs().getDefiningOp<LocalLoadOp>() &&
         (dot.getLhs().getDefiningOp<LocalLoadOp>() ||
          mayBeRegisterOperand(dot));
}

bool Overlapper::findProducts() {
  SmallVector<tile::DotOp> dots;
  for (auto dot : body.getOps<tile::DotOp>()) {
    dots.push_back(dot);
  }
  if (dots.size() < 2 || !llvm::all_of(dots, isWarpgroupProduct)) {
    return false;
  }
  std::optional<RingProduct> from = find(dots.front()), to = find(dots.back());
  if (!from || !to || !dots.back()->hasOneUse() ||
      !canBeInFlight(dots.front()) || !canBeInFlight(dots.back())) {
    return false;
  }
  first = *from;
  last = *to;
  for (auto [i, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    if (yielded == last.dot.getResult()) {
      sum = i;
      return true;
    }
  }
  return false;
}

/// What depends on the sum as it comes in must not be the first product, and
/// can be moved; what the last product takes goes into the next iteration.
bool Overlapper::findCarried() {
  SmallVector<Value> work = {loop.getRegionIterArg(sum)};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      Operation *own = body.findAncestorOpInBlock(*user);
      if (own == last.dot || own == body.getTerminator() ||
          !dependents.insert(own).second) {
        continue;
      }
      if (!isMemoryEffectFree(own)) {
        return false;
      }
      work.append(own->result_begin(), own->result_end());
    }
  }
  if (dependents.contains(first.dot)) {
    return false;
  }
  for (Value yielded : loop.getYieldedValues()) {
    Operation *from = yielded.getDefiningOp();
    if (from && dependents.contains(from)) {
      return false; // what it carries beside the sum would come late
    }
  }
  auto hand = [&](Value value) {
    Operation *parent = value.getParentBlock()->getParentOp();
    if (parent == loop && !llvm::is_contained(handed, value)) {
      handed.push_back(value);
    }
  };
  SmallVector<Operation *> ops = {last.dot, last.release};
  ops.append(last.reads.begin(), last.reads.end());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      if (!last.moves(operand.getDefiningOp()) && operand != last.dot.getC()) {
        hand(operand);
      }
    }
  }
  if (llvm::is_contained(handed, last.dot.getLhs())) {
    last.dot->setAttr(leftInRegistersAttr, b.getUnitAttr());
  }
  return true;
}

/// The last product of the iteration that `map` knows.
Value Overlapper::emitLast(IRMapping &map) {
  for (LocalLoadOp read : last.reads) {
    b.clone(*read, map);
  }
  Value done = b.clone(*last.dot, map)->getResult(0);
  b.clone(*last.release, map);
  return done;
}

void Overlapper::emitRest(IRMapping &map) {
  for (Operation &op : body.without_terminator()) {
    if (!last.moves(&op)) {
      b.clone(op, map);
    }
  }
}

/// What an iteration leaves to the next one: carried values, in the place of
/// the sum what the last product adds to, and what it takes.
SmallVector<Value> Overlapper::carriedOf(IRMapping &map) {
  SmallVector<Value> carried;
  for (auto [i, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    carried.push_back(
        map.lookupOrDefault(i == sum ? last.dot.getC() : yielded));
  }
  for (Value value : handed) {
    carried.push_back(map.lookupOrDefault(value));
  }
  return carried;
}

/// Iterations from the second on, and the last product of the last one.
void Overlapper::emitLoop(ValueRange begun) {
  Location loc = loop.getLoc();
  Value hasMore = hasIteration(b, loop, loop.getLowerBound(), 1);
  Value second =
      arith::AddIOp::create(b, loc, loop.getLowerBound(), loop.getStep());
  Value from =
      arith::SelectOp::create(b, loc, hasMore, second, loop.getUpperBound());
  auto made = scf::ForOp::create(b, loc, from, loop.getUpperBound(),
                                 loop.getStep(), begun);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.setUnsignedCmp(loop.getUnsignedCmp());
  size_t count = loop.getNumRegionIterArgs();
  auto handOver = [&](ValueRange carried, IRMapping &map) {
    map.map(last.dot.getC(), carried[sum]);
    for (auto [i, value] : llvm::enumerate(handed)) {
      map.map(value, carried[count + i]);
    }
  };
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    IRMapping before, own;
    handOver(made.getRegionIterArgs(), before);
    Value sumBefore = emitLast(before);
    own.map(loop.getInductionVar(), made.getInductionVar());
    for (size_t i = 0; i < count; ++i) {
      own.map(loop.getRegionIterArg(i),
              i == sum ? sumBefore : made.getRegionIterArg(i));
    }
    emitRest(own);
    scf::YieldOp::create(b, loc, carriedOf(own));
  }
  IRMapping after;
  handOver(made.getResults(), after);
  results.assign(made.getResults().begin(), made.getResults().begin() + count);
  results[sum] = emitLast(after);
  start(made);
}

/// In the new loop's body the first product starts in front of the other one,
/// and each ends where its result is used.
void Overlapper::start(scf::ForOp made) {
  Block &block = *made.getBody();
  auto dots = llvm::to_vector(block.getOps<tile::DotOp>());
  tile::DotOp older = dots.front();
  // The rest begins after the release, as it stands.
  auto releaseOfOlder = cast<ReleaseSlotOp>(older->getNextNode());
  tile::DotOp younger = dots[1];
  // All that the first product needs.
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> work = {younger};
  for (Operation *op = younger->getPrevNode(); op && !isa<WaitSlotOp>(op);
       op = op->getPrevNode()) {
    work.push_back(op);
  }
  auto wait = cast<WaitSlotOp>(work.back()->getPrevNode());
  work.push_back(wait);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!needed.insert(op)) {
      continue;
    }
    for (Value operand : op->getOperands()) {
      Operation *from = operand.getDefiningOp();
      if (from && from->getBlock() == &block) {
        work.push_back(from);
      }
    }
  }
  Operation *front = &block.front(); // the wait for the older one's ring
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (needed.contains(&op)) {
      op.moveBefore(front);
    }
  }
  Location loc = younger.getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(releaseOfOlder);
  auto done =
      WaitProductsOp::create(b, loc, younger.getType(), younger.getResult(), 1);
  younger.getResult().replaceAllUsesExcept(done, done);
  younger->setAttr(inFlightAttr, b.getUnitAttr());
  ReleaseSlotOp release;
  for (Operation *op = releaseOfOlder->getNextNode(); op;
       op = op->getNextNode()) {
    auto one = dyn_cast<ReleaseSlotOp>(op);
    if (one && one.getBarriers() == wait.getBarriers()) {
      release = one;
      break;
    }
  }
  release->moveAfter(done);
  if (hasGroups) {
    b.setInsertionPoint(younger);
    TakeTurnOp::create(b, loc);
    b.setInsertionPointAfter(older);
    GiveTurnOp::create(b, loc, /*first=*/false);
  }

  // What depends on the older sum comes last.
  Operation *end = block.getTerminator();
  llvm::SetVector<Operation *> late;
  for (Operation &op :
       llvm::make_range(std::next(Block::iterator(release)), block.end())) {
    bool isLate = llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *from = operand.getDefiningOp();
      return operand == older.getResult() || (from && late.contains(from));
    });
    if (isLate && &op != end) {
      late.insert(&op);
    }
  }
  b.setInsertionPoint(end);
  auto olderDone =
      WaitProductsOp::create(b, loc, older.getType(), older.getResult(), 0);
  older.getResult().replaceAllUsesExcept(olderDone, olderDone);
  older->setAttr(inFlightAttr, b.getUnitAttr());
  releaseOfOlder->moveBefore(end);
  for (Operation *op : late) {
    op->moveBefore(end);
  }
}

bool Overlapper::run() {
  if (!findProducts() || !findCarried()) {
    return false;
  }
  Location loc = loop.getLoc();
  Value isAny = hasIteration(b, loop, loop.getLowerBound(), 0);
  auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), isAny,
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, loop.getInitArgs());
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping map;
  map.map(loop.getInductionVar(), loop.getLowerBound());
  map.map(loop.getRegionIterArgs(), loop.getInitArgs());
  emitRest(map);
  emitLoop(carriedOf(map));
  scf::YieldOp::create(b, loc, results);
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
  return true;
}

bool overlapProducts(scf::ForOp loop, bool hasGroups) {
  return Overlapper(loop, hasGroups).run();
}

} // namespace nereid::tilegpu
