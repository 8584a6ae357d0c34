//===- PipelineLoads.cpp - Copies ahead of their use ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With D = stages - 1 iterations of distance and D + 1 slots,
//
//   start the copies of iterations 0 .. D-1             (a group each)
//   for i:
//     wait for all groups but the D-1 youngest: iteration i is there, and
//       everyone has read slot i-1
//     start the copies of iteration i + D into the slot of i-1
//     compute on slot i
//
// If the computation begins with products that four warps start together and
// that need nothing of each other, the copies are started while they run: a
// hundred instructions between the barrier and the product kept the tensor
// cores waiting (4096 x 4096 x 4096, fp16, H200: 128x256x64 on 8 warps 254 us
// to 233, 128x128x64 on 4 warps 261 to 220).
//
// One barrier an iteration. With D slots the copies would have to wait for the
// computation: a second barrier.
//
// The slice of the body that computes addresses and masks runs D iterations
// ahead, on loop-carried values of its own. Values that only the slice needed
// are not carried twice.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Analysis/SharedAllocation.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <bit>

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_PIPELINELOADS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

struct PipelineOptions {
  unsigned stages, sharedLimit;
};

/// A load that becomes a copy.
struct Copy {
  tile::LoadOp load;
  unsigned inner = 0; ///< dimension of consecutive addresses
  Value buffer;
};

class LoopPipeliner {
public:
  /// `living`: buffers that do in front of the loop.
  LoopPipeliner(scf::ForOp loop, const AxisInfoAnalysis &axes,
                const PipelineOptions &options, ArrayRef<Span> living)
      : loop(loop), body(*loop.getBody()), axes(axes), options(options),
        living(living), b(loop) {}

  /// False where the loop stays as it is.
  bool run();

private:
  void findCopies(bool throughArithmetic);
  bool runWithCopies();
  /// Null, or what cannot be computed ahead of its iteration.
  Operation *addSlice(Value value);
  void findLive();
  void markLive(Value value);
  void markLive(Operation *op);
  unsigned mostDistance();

  void startCopies(IRMapping &map, Value condition, Value slot);
  Value constant(int64_t value);
  Value readAs(Value value, const TileLayout &layout, IRMapping &map,
               Value slot);
  void tell();
  bool canBeInFlight(Operation *product) const;
  llvm::SmallSetVector<Operation *, 4> productsInFlight() const;
  void cloneBody(IRMapping &map, Value slot,
                 llvm::function_ref<void()> startNext);
  scf::ForOp rewrite();
  void restore(scf::ForOp made, Operation *before, Block::iterator after);

  const Copy *copyOf(Value value) const {
    auto load = value.getDefiningOp<tile::LoadOp>();
    auto found = llvm::find_if(
        copies, [&](const Copy &copy) { return copy.load == load; });
    return load && found != copies.end() ? found : nullptr;
  }
  /// A conversion that becomes a read of a buffer.
  bool isRead(Operation *op) const {
    auto convert = dyn_cast<ConvertLayoutOp>(op);
    return convert && op->getBlock() == &body &&
           copyOf(sourceOf(convert.getSource()));
  }
  /// An operand that a product reads from a buffer itself.
  bool isReadInPlace(OpOperand &use) const {
    return isWarpgroupProduct(use.getOwner()) && use.getOperandNumber() < 2 &&
           use.getOwner()->getBlock() == &body &&
           copyOf(untransposed(use.get()));
  }
  /// Does the computation use a copied load as it was loaded?
  bool isComputedOn(OpOperand &use) {
    Operation *user = body.findAncestorOpInBlock(*use.getOwner());
    if (user == body.getTerminator()) {
      return liveArguments.contains(use.getOperandNumber());
    }
    return liveOps.contains(user) && !isRead(use.getOwner()) &&
           !isReadInPlace(use);
  }
  Value yielded(unsigned argument) { return loop.getYieldedValues()[argument]; }

  scf::ForOp loop;
  Block &body;
  const AxisInfoAnalysis &axes;
  const PipelineOptions &options;
  ArrayRef<Span> living;
  OpBuilder b;
  SmallVector<Copy> copies;
  unsigned distance = 0;
  StagesChosen chosen; ///< for the log
  /// What addresses and masks come from: operations, and numbers of carried
  /// values.
  SetVector<Operation *> sliceOps;
  SetVector<unsigned> sliceArguments;
  DenseSet<Operation *> liveOps;
  SetVector<unsigned> liveArguments;
};

} // namespace

//===----------------------------------------------------------------------===//
// What can be copied ahead
//===----------------------------------------------------------------------===//

