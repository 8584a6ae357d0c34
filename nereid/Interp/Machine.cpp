//===- Machine.cpp - The state of one executing thread --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Machine.h"

#include "llvm/Support/raw_ostream.h"

namespace nereid::interp {

Machine::Machine(const Program &program, FloatMode mode, LaunchFrame &frame,
                 Oracle *oracle, uint64_t stepLimit)
    : program(program), mode(mode), launch(frame), oracle(oracle),
      stepLimit(stepLimit) {
  slots.reserve(program.slots.size());
  for (const SlotType &type : program.slots) {
    TileValue value;
    value.element = type.element;
    value.shape = type.shape;
    slots.push_back(std::move(value));
  }
}

bool Machine::runProgram(int64_t linear) {
  running = linear;
  int64_t rest = linear / launch.grid[0];
  launch.programId[0] = static_cast<int32_t>(linear % launch.grid[0]);
  launch.programId[1] = static_cast<int32_t>(rest % launch.grid[1]);
  launch.programId[2] = static_cast<int32_t>(rest / launch.grid[1]);
  for (auto [i, argument] : llvm::enumerate(program.body.arguments)) {
    slots[argument].resize(1);
    setBits(slots[argument], 0, launch.arguments[i]);
  }
  stepsTaken = 0;
  isStopped = false;
  lanes = 1;
  execute(program.body);
  return !isStopped;
}

TileValue &Machine::out(const Step &step, unsigned i) {
  TileValue &value = slots[step.results[i]];
  value.resize(lanes > 1 ? lanes : countOf(value.shape));
  return value;
}

void Machine::execute(const Code &code) {
  for (const Step &step : code.steps) {
    if (stepLimit && ++stepsTaken > stepLimit) {
      isStopped = true;
    }
    if (isStopped) {
      return;
    }
    step.handler->run(*this, step);
    if (watch) {
      reportWork(step);
    }
    if (tracksErrors() && step.handler->isElementwise &&
        !step.handler->placesUnknowns) {
      spreadUnknown(step);
    }
  }
}

void Machine::reportWork(const Step &step) {
  uint64_t elements = 1;
  for (unsigned operand : step.operands) {
    elements += static_cast<uint64_t>(slots[operand].size());
  }
  for (unsigned result : step.results) {
    elements += static_cast<uint64_t>(slots[result].size());
  }
  isStopped |= !watch->spend(elements);
}

/// What comes of an unknown integer is unknown. Errors of floats are the
/// handlers' business.
void Machine::spreadUnknown(const Step &step) {
  for (unsigned operand : step.operands) {
    const TileValue &source = slots[operand];
    if (source.element.isFloat() || source.errors.empty()) {
      continue;
    }
    for (unsigned result : step.results) {
      TileValue &r = slots[result];
      for (int64_t i = 0, n = r.size(); i < n; ++i) {
        if (source.isUnknown(i)) {
          r.setUnknown(i);
        }
      }
    }
  }
}

void Machine::noteUndefined(const Step &step) {
  if (tracksErrors() && oracle->undefined.empty()) {
    llvm::raw_string_ostream(oracle->undefined) << *step.op;
  }
}

void Machine::move(llvm::ArrayRef<unsigned> from, llvm::ArrayRef<unsigned> to) {
  if (staging.size() < from.size()) {
    staging.resize(from.size());
  }
  for (auto [i, slot] : llvm::enumerate(from)) {
    staging[i] = slots[slot];
  }
  for (auto [i, slot] : llvm::enumerate(to)) {
    std::swap(slots[slot], staging[i]);
  }
}

} // namespace nereid::interp
