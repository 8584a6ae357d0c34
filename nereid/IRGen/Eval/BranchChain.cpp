//===- BranchChain.cpp - Branches that stay open ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/BranchChain.h"

namespace nereid::irgen {

/// Branches inside one another before the rest goes on after them. No kernel
/// of people has longer chains; the regions of so many are still cheap.
static constexpr size_t maxLevels = 32;
/// The same for all chains together, where one stands inside another: then
/// each goes on after as soon as it can.
static constexpr size_t maxOpenSides = 256;

Evaluator::BranchChain::~BranchChain() {
  if (!levels.empty()) {
    evaluator.openSides -= levels.size();
    evaluator.frame->journalling -= static_cast<unsigned>(levels.size());
    evaluator.emitter.builder.restoreInsertionPoint(levels.front().behind);
  }
}

void Evaluator::BranchChain::enter(Level level) {
  level.behind = evaluator.emitter.builder.saveInsertionPoint();
  level.mark = evaluator.frame->journal.size();
  ++evaluator.openSides;
  ++evaluator.frame->journalling;
  evaluator.enterBlock(level.open);
  levels.push_back(std::move(level));
}

LogicalResult
Evaluator::BranchChain::open(const Tensor &condition, Side closed,
                             llvm::function_ref<FailureOr<Outcome>()> body) {
  auto op = evaluator.emitter.create<mlir::scf::IfOp>(
      mlir::TypeRange(), condition.value, /*withElseRegion=*/true);
  bool isThen = closed == Side::Then;
  FailureOr<Branch> branch =
      evaluator.evaluateBranch(isThen ? op.thenBlock() : op.elseBlock(), body);
  if (failed(branch)) {
    return failure();
  }
  enter({op,
         std::move(*branch),
         isThen,
         isThen ? op.elseBlock() : op.thenBlock(),
         {},
         0,
         evaluator.diag.stack.back().span});
  bool isDeep = levels.size() >= maxLevels ||
                (evaluator.openSides >= maxOpenSides && levels.size() > 1);
  return isDeep ? goOnAfter() : success();
}

FailureOr<Outcome> Evaluator::BranchChain::closeInnermost(Outcome outcome) {
  Level level = std::move(levels.back());
  levels.pop_back();
  --evaluator.openSides;
  --evaluator.frame->journalling;
  Branch open{std::move(outcome), level.open, evaluator.undoSince(level.mark)};
  evaluator.emitter.builder.restoreInsertionPoint(level.behind);
  SpanScope at(evaluator.diag, level.span);
  return level.isClosedFirst ? evaluator.join(level.op, level.closed, open)
                             : evaluator.join(level.op, open, level.closed);
}

FailureOr<Outcome> Evaluator::BranchChain::close(Outcome last) {
  FailureOr<Outcome> outcome = std::move(last);
  while (succeeded(outcome) && !levels.empty()) {
    outcome = closeInnermost(std::move(*outcome));
  }
  return outcome;
}

//===----------------------------------------------------------------------===//
// Going on after
//===----------------------------------------------------------------------===//

/// What the open path has done to variables that still matter. The others have
/// no value any more.
std::vector<Evaluator::BranchChain::Brought>
Evaluator::BranchChain::changedVariables() const {
  const Frame &frame = *evaluator.frame;
  auto isNeeded = [&](llvm::StringRef name) {
    return !frame.function || evaluator.lastUses.isNamedFrom(
                                  *frame.function, name, levels.back().span);
  };
  std::vector<Brought> variables;
  llvm::StringMap<bool> seen;
  for (size_t i = levels.front().mark; i < frame.journal.size(); ++i) {
    const std::string &name = frame.journal[i].name;
    if (!seen.try_emplace(name, true).second) {
      continue;
    }
    Brought &variable = variables.emplace_back();
    variable.name = name;
    auto it = frame.scope->variables.find(name);
    if (it != frame.scope->variables.end() && isNeeded(name)) {
      variable.binding = it->second;
      if (it->second.poison.empty()) {
        flatten(it->second.value, variable.parts);
      }
    }
  }
  return variables;
}

/// Ends all levels with an open path, and makes that path the side of one
/// branch after them.
LogicalResult Evaluator::BranchChain::goOnAfter() {
  Frame &frame = *evaluator.frame;
  const size_t mark = levels.front().mark;
  const ast::Span span = levels.back().span;
  std::vector<Brought> variables = changedVariables();
  Outcome outcome{Outcome::Open};
  llvm::SmallVector<Tensor *> inside; // made in the regions that are left
  for (Brought &variable : variables) {
    for (Tensor &part : variable.parts) {
      mlir::Region *region = part.value.getParentRegion();
      if (levels.front().op->isAncestor(region->getParentOp())) {
        inside.push_back(&part);
        outcome.brought.push_back(part);
      }
    }
  }
  // What the last join gives is undone too: it belongs to the other side.
  ++frame.journalling;
  FailureOr<Outcome> joined = close(std::move(outcome));
  --frame.journalling;
  if (failed(joined)) {
    return failure();
  }
  Branch closed{std::move(*joined), nullptr, evaluator.undoSince(mark)};
  for (auto [part, result] : llvm::zip_equal(inside, closed.outcome.brought)) {
    *part = result;
  }
  auto op = evaluator.emitter.create<mlir::scf::IfOp>(
      mlir::TypeRange(), closed.outcome.open, /*withElseRegion=*/true);
  closed.outcome.open = {};
  closed.outcome.brought.clear();
  closed.block = op.elseBlock();
  enter({op, std::move(closed), true, op.thenBlock(), {}, 0, span});
  for (Brought &variable : variables) {
    if (!variable.binding) {
      evaluator.unbind(variable.name);
      continue;
    }
    llvm::SmallVector<mlir::Value> values;
    for (const Tensor &part : variable.parts) {
      values.push_back(part.value);
    }
    llvm::ArrayRef<mlir::Value> parts(values);
    variable.binding->value = unflatten(variable.binding->value, parts);
    evaluator.bind(variable.name, std::move(*variable.binding));
  }
  return success();
}

} // namespace nereid::irgen
