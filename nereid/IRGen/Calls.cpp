//===- Calls.cpp - Calling functions, built-ins and classes -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a jit function evaluates its body in a frame of its own: inlining
// and specialisation in one. Static arguments stay static inside, whatever the
// parameter's annotation.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Evaluator.h"

namespace nereid::irgen {

/// Functions calling functions.
static constexpr unsigned maxCallDepth = 100;

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
                 : diag.error("'**' needs a dict, got " + value->describe());
    }
    for (const auto &[key, item] : value->dict()) {
      if (!key.isString()) {
        return diag.error("'**' needs a dict with strings as keys");
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
  if (callee.isType()) {
    return diag.error("a type cannot be called",
                      "convert with x.to(tl." + callee.repr() +
                          "), or make a block with tl.full");
  }
  return diag.error(callee.describe() + " cannot be called");
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
  if (!frame->isKernel && !(builtin.flags & HostToo)) {
    return diag.error(
        context.name() + " can be called in a kernel only",
        frame->function && frame->function->kind == Function::Kind::Host
            ? "decorate '" + frame->function->name + "' with @triton.jit"
            : "");
  }
  if (!builtin.emit) {
    FailureOr<Value> function = libraryFunction(builtin.library, builtin.name);
    return failed(function) ? function : call(*function, arguments);
  }
  FailureOr<BoundArguments> bound = bindArguments(context, arguments);
  return failed(bound) ? FailureOr<Value>(failure())
                       : builtin.emit(context, *bound);
}

/// torch.finfo(torch.float32): constants that kernel files take from there.
static std::optional<Value> numericLimits(const Value &type) {
  std::optional<DType> dtype;
  if (type.isOpaque()) {
    dtype = parseDType(type.opaque().name);
  } else if (type.isType()) {
    dtype = type.type().scalar.dtype;
  }
  if (!dtype) {
    return std::nullopt;
  }
  static const auto record = std::make_shared<const RecordType>(
      RecordType{"limits", {"min", "max", "bits"}, false, "", nullptr});
  Value bits(static_cast<int>(bitWidth(*dtype)));
  if (isFloat(*dtype)) {
    return Value(Record{
        record, {Value(-maxFinite(*dtype)), Value(maxFinite(*dtype)), bits}});
  }
  return Value(
      Record{record, {Value(minValue(*dtype)), Value(maxValue(*dtype)), bits}});
}

/// What host code calls and kernels' configuration depends on, by name.
FailureOr<Value> Evaluator::callOpaque(const Opaque &callee,
                                       llvm::ArrayRef<Argument> arguments) {
  llvm::StringRef name(callee.name);
  if (frame->isKernel) {
    return diag.hostError("'" + callee.name +
                              "' is host code; a kernel cannot call it",
                          "kernels call tl.* and functions decorated with "
                          "@triton.jit");
  }
  if (name.ends_with("namedtuple")) {
    return namedTupleClass(arguments);
  }
  if (name == "itertools.product") {
    std::vector<std::vector<Value>> rows = {{}};
    for (const Argument &argument : arguments) {
      FailureOr<std::vector<Value>> items =
          iterate(argument.value, "itertools.product");
      if (failed(items)) {
        return failure();
      }
      std::vector<std::vector<Value>> longer;
      for (const std::vector<Value> &row : rows) {
        for (const Value &item : *items) {
          if (failed(step())) {
            return failure();
          }
          longer.push_back(row);
          longer.back().push_back(item);
        }
      }
      rows = std::move(longer);
    }
    std::vector<Value> result;
    for (std::vector<Value> &row : rows) {
      result.push_back(Value::tuple(std::move(row)));
    }
    return Value::list(std::move(result));
  }
  if ((name.ends_with(".finfo") || name.ends_with(".iinfo")) &&
      arguments.size() == 1) {
    if (std::optional<Value> limits = numericLimits(arguments[0].value)) {
      return *limits;
    }
  }
  if (name.ends_with("get_current_target")) {
    // Tuning spaces are chosen by it. The CUDA ones fit every target here.
    static const auto target = std::make_shared<const RecordType>(RecordType{
        "GPUTarget", {"backend", "arch", "warp_size"}, false, "", nullptr});
    return Value(Record{target, {Value("cuda"), Value(90), Value(32)}});
  }
  return Value(Opaque{callee.name + "(...)"});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<Value> Evaluator::defaultValue(const Function &function,
                                         const ast::Expr *expr) {
  // Python evaluates defaults once, where the function is defined.
  FrameScope own(*this, function.module, nullptr, /*isKernel=*/false,
                 function.closure ? function.closure
                                  : std::make_shared<Scope>());
  return evaluate(expr);
}

namespace {

/// The parameters of a function in one list.
struct Signature {
  llvm::SmallVector<const ast::Arg *> positional;
  size_t firstDefault = 0;

  explicit Signature(const ast::Arguments &args) {
    positional.append(args.posonlyargs.begin(), args.posonlyargs.end());
    positional.append(args.args.begin(), args.args.end());
    firstDefault = positional.size() - args.defaults.size();
  }
};

} // namespace

LogicalResult Evaluator::bindParameters(const Function &function,
                                        llvm::ArrayRef<Argument> arguments,
                                        Scope &scope) {
  const ast::Arguments &args = function.arguments();
  Signature signature(args);
  std::string who = "'" + function.name + "'";
  auto set = [&](const ast::Arg *parameter, Value value, ast::Span span) {
    scope.variables[parameter->arg] = {std::move(value), false, span};
  };
  std::vector<Value> extra;
  std::vector<std::pair<Value, Value>> named;
  size_t position = 0;
  for (const Argument &argument : arguments) {
    if (argument.keyword.empty()) {
      if (position < signature.positional.size()) {
        set(signature.positional[position++], argument.value, argument.span);
      } else if (args.vararg) {
        extra.push_back(argument.value);
      } else {
        size_t given = llvm::count_if(
            arguments, [](const Argument &a) { return a.keyword.empty(); });
        return diag.error(
            argument.span,
            who + " takes " + std::to_string(signature.positional.size()) +
                " positional arguments, got " + std::to_string(given));
      }
      continue;
    }
    const ast::Arg *parameter = nullptr;
    for (const ast::Arg *candidate : signature.positional) {
      parameter = candidate->arg == argument.keyword ? candidate : parameter;
    }
    for (const ast::Arg *candidate : args.kwonlyargs) {
      parameter = candidate->arg == argument.keyword ? candidate : parameter;
    }
    if (!parameter && args.kwarg) {
      named.emplace_back(Value(argument.keyword), argument.value);
      continue;
    }
    if (!parameter) {
      std::vector<std::string> names;
      for (const ast::Arg *candidate : signature.positional) {
        names.emplace_back(candidate->arg);
      }
      return diag.error(argument.span,
                        who + " has no parameter '" + argument.keyword + "'",
                        suggestion(argument.keyword, names));
    }
    if (scope.variables.contains(parameter->arg)) {
      return diag.error(argument.span, who + ": argument '" + argument.keyword +
                                           "' is given twice");
    }
    set(parameter, argument.value, argument.span);
  }
  auto fill = [&](const ast::Arg *parameter,
                  const ast::Expr *initial) -> LogicalResult {
    if (scope.variables.contains(parameter->arg)) {
      return success();
    }
    if (!initial) {
      return diag.error(who + ": missing argument '" +
                        std::string(parameter->arg) + "'");
    }
    FailureOr<Value> value = defaultValue(function, initial);
    if (failed(value)) {
      return failure();
    }
    set(parameter, std::move(*value), parameter->span);
    return success();
  };
  for (size_t i = 0; i < signature.positional.size(); ++i) {
    const ast::Expr *initial = i < signature.firstDefault
                                   ? nullptr
                                   : args.defaults[i - signature.firstDefault];
    if (failed(fill(signature.positional[i], initial))) {
      return failure();
    }
  }
  for (size_t i = 0; i < args.kwonlyargs.size(); ++i) {
    if (failed(fill(args.kwonlyargs[i], args.kwDefaults[i]))) {
      return failure();
    }
  }
  if (args.vararg) {
    set(args.vararg, Value::tuple(std::move(extra)), args.vararg->span);
  }
  if (args.kwarg) {
    set(args.kwarg, Value::dict(std::move(named)), args.kwarg->span);
  }
  for (const ast::Arg *parameter : signature.positional) {
    scope.variables[parameter->arg].isConstexpr =
        isConstexprAnnotation(parameter->annotation);
  }
  return success();
}

FailureOr<Value>
Evaluator::callFunction(const std::shared_ptr<const Function> &function,
                        llvm::ArrayRef<Argument> arguments) {
  bool isJit = function->kind == Function::Kind::Jit;
  if (isJit && !frame->isKernel) {
    return diag.error("the jit function '" + function->name +
                      "' can be called in a kernel only");
  }
  if (frame->isKernel && function->kind == Function::Kind::Host &&
      !function->module->isLibrary) {
    return diag.error("'" + function->name +
                          "' is a host function; a kernel cannot call it",
                      "decorate it with @triton.jit, or with "
                      "@triton.constexpr_function if it computes constants");
  }
  if (frame->depth >= maxCallDepth) {
    return diag.error("calls are nested more than " +
                      std::to_string(maxCallDepth) + " deep");
  }
  for (const Frame *f = frame; isJit && f; f = f->parent) {
    if (f->function && f->function->def == function->def &&
        f->function->kind == Function::Kind::Jit) {
      return diag.error("'" + function->name +
                            "' calls itself; recursion is not supported",
                        "kernels have no stack: write a loop");
    }
  }
  if (function->kind == Function::Kind::Constexpr) {
    for (const Argument &argument : arguments) {
      if (!argument.value.isStatic()) {
        return diag.error(argument.span,
                          "'" + function->name +
                              "' runs while compiling, but this argument is " +
                              argument.value.describe());
      }
    }
  }
  auto scope = std::make_shared<Scope>();
  scope->parent = function->closure;
  if (failed(bindParameters(*function, arguments, *scope))) {
    return failure();
  }
  FrameScope own(*this, function->module, function, isJit, scope);
  if (function->lambda) {
    return evaluate(function->lambda->body);
  }
  return runFunction(function->def->body);
}

/// The end of a body is a `return`: so that where only one side of an `if`
/// returns, both do in the end, and no flag is needed.
FailureOr<Value> Evaluator::runFunction(ast::Body body) {
  FailureOr<Outcome> outcome = runSequence(
      body.size() + 1, 0,
      [&](size_t i, Rest rest, bool &consumed) -> FailureOr<Outcome> {
        if (i == body.size()) {
          return Outcome{Outcome::Returns, {}, {}};
        }
        return runStatement(body[i], rest, consumed);
      });
  if (failed(outcome)) {
    return failure();
  }
  if (outcome->kind != Outcome::Returns) {
    return diag.error("'break' or 'continue' outside of a loop");
  }
  return outcome->value;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

FailureOr<Value>
Evaluator::namedTupleClass(llvm::ArrayRef<Argument> arguments) {
  auto cls = std::make_shared<PythonClass>();
  auto record = std::make_shared<RecordType>();
  if (arguments.size() < 2 || !arguments[0].value.isString()) {
    return diag.error("namedtuple: expected a name and field names");
  }
  cls->name = record->name = arguments[0].value.string();
  record->isTuple = true;
  const Value &fields = arguments[1].value;
  if (fields.isString()) {
    std::string text = fields.string();
    std::replace(text.begin(), text.end(), ',', ' ');
    llvm::SmallVector<llvm::StringRef> names;
    llvm::SplitString(text, names, " ");
    for (llvm::StringRef name : names) {
      record->fields.push_back(name.str());
    }
  } else {
    FailureOr<std::vector<Value>> names = iterate(fields, "namedtuple");
    if (failed(names)) {
      return failure();
    }
    for (const Value &name : *names) {
      if (!name.isString()) {
        return diag.error("namedtuple: a field name is " + name.describe());
      }
      record->fields.push_back(name.string());
    }
  }
  cls->defaults.resize(record->fields.size());
  cls->record = record;
  return Value(std::shared_ptr<const PythonClass>(cls));
}

/// A copy of the class's record type that knows the class, so that methods are
/// found; one for each class.
static std::shared_ptr<const RecordType>
recordTypeOf(const std::shared_ptr<const PythonClass> &cls) {
  if (!cls->record->userClass && cls->def) {
    // Not a cycle of ownership: the pointer shares nothing.
    cls->record->userClass = std::shared_ptr<const PythonClass>(
        std::shared_ptr<const PythonClass>(), cls.get());
  }
  return cls->record;
}

FailureOr<Value>
Evaluator::callClass(const std::shared_ptr<const PythonClass> &cls,
                     llvm::ArrayRef<Argument> arguments) {
  if (!cls->def && !cls->record) {
    if (const Builtin *conversion =
            BuiltinTable::get().find("python", "_" + cls->name)) {
      return callBuiltin(*conversion, arguments);
    }
    return diag.error("'" + cls->name + "' cannot be called here");
  }
  if (!cls->record) {
    return diag.hostError("the class '" + cls->name +
                              "' is host code; it cannot be used here",
                          "a kernel's classes are NamedTuple or "
                          "@triton.aggregate");
  }
  const RecordType &type = *cls->record;
  std::vector<std::optional<Value>> fields(type.fields.size());
  size_t position = 0;
  for (const Argument &argument : arguments) {
    size_t index = position;
    if (argument.keyword.empty()) {
      ++position;
    } else {
      index = llvm::find(type.fields, argument.keyword) - type.fields.begin();
    }
    if (index >= fields.size()) {
      return diag.error(argument.span,
                        argument.keyword.empty()
                            ? "'" + cls->name + "' has " +
                                  std::to_string(fields.size()) + " fields"
                            : "'" + cls->name + "' has no field '" +
                                  argument.keyword + "'",
                        suggestion(argument.keyword, type.fields));
    }
    fields[index] = argument.value;
  }
  std::vector<Value> values;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i] && i < cls->defaults.size()) {
      fields[i] = cls->defaults[i];
    }
    if (!fields[i]) {
      return diag.error("'" + cls->name + "': missing field '" +
                        type.fields[i] + "'");
    }
    values.push_back(*fields[i]);
  }
  return Value(Record{recordTypeOf(cls), std::move(values)});
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
        (result->isNone() ? "none" : std::to_string(items.size())));
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
                        item->typeStr());
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
  Signature signature(kernel->arguments());
  signature.positional.append(kernel->arguments().kwonlyargs.begin(),
                              kernel->arguments().kwonlyargs.end());
  for (size_t i = 0; i < signature.positional.size(); ++i) {
    const ast::Arg *parameter = signature.positional[i];
    scope->variables[parameter->arg] = {
        parameters[i], isConstexprAnnotation(parameter->annotation),
        parameter->span};
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
