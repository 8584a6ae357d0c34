//===- ControlFlow.cpp - Branches on run-time conditions --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both branches are evaluated from the same variables. Afterwards every
// variable that one of them changed is compared: equal values stay, values of
// one type become results of the scf.if, anything else becomes unreadable with
// the reason kept for the message. Where a branch has returned, its variables
// do not matter, and zeros stand in for them.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/BranchChain.h"

namespace nereid::irgen {

using mlir::scf::IfOp;
using mlir::scf::YieldOp;

const std::optional<Scope::Binding> *Branch::find(llvm::StringRef name) const {
  for (const auto &[changed, binding] : changes) {
    if (changed == name) {
      return &binding;
    }
  }
  return nullptr;
}

/// What is emitted from here on goes into the block.
void Evaluator::enterBlock(mlir::Block *block) {
  bool terminated =
      !block->empty() && block->back().hasTrait<mlir::OpTrait::IsTerminator>();
  if (terminated) {
    emitter.builder.setInsertionPoint(block->getTerminator());
  } else {
    emitter.builder.setInsertionPointToEnd(block);
  }
}

/// Gives the variables the values that they had when the journal ended at
/// `mark`, and returns what they had become.
Changes Evaluator::undoSince(size_t mark) {
  Changes changes;
  // The first entry of a name holds its old value.
  std::vector<Frame::Undo> undos(
      std::make_move_iterator(frame->journal.begin() + mark),
      std::make_move_iterator(frame->journal.end()));
  frame->journal.resize(mark);
  llvm::StringMap<bool> seen;
  for (Frame::Undo &undo : undos) {
    if (!seen.try_emplace(undo.name, true).second) {
      continue;
    }
    auto &variables = frame->scope->variables;
    auto it = variables.find(undo.name);
    std::optional<Scope::Binding> now;
    if (it != variables.end()) {
      now = std::move(it->second);
      variables.erase(it);
    }
    changes.emplace_back(undo.name, std::move(now));
    if (undo.old) {
      variables[undo.name] = std::move(*undo.old);
    }
  }
  return changes;
}

FailureOr<Branch>
Evaluator::evaluateBranch(mlir::Block *block,
                          llvm::function_ref<FailureOr<Outcome>()> body) {
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  enterBlock(block);
  size_t mark = frame->journal.size();
  ++frame->journalling;
  FailureOr<Outcome> outcome = body();
  --frame->journalling;
  if (failed(outcome)) {
    return failure();
  }
  return Branch{std::move(*outcome), block, undoSince(mark)};
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Joins what two branches of one scf.if made.
class Evaluator::Merge {
public:
  Merge(Evaluator &evaluator, IfOp op, Branch &a, Branch &b)
      : evaluator(evaluator), emitter(evaluator.emitter),
        frame(*evaluator.frame), op(op), a(a), b(b) {}

  FailureOr<Outcome> run() {
    mergeVariables();
    FailureOr<Outcome> outcome = mergeOutcomes();
    if (failed(outcome)) {
      return failure();
    }
    mergeOpen();
    rebuild();
    // Results are known now: hand them out.
    llvm::ArrayRef<mlir::Value> results(values);
    if (outcomeHasFlag) {
      outcome->flag = results.front();
      results = results.drop_front();
    }
    if (outcomeHasValue) {
      outcome->value = unflatten(outcome->value, results);
    }
    for (auto &[name, binding] : merged) {
      binding.value = unflatten(binding.value, results);
      evaluator.bind(name, std::move(binding));
    }
    if (opening) {
      outcome->open = results.front();
      for (const Tensor &part : opening->outcome.brought) {
        results = results.drop_front();
        outcome->brought.push_back({results.front(), part.type});
      }
    }
    return outcome;
  }

private:
  static bool reaches(const Branch &branch) {
    return branch.outcome.kind != Outcome::Returns &&
           branch.outcome.kind != Outcome::Open;
  }

  /// Zeros of the same types, made inside `block`.
  void yieldZeros(mlir::Block *block, const Value &like,
                  llvm::SmallVectorImpl<mlir::Value> &yields) {
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(block->getTerminator());
    llvm::SmallVector<Tensor> parts;
    flatten(like, parts);
    yieldZeros(parts, yields);
  }

  void yieldZeros(llvm::ArrayRef<Tensor> parts,
                  llvm::SmallVectorImpl<mlir::Value> &yields) {
    for (const Tensor &part : parts) {
      yields.push_back(emitter.zero(part.type, part.shape()).value);
    }
  }

  static void yieldParts(const Value &value,
                         llvm::SmallVectorImpl<mlir::Value> &yields) {
    llvm::SmallVector<Tensor> parts;
    flatten(value, parts);
    for (const Tensor &part : parts) {
      yields.push_back(part.value);
    }
  }

  void mergeVariables() {
    std::vector<std::string> names;
    llvm::StringMap<bool> seen;
    for (const Branch *branch : {&a, &b}) {
      for (const auto &change : branch->changes) {
        if (seen.try_emplace(change.first, true).second) {
          names.push_back(change.first);
        }
      }
    }
    for (const std::string &name : names) {
      mergeVariable(name);
    }
  }

  std::optional<Scope::Binding> after(const Branch &branch,
                                      llvm::StringRef name) {
    if (const auto *change = branch.find(name)) {
      return *change;
    }
    auto it = frame.scope->variables.find(name);
    return it == frame.scope->variables.end()
               ? std::nullopt
               : std::optional<Scope::Binding>(it->second);
  }

  /// The number as a run-time value made inside `block`.
  void decayIn(mlir::Block *block, Scope::Binding &binding) {
    if (binding.isConstexpr || !binding.value.isNumber()) {
      return;
    }
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(block->getTerminator());
    Diagnostics::Mark mark = evaluator.diag.mark();
    FailureOr<Value> decayed = emitter.decay(binding.value);
    if (failed(decayed)) {
      evaluator.diag.forget(mark); // too wide for 64 bits: stays static
    } else {
      binding.value = std::move(*decayed);
    }
  }

  void poison(llvm::StringRef name, std::string why) {
    Scope::Binding binding;
    binding.poison = std::move(why);
    evaluator.bind(name, std::move(binding));
  }

  std::string line() const {
    return std::to_string(evaluator.diag.stack.back().span.line);
  }

  void mergeVariable(const std::string &name) {
    std::optional<Scope::Binding> x = after(a, name), y = after(b, name);
    if (!reaches(a) && !reaches(b)) {
      return;
    }
    if (!reaches(a) || !reaches(b)) {
      std::optional<Scope::Binding> &only = reaches(a) ? x : y;
      mlir::Block *other = reaches(a) ? b.block : a.block;
      if (!only) {
        return evaluator.unbind(name);
      }
      if (only->poison.empty()) {
        yieldParts(only->value, reaches(a) ? yieldsA : yieldsB);
        yieldZeros(other, only->value, reaches(a) ? yieldsB : yieldsA);
        merged.emplace_back(name, *only);
      } else {
        evaluator.bind(name, *only);
      }
      return;
    }
    if (!x && !y) {
      return evaluator.unbind(name);
    }
    if (!x || !y) {
      return poison(name, "'" + name +
                              "' is assigned on only one side of the 'if' at "
                              "line " +
                              line() + ", so it has no value here");
    }
    if (!x->poison.empty() || !y->poison.empty()) {
      return evaluator.bind(name, x->poison.empty() ? *y : *x);
    }
    std::string why;
    if (!sameType(x->value, y->value, why)) {
      // A parameter that is a number for this caller is a variable all the
      // same: it may become a run-time value on one side.
      why.clear();
      decayIn(a.block, *x);
      decayIn(b.block, *y);
    }
    if (!sameType(x->value, y->value, why)) {
      return poison(name, "'" + name +
                              "' has different types after the 'if' "
                              "at line " +
                              line() + ": " + why);
    }
    x->isConstexpr = x->isConstexpr && y->isConstexpr;
    if (equal(x->value, y->value)) {
      return evaluator.bind(name, *x);
    }
    yieldParts(x->value, yieldsA);
    yieldParts(y->value, yieldsB);
    merged.emplace_back(name, *x);
  }

  //===--------------------------------------------------------------------===//
  // Outcomes
  //===--------------------------------------------------------------------===//

  static bool mayReturn(const Branch &branch) {
    return branch.outcome.kind == Outcome::Returns ||
           branch.outcome.kind == Outcome::Maybe;
  }

  FailureOr<Outcome> mergeOutcomes() {
    for (const Branch *branch : {&a, &b}) {
      if (branch->outcome.kind == Outcome::Breaks ||
          branch->outcome.kind == Outcome::Continues) {
        return evaluator.diag.error(
            "'break' and 'continue' under a run-time condition are not "
            "supported",
            "use a mask, or a 'while' loop with the condition");
      }
    }
    Outcome outcome;
    if (!mayReturn(a) && !mayReturn(b)) {
      return outcome;
    }
    bool always = !reaches(a) && !reaches(b);
    outcome.kind = always ? Outcome::Returns : Outcome::Maybe;
    if (failed(mergeReturned(outcome))) {
      return failure();
    }
    if (!always) {
      outcomeHasFlag = true;
      yieldFlag(a, yieldsA);
      yieldFlag(b, yieldsB);
    }
    return outcome;
  }

  void yieldFlag(const Branch &branch,
                 llvm::SmallVectorImpl<mlir::Value> &yields) {
    bool isKnown = branch.outcome.kind != Outcome::Maybe;
    yields.insert(yields.begin(), isKnown ? knownFlag(branch, !reaches(branch))
                                          : branch.outcome.flag);
  }

  mlir::Value knownFlag(const Branch &branch, bool value) {
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(branch.block->getTerminator());
    return emitter.constant(DType::Int1, Int{value}).value;
  }

  /// One side has paths that are open, or is: its flag and what it brings come
  /// last among the results.
  void mergeOpen() {
    for (Branch *branch : {&a, &b}) {
      if (branch->outcome.kind == Outcome::Open || branch->outcome.open) {
        opening = branch;
      }
    }
    if (!opening) {
      return;
    }
    const Outcome &outcome = opening->outcome;
    Branch &other = opening == &a ? b : a;
    auto &brings = opening == &a ? yieldsA : yieldsB;
    auto &brought = opening == &a ? yieldsB : yieldsA;
    brings.push_back(outcome.open ? outcome.open : knownFlag(*opening, true));
    for (const Tensor &part : outcome.brought) {
      brings.push_back(part.value);
    }
    brought.push_back(knownFlag(other, false));
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(other.block->getTerminator());
    yieldZeros(outcome.brought, brought);
  }

  /// A number that differs between the branches becomes dynamic in each.
  LogicalResult decayIn(Branch &branch) {
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(branch.block->getTerminator());
    FailureOr<Value> decayed = emitter.decay(branch.outcome.value);
    if (failed(decayed)) {
      return failure();
    }
    branch.outcome.value = std::move(*decayed);
    return success();
  }

  LogicalResult mergeReturned(Outcome &outcome) {
    Value &x = a.outcome.value, &y = b.outcome.value;
    llvm::SmallVector<mlir::Value> partsA, partsB;
    if (mayReturn(a) && mayReturn(b)) {
      std::string why;
      if (!sameType(x, y, why)) {
        why.clear();
        if (failed(decayIn(a)) || failed(decayIn(b))) {
          return failure();
        }
        if (!sameType(x, y, why)) {
          if (x.isNone() || y.isNone()) {
            return evaluator.diag.error(
                "the function returns " + (x.isNone() ? y : x).describe() +
                    " on one path and nothing on another",
                "return a value of the same type at the end of the function");
          }
          return evaluator.diag.error(
              "the two sides of the 'if' give different types: " + why,
              "convert one of them: x.to(...)");
        }
      }
      outcome.value = x;
      yieldParts(x, partsA);
      yieldParts(y, partsB);
    } else if (mayReturn(a)) {
      outcome.value = x;
      yieldParts(x, partsA);
      yieldZeros(b.block, x, partsB);
    } else {
      outcome.value = y;
      yieldParts(y, partsB);
      yieldZeros(a.block, y, partsA);
    }
    outcomeHasValue = true;
    yieldsA.insert(yieldsA.begin(), partsA.begin(), partsA.end());
    yieldsB.insert(yieldsB.begin(), partsB.begin(), partsB.end());
    return success();
  }

  /// An scf.if's results are fixed when it is made, so it is made again.
  void rebuild() {
    if (yieldsA.empty()) {
      return;
    }
    auto full = emitter.create<IfOp>(mlir::ValueRange(yieldsA).getTypes(),
                                     op.getCondition(), /*addThen=*/false,
                                     /*addElse=*/false);
    full.getThenRegion().takeBody(op.getThenRegion());
    full.getElseRegion().takeBody(op.getElseRegion());
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    for (auto [block, yields] :
         {std::pair(a.block, &yieldsA), std::pair(b.block, &yieldsB)}) {
      mlir::Operation *old = block->getTerminator();
      emitter.builder.setInsertionPoint(old);
      emitter.create<YieldOp>(*yields);
      old->erase();
    }
    op.erase();
    values.assign(full.getResults().begin(), full.getResults().end());
  }

  Evaluator &evaluator;
  Emitter &emitter;
  Frame &frame;
  IfOp op;
  Branch &a, &b;
  llvm::SmallVector<mlir::Value> yieldsA, yieldsB, values;
  std::vector<std::pair<std::string, Scope::Binding>> merged;
  bool outcomeHasFlag = false, outcomeHasValue = false;
  const Branch *opening = nullptr; ///< the side with open paths
};

FailureOr<Outcome> Evaluator::join(mlir::Operation *branch, Branch &a,
                                   Branch &b) {
  return Merge(*this, mlir::cast<IfOp>(branch), a, b).run();
}

FailureOr<Outcome>
Evaluator::runtimeIf(const Tensor &condition,
                     llvm::function_ref<FailureOr<Outcome>()> thenBody,
                     llvm::function_ref<FailureOr<Outcome>()> elseBody) {
  auto op = emitter.create<IfOp>(mlir::TypeRange(), condition.value,
                                 /*withElseRegion=*/true);
  FailureOr<Branch> a = evaluateBranch(op.thenBlock(), thenBody);
  if (failed(a)) {
    return failure();
  }
  FailureOr<Branch> b = evaluateBranch(op.elseBlock(), elseBody);
  if (failed(b)) {
    return failure();
  }
  return join(op, *a, *b);
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

/// For each `if` of a chain, from the first: whether every path through its
/// body, and through what follows it in the chain, returns, as far as syntax
/// tells.
struct ReturningSides {
  bool body, orelse;
};

static bool endsWithReturn(ast::Body body);

static std::vector<ReturningSides> returningSides(const ast::If *first) {
  std::vector<ReturningSides> sides;
  const ast::If *last = first;
  for (const ast::If *branch = first; branch; branch = ast::elifOf(branch)) {
    sides.push_back({endsWithReturn(branch->body), false});
    last = branch;
  }
  sides.back().orelse = endsWithReturn(last->orelse);
  for (size_t i = sides.size() - 1; i-- > 0;) {
    sides[i].orelse = sides[i + 1].body && sides[i + 1].orelse;
  }
  return sides;
}

static bool endsWithReturn(ast::Body body) {
  if (body.empty()) {
    return false;
  }
  const ast::Stmt *last = body.back();
  if (const auto *branch = ast::dynCast<ast::If>(last)) {
    ReturningSides sides = returningSides(branch).front();
    return sides.body && sides.orelse;
  }
  return ast::isa<ast::Return>(last);
}

/// A whole chain of `elif`. Where exactly one side of a branch returns, what
/// follows the chain belongs to the other side, which stays open on the
/// chain of the statements around it; all other sides end with the chain.
FailureOr<Outcome> Evaluator::runIf(const ast::If *statement,
                                    BranchChain &branches) {
  std::vector<ReturningSides> returns = returningSides(statement);
  BranchChain chain(*this);
  bool followed = true; // by the rest: in the side that is open
  size_t next = 0;
  for (const ast::If *branch = statement;; branch = ast::elifOf(branch)) {
    SpanScope at(diag, branch->span);
    ReturningSides side = returns[next++];
    if (branch != statement && failed(step())) {
      return failure();
    }
    FailureOr<Value> test = condition(branch->test, "the condition");
    if (failed(test)) {
      return failure();
    }
    auto runThen = [&] { return runBody(branch->body); };
    auto runElse = [&] { return runBody(branch->orelse); };
    bool isLast = !ast::elifOf(branch);
    if (!test->isTensor()) {
      bool holds = truth(*test);
      if (!holds && !isLast) {
        continue;
      }
      FailureOr<Outcome> outcome = holds ? runThen() : runElse();
      return failed(outcome) ? outcome : chain.close(std::move(*outcome));
    }
    followed = followed && side.body != side.orelse;
    BranchChain &levels = followed ? branches : chain;
    bool goesOnInThen = followed && side.orelse;
    LogicalResult opened =
        goesOnInThen
            ? levels.open(test->tensor(), BranchChain::Side::Else, runElse)
            : levels.open(test->tensor(), BranchChain::Side::Then, runThen);
    if (failed(opened)) {
      return failure();
    }
    if (goesOnInThen || isLast) {
      FailureOr<Outcome> outcome = goesOnInThen ? runThen() : runElse();
      return failed(outcome) ? outcome : chain.close(std::move(*outcome));
    }
  }
}

} // namespace nereid::irgen
