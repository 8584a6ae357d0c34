//===- BranchChain.h - Branches that stay open ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where one side of a branch goes on - an `elif`, or what follows an `if` whose
// other side returns - it is evaluated inside that side, and the branch is
// joined when all is done. A thousand such branches would be regions a thousand
// deep, and what MLIR asks of a region it asks of all regions around it: time
// would grow with the square of the chain, and recursion with its length.
//
// A chain therefore nests 32 branches at most (fewer where many chains stand
// inside one another). Then it leaves them:
//
//   %open, %left = scf.if %c1 { A1; yield false, ... } else {
//     ...  scf.if %c32 { A32; yield false, ... } else { yield true, %left } }
//   scf.if %open { the rest, with %left } else { what A1 ... A32 gave }
//
// `Outcome::open` tells the paths that have taken no side yet, and
// `Outcome::brought` is what they have computed and still need. In closed paths
// zeros stand in for it. The rest is a branch on the flag, and its side nests
// the next ones. Chains up to 32 long give what they always gave.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_BRANCHCHAIN_H
#define NEREID_IRGEN_EVAL_BRANCHCHAIN_H

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

class Evaluator::BranchChain {
public:
  enum class Side { Then, Else };

  explicit BranchChain(Evaluator &evaluator) : evaluator(evaluator) {}
  /// After an error: leaves what is open as it is.
  ~BranchChain();
  BranchChain(const BranchChain &) = delete;
  BranchChain &operator=(const BranchChain &) = delete;

  /// Evaluates `body` into one side of a branch; what is evaluated from then on
  /// goes into the other side.
  LogicalResult open(const Tensor &condition, Side closed,
                     llvm::function_ref<FailureOr<Outcome>()> body);
  /// Ends all sides with `last`, the innermost first; what both sides of a
  /// branch made is joined.
  FailureOr<Outcome> close(Outcome last);

private:
  struct Level {
    mlir::scf::IfOp op;
    Branch closed;
    bool isClosedFirst; ///< in the source
    mlir::Block *open;  ///< where evaluation goes on
    mlir::OpBuilder::InsertPoint behind;
    size_t mark; ///< of the journal
    ast::Span span;
  };
  /// A variable where evaluation goes on, and all its parts.
  struct Brought {
    std::string name;
    std::optional<Scope::Binding> binding;
    llvm::SmallVector<Tensor> parts;
  };

  void enter(Level level);
  FailureOr<Outcome> closeInnermost(Outcome outcome);
  std::vector<Brought> changedVariables() const;
  LogicalResult goOnAfter();

  Evaluator &evaluator;
  llvm::SmallVector<Level, 0> levels; ///< outermost first
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_BRANCHCHAIN_H
