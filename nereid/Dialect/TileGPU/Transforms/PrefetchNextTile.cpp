//===- PrefetchNextTile.cpp - Memory for programs to come -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that reduces its row loads, waits, computes and stores, and only
// then does the program that takes its place begin to load: the memory is
// asked for less than it could give. So a program asks for what program
// `id + distance` will load, to be in the second-level cache when that one
// starts: the scalars that say where the row begins, and how long it is, are
// computed once more with the later id. The later program exists, and loads
// there itself, so nothing is touched that it would not touch.
//
// Weights, which every program reads after a reduction, come late only for
// the first programs, all at once, from memory: program 0 asks for them before
// it does anything else.
//
// What loses is left alone: element-wise kernels, and loads in loops, which a
// program can start ahead of their use itself; several rows a program, where
// one is as fast. A softmax of 4096x4096 bf16 loses too and is not
// distinguished: hence num_stages of 1, which turns all this off.
// docs/decisions/Prefetch.md has the cases.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_PREFETCHNEXTTILE
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

/// Shorter rows are not worth an instruction.
constexpr int64_t fewestBytes = 512;
/// Of a program, in terms of what keeps a processor's memory busy. One that
/// loads more does that on its own.
constexpr int64_t mostInFlight = 4;
/// Loads of a thread in front of a prefetch. More would hold it up.
constexpr int64_t fewLoads = 4;
/// Of a processor's registers, the part that the elements of rows take, one a
/// register. It tells how many programs start together.
constexpr int64_t registerShare = 2;
/// Operations that say where a row begins, computed twice.
constexpr unsigned longestSlice = 64;

/// `index < limit` along a row.
struct Bound {
  Value index, limit;
  bool isSigned = true;
};

/// A load of one row.
struct Fetch {
  tile::LoadAccess load;
  int64_t elements, elementBytes;
  SmallVector<Value> masks; ///< all or nothing
  SmallVector<Bound> bounds;

  int64_t bytes() const { return elements * elementBytes; }
};

class ProgramPrefetcher {
public:
  ProgramPrefetcher(func::FuncOp kernel, const TargetInfo &target,
                    const AxisInfoAnalysis &axes)
      : kernel(kernel), body(kernel.getBody().front()), target(target),
        axes(axes), b(kernel.getContext()) {}

  void run();

private:
  void findWaited();
  std::optional<SetVector<Operation *>> sliceOf(tile::LoadAccess load) const;
  /// Absent, with the reason, where the row is not asked for.
  std::optional<Fetch> fetchOf(tile::LoadAccess load, std::string &why) const;
  bool addMask(Value mask, unsigned axis, Fetch &fetch) const;
  bool storesAsMuch(int64_t bytes);

  void reportNoPrefetch(tile::LoadAccess load, const Twine &reason) const;
  /// Of every row that a reduction waits for.
  void reportNoPrefetch(const Twine &reason);

  void askForLater(MutableArrayRef<Fetch> fetches);
  void askForShared(MutableArrayRef<Fetch> fetches);
  void ask(Fetch &fetch, Value later, Value condition);
  Value first(Value value);
  Value computeFirst(Value value);
  Value lengthOf(const Fetch &fetch);
  Value constant(int64_t value, unsigned bits = 32) {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(b.getIntegerType(bits), value));
  }
  Value programId() {
    return tile::ProgramIdOp::create(b, loc, b.getI32Type(), /*axis=*/0);
  }

  func::FuncOp kernel;
  Block &body;
  const TargetInfo &target;
  const AxisInfoAnalysis &axes;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  /// Loads that a reduction of the kernel's own block depends on.
  DenseSet<Operation *> waited;
  /// First elements for one program, and that program's number along axis 0;
  /// null: the running one.
  DenseMap<Value, Value> firsts;
  Value program;
};

} // namespace

//===----------------------------------------------------------------------===//
// What can be asked for
//===----------------------------------------------------------------------===//

void ProgramPrefetcher::findWaited() {
  SmallVector<Operation *> work;
  DenseSet<Operation *> seen;
  for (Operation &op : body) {
    if (isa<tile::ReduceOp>(op)) {
      work.push_back(&op);
    }
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (isa<tile::LoadAccess>(op)) {
      waited.insert(op);
      continue;
    }
    for (Value operand : op->getOperands()) {
      Operation *from = operand.getDefiningOp();
      if (from && from->getBlock() == &body && seen.insert(from).second) {
        work.push_back(from);
      }
    }
  }
}

