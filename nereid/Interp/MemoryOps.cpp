//===- MemoryOps.cpp - Pointers, loads and stores -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses are used as they come: a kernel that goes out of bounds does so
// here as well, unless it was compiled with checks (DebugOps.cpp).
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Memory.h"

#include "nereid/Interp/Elementwise.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <cmath>
#include <cstring>

namespace nereid::interp {

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

uint64_t readBits(uint64_t address, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(address), bytes);
  return bits;
}

void writeBits(uint64_t address, unsigned bytes, uint64_t bits) {
  std::memcpy(reinterpret_cast<void *>(address), &bits, bytes);
}

void loadElement(Machine &m, TileValue &r, int64_t i, uint64_t address) {
  setBits(r, i, readBits(address, r.element.bytes));
  if (!m.tracksErrors()) {
    return;
  }
  if (!r.errors.empty()) {
    r.errors[i] = 0;
  }
  auto known = m.bounds().stored.find(address);
  if (known == m.bounds().stored.end()) {
    return;
  }
  const FloatBound &bound = known->second;
  if (r.element.isFloat() && bound.format == r.element.format) {
    r.floats[i] = bound.value;
    r.errors.resize(r.size());
    r.errors[i] = bound.error;
  } else if (bound.error > 0) {
    r.setUnknown(i); // bits of what was rounded
  }
}

void storeElement(Machine &m, const TileValue &value, int64_t i,
                  uint64_t address) {
  writeBits(address, value.element.bytes, bitsOf(value, i));
  if (!m.tracksErrors()) {
    return;
  }
  auto &stored = m.bounds().stored;
  for (unsigned k = 1; k < value.element.bytes; ++k) {
    stored.erase(address + k);
  }
  if (value.element.isFloat()) {
    FloatBound bound = {value.floats[i],
                        value.errorAt(i),
                        value.element.format,
                        value.element.bytes,
                        0,
                        std::fabs(value.floats[i])};
    auto before = stored.find(address);
    if (before != stored.end() && before->second.format == bound.format) {
      bound.changes = before->second.changes + 1;
      bound.travel =
          before->second.travel + std::fabs(bound.value - before->second.value);
    }
    stored[address] = bound;
  } else if (value.isUnknown(i)) {
    markUnknown(m, value.element, address);
  } else {
    stored.erase(address);
  }
}

void markUnknown(Machine &m, const Element &element, uint64_t address) {
  m.bounds().stored[address] = {0, std::numeric_limits<double>::infinity(),
                                element.format, element.bytes};
}

static_assert(int(AccessWatch::Kind::Read) == int(AccessLog::Kind::Read) &&
              int(AccessWatch::Kind::Write) == int(AccessLog::Kind::Write) &&
              int(AccessWatch::Kind::Update) == int(AccessLog::Kind::Update) &&
              int(AccessWatch::Kind::UpdateRead) ==
                  int(AccessLog::Kind::UpdateRead));

AccessLog::Outcome enter(Machine &m, const Step &step, AccessLog::Kind kind,
                         uint64_t address, unsigned bytes) {
  using Outcome = AccessLog::Outcome;
  if (m.watch && !m.watch->access(static_cast<AccessWatch::Kind>(kind),
                                  m.programIndex(), address, bytes)) {
    return Outcome::Outside;
  }
  if (!m.tracksErrors()) {
    return Outcome::Alone;
  }
  Oracle &oracle = m.bounds();
  Outcome outcome = oracle.log.access(kind, m.programIndex(), address, bytes);
  if (outcome == Outcome::Alone) {
    return outcome;
  }
  m.noteUndefined(step);
  if (outcome == Outcome::Outside && !oracle.outside) {
    bool isWrite = kind != AccessLog::Kind::Read;
    oracle.outside = {step.op->getLoc(), address, bytes, isWrite,
                      m.programIndex()};
  } else if (outcome == Outcome::MeetsOthers && !oracle.meeting) {
    oracle.meeting = step.op->getLoc();
  }
  return outcome;
}

