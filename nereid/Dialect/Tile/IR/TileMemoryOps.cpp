//===- TileMemoryOps.cpp - Pointers, loads, stores, atomics ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace nereid::tile {

//===----------------------------------------------------------------------===//
// MemoryAccess
//===----------------------------------------------------------------------===//

bool LoadAccess::classof(Operation *op) {
  auto access = dyn_cast<MemoryAccess>(op);
  return access && access.reads() && !access.writes();
}

bool StoreAccess::classof(Operation *op) {
  auto access = dyn_cast<MemoryAccess>(op);
  return access && access.writes() && !access.reads();
}

bool isWriteAccess(Operation *op) {
  auto access = dyn_cast<MemoryAccess>(op);
  return access && access.writes();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

LogicalResult AddPtrOp::verify() {
  if (getShape(getPtr().getType()) != getShape(getOffset().getType())) {
    return emitOpError("expected an offset in the shape of the pointer, got ")
           << getPtr().getType() << " and " << getOffset().getType();
  }
  return success();
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero())) {
    return getPtr();
  }
  return {};
}

LogicalResult IntToPtrOp::verify() {
  if (!getElement(getSource().getType()).isInteger(64)) {
    return emitOpError("expected 64-bit integers, got ")
           << getSource().getType();
  }
  return success();
}

LogicalResult PtrToIntOp::verify() {
  if (!getElement(getType()).isInteger(64)) {
    return emitOpError("expected 64-bit integers, got ") << getType();
  }
  return success();
}

OpFoldResult PtrCastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType()) {
    return getSource();
  }
  if (auto inner = getSource().getDefiningOp<PtrCastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// LoadOp, StoreOp
//===----------------------------------------------------------------------===//

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getIsVolatile()) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask()) {
    return emitOpError("has 'other' without a mask");
  }
  return success();
}

/// The mask's value when it is one constant throughout.
static std::optional<bool> getConstantMask(Value mask) {
  if (!mask) {
    return true;
  }
  if (matchPattern(mask, m_One())) {
    return true;
  }
  if (matchPattern(mask, m_Zero())) {
    return false;
  }
  return std::nullopt;
}

namespace {
struct LoadOfConstantMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> mask = getConstantMask(op.getMask());
    if (!op.getMask() || !mask) {
      return rewriter.notifyMatchFailure(op, "mask is not constant");
    }
    if (*mask) {
      rewriter.replaceOpWithNewOp<LoadOp>(op, op.getPtr(), Value(), Value(),
                                          op.getCache(), op.getEvict(),
                                          op.getIsVolatile());
      return success();
    }
    if (op.getOther()) {
      rewriter.replaceOp(op, op.getOther());
      return success();
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getZeroAttr(op.getType()));
    return success();
  }
};

struct StoreOfConstantMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> mask = getConstantMask(op.getMask());
    if (!op.getMask() || !mask) {
      return rewriter.notifyMatchFailure(op, "mask is not constant");
    }
    if (*mask) {
      rewriter.replaceOpWithNewOp<StoreOp>(op, op.getPtr(), op.getValue(),
                                           Value(), op.getCache(),
                                           op.getEvict());
    } else {
      rewriter.eraseOp(op);
    }
    return success();
  }
};
} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<LoadOfConstantMask>(context);
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<StoreOfConstantMask>(context);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

LogicalResult AtomicRMWOp::verify() {
  Type element = getElement(getValue().getType());
  bool isFloat = isa<FloatType>(element);
  switch (getKind()) {
  case AtomicKind::FAdd:
  case AtomicKind::FMax:
  case AtomicKind::FMin:
    if (!isFloat) {
      return emitOpError("expected float elements for '")
             << stringifyAtomicKind(getKind()) << "', got " << element;
    }
    return success();
  case AtomicKind::Xchg:
    return success();
  default:
    if (isFloat) {
      return emitOpError("expected integer elements for '")
             << stringifyAtomicKind(getKind()) << "', got " << element;
    }
    return success();
  }
}

LogicalResult AtomicCASOp::verify() {
  unsigned bits = getElementBytes(getElement(getValue().getType())) * 8;
  if (bits < 16) {
    return emitOpError("expected elements of 16, 32 or 64 bits, got ")
           << getElement(getValue().getType());
  }
  return success();
}

} // namespace nereid::tile
