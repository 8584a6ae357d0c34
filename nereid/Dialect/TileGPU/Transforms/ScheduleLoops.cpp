//===- ScheduleLoops.cpp - What of a loop runs ahead ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides for each loop which loads are copied ahead and how far, and
// what runs while the next copies are started, and writes it down as the
// schedule that `tilegpu-expand-loops` follows. A step is
//
//   1. what comes before the products in flight, and their start
//   2. addresses, masks and starts of the next copies
//   3. the end of the products
//   4. the rest of the computation
//
// or, where the products' results are sums that only the next iteration's
// products look at, with the end of the products of the step before between
// their start and the copies: the tensor cores go from one iteration's products
// to the next one's without a pause (docs/decisions/ProductsInFlight.md). A
// second barrier then keeps the copies from overwriting what those products
// read. In a short iteration it takes much of the time: where one slot more
// costs no resident program, the copies go there, and need not wait for
// anything,
//
// or, without such products, 2 and 4. If the computation begins with products
// that four warps start together and that need nothing of each other, the
// copies are started while they run: a hundred instructions between the barrier
// and the product kept the tensor cores waiting (docs/decisions/Products.md).
//
// Inner loops first: they have the room that they want. An iteration around an
// inner loop is long, and one iteration ahead is enough for its copies.
//
// One barrier an iteration. With D slots for D iterations of distance the
// copies would have to wait for the computation: a second barrier.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/SharedAllocation.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopExpander.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_SCHEDULELOOPS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

struct ScheduleOptions {
  const TargetInfo &target;
  unsigned threads; ///< of a program
  unsigned stages, sharedLimit;
  bool carriesProducts;
};

class LoopScheduler {
public:
  /// `living`: buffers that do in front of the loop.
  LoopScheduler(scf::ForOp loop, const AxisInfoAnalysis &axes,
                const ScheduleOptions &options, ArrayRef<Span> living)
      : loop(loop), body(*loop.getBody()), axes(axes), options(options),
        living(living) {}

  /// False where the loop stays as it is.
  bool run();

private:
  SetVector<Operation *> wantedCopies(bool throughArithmetic) const;
  void findCopies(bool throughArithmetic);
  bool runWithCopies();
  unsigned mostDistance();
  bool canBeInFlight(Operation *product, const CopyReaders &readers) const;
  llvm::SmallSetVector<Operation *, 4>
  productsInFlight(const LoopSlice &computation,
                   const CopyReaders &readers) const;
  StringRef whyNotCarried(const LoopSlice &computation,
                          const CopyReaders &readers) const;
  LoopSchedule makeSchedule(unsigned distance, bool hasExtraSlot);
  unsigned bytesOf(const LoopSchedule &schedule);
  bool isShort() const;
  bool isExtraSlotFree(unsigned bytes, unsigned withExtra) const;
  void tell();

