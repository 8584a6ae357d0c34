//===- Calls.cpp - Calling functions, built-ins and classes -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a jit function evaluates its body in a frame of its own: inlining
// and specialization in one. Static arguments stay static inside, whatever the
// parameter's annotation.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/BranchChain.h"

namespace nereid::irgen {

/// Functions calling functions.
static constexpr unsigned maxCallDepth = 100;
/// A jit function calling itself.
static constexpr unsigned maxRecursion = 64;

//===----------------------------------------------------------------------===//
// Call expressions
//===----------------------------------------------------------------------===//

FailureOr<llvm::SmallVector<Argument>>
Evaluator::arguments(const ast::Call *expr) {
  llvm::SmallVector<Argument> result;
  for (const ast::Expr *arg : expr->args) {
    const auto *starred = ast::dynCast<ast::Starred>(arg);
    FailureOr<Value> value = evaluate(starred ? starred->value : arg);
    if (failed(value)) {
      return failure();
    }
    if (!starred) {
      result.push_back({"", std::move(*value), arg->span});
      continue;
    }
    SpanScope at(diag, arg->span);
    FailureOr<std::vector<Value>> items = iterate(*value, "'*'");
    if (failed(items)) {
      return failure();
    }
    for (Value &item : *items) {
      result.push_back({"", std::move(item), arg->span});
    }
  }
  for (const ast::Keyword *keyword : expr->keywords) {
    FailureOr<Value> value = evaluate(keyword->value);
    if (failed(value)) {
      return failure();
    }
    if (!keyword->arg.empty()) {
      result.push_back(
          {std::string(keyword->arg), std::move(*value), keyword->span});
      continue;
    }
    SpanScope at(diag, keyword->span);
    if (!value->isDict()) {
      return value->isOpaque()
                 ? diag.hostError("'**' of " + value->describe())
                 : diag.error(
                       "'**' needs a dict, got " + value->describe() +
                       "; expected a dict whose keys are names of parameters");
    }
    for (const auto &[key, item] : value->dict()) {
      if (!key.isString()) {
        return diag.error("'**' needs a dict with strings as keys; expected "
                          "keys that are names of parameters");
      }
      result.push_back({key.string(), item, keyword->span});
    }
  }
  return result;
}

FailureOr<Value> Evaluator::callExpr(const ast::Call *expr) {
  FailureOr<Value> callee = evaluate(expr->func);
  if (failed(callee)) {
    return failure();
  }
  FailureOr<llvm::SmallVector<Argument>> args = arguments(expr);
  return failed(args) ? FailureOr<Value>(failure()) : call(*callee, *args);
}

FailureOr<Value> Evaluator::call(const Value &callee,
                                 llvm::ArrayRef<Argument> arguments) {
  if (callee.isBuiltin()) {
    return callBuiltin(callee.builtin(), arguments);
  }
  if (callee.isFunction()) {
    return callFunction(callee.functionPtr(), arguments);
  }
  if (callee.isClass()) {
    return callClass(callee.pythonClassPtr(), arguments);
  }
  if (callee.isOpaque()) {
    return callOpaque(callee.opaque(), arguments);
  }
  if (callee.isMethod()) {
    const BoundMethod &method = callee.method();
    if (!method.builtin && !method.function) {
      return callHostMethod(method, arguments);
    }
    llvm::SmallVector<Argument> all;
    all.push_back({"", method.self, diag.stack.back().span});
    all.append(arguments.begin(), arguments.end());
    return method.builtin ? callBuiltin(*method.builtin, all)
                          : callFunction(method.function, all);
  }
  if (callee.isObject() && callee.object().cls) {
    const Value *method = callee.object().cls->find("__call__");
    if (method && method->isFunction()) {
      llvm::SmallVector<Argument> all;
      all.push_back({"", callee, diag.stack.back().span});
      all.append(arguments.begin(), arguments.end());
      return call(*method, all);
    }
  }
  if (callee.isType()) {
    return diag.error("a type cannot be called",
                      "convert with x.to(tl." + callee.repr() +
                          "), or make a block with tl.full");
  }
  return diag.error(callee.describe() +
                    " cannot be called; expected a function, a class or a "
                    "built-in before '('");
}

//===----------------------------------------------------------------------===//
// Built-ins
//===----------------------------------------------------------------------===//

FailureOr<Value> Evaluator::libraryFunction(llvm::StringRef library,
                                            llvm::StringRef name) {
  std::shared_ptr<SourceModule> module = modules.library(library);
  if (!module) {
    return diag.error("the standard library has no module '" + library.str() +
                      "'");
  }
  return global(module, name);
}

FailureOr<Value> Evaluator::callBuiltin(const Builtin &builtin,
                                        llvm::ArrayRef<Argument> arguments) {
  CallContext context{*this, emitter, diag, builtin};
  if (!emits() && !(builtin.flags & HostToo)) {
    return diag.error(
        context.name() + " can be called in a kernel only",
        frame->function && frame->function->kind == Function::Kind::Host
            ? "decorate '" + frame->function->name + "' with @triton.jit"
            : "expected a function that runs while compiling: one without a "
              "decorator, or with @triton.constexpr_function");
  }
  if (!builtin.emit) {
    FailureOr<Value> function = libraryFunction(builtin.library, builtin.name);
    return failed(function) ? function : call(*function, arguments);
  }
  llvm::SmallVector<Argument> own(arguments);
  if (!frame->isKernel && emits()) {
    // What an extern function hands on of upstream's compiler.
    llvm::erase_if(own, [](const Argument &argument) {
      return argument.keyword == "_semantic" ||
             argument.keyword == "_builder" || argument.keyword == "_generator";
    });
  }
  FailureOr<BoundArguments> bound = bindArguments(context, own);
  return failed(bound) ? FailureOr<Value>(failure())
                       : builtin.emit(context, *bound);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A jit function may call itself while its static arguments change: each call
/// is a specialization of its own. A call with the types and the constants of
/// one that is still running would go on for ever.
LogicalResult Evaluator::checkRecursion(const Function &function,
                                        const Scope &scope) {
  unsigned running = 0;
  for (const Frame *f = frame; f; f = f->parent) {
    if (!f->function || f->function->def != function.def || !f->isKernel) {
      continue;
    }
    ++running;
    bool differs = llvm::any_of(scope.variables, [&](const auto &entry) {
      auto it = f->entry.variables.find(entry.getKey());
      std::string why;
      return it == f->entry.variables.end() ||
             !sameType(it->second.value, entry.second.value, why);
    });
    if (!differs) {
      return diag.error("'" + function.name +
                            "' calls itself with the same types and "
                            "compile-time values, which never ends",
                        "a recursion ends where a compile-time value says so: "
                        "if N > 1: return f(x, N // 2); over run-time values "
                        "write a loop");
    }
  }
  if (running >= maxRecursion) {
    return diag.error("'" + function.name + "' calls itself more than " +
                          std::to_string(maxRecursion) + " times",
                      "does the compile-time value that ends the recursion "
                      "change in every call?");
  }
  return success();
}

FailureOr<Value>
Evaluator::callFunction(const std::shared_ptr<const Function> &function,
                        llvm::ArrayRef<Argument> arguments) {
  bool isJit = function->kind == Function::Kind::Jit;
  if ((isJit || function->kind == Function::Kind::Extern) && !emits()) {
    return diag.error("the " + std::string(isJit ? "jit" : "extern") +
                      " function '" + function->name +
                      "' can be called in a kernel only; expected a function "
                      "that runs while compiling: one without a decorator, or "
                      "with @triton.constexpr_function");
  }
  if (frame->isKernel && function->kind == Function::Kind::Host &&
      !function->module->isLibrary) {
    return diag.error("'" + function->name +
                          "' is a host function; a kernel cannot call it",
                      "decorate it with @triton.jit, or with "
                      "@triton.constexpr_function if it computes constants");
  }
  if (frame->depth >= maxCallDepth) {
    return diag.raises("RecursionError")
        .error("calls are nested more than " + std::to_string(maxCallDepth) +
               " deep; expected calls that end: a kernel has no "
               "recursion over run-time values");
  }
  if (function->kind == Function::Kind::Constexpr) {
    for (const Argument &argument : arguments) {
      if (!argument.value.isStatic()) {
        return diag.error(argument.span,
                          "'" + function->name +
                              "' runs while compiling, but this argument is " +
                              argument.value.describe() +
                              "; expected a value known while compiling");
      }
    }
  }
  auto scope = std::make_shared<Scope>();
  scope->parent = function->closure;
  if (failed(bindParameters(*function, arguments, *scope)) ||
      (isJit && failed(checkRecursion(*function, *scope)))) {
    return failure();
  }
  FrameScope own(*this, function->module, function, isJit, scope);
  if (isJit) {
    frame->entry = *scope;
  }
  if (function->lambda) {
    return evaluate(function->lambda->body);
  }
  FailureOr<Value> result = runFunction(function->def->body);
  return succeeded(result) && !frame->yields.empty()
             ? FailureOr<Value>(Value::list(std::move(frame->yields)))
             : result;
}

/// The end of a body is a `return`: so that where only one side of an `if`
/// returns, both do in the end, and no flag is needed.
FailureOr<Value> Evaluator::runFunction(ast::Body body) {
  FailureOr<Outcome> outcome =
      runSequence(body.size() + 1,
                  [&](size_t i, BranchChain &branches) -> FailureOr<Outcome> {
                    if (i == body.size()) {
                      return Outcome{Outcome::Returns};
                    }
                    return runStatement(body[i], branches);
                  });
  if (failed(outcome)) {
    return failure();
  }
  if (outcome->kind != Outcome::Returns) {
    return diag.error("'break' or 'continue' outside of a loop; expected a "
                      "'for' or 'while' around it in the same function");
  }
  return outcome->value;
}

//===----------------------------------------------------------------------===//
// Combine regions, kernels
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::buildCombineRegion(mlir::Region &region,
                                            const Value &function,
                                            llvm::ArrayRef<ScalarType> types,
                                            llvm::StringRef what) {
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  mlir::Location loc = emitter.loc();
  mlir::Block *block = emitter.builder.createBlock(&region);
  llvm::SmallVector<Argument> arguments;
  for (size_t i = 0; i < 2 * types.size(); ++i) {
    ScalarType type = types[i % types.size()];
    mlir::Value argument = block->addArgument(emitter.typeOf(type), loc);
    arguments.push_back(
        {"", Value(Tensor{argument, type}), diag.stack.back().span});
  }
  emitter.builder.setInsertionPointToEnd(block);
  FailureOr<Value> result = call(function, arguments);
  if (failed(result)) {
    return failure();
  }
  std::vector<Value> items = {*result};
  if (result->isSequence()) {
    items = result->items();
  }
  if (items.size() != types.size()) {
    return diag.error(
        what.str() + ": the combine function must return " +
        std::to_string(types.size()) + " values, it returns " +
        (result->isNone() ? "none" : std::to_string(items.size())) +
        "; expected as many values as there are operands");
  }
  llvm::SmallVector<mlir::Value> yields;
  for (size_t i = 0; i < items.size(); ++i) {
    FailureOr<Tensor> item = emitter.toTensor(items[i], what);
    if (failed(item)) {
      return failure();
    }
    // A constant, or a result that was widened on the way (bool to int32),
    // goes back to the element type; blocks and pointers cannot.
    if (!item->isBlock() && item->type != types[i] &&
        item->type.isFloat() == types[i].isFloat()) {
      item = emitter.cast(*item, types[i]);
    }
    if (failed(item) || item->type != types[i] || item->isBlock()) {
      return diag.error(what.str() + ": the combine function must return " +
                        types[i].str() + ", as its operands, but returns " +
                        item->typeStr() + "; expected one type for both");
    }
    yields.push_back(item->value);
  }
  emitter.create<tile::YieldOp>(yields);
  return success();
}

LogicalResult
Evaluator::runKernel(const std::shared_ptr<const Function> &kernel,
                     llvm::ArrayRef<Value> parameters) {
  auto scope = std::make_shared<Scope>();
  std::vector<const ast::Arg *> declared = parametersOf(*kernel);
  for (size_t i = 0; i < declared.size(); ++i) {
    scope->variables[declared[i]->arg] = {
        parameters[i], isConstexprAnnotation(declared[i]->annotation),
        declared[i]->span};
  }
  FrameScope own(*this, kernel->module, kernel, /*isKernel=*/true, scope);
  FailureOr<Value> result = runFunction(kernel->def->body);
  if (failed(result)) {
    return failure();
  }
  if (!result->isNone()) {
    return diag.error(kernel->def->span,
                      "the kernel '" + kernel->name + "' returns " +
                          result->describe() + "; a kernel returns nothing",
                      "write the result to memory with tl.store");
  }
  return success();
}

} // namespace nereid::irgen
