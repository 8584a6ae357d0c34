//===- SpecializeWarps.cpp - Warps that copy, warps that multiply ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop of products whose operands are boxes of tensors becomes two: one
// thread of warps of its own copies tiles into a ring of slots as far ahead as
// the ring has room, and the other warps do the rest of the kernel
// (docs/Schedules.md, *Roles of warps*). First the loop gets both halves, in
// order, which would be right for one role; then the kernel's body stands in
// both branches of a condition, and each is left with its half.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/SharedAllocation.h"
#include "nereid/Analysis/TensorMapAccess.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopSchedule.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"
#include "nereid/Dialect/TileGPU/Transforms/RoleSlices.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

/// A load of the loop that becomes a copy by the engine.
struct TileCopy {
  tile::LoadOp load;
  TensorMapAccess access;
  BufferType buffer; ///< of `slots` tiles, as soon as these are known
  Value map, place;  ///< the kernel's parameter; the buffer
};

class WarpSpecializer {
public:
  WarpSpecializer(func::FuncOp kernel, const TargetInfo &target,
                  unsigned stages)
      : kernel(kernel), target(target), stages(stages), ranges(kernel),
        axes(kernel), b(kernel.getContext()) {}
  /// False where the kernel stays as it is.
  bool run();

private:
  bool findLoop();
  bool findCopies();
  bool findCopy(tile::LoadOp load);
  bool chooseSlots();
  void addMaps();
  void allocate();
  void addRing();
  void emitProducerHalf();
  Value read(OpOperand &operand);
  void emitComputingHalf();
  void finishProducts();
  Value materialize(const IndexPolynomial &index);
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loop.getLoc(),
                                     b.getI32IntegerAttr(value));
  }
  Value before(Value slot);
  bool fail(Operation *op, StringRef reason);

  func::FuncOp kernel;
  const TargetInfo &target;
  unsigned stages, slots = 0, slotBytes = 0;
  IntegerRanges ranges;
  AxisInfoAnalysis axes;
  IndexReader indices;
  OpBuilder b;
  scf::ForOp loop;
  SmallVector<tile::DotOp> products;
  SmallVector<TileCopy> copies;
  Value barriers, slot, phase;  ///< of the loop's iteration
  DenseMap<Value, Value> moved; ///< arguments of loops that were made anew
};

} // namespace

bool WarpSpecializer::fail(Operation *op, StringRef reason) {
  tellDecision(op, [&] {
    return Decision{"loop", "all warps copy and multiply",
                    "warps of their own that copy", reason.str(), ""};
  });
  return false;
}

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

/// What may tell the kernel that memory has been written by others: the warps
/// that copy do nothing but copy.
static Operation *waitForOthers(func::FuncOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    auto grid = dyn_cast<tile::GridDependencyOp>(op);
    auto load = dyn_cast<tile::LoadOp>(op);
    auto assembly = dyn_cast<tile::InlineAsmOp>(op);
    bool waits = (grid && grid.getKind() == tile::GridDependency::Wait) ||
                 (load && load.getIsVolatile()) ||
                 (assembly && !assembly.getPure()) ||
                 isa<tile::RelaxOp, tile::AtomicCASOp>(op) ||
                 (isa<tile::AtomicRMWOp>(op) && !op->use_empty());
    found = waits && !found ? op : found;
  });
  return found;
}