Operation *LoopPipeliner::addSlice(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &body || argument.getArgNumber() == 0) {
      return nullptr;
    }
    unsigned i = argument.getArgNumber() - 1;
    return sliceArguments.insert(i) ? addSlice(yielded(i)) : nullptr;
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != &body || !sliceOps.insert(op)) {
    return nullptr;
  }
  // It runs also for iterations that do not come.
  if (op->getNumRegions() || !isMemoryEffectFree(op) || !isSpeculatable(op)) {
    return op;
  }
  for (Value operand : op->getOperands()) {
    if (Operation *culprit = addSlice(operand)) {
      return culprit;
    }
  }
  return nullptr;
}

void LoopPipeliner::findCopies(bool throughArithmetic) {
  copies.clear();
  sliceOps.clear();
  sliceArguments.clear();
  bool isAsked = loop->hasAttr("tile.num_stages");
  SetVector<Operation *> wanted;
  auto want = [&](Value value) {
    Operation *source = sourceOf(value).getDefiningOp();
    if (isa_and_nonnull<tile::LoadOp>(source) && source->getBlock() == &body) {
      wanted.insert(source);
    }
  };
  for (Operation &op : body) {
    if (isAsked && isa<tile::LoadOp>(op)) {
      wanted.insert(&op);
    }
    if (isWarpgroupProduct(&op)) {
      want(op.getOperand(0));
      want(op.getOperand(1));
    }
    auto convert = dyn_cast<ConvertLayoutOp>(op);
    if (convert && feedsProduct(convert)) {
      want(convert.getSource());
    }
    if (throughArithmetic && isa<tile::DotOp>(op)) {
      addSources(op.getOperand(0), body, wanted);
      addSources(op.getOperand(1), body, wanted);
    }
  }
  for (Operation *op : wanted) {
    auto load = cast<tile::LoadOp>(op);
    StringRef why;
    std::optional<unsigned> inner = copyDimension(load, axes, why);
    if (!inner) {
      tellStays(load, why);
      continue;
    }
    if (Operation *writer = writerOf(body, load.getPtr())) {
      tellStays(load,
                "the loop writes an array" + inLine(writer) +
                    " that may be the one it reads",
                "read and write through different parameters");
      continue;
    }
    auto ops = sliceOps;
    auto arguments = sliceArguments;
    Operation *culprit = addSlice(load.getPtr());
    if (!culprit && load.getMask()) {
      culprit = addSlice(load.getMask());
    }
    if (culprit) {
      tellStays(load, isa<tile::LoadOp>(culprit)
                          ? "its address or mask depends on what the same "
                            "iteration loads" +
                                inLine(culprit)
                          : "its address or mask cannot be computed before "
                            "its iteration" +
                                inLine(culprit));
      sliceOps = std::move(ops);
      sliceArguments = std::move(arguments);
      continue;
    }
    copies.push_back({load, *inner, {}});
  }
  if (tellsDecisions(b.getContext())) {
    for (auto load : body.getOps<tile::LoadOp>()) {
      if (!wanted.contains(load) && isa<RankedTensorType>(load.getType())) {
        tellStays(load, "no product of the loop reads it",
                  "tl.range(..., num_stages=2) copies all loads of a loop "
                  "ahead");
      }
    }
  }
}

/// As many iterations ahead as asked for, if the buffers alone fit.
unsigned LoopPipeliner::mostDistance() {
  unsigned stages = options.stages;
  if (auto asked = loop->getAttrOfType<IntegerAttr>("tile.num_stages")) {
    stages = asked.getInt();
  }
  unsigned slotBytes = 0;
  for (Copy &copy : copies) {
    slotBytes += tile::getBytes(copy.load.getType());
  }
  unsigned taken = 0;
  for (Span buffer : living) {
    taken += buffer.end - buffer.begin;
  }
  taken = std::min(options.sharedLimit, taken);
  unsigned slots = std::min(stages, (options.sharedLimit - taken) / slotBytes);
  chosen = {unsigned(copies.size()),
            stages,
            0,
            slotBytes,
            (slots + 1) * slotBytes + taken,
            options.sharedLimit};
  return slots ? slots - 1 : 0;
}

//===----------------------------------------------------------------------===//
// What the computation still needs
//===----------------------------------------------------------------------===//

void LoopPipeliner::markLive(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &body && argument.getArgNumber() > 0 &&
        liveArguments.insert(argument.getArgNumber() - 1)) {
      markLive(yielded(argument.getArgNumber() - 1));
    }
    return;
  }
  if (Operation *op = body.findAncestorOpInBlock(*value.getDefiningOp())) {
    markLive(op);
  }
}

