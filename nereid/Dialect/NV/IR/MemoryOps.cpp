//===- MemoryOps.cpp - Loads, stores, copies, atomics ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/IR/NV.h"

using namespace mlir;

namespace nereid::nv {

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

/// The manual has no form with both.
static LogicalResult verifyHints(Operation *op, Cache cache,
                                 Eviction eviction) {
  if (cache != Cache::Default && eviction != Eviction::Normal) {
    return op->emitOpError("expects a cache operator or an eviction priority, "
                           "got ")
           << stringifyCache(cache) << " and " << stringifyEviction(eviction);
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
  Cache cache = getCache();
  if (cache == Cache::WB || cache == Cache::WT) {
    return emitOpError("expects a cache operator of loads, got ")
           << stringifyCache(cache);
  }
  if (failed(verifyHints(*this, cache, getEviction()))) {
    return failure();
  }
  bool isHinted = cache != Cache::Default || getEviction() != Eviction::Normal;
  if (getSpace() == Space::Shared && (isHinted || getOrder() != Order::Weak)) {
    return emitOpError("expects neither cache nor order in shared memory");
  }
  Order order = getOrder();
  if (order == Order::Release || order == Order::AcqRel) {
    return emitOpError("expects an order of loads, got ")
           << stringifyOrder(order);
  }
  if (order != Order::Weak && isHinted) {
    return emitOpError("expects no cache operator beside order ")
           << stringifyOrder(order);
  }
  bool isScoped = order == Order::Relaxed || order == Order::Acquire;
  if (isScoped != getScope().has_value()) {
    return emitOpError(isScoped ? "expects a scope with order "
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
  Cache cache = getCache();
  if (cache == Cache::CA || cache == Cache::CV) {
    return emitOpError("expects a cache operator of stores, got ")
           << stringifyCache(cache);
  }
  if (getSpace() == Space::Shared &&
      (cache != Cache::Default || getEviction() != Eviction::Normal)) {
    return emitOpError("expects no cache operator in shared memory");
  }
  return verifyHints(*this, cache, getEviction());
}

LogicalResult CopyAsyncOp::verify() {
  uint32_t bytes = getBytes();
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    return emitOpError("expects 4, 8 or 16 bytes, got ") << bytes;
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
  TypeRange words = getValues().getTypes();
  bool isSum = getUpdate() == Update::FAdd;
  if (isSum != isa<FloatType>(getElement())) {
    return emitOpError("expects sums of floats, and else integers, got ")
           << stringifyUpdate(getUpdate()) << " of " << getElement();
  }
  if ((words.size() != 1 && words.size() != 2 && words.size() != 4) ||
      (words.size() > 1 && (!isSum || !words.front().isInteger(32)))) {
    return emitOpError("expects one word, or 2 or 4 of 32 bits to add floats "
                       "to, got ")
           << words;
  }
  unsigned bits = getElement().getIntOrFloatBitWidth();
  unsigned wordBits = words.front().getIntOrFloatBitWidth();
  if (bits != wordBits && !(isSum && bits == 16 && wordBits == 32)) {
    return emitOpError("expects words of the element, or of two of 16 bits, "
                       "got ")
           << words.front() << " of " << getElement();
  }
  if (!getOld().empty() && getOld().getTypes() != words) {
    return emitOpError("expects what was there in words like the values, got ")
           << getOld().getTypes();
  }
  return verifyOrder(*this, getOrder());
}

} // namespace nereid::nv
