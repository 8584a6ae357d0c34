//===- StageOperands.cpp - Operands that registers cannot hold ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of one warp takes its operands in registers, all of them at once,
// or reads them from a buffer step by step along K. What other threads hold
// comes through shared memory in any case; where a thread's part of the
// operands and of the sums fills its registers, it stays there until the
// product reads it:
//
//   %b = convert_layout %a        %buffer = alloc; local_store %a, %buffer
//   dot %b, ...                   dot (local_load %buffer), ...; free %buffer
//
// A load that nothing else wants is copied there and takes no registers at all:
//
//   %buffer = alloc; copy_async %pointers, %buffer; commit_copies
//   wait_copies 0; dot (local_load %buffer), ...; free %buffer
//
// This is for what tilegpu-schedule-loops has left: it copies ahead.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/Scratch.h"
#include "nereid/Analysis/SharedAllocation.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_STAGEOPERANDS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

namespace {

/// A product's operand that may move from registers to a buffer: a conversion
/// whose only users are products, of its block or of loops inside.
struct Operand {
  ConvertLayoutOp convert;
  SmallVector<OpOperand *> uses;
  /// Of the conversion's block: what holds the first of them, and the last.
  Operation *first = nullptr, *last = nullptr;
};

class OperandStager {
public:
  OperandStager(func::FuncOp kernel, const TargetInfo &target,
                const AxisInfoAnalysis &axes)
      : kernel(kernel), target(target), axes(axes), b(kernel.getContext()) {}

  /// False where everything stays as it is.
  bool run();

private:
  /// A quarter of the registers is for addresses and for what is on its way:
  /// with less than that the assembler spills (docs/TileToTileGPU.md).
  bool isCrowded(unsigned words) const {
    return words > target.threadRegisters / 4 * 3;
  }
  bool canBeCopied(tile::LoadAccess load, Operation *firstUse) const;
  Value fill(const Operand &operand);
  void stage(const Operand &operand, unsigned words);
  void tell(const Operand &operand, unsigned words, unsigned needed) const;
  unsigned bytesOfKernel() {
    return allocateShared(kernel, target.sharedLimit).bytes;
  }
  Value zero(Location loc) {
    return make<arith::ConstantOp>(loc, b.getI32IntegerAttr(0));
  }
  template <typename Op, typename... Args>
  Op make(Args &&...args) {
    auto op = Op::create(b, std::forward<Args>(args)...);
    made.push_back(op);
    return op;
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  const AxisInfoAnalysis &axes;
  OpBuilder b;
  SmallVector<Operation *> made; ///< for the operand that is looked at
  /// By the product that they stand in front of.
  DenseMap<Operation *, WaitCopiesOp> waits;
  bool changed = false;
};

} // namespace

/// Words of 32 bits that a thread holds of a tile.
static unsigned wordsOf(Type tensor) {
  std::vector<bool> dead = deadRegisters(layoutOf(tensor), shapeOf(tensor));
  unsigned bytes = tile::getElementBytes(tile::getElement(tensor));
  return llvm::divideCeil(llvm::count(dead, false) * bytes, 4);
}

/// What a product has in registers at once.
static unsigned wordsOf(tile::DotOp dot) {
  unsigned words = wordsOf(dot.getType());
  for (Value operand : {dot.getLhs(), dot.getRhs()}) {
    auto load = operand.getDefiningOp<LocalLoadOp>();
    words += load && staysInBuffer(load) ? 0 : wordsOf(operand.getType());
  }
  return words;
}

static std::optional<Operand> operandOf(ConvertLayoutOp convert) {
  Operand operand{convert, {}};
  for (OpOperand &use : convert->getUses()) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot || !dot->hasAttr(mmaAttr) || use.getOperandNumber() > 1) {
      return std::nullopt;
    }
    operand.uses.push_back(&use);
    Operation *holder = convert->getBlock()->findAncestorOpInBlock(*dot);
    if (!operand.first || holder->isBeforeInBlock(operand.first)) {
      operand.first = holder;
    }
    if (!operand.last || operand.last->isBeforeInBlock(holder)) {
      operand.last = holder;
    }
  }
  if (operand.uses.empty() || scratchOf(convert).empty()) {
    return std::nullopt;
  }
  return operand;
}

/// Nothing else wants what is loaded, and it may as well be read from memory a
/// little later, up to `firstUse`.
bool OperandStager::canBeCopied(tile::LoadAccess load,
                                Operation *firstUse) const {
  StringRef why;
  if (!target.hasAsyncCopies || !load || !load->hasOneUse() ||
      load->getBlock() != firstUse->getBlock() ||
      !copyDimension(load, axes, why)) {
    return false;
  }
  // The wait is for all copies: it would end what runs ahead of the block.
  for (auto wait : load->getBlock()->getOps<WaitCopiesOp>()) {
    if (!llvm::is_contained(llvm::make_second_range(waits), wait)) {
      return false;
    }
  }
  for (Operation *at = load->getNextNode(); at != firstUse;
       at = at->getNextNode()) {
    bool mayWrite = !isa<tile::LoadAccess>(at) &&
                    !isa<TileGPUDialect>(at->getDialect()) &&
                    !isMemoryEffectFree(at);
    if (mayWrite) {
      return false;
    }
  }
  return true;
}

