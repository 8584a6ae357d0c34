//===- SpecializeWarps.cpp - Warps that copy, warps that multiply ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of products whose operands are boxes of tensors become two: one thread
// of warps of its own copies tiles into rings of slots as far ahead as the
// rings have room, and the other warps do the rest of the kernel
// (docs/Schedules.md, *Roles of warps*). First the loops get both halves, in
// order, which would be right for one role; then the kernel's body stands in
// both branches of a condition, and each is left with its half.
//
// Where all products are sums that the next iteration's products alone need,
// there is one ring, and a product ends when the next one runs. Else each
// product has a ring of what it reads, and ends in its iteration, until
// overlapProducts lets those of two iterations run side by side.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/Scratch.h"
#include "nereid/Analysis/SharedAllocation.h"
#include "nereid/Dialect/TileGPU/Transforms/DeferResults.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"
#include "nereid/Dialect/TileGPU/Transforms/OverlapProducts.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"
#include "nereid/Dialect/TileGPU/Transforms/RoleLoops.h"
#include "nereid/Dialect/TileGPU/Transforms/RoleSlices.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

class WarpSpecializer {
public:
  WarpSpecializer(func::FuncOp kernel, const TargetInfo &target,
                  unsigned stages)
      : kernel(kernel), target(target), stages(stages), b(kernel.getContext()) {
  }
  /// False where the kernel stays as it is.
  bool run();

private:
  bool chooseSlots();
  void addMap(TileCopy &copy);
  void allocate();
  void addRing();
  SmallVector<Value> addRing(scf::ForOp &loop, ValueRange ring);
  void emitProducerHalf(RoleLoop &role);
  void emitCopy(TileCopy &copy, Value place, Value slot, Value barriers);
  void emitOuterCopy(OuterCopy &outer);
  Value read(RoleLoop &role, OpOperand &operand);
  void readOperands(RoleLoop &role, tile::DotOp product);
  void emitCarriedProducts(RoleLoop &role);
  void finishProducts(RoleLoop &role);
  void emitProducts(RoleLoop &role);
  void giveWarpsPlaces(Block &computing);
  bool fitSlots();
  bool specialize();
  Value materialize(Location loc, const IndexPolynomial &index);
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, kernel.getLoc(),
                                     b.getI32IntegerAttr(value));
  }
  Value before(Value slot);

  func::FuncOp kernel;
  const TargetInfo &target;
  unsigned stages, slots = 0;
  OpBuilder b;
  KernelRoles found;
  SmallVector<RoleLoop, 0> &roles = found.loops;
  Value outerPhase;            ///< of their rings, where the loops stand
  SmallVector<AllocOp> places; ///< of the copies of each loop, in order
  SmallVector<AllocOp> rings;  ///< barriers
  arith::ConstantOp lastSlot;
  DenseMap<Value, Value> moved; ///< arguments of loops that were made again
};

} // namespace

/// With one, nothing runs ahead.
static constexpr unsigned leastSlots = 2;

