//===- Loops.cpp - Loops, at compile time and at run time -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run-time loop carries the variables that its body assigns (found in the
// syntax) and that have a run-time value before it. The body is evaluated once:
// carried variables keep their type exactly, so the first iteration's types are
// every iteration's.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/AssignedNames.h"
#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/Support/SaveAndRestore.h"

namespace nereid::irgen {

using mlir::scf::ForOp;
using mlir::scf::WhileOp;

//===----------------------------------------------------------------------===//
// Loops that run while compiling
//===----------------------------------------------------------------------===//

FailureOr<Outcome> Evaluator::runStaticFor(const ast::ForLike *statement,
                                           llvm::ArrayRef<Value> items) {
  bool broke = false;
  auto iteration = [&](size_t i, BranchChain &) -> FailureOr<Outcome> {
    // The index is a constant: it does not decay.
    if (const auto *name = ast::dynCast<ast::Name>(statement->target)) {
      bind(name->id, {items[i], false, name->span});
    } else if (failed(assign(statement->target, items[i]))) {
      return failure();
    }
    FailureOr<Outcome> outcome = runBody(statement->body);
    if (succeeded(outcome) && outcome->kind == Outcome::Continues) {
      return Outcome();
    }
    broke |= succeeded(outcome) && outcome->kind == Outcome::Breaks;
    return outcome;
  };
  if (frame->isKernel) {
    reportDecision(emitter.loc(), [&] {
      return Decision{"loop",
                      "unrolled, " + counted(items.size(), "iteration") +
                          " one after the other",
                      "", "its items are known while compiling", ""};
    });
  }
  FailureOr<Outcome> outcome = runSequence(items.size(), iteration);
  if (failed(outcome)) {
    return failure();
  }
  if (outcome->kind == Outcome::Breaks) {
    outcome = Outcome();
  }
  if (!broke && outcome->kind == Outcome::Falls) {
    return runBody(statement->orelse);
  }
  return outcome;
}

FailureOr<Outcome> Evaluator::runFor(const ast::ForLike *statement) {
  FailureOr<Value> source = evaluate(statement->iter);
  if (failed(source)) {
    return failure();
  }
  bool isTileLoop = frame->isKernel && source->isRange() &&
                    source->range().kind != RangeValue::Kind::Static;
  if (isTileLoop) {
    if (!statement->orelse.empty()) {
      return diag.error("'else' of a loop is not supported in a kernel; "
                        "expected a loop without it",
                        "set a variable before the loop instead");
    }
    return runTileFor(statement, source->range());
  }
  SpanScope at(diag, statement->iter->span);
  FailureOr<std::vector<Value>> items = iterate(*source, "'for'");
  if (failed(items)) {
    return failure();
  }
  return runStaticFor(statement, *items);
}

FailureOr<Outcome> Evaluator::runWhile(const ast::While *statement) {
  if (frame->isKernel) {
    if (!statement->orelse.empty()) {
      return diag.error("'else' of a loop is not supported in a kernel; "
                        "expected a loop without it",
                        "set a variable before the loop instead");
    }
    return runTileWhile(statement);
  }
  while (true) {
    FailureOr<Value> test = condition(statement->test, "the condition");
    if (failed(test)) {
      return failure();
    }
    if (!truth(*test)) {
      return runBody(statement->orelse);
    }
    FailureOr<Outcome> outcome = runBody(statement->body);
    if (failed(outcome) || outcome->kind == Outcome::Returns) {
      return outcome;
    }
    if (outcome->kind == Outcome::Breaks) {
      return Outcome();
    }
    if (failed(step())) {
      return failure();
    }
  }
}

//===----------------------------------------------------------------------===//
// Carried variables
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Carried>>
Evaluator::carriedVariables(llvm::ArrayRef<llvm::StringRef> assigned,
                            llvm::SmallVectorImpl<mlir::Value> &inits) {
  std::vector<Carried> carried;
  for (llvm::StringRef name : assigned) {
    auto it = frame->scope->variables.find(name);
    if (it == frame->scope->variables.end() || !it->second.poison.empty()) {
      continue;
    }
    Scope::Binding before = it->second;
    if (before.value.isStatic() && !before.isConstexpr) {
      // A parameter that was specialized to a number is a variable all the
      // same: the kernel must mean for n = 1 what it means for n = 2.
      FailureOr<Value> decayed = emitter.decay(before.value);
      if (failed(decayed)) {
        return failure();
      }
      before.value = std::move(*decayed);
    }
    llvm::SmallVector<Tensor> parts;
    flatten(before.value, parts);
    for (const Tensor &part : parts) {
      inits.push_back(part.value);
    }
    carried.push_back({name.str(), std::move(before), parts.size()});
  }
  return carried;
}

void Evaluator::bindCarried(llvm::ArrayRef<Carried> carried,
                            llvm::ArrayRef<mlir::Value> values) {
  for (const Carried &variable : carried) {
    Scope::Binding binding = variable.before;
    binding.value = unflatten(variable.before.value, values);
    bind(variable.name, std::move(binding));
  }
}

LogicalResult
Evaluator::yieldCarried(llvm::ArrayRef<Carried> carried, const Branch &body,
                        const ast::Span &loop,
                        llvm::SmallVectorImpl<mlir::Value> &yields) {
  for (const Carried &variable : carried) {
    const auto *change = body.find(variable.name);
    const Scope::Binding &before = variable.before;
    if (!change || !*change) {
      return diag.error(loop, "'" + variable.name +
                                  "' is expected to have a value at the end "
                                  "of the loop's body");
    }
    const Scope::Binding &now = **change;
    if (!now.poison.empty()) {
      return diag.error(loop, now.poison,
                        "expected it assigned with one type on every way "
                        "through the body");
    }
    std::string why;
    if (!sameType(before.value, now.value, why)) {
      std::string hint;
      if (before.isConstexpr) {
        hint =
            "a constexpr cannot be re-assigned in a loop; copy it to a plain "
            "variable before the loop";
      } else if (before.value.isNone()) {
        hint = "give '" + variable.name +
               "' a value of the final type before "
               "the loop, such as tl.zeros(...)";
      } else if (before.value.isTensor() && now.value.isTensor()) {
        const Tensor &x = before.value.tensor(), &y = now.value.tensor();
        std::string why;
        std::optional<ScalarType> common =
            promote(x.type, y.type, OperatorClass::Plain, why);
        if (common && *common == y.type && x.type != y.type) {
          hint = x.type.str() + " with " + y.type.str() + " gives " +
                 common->str() + "; ";
        }
        hint += x.shape() == y.shape()
                    ? "start with the type that the loop computes: " +
                          variable.name + " = " + variable.name + ".to(tl." +
                          y.type.str() + "), or convert in the loop: .to(tl." +
                          x.type.str() + ")"
                    : "start with the shape that the loop computes: tl.zeros(" +
                          shapeStr(y.shape()) + ", tl." + y.type.str() + ")";
      }
      LogicalResult result =
          diag.error(now.span,
                     "'" + variable.name + "' changes its type in the loop: " +
                         before.value.describe() + " before it, " +
                         now.value.describe() + " after one iteration",
                     hint);
      diag.note(loop, "in this loop");
      return result;
    }
    llvm::SmallVector<Tensor> parts;
    flatten(now.value, parts);
    for (const Tensor &part : parts) {
      yields.push_back(part.value);
    }
  }
  return success();
}

void Evaluator::afterLoop(llvm::ArrayRef<Carried> carried, const Branch &body,
                          mlir::ValueRange arguments, mlir::ValueRange results,
                          llvm::ArrayRef<mlir::Value> yields,
                          const ast::Span &loop) {
  size_t from = 0;
  for (const Carried &variable : carried) {
    bool changed = false;
    for (size_t i = from; i < from + variable.parts; ++i) {
      changed |= yields[i] != arguments[i];
    }
    Scope::Binding binding = variable.before;
    if (changed) {
      llvm::SmallVector<mlir::Value> parts(
          results.begin() + from, results.begin() + from + variable.parts);
      llvm::ArrayRef<mlir::Value> rest(parts);
      binding.value = unflatten(variable.before.value, rest);
    }
    bind(variable.name, std::move(binding));
    from += variable.parts;
  }
  for (const auto &[name, binding] : body.changes) {
    bool isCarried = llvm::any_of(
        carried, [&, n = &name](const Carried &c) { return c.name == *n; });
    if (!isCarried) {
      Scope::Binding poisoned;
      poisoned.poison = "'" + name +
                        "' has a value only inside the loop at "
                        "line " +
                        std::to_string(loop.line);
      bind(name, std::move(poisoned));
    }
  }
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

/// The bounds as scalars of the loop's index type: the one that lower bound,
/// upper bound and step promote to.
static FailureOr<ScalarType> indexType(Diagnostics &diag,
                                       llvm::ArrayRef<Tensor> bounds) {
  ScalarType type = bounds.front().type;
  for (const Tensor &bound : bounds) {
    if (bound.isBlock() || !bound.type.isInteger()) {
      return diag.error("the bounds of a loop must be integer scalars, got " +
                            bound.typeStr(),
                        bound.isBlock() ? "reduce the block to a scalar first: "
                                          "tl.max(x)"
                                        : "expected integers: x.to(tl.int32)");
    }
    std::string why;
    type = *promote(type, bound.type, OperatorClass::Plain, why);
  }
  return type.bits() < 32 ? ScalarType(DType::Int32) : type;
}

FailureOr<Outcome> Evaluator::runTileFor(const ast::ForLike *statement,
                                         const RangeValue &range) {
  SpanScope atIter(diag, statement->iter->span);
  const auto *target = ast::dynCast<ast::Name>(statement->target);
  if (!target) {
    return diag.error(statement->target->span,
                      "the variable of a run-time loop must be a name; "
                      "expected 'for i in ...'");
  }
  bool reversed = range.step.isIntegral() && range.step.integer() < 0;
  if (range.step.isIntegral() && range.step.integer() == 0) {
    return diag.error("the step of a loop must not be 0; expected a positive "
                      "or a negative integer");
  }
  Value positive = reversed ? Value(-range.step.integer()) : Value(range.step);
  llvm::SmallVector<Tensor> bounds;
  for (const Value &value : {reversed ? range.stop : range.start,
                             reversed ? range.start : range.stop, positive}) {
    FailureOr<Tensor> bound = emitter.toTensor(value, "the bound of a loop");
    if (failed(bound)) {
      return failure();
    }
    bounds.push_back(*bound);
  }
  FailureOr<ScalarType> type = indexType(diag, bounds);
  if (failed(type)) {
    return failure();
  }
  for (Tensor &bound : bounds) {
    FailureOr<Tensor> converted = emitter.cast(bound, *type);
    if (failed(converted)) {
      return failure();
    }
    bound = *converted;
  }
  llvm::SmallVector<mlir::Value> inits;
  std::vector<llvm::StringRef> assigned = assignedNames(statement->body);
  LoopIndex loop{target, *type, bounds, reversed, false, {}};
  loop.isAssigned = llvm::is_contained(assigned, llvm::StringRef(target->id));
  auto previous = frame->scope->variables.find(target->id);
  if (previous != frame->scope->variables.end()) {
    loop.before = previous->second.value;
  }
  llvm::erase(assigned, llvm::StringRef(target->id));
  FailureOr<std::vector<Carried>> carried = carriedVariables(assigned, inits);
  if (failed(carried)) {
    return failure();
  }
  auto op =
      emitter.create<ForOp>(bounds[0].value, bounds[1].value, bounds[2].value,
                            inits, nullptr, type->isUnsignedInt());
  for (const auto &[name, value] : range.hints) {
    op->setAttr("tile." + name,
                emitter.builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  llvm::SaveAndRestore inLoop(frame->loopDepth, frame->loopDepth + 1);
  FailureOr<Branch> body =
      evaluateBranch(op.getBody(), [&]() -> FailureOr<Outcome> {
        Tensor index{op.getInductionVar(), *type};
        if (reversed) {
          // Counts up from the far end: stop + start - index.
          index = emitter.add(emitter.sub(bounds[1], index), bounds[0]);
        }
        bind(target->id, {Value(index), false, target->span});
        llvm::SmallVector<mlir::Value> arguments(op.getRegionIterArgs());
        bindCarried(*carried, arguments);
        return runBody(statement->body);
      });
  if (failed(body)) {
    return failure();
  }
  llvm::SmallVector<mlir::Value> yields;
  if (failed(yieldCarried(*carried, *body, statement->iter->span, yields))) {
    return failure();
  }
  if (!inits.empty()) {
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToEnd(op.getBody());
    emitter.create<mlir::scf::YieldOp>(yields);
  }
  warnAboutAccumulators(statement->body, *carried);
  afterLoop(*carried, *body, op.getRegionIterArgs(), op.getResults(), yields,
            statement->span);
  if (!loop.isAssigned && frame->function &&
      lastUses.isNamedOutsideLoops(*frame->function, target->id)) {
    bindLastIndex(loop);
  }
  return Outcome();
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

FailureOr<Outcome> Evaluator::runTileWhile(const ast::While *statement) {
  llvm::SmallVector<mlir::Value> inits;
  std::vector<llvm::StringRef> assigned = assignedNames(statement->body);
  FailureOr<std::vector<Carried>> carried = carriedVariables(assigned, inits);
  if (failed(carried)) {
    return failure();
  }
  mlir::TypeRange types = mlir::ValueRange(inits).getTypes();
  auto op = emitter.create<WhileOp>(types, inits);
  llvm::SmallVector<mlir::Location> locations(inits.size(), emitter.loc());
  auto block = [&](mlir::Region &region) {
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    return emitter.builder.createBlock(&region, {}, types, locations);
  };
  mlir::Block *before = block(op.getBefore()), *after = block(op.getAfter());
  llvm::SaveAndRestore inLoop(frame->loopDepth, frame->loopDepth + 1);
  FailureOr<Value> test = failure();
  FailureOr<Branch> head = evaluateBranch(before, [&]() -> FailureOr<Outcome> {
    llvm::SmallVector<mlir::Value> arguments(before->getArguments());
    bindCarried(*carried, arguments);
    test = condition(statement->test, "the condition");
    if (failed(test)) {
      return failure();
    }
    if (test->isTensor()) {
      emitter.create<mlir::scf::ConditionOp>(test->tensor().value, arguments);
    }
    return Outcome();
  });
  if (failed(head)) {
    return failure();
  }
  if (!test->isTensor()) {
    op.erase();
    if (!truth(*test)) {
      return Outcome();
    }
    return diag.error(statement->test->span,
                      "the loop never ends: its condition is always true",
                      "'break' is not supported; put the condition into the "
                      "'while'");
  }
  FailureOr<Branch> body = evaluateBranch(after, [&]() -> FailureOr<Outcome> {
    llvm::SmallVector<mlir::Value> arguments(after->getArguments());
    bindCarried(*carried, arguments);
    return runBody(statement->body);
  });
  if (failed(body)) {
    return failure();
  }
  llvm::SmallVector<mlir::Value> yields;
  if (failed(yieldCarried(*carried, *body, statement->test->span, yields))) {
    return failure();
  }
  {
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToEnd(after);
    emitter.create<mlir::scf::YieldOp>(yields);
  }
  warnAboutAccumulators(statement->body, *carried);
  afterLoop(*carried, *body, after->getArguments(), op.getResults(), yields,
            statement->span);
  return Outcome();
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// The name that a statement adds to: `acc += x`, `acc = acc + x`,
/// `acc = x + acc`.
static llvm::StringRef accumulatedName(const ast::Stmt *statement) {
  auto nameOf = [](const ast::Expr *expr) {
    const auto *name = ast::dynCast<ast::Name>(expr);
    return name ? llvm::StringRef(name->id) : llvm::StringRef();
  };
  if (const auto *add = ast::dynCast<ast::AugAssign>(statement)) {
    return add->op == ast::Operator::Add ? nameOf(add->target)
                                         : llvm::StringRef();
  }
  const auto *assign = ast::dynCast<ast::Assign>(statement);
  const auto *sum = assign ? ast::dynCast<ast::BinOp>(assign->value) : nullptr;
  if (!sum || sum->op != ast::Operator::Add || assign->targets.size() != 1) {
    return {};
  }
  llvm::StringRef target = nameOf(assign->targets[0]);
  bool accumulates =
      nameOf(sum->left) == target || nameOf(sum->right) == target;
  return accumulates ? target : llvm::StringRef();
}

/// A sum kept in 16 bits loses small addends after a few hundred of them.
void Evaluator::warnAboutAccumulators(ast::Body body,
                                      llvm::ArrayRef<Carried> carried) {
  for (const ast::Stmt *statement : body) {
    if (const auto *branch = ast::dynCast<ast::If>(statement)) {
      for (; branch; branch = ast::elifOf(branch)) {
        warnAboutAccumulators(branch->body, carried);
        if (!ast::elifOf(branch)) {
          warnAboutAccumulators(branch->orelse, carried);
        }
      }
      continue;
    }
    llvm::StringRef name = accumulatedName(statement);
    for (const Carried &variable : carried) {
      const Value &value = variable.before.value;
      if (name.empty() || variable.name != name || !value.isTensor()) {
        continue;
      }
      const Tensor &x = value.tensor();
      if (x.type.isFloat() && x.type.bits() <= 16) {
        diag.warning(statement->span,
                     "'" + variable.name + "' accumulates in " + x.type.str() +
                         ": small addends are lost",
                     "accumulate in float32 and convert at the end: tl.zeros("
                     "..., dtype=tl.float32), then .to(tl." +
                         x.type.str() + ")");
      }
    }
  }
}

} // namespace nereid::irgen