void LoopPipeliner::markLive(Operation *op) {
  if (!liveOps.insert(op).second ||
      (op->getNumResults() && copyOf(op->getResult(0))) || isRead(op)) {
    return; // the copy's addresses are computed ahead
  }
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      if (!isReadInPlace(operand)) {
        markLive(operand.get());
      }
    }
  });
}

void LoopPipeliner::findLive() {
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    if (!result.use_empty() && liveArguments.insert(i)) {
      markLive(yielded(i));
    }
  }
  for (Operation &op : body.without_terminator()) {
    bool isRemovable =
        isMemoryEffectFree(&op) ||
        (isa<tile::LoadOp>(op) && !cast<tile::LoadOp>(op).getIsVolatile());
    if (!isRemovable) {
      markLive(&op);
    }
  }
}

//===----------------------------------------------------------------------===//
// The new loop
//===----------------------------------------------------------------------===//

Value LoopPipeliner::constant(int64_t value) {
  return arith::ConstantOp::create(b, loop.getLoc(),
                                   b.getI32IntegerAttr(value));
}

/// One iteration's copies, `map` holding its induction and carried values; they
/// form a group.
void LoopPipeliner::startCopies(IRMapping &map, Value condition, Value slot) {
  for (Operation &op : body) {
    if (sliceOps.contains(&op)) {
      b.clone(op, map);
    }
  }
  for (const Copy &copy : copies) {
    tile::LoadOp load = copy.load;
    Value mask = load.getMask() ? map.lookupOrDefault(load.getMask()) : Value();
    CopyAsyncOp::create(b, load.getLoc(), map.lookupOrDefault(load.getPtr()),
                        copy.buffer, slot, mask, condition);
  }
  CommitCopiesOp::create(b, loop.getLoc());
}

/// `value`, an image of a copied load, in `layout`.
Value LoopPipeliner::readAs(Value value, const TileLayout &layout,
                            IRMapping &map, Value slot) {
  if (const Copy *copy = copyOf(value)) {
    return LocalLoadOp::create(b, value.getLoc(),
                               withLayout(value.getType(), layout),
                               copy->buffer, slot, DenseI32ArrayAttr());
  }
  Operation *op = value.getDefiningOp();
  Value source = op->getOperand(0);
  auto transpose = dyn_cast<tile::TransposeOp>(op);
  if (const Copy *copy = transpose ? copyOf(source) : nullptr) {
    return LocalLoadOp::create(
        b, value.getLoc(), withLayout(value.getType(), layout), copy->buffer,
        slot, b.getDenseI32ArrayAttr(transpose.getOrder()));
  }
  TileLayout wanted = layout;
  if (transpose) {
    std::vector<unsigned> inverse(transpose.getOrder().size());
    for (auto [d, from] : llvm::enumerate(transpose.getOrder())) {
      inverse[from] = d;
    }
    wanted = permute(layout, shapeOf(value.getType()), inverse);
  }
  IRMapping local;
  local.map(source, readAs(source, wanted, map, slot));
  Operation *made = b.clone(*op, local);
  made->getResult(0).setType(withLayout(value.getType(), layout));
  return made->getResult(0);
}

/// Can it be started, and waited for later? If nothing but buffers and
/// accumulators takes part in it.
bool LoopPipeliner::canBeInFlight(Operation *product) const {
  return isReadInPlace(product->getOpOperand(0)) &&
         isReadInPlace(product->getOpOperand(1)) &&
         tile::getElement(product->getResult(0).getType())
                 .getIntOrFloatBitWidth() == 32;
}

/// The products that run while the next copies are started: the first, and
/// those behind it that need nothing of it, as two products of one left operand
/// do.
llvm::SmallSetVector<Operation *, 4> LoopPipeliner::productsInFlight() const {
  llvm::SmallSetVector<Operation *, 4> products;
  for (Operation &op : body.without_terminator()) {
    if (!liveOps.contains(&op)) {
      continue;
    }
    bool needsOne = llvm::any_of(op.getOperands(), [&](Value operand) {
      return products.contains(operand.getDefiningOp());
    });
    if (isWarpgroupProduct(&op)) {
      if (needsOne || !canBeInFlight(&op)) {
        break;
      }
      products.insert(&op);
    } else if (!products.empty() &&
               (needsOne || op.getNumRegions() ||
                !(isMemoryEffectFree(&op) ||
                  (op.getNumResults() && copyOf(op.getResult(0)))))) {
      break;
    }
  }
  return products;
}