/// The rings live as long as the kernel, beside what the rest of it needs:
/// fitSlots sees.
bool WarpSpecializer::chooseSlots() {
  unsigned most = stages, slotBytes = 0;
  if (auto asked =
          roles[0].loop->getAttrOfType<IntegerAttr>("tile.num_stages")) {
    most = asked.getInt();
  }
  for (unsigned bytes : roles[0].ringBytes) {
    slotBytes += bytes;
  }
  slots = std::min(most, target.sharedLimit / slotBytes);
  if (slots < leastSlots) {
    reportNoRoles(roles[0].loop, "it has num_stages=1, or shared memory has no "
                                 "room for two tiles of each operand");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Both halves
//===----------------------------------------------------------------------===//

static void addNumber(const std::optional<IndexPolynomial> &number,
                      SmallVectorImpl<int64_t> &numbers) {
  if (!number) {
    numbers.push_back(-1);
    return;
  }
  numbers.push_back(number->getTerms().size());
  for (const auto &[product, coefficient] : number->getTerms()) {
    numbers.push_back(coefficient);
    numbers.push_back(product.size());
    for (Value factor : product) {
      numbers.push_back(cast<BlockArgument>(factor).getArgNumber());
    }
  }
}

void WarpSpecializer::addMap(TileCopy &copy) {
  SmallVector<int64_t> numbers, box;
  Type element = tile::getElement(copy.load.getType());
  constexpr unsigned swizzledBytes = 128;
  for (const TensorMapAccess::Dimension &dimension : copy.access.dimensions) {
    addNumber(dimension.stride, numbers);
    addNumber(dimension.size, numbers);
    box.push_back(dimension.box);
  }
  box[0] = swizzledBytes / tile::getElementBytes(element);
  unsigned number = kernel.getNumArguments();
  auto attributes = DictionaryAttr::get(
      b.getContext(),
      b.getNamedAttr(tensorMapAttr,
                     TensorMapSourceAttr::get(
                         b.getContext(), copy.access.base.getArgNumber(),
                         element, swizzledBytes, box, numbers)));
  LogicalResult added = kernel.insertArgument(
      number, TensorMapType::get(b.getContext()), attributes, kernel.getLoc());
  (void)added;
  copy.map = kernel.getArgument(number);
}

void WarpSpecializer::allocate() {
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  Location loc = kernel.getLoc();
  for (TileCopy &copy : roles[0].copies) {
    auto type =
        BufferType::get(b.getContext(), slots, copy.buffer.getShape(),
                        copy.buffer.getElementType(), copy.buffer.getOffsets());
    places.push_back(AllocOp::create(b, copy.load.getLoc(), type));
  }
  auto barriers = [&](unsigned count) {
    return AllocOp::create(
        b, loc,
        BufferType::get(b.getContext(), count, {2}, b.getI64Type(), {1}));
  };
  for (size_t i = 0; i < roles[0].ringBytes.size(); ++i) {
    rings.push_back(barriers(slots));
  }
  SmallVector<AllocOp> made(places);
  made.append(rings);
  for (OuterCopy &outer : found.outerCopies) {
    for (Operation *user :
         llvm::make_early_inc_range(outer.place->getUsers())) {
      if (isa<FreeOp>(user)) {
        user->erase();
      }
    }
    outer.place->moveBefore(&entry, b.getInsertionPoint());
    outer.barriers = barriers(1);
    made.append({outer.place, outer.barriers});
  }
  lastSlot = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(slots - 1));
  SmallVector<Value> all(rings.begin(), rings.end());
  for (OuterCopy &outer : found.outerCopies) {
    all.push_back(outer.barriers);
  }
  InitSlotsOp::create(b, loc, all);
  b.setInsertionPoint(entry.getTerminator());
  for (AllocOp place : llvm::reverse(made)) {
    FreeOp::create(b, loc, place);
  }
}

/// The loop made again, with `ring` carried through it: its arguments.
SmallVector<Value> WarpSpecializer::addRing(scf::ForOp &loop, ValueRange ring) {
  IRRewriter rewriter(b.getContext());
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> old(loop.getBody()->getArguments());
  auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, ring, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      }));
  for (auto [before, after] :
       llvm::zip_first(old, made.getBody()->getArguments())) {
    moved[before] = after;
  }
  loop = made;
  auto arguments = made.getRegionIterArgs().take_back(ring.size());
  return {arguments.begin(), arguments.end()};
}

static void yieldRing(scf::ForOp loop, ValueRange ring) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, value] : llvm::enumerate(ring)) {
    yield->setOperand(yield->getNumOperands() - ring.size() + i, value);
  }
}

