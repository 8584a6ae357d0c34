//===- AtomicOps.cpp - Read-modify-write ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs run one after the other and elements in row-major order, so that
// every read-modify-write is atomic and sees all before it.
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Memory.h"

#include "nereid/Interp/Elementwise.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <cmath>

namespace nereid::interp {

static int64_t combine(tile::AtomicKind kind, unsigned width, int64_t old,
                       int64_t value) {
  using Kind = tile::AtomicKind;
  switch (kind) {
  case Kind::Add:
    return wrap(width, static_cast<int64_t>(static_cast<uint64_t>(old) +
                                            static_cast<uint64_t>(value)));
  case Kind::Max:
    return old > value ? old : value;
  case Kind::Min:
    return old < value ? old : value;
  case Kind::UMax:
    return asUnsigned(width, old) > asUnsigned(width, value) ? old : value;
  case Kind::UMin:
    return asUnsigned(width, old) < asUnsigned(width, value) ? old : value;
  case Kind::And:
    return old & value;
  case Kind::Or:
    return old | value;
  case Kind::Xor:
    return old ^ value;
  case Kind::FAdd:
  case Kind::FMax:
  case Kind::FMin:
  case Kind::Xchg:
    break;
  }
  return value;
}

static double combine(tile::AtomicKind kind, double old, double value) {
  switch (kind) {
  case tile::AtomicKind::FMax:
    return std::fmax(old, value);
  case tile::AtomicKind::FMin:
    return std::fmin(old, value);
  default:
    return old + value;
  }
}

/// Sets `next[0]` to the new value of the element whose old one is `old[0]`.
static void update(Machine &m, tile::AtomicKind kind, const TileValue &value,
                   int64_t i, const TileValue &old, TileValue &next) {
  next = old;
  if (kind == tile::AtomicKind::Xchg) {
    copyElement(next, 0, value, i);
    return;
  }
  if (!old.element.isFloat()) {
    next.ints[0] = combine(kind, old.element.width, old.ints[0], value.ints[i]);
    if (value.isUnknown(i)) {
      next.setUnknown(0);
    }
    return;
  }
  double bound = old.errorAt(0) + value.errorAt(i);
  double result = combine(kind, old.floats[0], value.floats[i]);
  next.floats[0] = m.rounded(old.element, result);
  if (m.tracksErrors()) {
    double ulps = kind == tile::AtomicKind::FAdd ? 0.5 : 0;
    double error = roundingError(*old.element.format, result, bound, ulps);
    if (kind == tile::AtomicKind::FAdd) {
      // Exact in this order is exact in all only for whole numbers.
      const FloatFormat &format = *old.element.format;
      double reach = std::fabs(old.floats[0]) + std::fabs(value.floats[i]);
      bool isWhole = old.floats[0] == std::trunc(old.floats[0]) &&
                     value.floats[i] == std::trunc(value.floats[i]) &&
                     reach <= std::ldexp(1.0, format.precision);
      if (!isWhole && std::isfinite(reach)) {
        error = std::max(error, bound + ulps * spacing(format, reach));
      }
    }
    // Sums come in any order: the allowance that reductions have.
    next.errors = {bound + orderAllowance * (error - bound)};
    if (std::isinf(error)) {
      next.errors = {error};
    }
  }
}

/// Exchanges leave the last value there: their order shows without a use.
static AccessLog::Kind kindOf(const Step &step) {
  auto rmw = mlir::dyn_cast<tile::AtomicRMWOp>(step.op);
  bool commutes = rmw && rmw.getKind() != tile::AtomicKind::Xchg;
  return commutes && step.op->use_empty() ? AccessLog::Kind::Update
                                          : AccessLog::Kind::UpdateRead;
}

static void runAtomicRMW(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::AtomicRMWOp>(step.op);
  const TileValue &address = m.in(step, 0), &value = m.in(step, 1);
  TileValue &r = m.out(step);
  TileValue old, next; // one element
  old.element = value.element;
  bool errors = m.tracksErrors() && value.element.isFloat();
  bool meetsItself = false;
  r.errors.resize(errors ? r.size() : 0);
  m.beginAccess();
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    bool isUnknown = isActivityUnknown(m, step, op.getMask(), 2, i);
    if (address.isUnknown(i)) {
      m.noteUndecided();
    }
    if (isActive(m, step, op.getMask(), 2, i)) {
      auto outcome = enter(m, step, kindOf(step), at, r.element.bytes);
      if (outcome == AccessLog::Outcome::Outside) {
        setBits(r, i, 0);
        r.setUnknown(i);
        continue;
      }
      old.resize(1);
      old.errors.resize(errors ? 1 : 0);
      loadElement(m, old, 0, at);
      update(m, op.getKind(), value, i, old, next);
      storeElement(m, next, 0, at);
      copyElement(r, i, old, 0);
      meetsItself |= outcome == AccessLog::Outcome::MeetsItself;
      isUnknown |= outcome == AccessLog::Outcome::MeetsItself &&
                   op.getKind() == tile::AtomicKind::Xchg;
    } else {
      setBits(r, i, 0);
    }
    if (isUnknown && m.bounds().log.contains(at, r.element.bytes)) {
      r.setUnknown(i);
      markUnknown(m, r.element, at);
    }
  }
  // Which element of the block came first is free.
  for (int64_t i = 0, n = r.size(); meetsItself && i < n; ++i) {
    r.setUnknown(i);
  }
}

static void runAtomicCAS(Machine &m, const Step &step) {
  const TileValue &address = m.in(step, 0), &expected = m.in(step, 1),
                  &value = m.in(step, 2);
  TileValue &r = m.out(step);
  bool errors = m.tracksErrors() && r.element.isFloat();
  r.errors.resize(errors ? r.size() : 0);
  m.beginAccess();
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    if (address.isUnknown(i)) {
      m.noteUndecided();
    }
    auto outcome = enter(m, step, kindOf(step), at, r.element.bytes);
    if (outcome == AccessLog::Outcome::Outside) {
      setBits(r, i, 0);
      r.setUnknown(i);
      continue;
    }
    loadElement(m, r, i, at);
    bool isUnknown = r.errorAt(i) > 0 || expected.errorAt(i) > 0 ||
                     outcome == AccessLog::Outcome::MeetsItself;
    if (readBits(at, r.element.bytes) == bitsOf(expected, i)) {
      storeElement(m, value, i, at);
    }
    if (isUnknown) {
      r.setUnknown(i);
      markUnknown(m, r.element, at);
    }
  }
}

void addAtomicHandlers(HandlerTable &table) {
  table["tile.atomic_rmw"] = {runAtomicRMW};
  table["tile.atomic_cas"] = {runAtomicCAS};
}

} // namespace nereid::interp