/// A buffer with the operand in it when its first product comes.
Value OperandStager::fill(const Operand &operand) {
  ConvertLayoutOp convert = operand.convert;
  Value source = convert.getSource();
  auto type = cast<RankedTensorType>(source.getType());
  Location loc = source.getLoc();
  auto load = source.getDefiningOp<tile::LoadAccess>();
  if (!canBeCopied(load, operand.first)) {
    b.setInsertionPoint(convert);
    Value buffer = make<AllocOp>(loc, oneSlotFor(type));
    make<LocalStoreOp>(loc, source, buffer, zero(loc));
    return buffer;
  }
  StringRef why;
  b.setInsertionPoint(load);
  Value buffer =
      make<AllocOp>(loc, swizzledBuffer(b.getContext(), /*slots=*/1,
                                        shapeOf(type), tile::getElement(type),
                                        *copyDimension(load, axes, why)));
  make<CopyAsyncOp>(loc, load.getPtr(), buffer, zero(loc), load.getMask(),
                    Value());
  make<CommitCopiesOp>(loc);
  WaitCopiesOp &wait = waits[operand.first];
  if (!wait) {
    // A read of a buffer stays one only if no wait comes after it.
    Operation *at = operand.first;
    while (isa_and_nonnull<LocalLoadOp, arith::ConstantOp>(at->getPrevNode())) {
      at = at->getPrevNode();
    }
    b.setInsertionPoint(at);
    wait = make<WaitCopiesOp>(operand.first->getLoc(), /*pending=*/0);
  }
  return buffer;
}

void OperandStager::tell(const Operand &operand, unsigned words,
                         unsigned needed) const {
  reportDecision(operand.first->getLoc(), [&] {
    std::string inRegisters = "held in registers";
    Decision d{
        "dot operand", "is read from shared memory step by step", inRegisters,
        "operands and sums would be " + std::to_string(words) + " of " +
            std::to_string(target.threadRegisters) + " registers of a thread",
        ""};
    if (needed > target.sharedLimit) {
      d.rejected = d.chosen;
      d.chosen = "is " + inRegisters;
      d.reason += "; but a block has " + byteCount(target.sharedLimit) +
                  " of shared memory, and this takes " + byteCount(needed);
      d.hint = "a smaller block";
    }
    return d;
  });
}

void OperandStager::stage(const Operand &operand, unsigned words) {
  unsigned most = std::max(bytesOfKernel(), target.sharedLimit);
  ConvertLayoutOp convert = operand.convert;
  made.clear();
  Value buffer = fill(operand);
  for (OpOperand *use : operand.uses) {
    b.setInsertionPoint(use->getOwner());
    Location loc = use->getOwner()->getLoc();
    use->set(make<LocalLoadOp>(loc, convert.getType(), buffer, zero(loc),
                               DenseI32ArrayAttr()));
  }
  b.setInsertionPointAfter(operand.last);
  make<FreeOp>(operand.last->getLoc(), buffer);
  Operation *behind = convert->getNextNode();
  convert->remove(); // it takes shared memory too
  unsigned needed = bytesOfKernel();
  tell(operand, words, needed);
  if (needed <= most) {
    changed = true;
    convert->erase();
    return;
  }
  behind->getBlock()->getOperations().insert(Block::iterator(behind), convert);
  for (OpOperand *use : operand.uses) {
    use->set(convert.getResult());
  }
  for (Operation *op : llvm::reverse(made)) {
    if (isa<WaitCopiesOp>(op)) {
      waits.erase(operand.first);
    }
    op->erase();
  }
}

bool OperandStager::run() {
  SmallVector<ConvertLayoutOp> conversions;
  kernel.walk([&](ConvertLayoutOp op) { conversions.push_back(op); });
  for (ConvertLayoutOp convert : conversions) {
    std::optional<Operand> operand = operandOf(convert);
    unsigned words = 0;
    for (OpOperand *use :
         operand ? operand->uses : SmallVector<OpOperand *>()) {
      words = std::max(words, wordsOf(cast<tile::DotOp>(use->getOwner())));
    }
    if (isCrowded(words)) {
      auto load = convert.getSource().getDefiningOp<tile::LoadAccess>();
      stage(*operand, words);
      if (load && load->use_empty()) {
        load->erase();
      }
    }
  }
  return changed;
}

namespace {
struct StageOperandsPass : impl::StageOperandsBase<StageOperandsPass> {
  void runOnOperation() override {
    const TargetInfo *target = targetOf(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    auto &axes = getAnalysis<AxisInfoAnalysis>();
    if (!OperandStager(getOperation(), *target, axes).run()) {
      markAllAnalysesPreserved();
    }
  }
};
} // namespace

} // namespace nereid::tilegpu
