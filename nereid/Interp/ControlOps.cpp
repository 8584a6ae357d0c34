//===- ControlOps.cpp - Structured control flow and calls -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Handlers.h"
#include "nereid/Interp/Machine.h"
#include "nereid/Interp/Walk.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::interp {

/// Which way control flow goes, or how often, must not depend on a rounding.
static void decide(Machine &m, const TileValue &value) {
  if (value.isUnknown(0)) {
    m.noteUndecided();
  }
}

static void runIf(Machine &m, const Step &step) {
  decide(m, m.in(step, 0));
  const Code &taken = step.regions[m.in(step, 0).ints[0] ? 0 : 1];
  m.execute(taken);
  m.move(taken.yields, step.results);
}

/// The number of iterations is fixed on entry. A step that is not positive,
/// which the dialect leaves undefined, gives none.
static void runFor(Machine &m, const Step &step) {
  const Code &body = step.regions[0];
  unsigned width = m.in(step, 0).element.width;
  bool isUnsigned = mlir::cast<mlir::scf::ForOp>(step.op).getUnsignedCmp();
  auto extend = [&](int64_t value) {
    return isUnsigned ? static_cast<__int128>(asUnsigned(width, value))
                      : static_cast<__int128>(value);
  };
  for (unsigned i : {0u, 1u, 2u}) {
    decide(m, m.in(step, i));
  }
  __int128 lower = extend(m.in(step, 0).ints[0]);
  __int128 upper = extend(m.in(step, 1).ints[0]);
  __int128 by = extend(m.in(step, 2).ints[0]);

  if (by <= 0) {
    m.noteUndefined(step);
  }
  auto carried = llvm::ArrayRef(body.arguments).drop_front();
  m.move(llvm::ArrayRef(step.operands).drop_front(3), carried);
  for (__int128 i = lower; by > 0 && i < upper && !m.stopped(); i += by) {
    TileValue &induction = m.slot(body.arguments[0]);
    induction.resize(1);
    induction.ints[0] = wrap(width, static_cast<int64_t>(i));
    m.execute(body);
    m.move(body.yields, carried);
  }
  m.move(carried, step.results);
}

static void runWhile(Machine &m, const Step &step) {
  const Code &before = step.regions[0], &after = step.regions[1];
  m.move(step.operands, before.arguments);
  while (!m.stopped()) {
    m.execute(before);
    // The terminator is scf.condition: the condition, then what both the body
    // and the results see.
    auto values = llvm::ArrayRef(before.yields).drop_front();
    decide(m, m.slot(before.yields[0]));
    if (m.stopped() || !m.slot(before.yields[0]).ints[0]) {
      m.move(values, step.results);
      return;
    }
    m.move(values, after.arguments);
    m.execute(after);
    m.move(after.yields, before.arguments);
  }
}

static void runCall(Machine &m, const Step &step) {
  const Code &callee = step.regions[0];
  m.move(step.operands, callee.arguments);
  m.execute(callee);
  m.move(callee.yields, step.results);
}

/// The region, once an element.
static void runMap(Machine &m, const Step &step) {
  const Code &code = step.regions[0];
  int64_t count = m.in(step, 0).size();
  for (unsigned j = 0; j < step.results.size(); ++j) {
    m.out(step, j);
  }
  for (int64_t i = 0; i < count && !m.stopped(); ++i) {
    for (unsigned j = 0; j < step.operands.size(); ++j) {
      const TileValue &source = m.in(step, j);
      TileValue &argument = m.slot(code.arguments[j]);
      argument.resize(1);
      matchErrors(argument, {&source});
      copyElement(argument, 0, source, i);
    }
    m.execute(code);
    for (unsigned j = 0; j < step.results.size(); ++j) {
      TileValue &result = m.slot(step.results[j]);
      const TileValue &value = m.slot(code.yields[j]);
      matchErrors(result, {&value});
      copyElement(result, i, value, 0);
    }
  }
}

void addControlHandlers(HandlerTable &table) {
  table["scf.if"] = {runIf};
  table["scf.for"] = {runFor};
  table["scf.while"] = {runWhile};
  table["tile.map"] = {runMap};
  table["func.call"] = {runCall};
}

} // namespace nereid::interp
