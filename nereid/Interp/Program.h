//===- Program.h - A kernel made ready to be executed -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translation, once: SSA values become numbered slots, operations become
// steps with their handler looked up, regions become nested code. Execution
// then walks the steps; control flow is structured, so there is no jump.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_PROGRAM_H
#define NEREID_INTERP_PROGRAM_H

#include "nereid/ABI/Status.h"
#include "nereid/Interp/TileValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <memory>

namespace nereid::interp {

class Machine;
struct Step;

/// Executes one operation.
struct Handler {
  std::function<void(Machine &, const Step &)> run;
  /// Element i of the results depends on element i of the operands alone, so
  /// that a scalar region can be run on many lanes at once (Reduce.cpp).
  bool isElementwise = false;
  /// Says itself which results are unknown where an integer operand is. Of
  /// other elementwise operations, every one that it reaches.
  bool placesUnknowns = false;
};

/// A region of one block: its arguments, its operations but the last, and the
/// operands of the last (the terminator).
struct Code {
  llvm::SmallVector<unsigned, 4> arguments;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned, 4> yields;
  bool isElementwise = true; ///< every step is
};

struct Step {
  const Handler *handler;
  mlir::Operation *op;
  llvm::SmallVector<unsigned, 4> operands, results;
  std::vector<Code> regions; ///< for func.call: the callee's body
};

/// The static type of a slot.
struct SlotType {
  Element element;
  Shape shape;
};

struct Program {
  mlir::func::FuncOp function;
  Code body;
  std::vector<SlotType> slots;
};

/// Fails with Unsupported where the function holds an operation or a type the
/// executor does not know. `function` must outlive the result.
Expected<std::unique_ptr<Program>> buildProgram(mlir::func::FuncOp function);

} // namespace nereid::interp

#endif // NEREID_INTERP_PROGRAM_H
