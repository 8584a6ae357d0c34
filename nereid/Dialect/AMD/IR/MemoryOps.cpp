//===- MemoryOps.cpp - Loads, stores, atomics -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/IR/AMD.h"

using namespace mlir;

namespace nereid::amd {

/// What holds of every access: an address of its memory, and 1, 2 or 4 equal
/// words of at most 16 bytes.
static LogicalResult verifyAccess(Operation *op, Space space, Value address,
                                  TypeRange words, bool isByte) {
  unsigned addressBits = space == Space::Global ? 64 : 32;
  if (!address.getType().isInteger(addressBits)) {
    return op->emitOpError()
           << "expects an address of i" << addressBits << " in "
           << stringifySpace(space) << " memory, got " << address.getType();
  }
  if (words.size() != 1 && words.size() != 2 && words.size() != 4) {
    return op->emitOpError() << "expects 1, 2 or 4 words, got " << words.size();
  }
  if (!llvm::all_equal(words)) {
    return op->emitOpError("expects words of one type, got ") << words;
  }
  unsigned bytes = words.size() * words.front().getIntOrFloatBitWidth() / 8;
  if (bytes > 16) {
    return op->emitOpError() << "expects at most 16 bytes, got " << bytes;
  }
  if (isByte && !(words.size() == 1 && words.front().isInteger(16))) {
    return op->emitOpError("expects one word of i16 for a byte, got ") << words;
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getSpace(), getAddress(),
                          getWords().getTypes(), getByte()))) {
    return failure();
  }
  if (!getOthers().empty() && !getPredicate()) {
    return emitOpError("expects a predicate where there are other values");
  }
  if (!getOthers().empty() && getOthers().getTypes() != getWords().getTypes()) {
    return emitOpError("expects other values of ")
           << getWords().getTypes() << ", got " << getOthers().getTypes();
  }
  Order order = getOrder();
  if (getSpace() == Space::LDS &&
      (getCache() != Cache::Normal || order != Order::Weak)) {
    return emitOpError("expects neither cache nor order in LDS");
  }
  if (order != Order::Weak && order != Order::Volatile &&
      order != Order::Relaxed) {
    return emitOpError("expects weak, volatile or relaxed, got ")
           << stringifyOrder(order);
  }
  bool isAtomic = order == Order::Relaxed;
  if (isAtomic && getWords().size() != 1) {
    return emitOpError("expects one word with order relaxed, got ")
           << getWords().size();
  }
  if (isAtomic != getScope().has_value()) {
    return emitOpError(isAtomic ? "expects a scope with order "
                                : "expects no scope with order ")
           << stringifyOrder(order);
  }
  return success();
}

/// One that others may see is not to be dropped, nor moved across another.
void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getOrder() != Order::Weak) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

LogicalResult StoreOp::verify() {
  if (failed(verifyAccess(*this, getSpace(), getAddress(),
                          getWords().getTypes(), getByte()))) {
    return failure();
  }
  if (getSpace() == Space::LDS && getCache() != Cache::Normal) {
    return emitOpError("expects no cache in LDS");
  }
  return success();
}

static LogicalResult verifyOrder(Operation *op, Order order) {
  if (order == Order::Weak || order == Order::Volatile) {
    return op->emitOpError("expects an order of atomic operations, got ")
           << stringifyOrder(order);
  }
  return success();
}

LogicalResult CompareAndSwapOp::verify() {
  return verifyOrder(*this, getOrder());
}

LogicalResult AtomicOp::verify() {
  bool isSum = getUpdate() == Update::FAdd;
  if (isSum != isa<FloatType>(getElement())) {
    return emitOpError("expects sums of floats, and else integers, got ")
           << stringifyUpdate(getUpdate()) << " of " << getElement();
  }
  unsigned bits = getElement().getIntOrFloatBitWidth();
  Type word = getValue().getType();
  unsigned wordBits = word.getIntOrFloatBitWidth();
  if (bits != wordBits && !(isSum && bits == 16 && wordBits == 32)) {
    return emitOpError("expects a word of the element, or of two of 16 bits, "
                       "got ")
           << word << " of " << getElement();
  }
  if (getOld() && getOld().getType() != word) {
    return emitOpError("expects what was there in a word like the value, got ")
           << getOld().getType();
  }
  return verifyOrder(*this, getOrder());
}

} // namespace nereid::amd