/// All elements if there is no mask.
bool isActive(const Machine &m, const Step &step, mlir::Value mask,
              unsigned operand, int64_t i) {
  return !mask || m.in(step, operand).ints[i];
}

bool isActivityUnknown(const Machine &m, const Step &step, mlir::Value mask,
                       unsigned operand, int64_t i) {
  return mask && m.in(step, operand).isUnknown(i);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static void runAddPtr(Machine &m, const Step &step) {
  unsigned bytes = tile::getElementBytes(
      mlir::cast<tile::PtrType>(
          tile::getElement(step.op->getResult(0).getType()))
          .getPointee());
  Elements<int64_t> base(m.in(step, 0).ints), offset(m.in(step, 1).ints);
  unsigned width = m.in(step, 1).element.width;
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    r.ints[i] = static_cast<int64_t>(
        static_cast<uint64_t>(base[i]) +
        static_cast<uint64_t>(asSigned(width, offset[i])) * bytes);
  }
}

/// Of the operand that `value` is; past the last for null.
static unsigned operandNumber(const Step &step, mlir::Value value) {
  return llvm::find(step.op->getOperands(), value).getIndex();
}

static void runLoad(Machine &m, const Step &step) {
  tile::LoadAccess op(step.op);
  mlir::Value mask = op.getMask();
  unsigned maskNumber = operandNumber(step, mask);
  const TileValue &address = m.in(step, operandNumber(step, op.getPtr()));
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    if (isActive(m, step, mask, maskNumber, i)) {
      if (enter(m, step, AccessLog::Kind::Read, at, r.element.bytes) ==
          AccessLog::Outcome::Outside) {
        setBits(r, i, 0);
        r.setUnknown(i);
      } else {
        loadElement(m, r, i, at);
      }
    } else if (op.getOther()) {
      const TileValue &other = m.in(step, operandNumber(step, op.getOther()));
      copyElement(r, i, other, i);
    } else {
      setBits(r, i, 0);
    }
    if (address.isUnknown(i) ||
        isActivityUnknown(m, step, mask, maskNumber, i)) {
      r.setUnknown(i);
    }
  }
}

static void runStore(Machine &m, const Step &step) {
  tile::StoreAccess op(step.op);
  mlir::Value mask = op.getMask();
  unsigned maskNumber = operandNumber(step, mask);
  const TileValue &address = m.in(step, operandNumber(step, op.getPtr()));
  const TileValue &value = m.in(step, operandNumber(step, op.getValue()));
  m.beginAccess();
  for (int64_t i = 0, n = value.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    bool isUnknown = isActivityUnknown(m, step, mask, maskNumber, i);
    if (address.isUnknown(i)) {
      m.noteUndecided();
    }
    if (isActive(m, step, mask, maskNumber, i)) {
      unsigned bytes = value.element.bytes;
      auto outcome = enter(m, step, AccessLog::Kind::Write, at, bytes);
      if (outcome == AccessLog::Outcome::Outside) {
        continue;
      }
      // Of one block's elements at one address, any may be the last.
      isUnknown |= outcome == AccessLog::Outcome::MeetsItself &&
                   readBits(at, bytes) != bitsOf(value, i);
      storeElement(m, value, i, at);
    }
    if (isUnknown && m.bounds().log.contains(at, value.element.bytes)) {
      markUnknown(m, value.element, at);
    }
  }
}

const Handler *accessHandler(mlir::Operation &op) {
  static const Handler load{runLoad}, store{runStore};
  return mlir::isa<tile::LoadAccess>(op)    ? &load
         : mlir::isa<tile::StoreAccess>(op) ? &store
                                            : nullptr;
}

void addMemoryHandlers(HandlerTable &table) {
  table["tile.addptr"] = {runAddPtr, true};
}

} // namespace nereid::interp