/// `startNext` once, where the next copies are to be started.
void LoopPipeliner::cloneBody(IRMapping &map, Value slot,
                              llvm::function_ref<void()> startNext) {
  llvm::SmallSetVector<Operation *, 4> products = productsInFlight();
  if (products.empty()) {
    startNext();
  }
  for (Operation &op : body.without_terminator()) {
    if (!liveOps.contains(&op)) {
      continue;
    }
    if (isRead(&op)) {
      auto convert = cast<ConvertLayoutOp>(op);
      map.map(
          convert.getResult(),
          readAs(convert.getSource(), layoutOf(convert.getType()), map, slot));
      continue;
    }
    if (isa<tile::LoadOp>(op) && copyOf(op.getResult(0))) {
      Value loaded = op.getResult(0);
      if (llvm::any_of(loaded.getUses(),
                       [&](OpOperand &use) { return isComputedOn(use); })) {
        map.map(loaded, readAs(loaded, layoutOf(loaded.getType()), map, slot));
      }
      continue;
    }
    for (OpOperand &operand : op.getOpOperands()) {
      if (Value value = operand.get();
          isReadInPlace(operand) && !map.contains(value)) {
        map.map(value, readAs(value, layoutOf(value.getType()), map, slot));
      }
    }
    Operation *made = b.clone(op, map);
    if (products.contains(&op)) {
      made->setAttr(inFlightAttr, b.getUnitAttr());
      if (&op != products.back()) {
        continue;
      }
      startNext();
      for (Operation *product : products) {
        Value started = map.lookup(product->getResult(0));
        map.map(product->getResult(0),
                WaitProductsOp::create(b, product->getLoc(), started.getType(),
                                       started)
                    .getResult());
      }
    }
  }
}

/// The new loop in front of the old one, whose results nobody uses then.
scf::ForOp LoopPipeliner::rewrite() {
  Location loc = loop.getLoc();
  b.setInsertionPoint(loop);
  unsigned slots = distance + 1;
  for (Copy &copy : copies) {
    BufferType type =
        swizzledBuffer(b.getContext(), slots, shapeOf(copy.load.getType()),
                       tile::getElement(copy.load.getType()), copy.inner);
    copy.buffer = AllocOp::create(b, copy.load.getLoc(), type);
  }
  // Carried values of the slice, as of the next iteration to copy.
  SmallVector<Value> ahead;
  for (unsigned i : sliceArguments) {
    ahead.push_back(loop.getInitArgs()[i]);
  }
  auto advance = [&](Value induction, Value condition, Value slot) {
    IRMapping map;
    map.map(loop.getInductionVar(), induction);
    for (auto [i, value] : llvm::zip_equal(sliceArguments, ahead)) {
      map.map(loop.getRegionIterArgs()[i], value);
    }
    startCopies(map, condition, slot);
    for (auto [i, value] : llvm::zip_equal(sliceArguments, ahead)) {
      value = map.lookupOrDefault(yielded(i));
    }
  };
  auto stepped = [&](Value from, unsigned count) -> Value {
    if (!count) {
      return from;
    }
    Value times = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(from.getType(), count));
    return arith::AddIOp::create(
        b, loc, from, arith::MulIOp::create(b, loc, loop.getStep(), times));
  };
  Value lower = loop.getLowerBound();
  for (unsigned j = 0; j < distance; ++j) {
    advance(stepped(lower, j), hasIteration(b, loop, lower, j), constant(j));
  }

  SmallVector<Value> inits;
  for (unsigned i : liveArguments) {
    inits.push_back(loop.getInitArgs()[i]);
  }
  inits.append(ahead);
  inits.push_back(constant(0));
  Value last = constant(distance), one = constant(1), zero = constant(0);
  auto made = scf::ForOp::create(b, loc, lower, loop.getUpperBound(),
                                 loop.getStep(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.setUnsignedCmp(loop.getUnsignedCmp());
  if (!made.getBody()->empty()) {
    made.getBody()->clear();
  }
  b.setInsertionPointToEnd(made.getBody());
  auto arguments = made.getRegionIterArgs();
  Value slot = arguments.back();
  WaitCopiesOp::create(b, loc, distance - 1);
  for (auto [i, value] : llvm::enumerate(ahead)) {
    value = arguments[liveArguments.size() + i];
  }
  Value induction = made.getInductionVar();
  Value previous = arith::SelectOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot, zero), last,
      arith::SubIOp::create(b, loc, slot, one));
  IRMapping map;
  map.map(loop.getInductionVar(), induction);
  for (auto [i, argument] : llvm::zip(liveArguments, arguments)) {
    map.map(loop.getRegionIterArgs()[i], argument);
  }
  cloneBody(map, slot, [&] {
    advance(stepped(induction, distance),
            hasIteration(b, loop, induction, distance), previous);
  });
  SmallVector<Value> yields;
  for (unsigned i : liveArguments) {
    yields.push_back(map.lookupOrDefault(yielded(i)));
  }
  yields.append(ahead);
  yields.push_back(arith::SelectOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot, last), zero,
      arith::AddIOp::create(b, loc, slot, one)));
  scf::YieldOp::create(b, loc, yields);
  b.setInsertionPointAfter(made);
  for (const Copy &copy : llvm::reverse(copies)) {
    FreeOp::create(b, loc, copy.buffer);
  }
  for (auto [i, argument] : llvm::enumerate(liveArguments)) {
    loop.getResult(argument).replaceAllUsesWith(made.getResult(i));
  }
  return made;
}

