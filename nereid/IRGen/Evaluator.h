//===- Evaluator.h - The staged evaluator ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the syntax tree. What is static is computed; what is dynamic is
// emitted. The same walk serves kernels, their helpers, module globals,
// decorators, heuristics and grids: the frame says which rules hold.
//
//   kernel frame  assignment makes numbers dynamic; runtime control flow
//                 becomes scf; globals must be constexpr
//   host frame    plain Python, with a limit on the number of steps
//
// Control flow on run-time values. Each branch is evaluated into a region with
// the variables it assigns journalled; then the variables of both are
// compared, and those that differ become results. A loop carries the dynamic
// variables that its body assigns (found by a syntactic scan) and that exist
// before it. `return` under a runtime condition is an Outcome: when exactly one
// branch returns, the rest of the block is evaluated inside the other; else a
// flag says at run time whether the function has returned.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVALUATOR_H
#define NEREID_IRGEN_EVALUATOR_H

#include "nereid/IRGen/Builtins.h"
#include "nereid/IRGen/Function.h"
#include "nereid/IRGen/Modules.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::irgen {

/// How a statement or a block ended.
struct Outcome {
  enum Kind {
    Falls,   ///< goes on with the next statement
    Returns, ///< `value` is the function's
    Maybe,   ///< returned if `flag` (an i1) holds; then `value`
    Breaks,
    Continues,
  };
  Kind kind = Falls;
  Value value;
  mlir::Value flag;
};

/// The variables of one function.
struct Scope {
  struct Binding {
    Value value;
    bool isConstexpr = false; ///< declared `x: tl.constexpr`
    ast::Span span;           ///< where it was assigned
    /// Why reading it is an error, when it is ("assigned only where ...").
    std::string poison;
  };
  llvm::StringMap<Binding> variables;
  std::shared_ptr<Scope> parent; ///< host closures
};

class Evaluator {
public:
  Evaluator(ModuleTable &modules, Emitter &emitter, Diagnostics &diag)
      : modules(modules), emitter(emitter), diag(diag) {}

  ModuleTable &modules;
  Emitter &emitter;
  Diagnostics &diag;

  //===--------------------------------------------------------------------===//
  // For built-ins
  //===--------------------------------------------------------------------===//

  /// Calls anything callable: a function, a built-in, a bound method, a class.
  FailureOr<Value> call(const Value &callee,
                        llvm::ArrayRef<Argument> arguments);

  /// Fills the region of a tile.reduce or tile.scan: a block of 2n scalars of
  /// `types` (n of them), the function called on them, its n results checked
  /// against `types` and yielded. `what` names the operation in messages.
  LogicalResult buildCombineRegion(mlir::Region &region, const Value &function,
                                   llvm::ArrayRef<ScalarType> types,
                                   llvm::StringRef what);

  /// The attribute `name` of a value (Attributes.cpp).
  FailureOr<Value> attribute(const Value &object, llvm::StringRef name);

  /// The items of a value that can be iterated statically.
  FailureOr<std::vector<Value>> iterate(const Value &value,
                                        llvm::StringRef what);

  /// Options of the compilation that built-ins look at.
  bool emitAsserts = false;

  //===--------------------------------------------------------------------===//
  // For the entry points
  //===--------------------------------------------------------------------===//

  FailureOr<Value> evaluate(const ast::Expr *expr);
  /// A name of a module's top level (Globals.cpp).
  FailureOr<Value> global(const std::shared_ptr<SourceModule> &module,
                          llvm::StringRef name);
  /// Evaluates a kernel's body with these parameter values.
  LogicalResult runKernel(const std::shared_ptr<const Function> &kernel,
                          llvm::ArrayRef<Value> parameters);

private:
  friend class FrameScope;

  struct Frame;
  Frame *frame = nullptr; ///< innermost
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVALUATOR_H