/// What addresses and mask come from, if that can be computed for another
/// program, and cheaply.
std::optional<SetVector<Operation *>>
ProgramPrefetcher::sliceOf(tile::LoadAccess load) const {
  SetVector<Operation *> slice;
  SmallVector<Value> work = {load.getPtr()};
  if (load.getMask()) {
    work.push_back(load.getMask());
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !slice.insert(op)) {
      continue;
    }
    bool isCheap = (tile::isElementwise(op) && op->getNumResults() == 1) ||
                   isa<arith::ConstantOp, tile::RangeOp, tile::SplatOp,
                       tile::BroadcastOp, tile::ExpandDimsOp, tile::TransposeOp,
                       tile::ProgramIdOp, tile::NumProgramsOp>(op);
    if (op->getBlock() != &body || !isCheap || !isMemoryEffectFree(op) ||
        !isSpeculatable(op) || slice.size() > longestSlice) {
      return std::nullopt;
    }
    llvm::append_range(work, op->getOperands());
  }
  return slice;
}

/// Splits a mask into what holds for the whole row and bounds along it.
bool ProgramPrefetcher::addMask(Value mask, unsigned axis, Fetch &fetch) const {
  using P = arith::CmpIPredicate;
  auto isWhole = [&](ArrayRef<int64_t> runs) {
    return runs[axis] == fetch.elements;
  };
  SmallVector<Value> work = {mask};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value part = work.pop_back_val();
    if (!seen.insert(part).second) {
      continue;
    }
    if (auto both = part.getDefiningOp<arith::AndIOp>()) {
      llvm::append_range(work, both->getOperands());
      continue;
    }
    if (isWhole(axes.get(part).constancy)) {
      fetch.masks.push_back(part);
      continue;
    }
    auto compare = part.getDefiningOp<arith::CmpIOp>();
    if (!compare ||
        !llvm::is_contained({P::slt, P::ult}, compare.getPredicate()) ||
        !isWhole(axes.get(compare.getLhs()).contiguity) ||
        !isWhole(axes.get(compare.getRhs()).constancy)) {
      return false;
    }
    fetch.bounds.push_back(
        {compare.getLhs(), compare.getRhs(), compare.getPredicate() == P::slt});
  }
  return true;
}

std::optional<Fetch> ProgramPrefetcher::fetchOf(tile::LoadAccess load,
                                                std::string &why) const {
  auto type = cast<RankedTensorType>(load.getType());
  unsigned axis = axes.order(load.getPtr())[0];
  const AxisInfo &info = axes.get(load.getPtr());
  Fetch fetch{load,
              type.getNumElements(),
              tile::getElementBytes(tile::getElement(type)),
              {},
              {}};
  if (info.contiguity[axis] != fetch.elements) {
    why = "it is not one run of consecutive addresses";
  } else if (info.divisibility[axis] % 16) {
    why = "its address is not known to be divisible by 16 bytes";
  } else if (fetch.bytes() < fewestBytes) {
    why = "its " + byteCount(fetch.bytes()) + " are fewer than " +
          byteCount(fewestBytes);
  } else if (load.getMask() && !addMask(load.getMask(), axis, fetch)) {
    why = "its mask is not a bound along the row";
  }
  return why.empty() ? std::optional(std::move(fetch)) : std::nullopt;
}

/// A program that writes a block too holds its place while it only computes
/// and writes. Where rows are only read, others' loads fill that time, and
/// asking twice costs time (docs/decisions/Prefetch.md).
bool ProgramPrefetcher::storesAsMuch(int64_t bytes) {
  int64_t stored = 0;
  for (tile::StoreAccess store : body.getOps<tile::StoreAccess>()) {
    if (isa<RankedTensorType>(store.getValue().getType())) {
      stored += tile::getBytes(store.getValue().getType());
    }
  }
  return 2 * stored >= bytes;
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

/// The element at index 0 of all dimensions, in `program`.
Value ProgramPrefetcher::first(Value value) {
  if (Value known = firsts.lookup(value)) {
    return known;
  }
  Value made = computeFirst(value);
  firsts[value] = made;
  return made;
}

Value ProgramPrefetcher::computeFirst(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    return value;
  }
  if (isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
          tile::TransposeOp, tile::HintOp>(op)) {
    return first(op->getOperand(0));
  }
  if (auto range = dyn_cast<tile::RangeOp>(op)) {
    return constant(static_cast<int32_t>(range.getStart()));
  }
  if (auto id = dyn_cast<tile::ProgramIdOp>(op);
      id && id.getAxis() == 0 && program) {
    return program;
  }
  auto literal = dyn_cast<arith::ConstantOp>(op);
  if (auto dense =
          literal ? dyn_cast<DenseElementsAttr>(literal.getValue()) : nullptr) {
    return arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(*dense.getValues<Attribute>().begin()));
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(first(operand));
  }
  Operation *made =
      tile::recreate(b, op, operands, tile::getElement(value.getType()));
  made->setLoc(loc);
  return made->getResult(0);
}

