//===- DebugOps.cpp - Prints, assertions and checks -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// They call the runtime through LaunchFrame::services. `fail` does not return,
// so it is called last of all, by the Interpreter.
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Handlers.h"
#include "nereid/Interp/Memory.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <cmath>

namespace nereid::interp {

/// The op's index in KernelImage::sites.
static uint32_t siteOf(const Step &step) {
  auto site = step.op->getAttrOfType<mlir::IntegerAttr>(tile::siteAttr);
  return site ? static_cast<uint32_t>(site.getInt()) : 0;
}

static void fail(Machine &m, const Step &step, int64_t element,
                 uint64_t value) {
  m.raise({siteOf(step), element, value});
}

static void runPrint(Machine &m, const Step &step) {
  std::vector<std::byte> elements;
  int64_t count = 0;
  if (!step.operands.empty()) {
    const TileValue &value = m.in(step, 0);
    unsigned bytes = value.element.bytes;
    count = value.size();
    elements.resize(static_cast<size_t>(count) * bytes);
    for (int64_t i = 0; i < count; ++i) {
      writeBits(reinterpret_cast<uint64_t>(elements.data()) + i * bytes, bytes,
                bitsOf(value, i));
    }
  }
  m.frame().services->print(&m.frame(), siteOf(step), elements.data(), count);
}

static void runAssert(Machine &m, const Step &step) {
  const TileValue &condition = m.in(step, 0);
  for (int64_t i = 0, n = condition.size(); i < n; ++i) {
    if (!condition.ints[i] && !condition.isUnknown(i)) {
      return fail(m, step, i, 0);
    }
  }
}

static void runCheckBounds(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::CheckBoundsOp>(step.op);
  mlir::Type pointer = tile::getElement(op.getPtr().getType());
  uint32_t bytes =
      tile::getElementBytes(mlir::cast<tile::PtrType>(pointer).getPointee());
  const TileValue &address = m.in(step, 0);
  for (int64_t i = 0, n = address.size(); i < n; ++i) {
    uint64_t at = static_cast<uint64_t>(address.ints[i]);
    if (isActive(m, step, op.getMask(), 1, i) &&
        !m.frame().services->inBounds(&m.frame(), at, bytes)) {
      return fail(m, step, i, at);
    }
  }
}

static void runCheckNan(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::CheckNanOp>(step.op);
  const TileValue &value = m.in(step, 0);
  for (int64_t i = 0, n = value.size(); i < n; ++i) {
    if (isActive(m, step, op.getMask(), 1, i) && std::isnan(value.floats[i])) {
      return fail(m, step, i, 0);
    }
  }
}

static void runRelax(Machine &m, const Step &) {
  if (m.turn) {
    m.turn->unlock();
  }
  m.frame().services->wait(&m.frame());
  if (m.turn) {
    m.turn->lock();
  }
}

void addDebugHandlers(HandlerTable &table) {
  table["tile.print"] = {runPrint};
  table["tile.assert"] = {runAssert};
  table["tile.check_bounds"] = {runCheckBounds};
  table["tile.check_nan"] = {runCheckNan};
  table["tile.relax"] = {runRelax};
}

} // namespace nereid::interp