/// The one loop that multiplies; all its products add to what it carries.
bool WarpSpecializer::findLoop() {
  bool isOther = false;
  kernel.walk([&](tile::DotOp dot) {
    auto parent = dyn_cast<scf::ForOp>(dot->getParentOp());
    if (!isWarpgroupProduct(dot) || !parent || (loop && parent != loop)) {
      isOther = true;
      return;
    }
    loop = parent;
    products.push_back(dot);
  });
  auto asked = loop ? loop->getAttrOfType<IntegerAttr>("tile.warp_specialize")
                    : IntegerAttr();
  if (!asked || !asked.getInt()) {
    return false;
  }
  if (isOther || !isInnermost(loop)) {
    return fail(loop, "the kernel has other products, or the loop other loops");
  }
  if (warpsOf(kernel) + target.warpsOfGroup() > target.mostWarps) {
    return fail(loop, "a block has no room for more warps");
  }
  if (Operation *wait = waitForOthers(kernel)) {
    return fail(wait, "the kernel may wait for another program here, and the "
                      "warps that copy would not");
  }
  for (Operation *outer = loop->getParentOp(); outer != kernel;
       outer = outer->getParentOp()) {
    if (!isa<scf::ForOp>(outer)) {
      return fail(loop, "the loop runs under a condition");
    }
  }
  for (tile::DotOp product : products) {
    if (!isSumOfProducts(loop, product) ||
        tile::getElement(product.getType()).getIntOrFloatBitWidth() != 32) {
      return fail(product, "the iteration uses the product's result");
    }
  }
  return true;
}

bool WarpSpecializer::findCopy(tile::LoadOp load) {
  StringRef why;
  if (load.getIsVolatile() ||
      (load.getOther() && !isPositiveZero(load.getOther()))) {
    return fail(load, "it is volatile, or its 'other' is not 0");
  }
  std::optional<TensorMapAccess> access =
      tensorMapAccess(load, ranges, indices, why);
  if (!access) {
    return fail(load, why);
  }
  auto type = cast<RankedTensorType>(load.getType());
  unsigned bytes = tile::getElementBytes(type.getElementType());
  unsigned inner = *access->dimensions[0].tileDimension;
  // What the engine and the products' swizzles are made for.
  constexpr unsigned engineBytes = 16, swizzledBytes = 128, mostBox = 256;
  Shape shape = shapeOf(type);
  unsigned rowBytes = shape[inner] * bytes;
  bool isAligned =
      axes.accessWidth(load.getPtr(), Value(), inner, engineBytes).elements *
          bytes ==
      engineBytes;
  if (type.getRank() != 2 || !isPowerOfTwo(shape) || rowBytes < swizzledBytes ||
      shape[1 - inner] > mostBox || shape[1 - inner] < 8) {
    return fail(load, "its tile is not rows of 128 bytes or more");
  }
  if (!isAligned) {
    return fail(load, "its address or strides may be no multiples of 16 bytes");
  }
  if (Operation *writer = writerOf(kernel.getBody().front(), load.getPtr())) {
    return fail(writer, "it writes an array that the loop may read");
  }
  for (const TensorMapAccess::Dimension &dimension : access->dimensions) {
    bool isKnown = dimension.start.consistsOf(
        [&](Value atom) { return canSliceTo(atom, loop); });
    if (!isKnown) {
      return fail(load, "its address depends on what is loaded");
    }
  }
  BufferType buffer =
      swizzledBuffer(b.getContext(), 1, shape, type.getElementType(), inner);
  slotBytes += buffer.getSlotBytes();
  copies.push_back({load, std::move(*access), buffer, {}, {}});
  return true;
}

bool WarpSpecializer::findCopies() {
  llvm::SetVector<Operation *> loads;
  for (tile::DotOp product : products) {
    for (Value operand : product->getOperands().take_front(2)) {
      auto load = untransposed(operand).getDefiningOp<tile::LoadOp>();
      if (!load || load->getBlock() != loop.getBody()) {
        return fail(product, "an operand is not what the iteration loads");
      }
      loads.insert(load);
    }
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isMemoryEffectFree(&op) && !loads.contains(&op)) {
      return fail(&op, "the loop does more than multiply what it loads");
    }
  }
  CopyReaders readers(loop, llvm::map_to_vector(loads, [](Operation *op) {
                        return cast<tile::LoadOp>(op);
                      }));
  for (Operation *load : loads) {
    if (!readers.isOnlyReadInPlace(load->getResult(0))) {
      return fail(load, "the iteration has it in registers, too");
    }
    if (!findCopy(cast<tile::LoadOp>(load))) {
      return false;
    }
  }
  for (Operation *outer = loop; outer != kernel; outer = outer->getParentOp()) {
    for (Value bound : outer->getOperands().take_front(3)) {
      if (!canSliceTo(bound, outer)) {
        return fail(loop, "its bounds depend on what is loaded");
      }
    }
  }
  return true;
}