Value ProgramPrefetcher::lengthOf(const Fetch &fetch) {
  if (fetch.bounds.empty()) {
    return constant(fetch.bytes());
  }
  Value elements = constant(fetch.elements, 64);
  for (const Bound &bound : fetch.bounds) {
    auto wide = [&](Value tensor) -> Value {
      Value value = first(tensor);
      if (value.getType().isInteger(64)) {
        return value;
      }
      return bound.isSigned
                 ? Value(arith::ExtSIOp::create(b, loc, b.getI64Type(), value))
                 : arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
    };
    Value left =
        arith::SubIOp::create(b, loc, wide(bound.limit), wide(bound.index));
    left = arith::MaxSIOp::create(b, loc, left, constant(0, 64));
    elements = arith::MinSIOp::create(b, loc, elements, left);
  }
  return arith::MulIOp::create(
      b, loc, arith::TruncIOp::create(b, loc, b.getI32Type(), elements),
      constant(fetch.elementBytes));
}

/// For program `later`, or for all if there is none.
void ProgramPrefetcher::ask(Fetch &fetch, Value later, Value condition) {
  loc = fetch.load.getLoc();
  firsts.clear();
  program = later;
  for (Value mask : fetch.masks) {
    condition = arith::AndIOp::create(b, loc, condition, first(mask));
  }
  Value bytes = lengthOf(fetch);
  PrefetchOp::create(b, loc, first(fetch.load.getPtr()), bytes, condition);
}

void ProgramPrefetcher::askForLater(MutableArrayRef<Fetch> fetches) {
  int64_t bytes = 0, elements = 0;
  for (const Fetch &fetch : fetches) {
    elements += fetch.elements;
    bytes += fetch.bytes();
  }
  int64_t warps = warpsOf(kernel);
  int64_t mostBytes = mostInFlight * target.bytesInFlight;
  if (bytes > mostBytes) {
    return reportNoPrefetch("a program's rows of " + byteCount(bytes) +
                            " keep the memory busy on their own");
  }
  for (const Fetch &fetch : fetches) {
    reportDecision(fetch.load, [&] {
      return Decision{"row",
                      "an earlier program prefetches it, " +
                          byteCount(fetch.bytes()),
                      "", "a reduction waits for it", ""};
    });
  }
  // The program's own loads come first, unless they would hold it up.
  if (bytes <= fewLoads * target.accessBytes * target.lanes * warps) {
    b.setInsertionPointAfter(fetches.back().load);
  }
  int64_t together =
      std::min({int64_t(target.processorBlocks),
                std::max<int64_t>(target.processorWarps / warps, 1),
                std::max<int64_t>(
                    target.processorRegisters / registerShare / elements, 1)});
  // What keeps the memory busy, but at least half a program: twice as much, and
  // a quarter of a program, were slower (docs/decisions/Prefetch.md).
  int64_t bytesAhead = target.bytesInFlight;
  Value processors = MultiprocessorsOp::create(b, loc, b.getI32Type());
  Value distance = arith::DivUIOp::create(
      b, loc, arith::MulIOp::create(b, loc, processors, constant(bytesAhead)),
      constant(std::min(bytes, 2 * bytesAhead)));
  Value later = arith::AddIOp::create(b, loc, programId(), distance);
  Value exists = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ult, later,
      tile::NumProgramsOp::create(b, loc, b.getI32Type(), /*axis=*/0));
  // The first programs start together, and load for themselves.
  Value isLater = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::uge, later,
      arith::MulIOp::create(b, loc, processors, constant(together)));
  Value condition = arith::AndIOp::create(b, loc, exists, isLater);
  for (Fetch &fetch : fetches) {
    ask(fetch, later, condition);
  }
}