/// Slot and phase go through the loops and those around them.
void WarpSpecializer::addRing() {
  SmallVector<scf::ForOp> nest; // outermost first
  for (Operation *op = roles[0].loop->getParentOp(); op != kernel;
       op = op->getParentOp()) {
    nest.insert(nest.begin(), cast<scf::ForOp>(op));
  }
  b.setInsertionPointAfter(lastSlot);
  Value zero = constant(0);
  SmallVector<Value> ring = {zero, zero, zero};
  for (scf::ForOp &outer : nest) {
    ring = addRing(outer, ring);
  }
  outerPhase = ring.pop_back_val();
  for (RoleLoop &role : roles) {
    ring = addRing(role.loop, ring);
    role.slot = ring[0];
    role.phase = ring[1];
    // Of the next iteration.
    b.setInsertionPoint(role.loop.getBody()->getTerminator());
    Location loc = role.loc();
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         role.slot, lastSlot);
    Value next = arith::SelectOp::create(
        b, loc, isLast, constant(0),
        arith::AddIOp::create(b, loc, role.slot, constant(1)));
    Value turned = arith::XOrIOp::create(
        b, loc, role.phase,
        arith::ExtUIOp::create(b, loc, b.getI32Type(), isLast));
    yieldRing(role.loop, {next, turned});
    auto results = role.loop.getResults().take_back(ring.size());
    ring.assign(results.begin(), results.end());
  }
  if (!nest.empty()) {
    b.setInsertionPoint(nest.back().getBody()->getTerminator());
    ring.push_back(
        arith::XOrIOp::create(b, kernel.getLoc(), outerPhase, constant(1)));
  }
  for (scf::ForOp outer : llvm::reverse(nest)) {
    yieldRing(outer, ring);
    auto results = outer.getResults().take_back(ring.size());
    ring.assign(results.begin(), results.end());
  }
}

Value WarpSpecializer::materialize(Location loc, const IndexPolynomial &index) {
  Value sum;
  for (const auto &[product, coefficient] : index.getTerms()) {
    Value term;
    for (Value factor : product) {
      Value word = moved.lookup_or(factor, factor);
      Type type = word.getType();
      if (type.isIndex()) {
        word = arith::IndexCastOp::create(b, loc, b.getI32Type(), word);
      } else if (type.getIntOrFloatBitWidth() > 32) {
        word = arith::TruncIOp::create(b, loc, b.getI32Type(), word);
      } else if (type.getIntOrFloatBitWidth() < 32) {
        word = arith::ExtSIOp::create(b, loc, b.getI32Type(), word);
      }
      term =
          term ? arith::MulIOp::create(b, loc, term, word).getResult() : word;
    }
    if (!term || coefficient != 1) {
      Value times = constant(coefficient);
      term =
          term ? arith::MulIOp::create(b, loc, term, times).getResult() : times;
    }
    sum = sum ? arith::AddIOp::create(b, loc, sum, term).getResult() : term;
  }
  return sum ? sum : constant(0);
}

void WarpSpecializer::emitCopy(TileCopy &copy, Value place, Value slot,
                               Value barriers) {
  b.setInsertionPoint(copy.load); // what its address comes from is there
  Location loc = copy.load.getLoc();
  SmallVector<Value> coordinates;
  for (const TensorMapAccess::Dimension &dimension : copy.access.dimensions) {
    coordinates.push_back(materialize(loc, dimension.start));
  }
  CopyTileOp::create(b, loc, copy.map, coordinates, place, slot, barriers);
}

void WarpSpecializer::emitProducerHalf(RoleLoop &role) {
  SmallVector<bool> isFilled(rings.size());
  for (auto [copy, place] : llvm::zip_equal(role.copies, places)) {
    AllocOp ring = rings[copy.ring];
    if (!isFilled[copy.ring]) {
      isFilled[copy.ring] = true;
      b.setInsertionPoint(copy.load);
      if (copy.ring == 0) {
        b.setInsertionPointToStart(role.loop.getBody());
      }
      FillSlotOp::create(b, role.loc(), ring, role.slot, role.phase,
                         role.ringBytes[copy.ring]);
    }
    emitCopy(copy, place, role.slot, ring);
  }
}

/// Both halves of a copy in front of the loops.
void WarpSpecializer::emitOuterCopy(OuterCopy &outer) {
  tile::LoadAccess load = outer.copy.load;
  Location loc = load.getLoc();
  b.setInsertionPoint(load);
  Value zero = constant(0);
  FillSlotOp::create(b, loc, outer.barriers, zero, outerPhase,
                     outer.copy.buffer.getSlotBytes());
  emitCopy(outer.copy, outer.place, zero, outer.barriers);
  b.setInsertionPoint(roles[0].loop);
  WaitSlotOp::create(b, loc, outer.barriers, zero, outerPhase);
  b.setInsertionPointAfter(roles.back().loop);
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  ReleaseSlotOp::create(b, loc, outer.barriers, zero, always);
  outer.store->erase();
  load.erase();
}