/// The ring lives as long as the kernel, beside what the rest of it needs.
bool WarpSpecializer::chooseSlots() {
  constexpr unsigned barrierBytes = tilegpu::wavefrontBytes, leastSlots = 2;
  unsigned besides = 0;
  for (Operation *op = loop; op != kernel; op = op->getParentOp()) {
    Block *block = op->getBlock();
    for (auto part :
         {llvm::make_range(block->begin(), Block::iterator(op)),
          llvm::make_range(std::next(Block::iterator(op)), block->end())}) {
      besides = std::max(besides, bytesNeeded(part, {}));
    }
  }
  unsigned most = stages;
  if (auto asked = loop->getAttrOfType<IntegerAttr>("tile.num_stages")) {
    most = asked.getInt();
  }
  unsigned room = target.sharedLimit - std::min(target.sharedLimit, besides);
  slots = std::min(most, room / (slotBytes + barrierBytes));
  return slots >= leastSlots ||
         fail(loop, "it has num_stages=1, or shared memory has no room for two "
                    "tiles of each operand");
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

void WarpSpecializer::addMaps() {
  for (TileCopy &copy : copies) {
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
    LogicalResult added =
        kernel.insertArgument(number, TensorMapType::get(b.getContext()),
                              attributes, kernel.getLoc());
    (void)added;
    copy.map = kernel.getArgument(number);
  }
}

void WarpSpecializer::allocate() {
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  Location loc = kernel.getLoc();
  SmallVector<Value> places;
  for (TileCopy &copy : copies) {
    copy.buffer =
        BufferType::get(b.getContext(), slots, copy.buffer.getShape(),
                        copy.buffer.getElementType(), copy.buffer.getOffsets());
    copy.place = AllocOp::create(b, copy.load.getLoc(), copy.buffer);
    places.push_back(copy.place);
  }
  barriers = AllocOp::create(
      b, loc, BufferType::get(b.getContext(), slots, {2}, b.getI64Type(), {1}));
  places.push_back(barriers);
  InitSlotsOp::create(b, loc, barriers);
  b.setInsertionPoint(entry.getTerminator());
  for (Value place : llvm::reverse(places)) {
    FreeOp::create(b, loc, place);
  }
}

/// Slot and phase go through the loop and those around it.
void WarpSpecializer::addRing() {
  SmallVector<scf::ForOp> nest; // outermost first
  for (Operation *op = loop; op != kernel; op = op->getParentOp()) {
    nest.insert(nest.begin(), cast<scf::ForOp>(op));
  }
  IRRewriter rewriter(b.getContext());
  rewriter.setInsertionPoint(nest[0]);
  Location loc = loop.getLoc();
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
  SmallVector<Value> ring = {zero, zero};
  for (scf::ForOp &one : nest) {
    rewriter.setInsertionPoint(one);
    SmallVector<Value> old(one.getBody()->getArguments());
    auto made = cast<scf::ForOp>(*one.replaceWithAdditionalYields(
        rewriter, ring, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          return SmallVector<Value>(arguments.begin(), arguments.end());
        }));
    for (auto [before, after] :
         llvm::zip_first(old, made.getBody()->getArguments())) {
      moved[before] = after;
    }
    one = made;
    ring = {made.getRegionIterArgs().take_back(2).begin(),
            made.getRegionIterArgs().end()};
  }
  loop = nest.back();
  slot = ring[0];
  phase = ring[1];
  // Of the next iteration.
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot,
                                       constant(slots - 1));
  Value next =
      arith::SelectOp::create(b, loc, isLast, constant(0),
                              arith::AddIOp::create(b, loc, slot, constant(1)));
  Value turned = arith::XOrIOp::create(
      b, loc, phase, arith::ExtUIOp::create(b, loc, b.getI32Type(), isLast));
  Operation *yield = loop.getBody()->getTerminator();
  unsigned count = yield->getNumOperands();
  yield->setOperand(count - 2, next);
  yield->setOperand(count - 1, turned);
  for (size_t i = nest.size() - 1; i--;) {
    Operation *outer = nest[i].getBody()->getTerminator();
    unsigned n = outer->getNumOperands();
    outer->setOperand(n - 2, nest[i + 1].getResults().take_back(2)[0]);
    outer->setOperand(n - 1, nest[i + 1].getResults().take_back(2)[1]);
  }
}