/// The old loop in the place of what was made for it, between the two.
void LoopPipeliner::restore(scf::ForOp made, Operation *before,
                            Block::iterator after) {
  Block *block = made->getBlock();
  block->getOperations().insert(after, loop.getOperation());
  for (auto [i, argument] : llvm::enumerate(liveArguments)) {
    made.getResult(i).replaceAllUsesWith(loop.getResult(argument));
  }
  while (loop->getPrevNode() != before) {
    loop->getPrevNode()->erase();
  }
}

/// What the new loop's trips through shared memory take is known when it is
/// there: it exchanges less than the old one.
/// Products wait for what their operands are computed from, too: weights to be
/// unpacked, say. Where shared memory has no room for two iterations of all of
/// it, for the operands that are loaded as they are alone.
bool LoopPipeliner::run() {
  findCopies(/*throughArithmetic=*/true);
  size_t all = copies.size();
  if (!all) {
    return false;
  }
  bool isDone = runWithCopies();
  if (!isDone) {
    findCopies(/*throughArithmetic=*/false);
    isDone = !copies.empty() && copies.size() < all && runWithCopies();
  }
  tell();
  if (isDone) {
    loop->erase();
  }
  return isDone;
}

bool LoopPipeliner::runWithCopies() {
  distance = mostDistance();
  if (!distance) {
    return false;
  }
  liveOps.clear();
  liveArguments.clear();
  findLive();
  Block &block = *loop->getBlock();
  Operation *before = loop->getPrevNode();
  auto after = std::next(Block::iterator(loop.getOperation()));
  for (; distance; --distance) {
    scf::ForOp made = rewrite();
    loop->remove();
    auto first = before ? std::next(Block::iterator(before)) : block.begin();
    unsigned needed = bytesNeeded({first, after}, living);
    if (needed <= options.sharedLimit) {
      return true;
    }
    chosen.needed = needed;
    restore(made, before, after);
  }
  return false;
}

void LoopPipeliner::tell() {
  if (!tellsDecisions(b.getContext())) {
    return;
  }
  chosen.distance = distance;
  tellStages(loop, chosen);
  if (distance) {
    for (Operation *product : productsInFlight()) {
      recordDecision(product->getLoc(),
                     {"dot", "runs while the next iteration's copies start", "",
                      "both operands lie in shared memory", ""});
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PipelineLoadsPass : impl::PipelineLoadsBase<PipelineLoadsPass> {
  using PipelineLoadsBase::PipelineLoadsBase;

  void runOnOperation() override;
};
} // namespace

void PipelineLoadsPass::runOnOperation() {
  const TargetInfo *target = targetOf(getOperation());
  if (!target) {
    return signalPassFailure();
  }
  tellLoopsNotSeen(getOperation(), *target);
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    bool hasLoad = llvm::any_of(
        *loop.getBody(), [](Operation &op) { return isa<tile::LoadOp>(op); });
    if (hasLoad && isInnermost(loop)) {
      loops.push_back(loop);
    }
  });
  bool changed = false;
  if (target->hasAsyncCopies && !loops.empty()) {
    auto &axes = getAnalysis<AxisInfoAnalysis>();
    PipelineOptions options{stages, sharedLimit ? sharedLimit.getValue()
                                                : target->sharedLimit};
    // The copies' buffers live around one loop, and change no other's.
    auto living = buffersAtLoops(getOperation());
    for (scf::ForOp loop : loops) {
      changed |= LoopPipeliner(loop, axes, options, living[loop]).run();
    }
  }
  if (!changed) {
    markAllAnalysesPreserved();
  }
}

} // namespace nereid::tilegpu