Value WarpSpecializer::read(RoleLoop &role, OpOperand &operand) {
  Value source = untransposed(operand.get());
  size_t i = llvm::find_if(role.copies,
                           [&](TileCopy &one) {
                             return one.load.getResult() == source;
                           }) -
             role.copies.begin();
  if (i == role.copies.size()) {
    return operand.get();
  }
  SmallVector<int32_t> order = orderOfUntransposed(operand.get());
  return LocalLoadOp::create(b, operand.getOwner()->getLoc(),
                             operand.get().getType(), places[i], role.slot,
                             order.empty() ? DenseI32ArrayAttr()
                                           : b.getDenseI32ArrayAttr(order));
}

void WarpSpecializer::readOperands(RoleLoop &role, tile::DotOp product) {
  b.setInsertionPoint(product);
  for (unsigned i : {0u, 1u}) {
    OpOperand &operand = product->getOpOperand(i);
    operand.set(read(role, operand));
  }
}

Value WarpSpecializer::before(Value slot) {
  Location loc = slot.getLoc();
  return arith::SelectOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot,
                            constant(0)),
      lastSlot, arith::SubIOp::create(b, loc, slot, constant(1)));
}

/// Each product goes on until the next one runs.
void WarpSpecializer::emitCarriedProducts(RoleLoop &role) {
  scf::ForOp loop = role.loop;
  Location loc = role.loc();
  b.setInsertionPoint(role.products.front());
  WaitSlotOp::create(b, loc, rings[0], role.slot, role.phase);
  for (tile::DotOp product : role.products) {
    readOperands(role, product);
    product->setAttr(inFlightAttr, b.getUnitAttr());
  }
  b.setInsertionPoint(loop.getBody()->getTerminator());
  WaitOlderProductsOp::create(b, loc, role.products.size());
  Value isLater =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                            loop.getInductionVar(), loop.getLowerBound());
  ReleaseSlotOp::create(b, loc, rings[0], before(role.slot), isLater);
}

void WarpSpecializer::finishProducts(RoleLoop &role) {
  scf::ForOp loop = role.loop;
  Location loc = role.loc();
  b.setInsertionPointAfter(loop);
  for (tile::DotOp product : role.products) {
    for (auto [yielded, result] :
         llvm::zip_equal(loop.getYieldedValues(), loop.getResults())) {
      if (yielded == product.getResult()) {
        auto done = WaitProductsOp::create(b, loc, result.getType(), result);
        result.replaceAllUsesExcept(done, done);
      }
    }
  }
  Value last = loop.getResults().take_back(2)[0];
  Value hasRun = hasIteration(b, loop, loop.getLowerBound(), 0);
  ReleaseSlotOp::create(b, loc, rings[0], before(last), hasRun);
}

/// Each product waits for its ring, and ends before the iteration goes on.
void WarpSpecializer::emitProducts(RoleLoop &role) {
  SmallVector<Operation *> first(rings.size()), last(rings.size());
  for (tile::DotOp product : role.products) {
    for (Value operand : product->getOperands().take_front(2)) {
      for (TileCopy &copy : role.copies) {
        if (copy.load.getResult() == untransposed(operand)) {
          last[copy.ring] = product;
          first[copy.ring] = first[copy.ring] ? first[copy.ring] : product;
        }
      }
    }
  }
  b.setInsertionPoint(role.loop);
  Value always = arith::ConstantOp::create(b, role.loc(), b.getBoolAttr(true));
  for (auto [ring, begin, end] : llvm::zip_equal(rings, first, last)) {
    b.setInsertionPoint(begin);
    WaitSlotOp::create(b, role.loc(), ring, role.slot, role.phase);
    b.setInsertionPointAfter(end);
    ReleaseSlotOp::create(b, role.loc(), ring, role.slot, always);
  }
  for (tile::DotOp product : role.products) {
    readOperands(role, product);
  }
}