Value WarpSpecializer::materialize(const IndexPolynomial &index) {
  Location loc = loop.getLoc();
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

void WarpSpecializer::emitProducerHalf() {
  b.setInsertionPointToStart(loop.getBody());
  FillSlotOp::create(b, loop.getLoc(), barriers, slot, phase, slotBytes);
  for (TileCopy &copy : copies) {
    b.setInsertionPoint(copy.load); // what its address comes from is there
    SmallVector<Value> coordinates;
    for (const TensorMapAccess::Dimension &dimension : copy.access.dimensions) {
      coordinates.push_back(materialize(dimension.start));
    }
    CopyTileOp::create(b, copy.load.getLoc(), copy.map, coordinates, copy.place,
                       slot, barriers);
  }
}

Value WarpSpecializer::read(OpOperand &operand) {
  Value source = untransposed(operand.get());
  auto copy = llvm::find_if(
      copies, [&](TileCopy &one) { return one.load.getResult() == source; });
  SmallVector<int32_t> order = orderOfUntransposed(operand.get());
  return LocalLoadOp::create(b, operand.getOwner()->getLoc(),
                             operand.get().getType(), copy->place, slot,
                             order.empty() ? DenseI32ArrayAttr()
                                           : b.getDenseI32ArrayAttr(order));
}

Value WarpSpecializer::before(Value slot) {
  Location loc = loop.getLoc();
  return arith::SelectOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot,
                            constant(0)),
      constant(slots - 1), arith::SubIOp::create(b, loc, slot, constant(1)));
}

void WarpSpecializer::emitComputingHalf() {
  Location loc = loop.getLoc();
  b.setInsertionPoint(products.front());
  WaitSlotOp::create(b, loc, barriers, slot, phase);
  for (tile::DotOp product : products) {
    b.setInsertionPoint(product);
    for (unsigned i : {0u, 1u}) {
      OpOperand &operand = product->getOpOperand(i);
      operand.set(read(operand));
    }
    product->setAttr(inFlightAttr, b.getUnitAttr());
  }
  b.setInsertionPoint(loop.getBody()->getTerminator());
  WaitOlderProductsOp::create(b, loc, products.size());
  Value isLater =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                            loop.getInductionVar(), loop.getLowerBound());
  ReleaseSlotOp::create(b, loc, barriers, before(slot), isLater);
}

void WarpSpecializer::finishProducts() {
  Location loc = loop.getLoc();
  b.setInsertionPointAfter(loop);
  for (tile::DotOp product : products) {
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
  ReleaseSlotOp::create(b, loc, barriers, before(last), hasRun);
}

bool WarpSpecializer::run() {
  if (!findLoop() || !findCopies() || !chooseSlots()) {
    return false;
  }
  addMaps();
  allocate();
  addRing();
  emitProducerHalf();
  emitComputingHalf();
  finishProducts();
  for (TileCopy &copy : copies) {
    // Its last users are transposes that nothing needs.
    SmallVector<Operation *> users(copy.load->getUsers());
    for (Operation *user : users) {
      if (isOpTriviallyDead(user)) {
        user->erase();
      }
    }
    copy.load.erase();
  }
  splitRoles(kernel, target);
  return true;
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
