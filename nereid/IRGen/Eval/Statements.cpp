//===- Statements.cpp - Running statements ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/BranchChain.h"

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

FailureOr<Outcome> Evaluator::runSequence(
    size_t count,
    llvm::function_ref<FailureOr<Outcome>(size_t, BranchChain &)> item) {
  BranchChain branches(*this);
  for (size_t i = 0; i < count; ++i) {
    FailureOr<Outcome> outcome = item(i, branches);
    if (failed(outcome)) {
      return failure();
    }
    if (outcome->kind == Outcome::Falls) {
      continue;
    }
    if (outcome->kind != Outcome::Maybe || i + 1 == count) {
      return branches.close(std::move(*outcome));
    }
    // Some path has returned: the rest runs where none has.
    Tensor returned{outcome->flag, DType::Int1};
    Outcome already{Outcome::Returns, outcome->value};
    if (failed(
            branches.open(returned, BranchChain::Side::Then,
                          [&]() -> FailureOr<Outcome> { return already; }))) {
      return failure();
    }
  }
  return branches.close(Outcome());
}

FailureOr<Outcome> Evaluator::runBody(ast::Body body) {
  return runSequence(body.size(), [&](size_t i, BranchChain &branches) {
    return runStatement(body[i], branches);
  });
}

//===----------------------------------------------------------------------===//
// One statement
//===----------------------------------------------------------------------===//

static FailureOr<Outcome> ended(LogicalResult result) {
  if (failed(result)) {
    return failure();
  }
  return Outcome();
}

/// A call that is a statement leaves its result unused.
static LogicalResult checkUnused(Diagnostics &diag, const Value &callee) {
  if (!callee.isFunction() || !callee.function().decorations ||
      !callee.function().decorations->mustUse) {
    return success();
  }
  return diag.error("the result of '" + callee.function().name +
                        "' is not used; its decorator must_use_result asks for "
                        "a use",
                    *callee.function().decorations->mustUse);
}

static FailureOr<Outcome> expressionStatement(
    Diagnostics &diag, const ast::Expr *expr, bool isKernel,
    llvm::function_ref<FailureOr<Value>(const ast::Expr *)> evaluate) {
  if (ast::isa<ast::Constant>(expr)) {
    return Outcome(); // a docstring
  }
  const auto *call = ast::dynCast<ast::Call>(expr);
  if (isKernel && call && ast::isa<ast::Name>(call->func)) {
    FailureOr<Value> callee = evaluate(call->func);
    if (failed(callee) || failed(checkUnused(diag, *callee))) {
      return failure();
    }
  }
  FailureOr<Value> value = evaluate(expr);
  if (succeeded(value) && isKernel && value->isOpaque()) {
    return diag.hostError("'" + value->opaque().name + "' is host code");
  }
  return ended(LogicalResult::success(succeeded(value)));
}