/// Conversions inside warps go through a buffer of their own, so that no group
/// waits for another.
void WarpSpecializer::giveWarpsPlaces(Block &computing) {
  SmallVector<ConvertLayoutOp> conversions;
  unsigned bytes = 0;
  computing.walk([&](ConvertLayoutOp op) {
    if (unsigned own = bytesWithinWarp(op)) {
      bytes = std::max(bytes, own);
      conversions.push_back(op);
    }
  });
  if (conversions.empty()) {
    return;
  }
  unsigned all =
      llvm::PowerOf2Ceil(std::max(bytes, wavefrontBytes)) * warpsOf(kernel);
  SmallVector<uint32_t> offsets;
  for (unsigned bit = 1; bit < all; bit *= 2) {
    offsets.push_back(bit);
  }
  b.setInsertionPoint(rings[0]);
  auto place = AllocOp::create(
      b, kernel.getLoc(),
      BufferType::get(b.getContext(), 1, {all}, b.getI8Type(), offsets));
  b.setInsertionPoint(kernel.getBody().front().getTerminator());
  FreeOp::create(b, kernel.getLoc(), place);
  for (ConvertLayoutOp op : conversions) {
    op.getThroughMutable().assign(place);
  }
}

/// As many slots as shared memory has room for beside all else.
bool WarpSpecializer::fitSlots() {
  Block &entry = kernel.getBody().front();
  while (bytesNeeded({entry.begin(), entry.end()}, {}) > target.sharedLimit) {
    if (--slots < leastSlots) {
      reportNoRoles(roles[0].loop, "shared memory has no room for two tiles of "
                                   "each operand beside what else it holds");
      return false;
    }
    for (auto &made : {places, rings}) {
      for (AllocOp place : made) {
        BufferType type = place.getType();
        place.getResult().setType(
            BufferType::get(b.getContext(), slots, type.getShape(),
                            type.getElementType(), type.getOffsets()));
      }
    }
    lastSlot.setValueAttr(b.getI32IntegerAttr(slots - 1));
  }
  return true;
}

bool WarpSpecializer::specialize() {
  for (RoleLoop &role : roles) {
    for (TileCopy &copy : role.copies) {
      addMap(copy);
    }
  }
  for (OuterCopy &outer : found.outerCopies) {
    addMap(outer.copy);
  }
  allocate();
  addRing();
  for (OuterCopy &outer : found.outerCopies) {
    emitOuterCopy(outer);
  }
  for (RoleLoop &role : roles) {
    emitProducerHalf(role);
    if (found.areCarried) {
      emitCarriedProducts(role);
      finishProducts(role);
    } else {
      emitProducts(role);
    }
    for (TileCopy &copy : role.copies) {
      // Its last users are transposes that nothing needs.
      SmallVector<Operation *> users(copy.load->getUsers());
      for (Operation *user : users) {
        if (isOpTriviallyDead(user)) {
          user->erase();
        }
      }
      copy.load.erase();
    }
  }
  scf::IfOp branches = splitRoles(kernel, target);
  bool takesTurns = false, hasGroups = warpsOf(kernel) > target.warpsOfGroup();
  for (RoleLoop &role : roles) {
    takesTurns |= !found.areCarried && overlapProducts(role.loop, hasGroups);
  }
  if (found.areCarried && roles.size() == 1) {
    deferResults(roles[0].loop);
  }
  giveWarpsPlaces(*branches.elseBlock());
  if (takesTurns && hasGroups) {
    b.setInsertionPointToStart(branches.elseBlock());
    GiveTurnOp::create(b, kernel.getLoc(), /*first=*/true);
  }
  return fitSlots();
}

bool WarpSpecializer::run() {
  std::optional<KernelRoles> roles = findRoles(kernel, target);
  if (!roles) {
    return false;
  }
  found = std::move(*roles);
  if (!chooseSlots()) {
    return false;
  }
  func::FuncOp old = kernel.clone();
  bool isDone = specialize();
  if (!isDone) {
    kernel.getBody().takeBody(old.getBody());
    kernel->setAttrs(old->getAttrs());
  }
  old.erase();
  return isDone;
}

namespace {
struct SpecializeWarpsPass : impl::SpecializeWarpsBase<SpecializeWarpsPass> {
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() override {
    const TargetInfo *target = targetOf(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    if (!target->hasTensorMaps ||
        !WarpSpecializer(getOperation(), *target, stages).run()) {
      markAllAnalysesPreserved();
    }
  }
};
} // namespace

} // namespace nereid::tilegpu