  scf::ForOp loop;
  Block &body;
  const AxisInfoAnalysis &axes;
  const ScheduleOptions &options;
  ArrayRef<Span> living;
  SmallVector<tile::LoadAccess> copies;
  LoopSlice ahead;     ///< what their addresses and masks come from
  StagesChosen chosen; ///< for the log
  llvm::SmallSetVector<Operation *, 4> inFlight;
  StringRef whyEnds; ///< in their own iteration; empty: they go on
  bool areCarried = false, hasExtraSlot = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// What can be copied ahead
//===----------------------------------------------------------------------===//

SetVector<Operation *>
LoopScheduler::wantedCopies(bool throughArithmetic) const {
  bool isAsked = loop->hasAttr("tile.num_stages");
  SetVector<Operation *> wanted;
  auto want = [&](Value value) {
    Operation *source = sourceOf(value).getDefiningOp();
    if (isa_and_nonnull<tile::LoadAccess>(source) &&
        source->getBlock() == &body) {
      wanted.insert(source);
    }
  };
  for (Operation &op : body) {
    if (isAsked && isa<tile::LoadAccess>(op)) {
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
  return wanted;
}

void LoopScheduler::findCopies(bool throughArithmetic) {
  copies.clear();
  ahead = {};
  SetVector<Operation *> wanted = wantedCopies(throughArithmetic);
  for (Operation *op : wanted) {
    auto load = cast<tile::LoadAccess>(op);
    StringRef why;
    if (!copyDimension(load, axes, why)) {
      reportStays(load, why);
      continue;
    }
    if (Operation *writer = writerOf(body, load.getPtr())) {
      reportStays(load,
                  "the loop writes an array" + inLine(writer) +
                      " that may be the one it reads",
                  "read and write through different parameters");
      continue;
    }
    LoopSlice slice = ahead;
    Operation *culprit = addAhead(slice, loop, load.getPtr());
    if (!culprit && load.getMask()) {
      culprit = addAhead(slice, loop, load.getMask());
    }
    if (culprit) {
      reportStays(load, isa<tile::LoadAccess>(culprit)
                            ? "its address or mask depends on what the same "
                              "iteration loads" +
                                  inLine(culprit)
                            : "its address or mask cannot be computed before "
                              "its iteration" +
                                  inLine(culprit));
      continue;
    }
    ahead = std::move(slice);
    copies.push_back(load);
  }
  if (tellsDecisions(loop.getContext())) {
    for (auto load : body.getOps<tile::LoadAccess>()) {
      if (!wanted.contains(load) && isa<RankedTensorType>(load.getType())) {
        reportStays(load, "no product of the loop reads it",
                    "tl.range(..., num_stages=2) copies all loads of a loop "
                    "ahead");
      }
    }
  }
}

/// Shared memory that the copies of scheduled loops inside of `op` will take.
static unsigned scheduledBytes(Operation *op) {
  unsigned most = 0;
  op->walk([&](scf::ForOp inner) {
    if (inner == op || !inner->hasAttr(slotsAttr)) {
      return;
    }
    LoopSchedule schedule = LoopSchedule::read(inner);
    unsigned bytes = scheduledBytes(inner);
    for (tile::LoadAccess load : schedule.copies()) {
      bytes += schedule.slots * tile::getBytes(load.getType());
    }
    most = std::max(most, bytes);
  });
  return most;
}

/// As many iterations ahead as asked for, if the buffers alone fit.
unsigned LoopScheduler::mostDistance() {
  unsigned stages =
      isInnermost(loop) ? options.stages : std::min(options.stages, 2u);
  if (auto asked = loop->getAttrOfType<IntegerAttr>("tile.num_stages")) {
    stages = asked.getInt();
  }
  unsigned slotBytes = 0;
  for (tile::LoadAccess load : copies) {
    slotBytes += tile::getBytes(load.getType());
  }
  unsigned taken = scheduledBytes(loop);
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
// Products in flight
//===----------------------------------------------------------------------===//

/// Can it be started, and waited for later? If nothing but buffers and
/// accumulators takes part in it.
bool LoopScheduler::canBeInFlight(Operation *product,
                                  const CopyReaders &readers) const {
  return readers.isReadInPlace(product->getOpOperand(0)) &&
         readers.isReadInPlace(product->getOpOperand(1)) &&
         tile::getElement(product->getResult(0).getType())
                 .getIntOrFloatBitWidth() == 32;
}

/// The products that run while the next copies are started: the first, and
/// those after it that need nothing of it, as two products of one left operand
/// do.
llvm::SmallSetVector<Operation *, 4>
LoopScheduler::productsInFlight(const LoopSlice &computation,
                                const CopyReaders &readers) const {
  llvm::SmallSetVector<Operation *, 4> products;
  for (Operation &op : body.without_terminator()) {
    if (!computation.ops.contains(&op)) {
      continue;
    }
    bool needsOne = llvm::any_of(op.getOperands(), [&](Value operand) {
      return products.contains(operand.getDefiningOp());
    });
    if (isWarpgroupProduct(&op)) {
      if (needsOne || !canBeInFlight(&op, readers)) {
        break;
      }
      products.insert(&op);
    } else if (!products.empty() &&
               (needsOne || op.getNumRegions() ||
                !(isMemoryEffectFree(&op) ||
                  (op.getNumResults() && readers.copyOf(op.getResult(0)))))) {
      break;
    }
  }
  return products;
}

/// Why the products in flight end in their own iteration; empty where they need
/// not.
StringRef LoopScheduler::whyNotCarried(const LoopSlice &computation,
                                       const CopyReaders &readers) const {
  for (Operation *product : inFlight) {
    for (Value operand : product->getOperands().take_front(2)) {
      if (!readers.isOnlyReadInPlace(untransposed(operand))) {
        return "the iteration has one of its operands in registers, too";
      }
    }
    if (!isSumOfProducts(loop, cast<tile::DotOp>(product))) {
      return "the iteration uses its result";
    }
  }
  for (Operation *op : computation.ops) {
    bool hasOther =
        op->walk([&](Operation *inner) {
            return isWarpgroupProduct(inner) && !inFlight.contains(inner)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          }).wasInterrupted();
    if (hasOther) {
      return "another product of the iteration waits for all";
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

LoopSchedule LoopScheduler::makeSchedule(unsigned distance, bool hasExtraSlot) {
  CopyReaders readers(loop, copies);
  LoopSlice computation = computationOf(loop, readers);
  inFlight = productsInFlight(computation, readers);

  LoopSchedule schedule(loop);
  schedule.slots = distance + 1 + hasExtraSlot;
  unsigned order = 0;
  unsigned first = order; // up to the start of the products
  order += !inFlight.empty();
  for (Operation *op : ahead.ops) {
    schedule.run(op, {0, order});
  }
  ++order;
  auto finishProducts = [&](unsigned stage) {
    for (Operation *product : inFlight) {
      schedule.finish(product, {stage, order});
    }
    ++order;
  };
  whyEnds = options.carriesProducts ? whyNotCarried(computation, readers) : "";
  areCarried = options.carriesProducts && whyEnds.empty() && !inFlight.empty();
  if (areCarried && !hasExtraSlot) {
    finishProducts(distance + 1);
  }
  for (tile::LoadAccess load : copies) {
    schedule.run(load, {0, order++});
  }
  if (areCarried && hasExtraSlot) {
    finishProducts(distance + 1);
  } else if (!inFlight.empty() && !areCarried) {
    finishProducts(distance);
  }
  unsigned rest = order;
  bool isBehind = inFlight.empty();
  for (Operation &op : body.without_terminator()) {
    if (!computation.ops.contains(&op)) {
      continue;
    }
    Place place{distance, isBehind ? rest : first};
    if (llvm::is_contained(copies, &op)) {
      schedule.finish(&op, place);
    } else {
      schedule.run(&op, place);
    }
    isBehind |= !inFlight.empty() && &op == inFlight.back();
  }
  // Of a load that only products and conversions read.
  for (tile::LoadAccess load : copies) {
    if (!computation.ops.contains(load)) {
      schedule.finish(load, {distance, first});
    }
  }
  return schedule;
}

/// What the expanded loop's trips through shared memory take is known when it
/// is there: it exchanges less than the old one.
unsigned LoopScheduler::bytesOf(const LoopSchedule &schedule) {
  LoopExpander expander(loop, schedule, axes);
  expander.expand();
  unsigned bytes = bytesNeeded(expander.made(), living) + scheduledBytes(loop);
  expander.undo();
  return bytes;
}

/// Are the products of an iteration so short that a barrier takes much of it?
bool LoopScheduler::isShort() const {
  constexpr unsigned shortRowBytes = 64; // two instructions along K
  return llvm::all_of(inFlight, [&](Operation *product) {
    auto dot = cast<tile::DotOp>(product);
    auto operand = cast<RankedTensorType>(dot.getLhs().getType());
    unsigned rowBytes = operand.getShape().back() *
                        tile::getElementBytes(operand.getElementType());
    return rowBytes <= shortRowBytes;
  });
}

/// Do as many programs share a processor with it, as far as their registers let
/// them?
bool LoopScheduler::isExtraSlotFree(unsigned bytes, unsigned withExtra) const {
  constexpr unsigned registersBesides = 40; // the sums
  const TargetInfo &target = options.target;
  unsigned registers = registersBesides;
  for (Operation *product : inFlight) {
    registers += layoutOf(product->getResult(0).getType()).registerCount();
  }
  unsigned ofSystem = target.processorShared - target.sharedLimit;
  auto programs = [&](unsigned shared) {
    return target.processorShared / (shared + ofSystem);
  };
  unsigned byRegisters =
      target.processorRegisters / (options.threads * registers);
  return withExtra <= options.sharedLimit &&
         programs(withExtra) >= std::min(programs(bytes), byRegisters);
}

bool LoopScheduler::runWithCopies() {
  unsigned distance = mostDistance();
  for (; distance; --distance) {
    LoopSchedule schedule = makeSchedule(distance, /*hasExtraSlot=*/false);
    unsigned needed = bytesOf(schedule);
    if (needed <= options.sharedLimit) {
      if (areCarried && isShort()) {
        LoopSchedule roomy = makeSchedule(distance, /*hasExtraSlot=*/true);
        hasExtraSlot = isExtraSlotFree(needed, bytesOf(roomy));
        if (hasExtraSlot) {
          schedule = std::move(roomy);
        }
      }
      schedule.write();
      break;
    }
    chosen.needed = needed;
  }
  chosen.distance = distance;
  return distance;
}

/// Products wait for what their operands are computed from, too: weights to be
/// unpacked, say. Where shared memory has no room for two iterations of all of
/// it, for the operands that are loaded as they are alone.
bool LoopScheduler::run() {
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
  return isDone;
}

void LoopScheduler::tell() {
  if (!tellsDecisions(loop.getContext())) {
    return;
  }
  reportStages(loop, chosen);
  if (chosen.distance) {
    for (Operation *product : inFlight) {
      recordDecision(
          product->getLoc(),
          {"dot",
           areCarried ? "runs on into the next iteration"
                      : "runs while the next iteration's copies start",
           areCarried || !options.carriesProducts ? ""
                                                  : "into the next iteration",
           areCarried ? hasExtraSlot
                            ? "only the next iteration's product needs the "
                              "sum; copies "
                              "go to one slot more, which costs no program"
                            : "only the next iteration's product needs the sum"
           : whyEnds.empty() ? "both operands lie in shared memory"
                             : whyEnds.str(),
           ""});
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ScheduleLoopsPass : impl::ScheduleLoopsBase<ScheduleLoopsPass> {
  using ScheduleLoopsBase::ScheduleLoopsBase;

  void runOnOperation() override;
};
} // namespace

void ScheduleLoopsPass::runOnOperation() {
  const TargetInfo *target = targetOf(getOperation());
  if (!target) {
    return signalPassFailure();
  }
  reportLoopsNotSeen(getOperation(), *target);
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    bool hasLoad = llvm::any_of(*loop.getBody(), [](Operation &op) {
      return isa<tile::LoadAccess>(op);
    });
    if (hasLoad) { // inner loops come first
      loops.push_back(loop);
    }
  });
  if (target->hasAsyncCopies && !loops.empty()) {
    auto &axes = getAnalysis<AxisInfoAnalysis>();
    ScheduleOptions options{
        *target, target->lanes * warpsOf(getOperation()), stages,
        sharedLimit ? sharedLimit.getValue() : target->sharedLimit,
        carryProducts};
    // The copies' buffers live around one loop, and change no other's.
    auto living = buffersAtLoops(getOperation());
    for (scf::ForOp loop : loops) {
      LoopScheduler(loop, axes, options, living[loop]).run();
    }
  }
  // Whatever it removes it has made itself.
  markAnalysesPreserved<AxisInfoAnalysis>();
}

} // namespace nereid::tilegpu