FailureOr<Outcome> Evaluator::runStatement(const ast::Stmt *statement,
                                           BranchChain &branches) {
  SpanScope at(diag, statement->span);
  if (failed(step())) {
    return failure();
  }
  switch (statement->kind) {
  case ast::Kind::ExprStmt:
    return expressionStatement(
        diag, ast::cast<ast::ExprStmt>(statement)->value, frame->isKernel,
        [&](const ast::Expr *expr) { return evaluate(expr); });
  case ast::Kind::Assign: {
    const auto *assignment = ast::cast<ast::Assign>(statement);
    FailureOr<Value> value = evaluate(assignment->value);
    if (failed(value)) {
      return failure();
    }
    for (const ast::Expr *target : assignment->targets) {
      if (failed(assign(target, *value))) {
        return failure();
      }
    }
    return Outcome();
  }
  case ast::Kind::AnnAssign:
    return ended(runAnnAssign(ast::cast<ast::AnnAssign>(statement)));
  case ast::Kind::AugAssign:
    return ended(runAugAssign(ast::cast<ast::AugAssign>(statement)));
  case ast::Kind::Return:
    return runReturn(ast::cast<ast::Return>(statement));
  case ast::Kind::If:
    return runIf(ast::cast<ast::If>(statement), branches);
  case ast::Kind::For:
    return runFor(ast::cast<ast::For>(statement));
  case ast::Kind::While:
    return runWhile(ast::cast<ast::While>(statement));
  case ast::Kind::Pass:
    return Outcome();
  case ast::Kind::Break:
  case ast::Kind::Continue: {
    bool isBreak = statement->kind == ast::Kind::Break;
    if (frame->loopDepth > 0) {
      return diag.error(
          std::string(isBreak ? "'break'" : "'continue'") +
              " is not supported in a run-time loop",
          isBreak ? "use 'while condition:', or make the loop's work depend on "
                    "a mask"
                  : "put the rest of the body under an 'if'");
    }
    return Outcome{isBreak ? Outcome::Breaks : Outcome::Continues, {}, {}};
  }
  case ast::Kind::Assert:
    return ended(runAssert(ast::cast<ast::Assert>(statement)));
  case ast::Kind::Raise:
    return ended(runRaise(ast::cast<ast::Raise>(statement)));
  case ast::Kind::Import:
  case ast::Kind::ImportFrom:
    return ended(runImport(statement));
  case ast::Kind::FunctionDef:
    if (!frame->isKernel) {
      const auto *def = ast::cast<ast::FunctionDef>(statement);
      FailureOr<Value> function = defineFunction(def);
      if (failed(function)) {
        return failure();
      }
      bind(def->name, {*function, false, def->span});
      return Outcome();
    }
    return diag.error("a function inside a kernel is not supported",
                      "define it at module level, with @triton.jit");
  case ast::Kind::ClassDef:
    if (!frame->isKernel) {
      const auto *def = ast::cast<ast::ClassDef>(statement);
      FailureOr<Value> cls = defineClass(def);
      if (failed(cls)) {
        return failure();
      }
      bind(def->name, {*cls, false, def->span});
      return Outcome();
    }
    return ended(unsupported(statement));
  case ast::Kind::Global:
    if (!frame->isKernel) {
      return ended(runGlobal(ast::cast<ast::Global>(statement)));
    }
    return ended(unsupported(statement));
  case ast::Kind::Nonlocal:
    if (!frame->isKernel) {
      for (std::string_view name : ast::cast<ast::Nonlocal>(statement)->names) {
        frame->outerNames[name] = false;
      }
      return Outcome();
    }
    return ended(unsupported(statement));
  case ast::Kind::Delete:
    if (!frame->isKernel) {
      return ended(runDelete(ast::cast<ast::Delete>(statement)));
    }
    return ended(unsupported(statement));
  case ast::Kind::Try:
    if (!frame->isKernel) {
      return runTry(ast::cast<ast::Try>(statement));
    }
    return ended(unsupported(statement));
  case ast::Kind::With:
    if (!frame->isKernel) {
      return runWith(ast::cast<ast::With>(statement));
    }
    return ended(unsupported(statement));
  default:
    return ended(unsupported(statement));
  }
}

/// `global x` of a host function: what it reads and assigns is the module's
/// state, which starts as the module's own value.
LogicalResult Evaluator::runGlobal(const ast::Global *statement) {
  for (std::string_view name : statement->names) {
    frame->outerNames[name] = true;
  }
  return success();
}

