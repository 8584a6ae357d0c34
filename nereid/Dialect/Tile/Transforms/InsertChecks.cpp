//===- InsertChecks.cpp - Run-time checks before memory accesses ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_INSERTCHECKS
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// The parameter an address derives from
//===----------------------------------------------------------------------===//

/// The values that `value` may be, up to an offset: operands of address
/// and shape operations, both sides of a choice, what enters a loop and what
/// it yields. Empty where the address comes from elsewhere.
static SmallVector<Value> sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument.getArgNumber() > 0) {
      unsigned i = argument.getArgNumber() - 1;
      return {loop.getInitArgs()[i], loop.getYieldedValues()[i]};
    }
    auto whileLoop = dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp());
    if (!whileLoop) {
      return {};
    }
    unsigned i = argument.getArgNumber();
    if (argument.getOwner() == whileLoop.getBeforeBody()) {
      return {whileLoop.getInits()[i], whileLoop.getYieldOp().getOperand(i)};
    }
    return {whileLoop.getConditionOp().getArgs()[i]};
  }
  unsigned i = cast<OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(
             value.getDefiningOp())
      .Case<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp,
            TransposeOp, PtrCastOp, HintOp, SplitOp>(
          [](Operation *op) -> SmallVector<Value> {
            return {op->getOperand(0)};
          })
      .Case([](JoinOp op) -> SmallVector<Value> {
        return {op.getLhs(), op.getRhs()};
      })
      .Case([](StructuredOp op) { return op.getElementSources(); })
      .Case([](arith::SelectOp op) -> SmallVector<Value> {
        return {op.getTrueValue(), op.getFalseValue()};
      })
      .Case([i](scf::IfOp op) -> SmallVector<Value> {
        return {op.thenYield().getOperand(i), op.elseYield().getOperand(i)};
      })
      .Case([i](scf::ForOp op) -> SmallVector<Value> {
        return {op.getInitArgs()[i], op.getYieldedValues()[i]};
      })
      .Case([i](scf::WhileOp op) -> SmallVector<Value> {
        return {op.getConditionOp().getArgs()[i]};
      })
      .Default([](Operation *) { return SmallVector<Value>(); });
}

/// The index of the only function argument that `address` can derive from, or
/// -1 where there is none or more than one.
static int32_t parameterOf(Value address, Block &entry) {
  int32_t found = -1;
  SmallVector<Value> pending = {address};
  llvm::DenseSet<Value> seen = {address};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &entry) {
      int32_t index = static_cast<int32_t>(argument.getArgNumber());
      if (found != -1 && found != index) {
        return -1;
      }
      found = index;
      continue;
    }
    SmallVector<Value> sources = sourcesOf(value);
    if (sources.empty()) {
      return -1;
    }
    for (Value source : sources) {
      if (seen.insert(source).second) {
        pending.push_back(source);
      }
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Insertion
//===----------------------------------------------------------------------===//

namespace {

struct InsertChecks : impl::InsertChecksBase<InsertChecks> {
  using InsertChecksBase::InsertChecksBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration()) {
      return;
    }
    SmallVector<MemoryAccess> accesses;
    function.walk([&](MemoryAccess access) { accesses.push_back(access); });
    OpBuilder builder(function.getContext());
    for (MemoryAccess access : accesses) {
      builder.setInsertionPoint(access);
      if (bounds) {
        checkBounds(builder, access);
      }
      if (nan) {
        checkNan(builder, access);
      }
    }
  }

private:
  void checkBounds(OpBuilder &builder, MemoryAccess access) {
    int32_t parameter =
        parameterOf(access.getPtr(), getOperation().getBody().front());
    CheckBoundsOp::create(builder, access.getLoc(), access.getVerb(),
                          access.getPtr(), access.getMask(), parameter);
  }

  void checkNan(OpBuilder &builder, MemoryAccess access) {
    Value value = access.getValue();
    if (isa<StoreAccess>(access.getOperation()) &&
        isa<FloatType>(getElement(value.getType()))) {
      CheckNanOp::create(builder, access.getLoc(), "store", value,
                         access.getMask());
    }
  }
};

} // namespace

} // namespace nereid::tile