void ProgramPrefetcher::askForShared(MutableArrayRef<Fetch> fetches) {
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        programId(), constant(0));
  for (Fetch &fetch : fetches) {
    reportDecision(fetch.load, [] {
      return Decision{"row", "program 0 prefetches it before anything else", "",
                      "all programs read it after a reduction", ""};
    });
    ask(fetch, {}, isFirst);
  }
}

void ProgramPrefetcher::reportNoPrefetch(tile::LoadAccess load,
                                         const Twine &reason) const {
  reportDecision(load, [&] {
    return Decision{"row", "each program loads it without a prefetch",
                    "prefetched by an earlier program", reason.str(), ""};
  });
}

void ProgramPrefetcher::reportNoPrefetch(const Twine &reason) {
  if (tellsDecisions(kernel.getContext())) {
    for (auto load : body.getOps<tile::LoadAccess>()) {
      if (waited.contains(load)) {
        reportNoPrefetch(load, reason);
      }
    }
  }
}

void ProgramPrefetcher::run() {
  bool isChecked =
      kernel.walk([](tile::CheckBoundsOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  findWaited();
  if (isChecked) { // a wrong address is reported, not prefetched
    return reportNoPrefetch("NEREID_CHECK=oob reports wrong addresses instead");
  }
  Operation *start = nullptr; // the first load of what the program is for
  int64_t loaded = 0;
  SmallVector<Fetch> later, shared;
  bool isReduced = false;
  for (Operation &op : body) {
    isReduced |= isa<tile::ReduceOp>(op);
    auto load = dyn_cast<tile::LoadAccess>(op);
    if (!load || !isa<RankedTensorType>(load.getType()) ||
        load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV) {
      continue;
    }
    auto slice = sliceOf(load);
    if (!slice) {
      if (waited.contains(load)) {
        reportNoPrefetch(load,
                         "its address is not arithmetic on program ids and "
                         "arguments");
      }
      continue;
    }
    bool isOfProgram = llvm::any_of(
        *slice, [](Operation *op) { return isa<tile::ProgramIdOp>(op); });
    std::string why;
    std::optional<Fetch> fetch = fetchOf(load, why);
    if (isOfProgram && waited.contains(load)) {
      start = start ? start : load;
      loaded = std::max(loaded, tile::getBytes(load.getType()));
      if (fetch) {
        later.push_back(std::move(*fetch));
      } else {
        reportNoPrefetch(load, why);
      }
    } else if (!isOfProgram && isReduced && fetch) {
      shared.push_back(std::move(*fetch));
    }
  }
  if (!start) {
    return;
  }
  if (!storesAsMuch(loaded)) {
    return reportNoPrefetch("the kernel stores less than half of the " +
                            byteCount(loaded) + " that it loads");
  }
  loc = start->getLoc();
  b.setInsertionPoint(start);
  if (!shared.empty()) {
    askForShared(shared);
  }
  if (!later.empty()) {
    askForLater(later);
  }
}

/// Rows that the pass does not look at.
static void reportUnseen(func::FuncOp kernel, const TargetInfo &target) {
  auto tell = [](Operation *reduce, const Twine &reason) {
    recordDecision(reduce->getLoc(),
                   {"row", "each program loads it without a prefetch",
                    "prefetched by an earlier program", reason.str(), ""});
  };
  kernel.walk([&](tile::ReduceOp reduce) {
    if (!target.hasBulkPrefetch) {
      tell(reduce, target.name + " has no bulk prefetch");
    } else if (reduce->getParentOfType<LoopLikeOpInterface>()) {
      tell(reduce, "what it reduces may be loaded in its loop, which can start "
                   "loads ahead itself");
    } else if (reduce->getParentOp() != kernel) {
      tell(reduce, "it stands under a condition; an early return makes one");
    }
  });
}

namespace {
struct PrefetchNextTilePass : impl::PrefetchNextTileBase<PrefetchNextTilePass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    const TargetInfo *target = targetOf(kernel);
    if (!target) {
      return signalPassFailure();
    }
    if (tellsDecisions(&getContext())) {
      reportUnseen(kernel, *target);
    }
    // Axes are analysed only where somebody may wait.
    if (target->hasBulkPrefetch &&
        !kernel.getBody().front().getOps<tile::ReduceOp>().empty()) {
      ProgramPrefetcher(kernel, *target, getAnalysis<AxisInfoAnalysis>()).run();
    }
    markAnalysesPreserved<AxisInfoAnalysis>(); // nothing is removed
  }
};
} // namespace

} // namespace nereid::tilegpu