/// `del x`, `del d[k]`, `del obj.name` of host code.
LogicalResult Evaluator::runDelete(const ast::Delete *statement) {
  for (const ast::Expr *target : statement->targets) {
    SpanScope at(diag, target->span);
    if (const auto *name = ast::dynCast<ast::Name>(target)) {
      unbind(name->id);
      continue;
    }
    const auto *field = ast::dynCast<ast::Attribute>(target);
    const auto *element = ast::dynCast<ast::Subscript>(target);
    if (!field && !element) {
      return diag.hostError("'del' is not understood here; expected a name, an "
                            "element or an attribute");
    }
    FailureOr<Value> object = evaluate(field ? field->value : element->value);
    if (failed(object)) {
      return failure();
    }
    if (field) {
      if (!object->isObject()) {
        return diag.hostError("cannot delete an attribute of " +
                              object->describe());
      }
      llvm::erase_if(object->object().attributes, [&](const auto &entry) {
        return entry.first == field->attr;
      });
      continue;
    }
    FailureOr<Value> key = evaluate(element->slice);
    if (failed(key)) {
      return failure();
    }
    BoundMethod pop;
    pop.self = *object;
    pop.name = "pop";
    if ((!object->isDict() && !object->isList()) || key->isSlice()) {
      return diag.hostError("cannot delete an element of " +
                            object->describe());
    }
    if (failed(callHostMethod(pop, {Argument{"", *key, target->span}}))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Evaluator::unsupported(const ast::Stmt *statement) {
  std::string what = ast::kindName(statement->kind);
  llvm::StringRef keyword = llvm::StringSwitch<llvm::StringRef>(what)
                                .Case("With", "'with'")
                                .Case("Try", "'try'")
                                .Case("Delete", "'del'")
                                .Case("Global", "'global'")
                                .Case("Nonlocal", "'nonlocal'")
                                .Case("Match", "'match'")
                                .Case("ClassDef", "'class'")
                                .Case("AsyncFor", "'async for'")
                                .Case("AsyncWith", "'async with'")
                                .Case("AsyncFunctionDef", "'async def'")
                                .Default("this statement");
  return diag.error(keyword.str() +
                    (frame->isKernel ? " is not supported in a kernel"
                                     : " is not supported here") +
                    "; expected what a kernel has: assignments, expressions, "
                    "if, for, while, with, assert, return");
}

FailureOr<Outcome> Evaluator::runReturn(const ast::Return *statement) {
  if (frame->loopDepth > 0) {
    return diag.error("'return' inside a run-time loop is not supported",
                      "assign the result to a variable and return it after the "
                      "loop");
  }
  Outcome outcome{Outcome::Returns, {}, {}};
  if (statement->value) {
    FailureOr<Value> value = evaluate(statement->value);
    if (failed(value)) {
      return failure();
    }
    outcome.value = std::move(*value);
  }
  return outcome;
}

LogicalResult Evaluator::runAnnAssign(const ast::AnnAssign *statement) {
  bool isConstexpr =
      frame->isKernel && isConstexprAnnotation(statement->annotation);
  const auto *name = ast::dynCast<ast::Name>(statement->target);
  if (!statement->value) {
    if (isConstexpr && name) {
      frame->pendingConstexpr[name->id] = true;
    }
    return success();
  }
  FailureOr<Value> value = evaluate(statement->value);
  if (failed(value)) {
    return failure();
  }
  if (isConstexpr && name) {
    auto known = frame->scope->variables.find(name->id);
    bool again = known != frame->scope->variables.end() &&
                 known->second.isConstexpr &&
                 !(known->second.span == name->span);
    if (again) {
      LogicalResult result = diag.error(
          name->span,
          "'" + std::string(name->id) + "' is already defined as tl.constexpr",
          "a compile-time constant has one definition; use another name");
      diag.note(known->second.span, "defined here");
      return result;
    }
    frame->pendingConstexpr[name->id] = true;
  }
  return assign(statement->target, *value);
}

LogicalResult Evaluator::runAugAssign(const ast::AugAssign *statement) {
  FailureOr<Value> old = evaluate(statement->target);
  FailureOr<Value> operand = failed(old) ? old : evaluate(statement->value);
  if (failed(operand)) {
    return failure();
  }
  if (old->isList() && statement->op == ast::Operator::Add &&
      !frame->isKernel) {
    FailureOr<std::vector<Value>> more = iterate(*operand, "'+='");
    if (failed(more)) {
      return failure();
    }
    old->list().insert(old->list().end(), more->begin(), more->end());
    return success();
  }
  FailureOr<Value> result = binary(statement->op, *old, *operand);
  return failed(result) ? failure() : assign(statement->target, *result);
}

LogicalResult Evaluator::runAssert(const ast::Assert *statement) {
  FailureOr<Value> test = evaluate(statement->test);
  if (failed(test)) {
    return failure();
  }
  std::string message;
  if (statement->msg) {
    FailureOr<Value> text = evaluate(statement->msg);
    if (failed(text)) {
      return failure();
    }
    message = text->str();
  }
  if (test->isOpaque() && !frame->isKernel) {
    return success(); // the host checks it
  }
  if (test->isOpaque()) {
    return diag.hostError("the assertion depends on " + test->describe());
  }
  if (!test->isTensor()) {
    return truth(*test)
               ? success()
               : diag.raises("AssertionError")
                     .error(statement->test->span,
                            message.empty() ? "assertion failed"
                                            : "assertion failed: " + message,
                            "expected a condition that holds; this one is "
                            "known while compiling");
  }
  const Builtin *check = BuiltinTable::get().find("tl", "device_assert");
  FailureOr<Value> done =
      callBuiltin(*check, {Argument{"", *test, statement->test->span},
                           Argument{"", Value(message), statement->span}});
  return LogicalResult::success(succeeded(done));
}

LogicalResult Evaluator::runImport(const ast::Stmt *statement) {
  if (const auto *import = ast::dynCast<ast::Import>(statement)) {
    for (const ast::Alias *alias : import->names) {
      FailureOr<Value> module = importName(import, alias);
      if (failed(module)) {
        return failure();
      }
      llvm::StringRef name(alias->asname);
      bind(name.empty() ? llvm::StringRef(alias->name).split('.').first : name,
           {*module, false, alias->span});
    }
    return success();
  }
  const auto *from = ast::cast<ast::ImportFrom>(statement);
  for (const ast::Alias *alias : from->names) {
    if (alias->name == "*") {
      return diag.error(
          "'import *' is allowed at module level only; expected the names that "
          "the function uses: from module import name");
    }
    FailureOr<Value> value = importFrom(from, alias->name);
    if (failed(value)) {
      return failure();
    }
    bind(alias->asname.empty() ? alias->name : alias->asname,
         {*value, false, alias->span});
  }
  return success();
}

} // namespace nereid::irgen
