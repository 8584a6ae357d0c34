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
  if (m.tracksErrors() && r.element.isFloat()) {
    auto known = m.bounds().stored.find(address);
    if (known != m.bounds().stored.end()) {
      r.floats[i] = known->second.value;
      r.errors[i] = known->second.error;
    }
  }
}

void storeElement(Machine &m, const TileValue &value, int64_t i,
                  uint64_t address) {
  writeBits(address, value.element.bytes, bitsOf(value, i));
  if (!m.tracksErrors()) {
    return;
  }
  if (value.element.isFloat()) {
    m.bounds().stored[address] = {value.floats[i], value.errorAt(i)};
  } else {
    m.bounds().stored.erase(address);
  }
}

bool enter(Machine &m, const Step &step, AccessLog::Kind kind, uint64_t address,
           unsigned bytes) {
  if (!m.tracksErrors()) {
    return true;
  }
  AccessLog &log = m.bounds().log;
  if (!log.access(kind, m.programIndex(), address, bytes)) {
    m.noteUndefined(step);
  }
  return log.contains(address, bytes);
}

/// All elements if there is no mask.
bool isActive(const Machine &m, const Step &step, mlir::Value mask,
              unsigned operand, int64_t i) {
  return !mask || m.in(step, operand).ints[i];
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

static void runLoad(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::LoadOp>(step.op);
  const TileValue &address = m.in(step, 0);
  TileValue &r = m.out(step);
  if (m.tracksErrors() && r.element.isFloat()) {
    r.errors.resize(r.size());
  }
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    if (isActive(m, step, op.getMask(), 1, i)) {
      if (enter(m, step, AccessLog::Kind::Read, at, r.element.bytes)) {
        loadElement(m, r, i, at);
      }
    } else if (op.getOther()) {
      const TileValue &other = m.in(step, op.getMask() ? 2 : 1);
      copyElement(r, i, other, i);
    } else {
      setBits(r, i, 0);
    }
  }
}

static void runStore(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::StoreOp>(step.op);
  const TileValue &address = m.in(step, 0), &value = m.in(step, 1);
  m.beginAccess();
  for (int64_t i = 0, n = value.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    if (isActive(m, step, op.getMask(), 2, i) &&
        enter(m, step, AccessLog::Kind::Write, at, value.element.bytes)) {
      storeElement(m, value, i, at);
    }
  }
}

void addMemoryHandlers(HandlerTable &table) {
  table["tile.addptr"] = {runAddPtr, true};
  table["tile.load"] = {runLoad};
  table["tile.store"] = {runStore};
}

} // namespace nereid::interp
