//===- Parameters.cpp - Arguments of functions against their parameters *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

namespace nereid::irgen {

FailureOr<Value> Evaluator::defaultValue(const Function &function,
                                         const ast::Expr *expr) {
  // Python evaluates defaults once, where the function is defined.
  FrameScope own(*this, function.module, nullptr, /*isKernel=*/false,
                 function.closure ? function.closure
                                  : std::make_shared<Scope>());
  FailureOr<Value> value = evaluate(expr);
  return succeeded(value) && function.kind == Function::Kind::Jit
             ? plainValue(*value)
             : value;
}

namespace {

/// One call's arguments on the way into the callee's scope.
class ParameterBinder {
public:
  using DefaultValue = llvm::function_ref<FailureOr<Value>(const ast::Expr *)>;

  ParameterBinder(Diagnostics &diag, const Function &function, Scope &scope)
      : diag(diag), args(function.arguments()), who("'" + function.name + "'"),
        scope(scope),
        positional(args.posonlyargs.begin(), args.posonlyargs.end()) {
    positional.append(args.args.begin(), args.args.end());
  }

  LogicalResult run(llvm::ArrayRef<Argument> arguments,
                    DefaultValue defaultValue) {
    size_t given = llvm::count_if(
        arguments, [](const Argument &a) { return a.keyword.empty(); });
    for (const Argument &argument : arguments) {
      LogicalResult bound = argument.keyword.empty()
                                ? bindPosition(argument, given)
                                : bindKeyword(argument);
      if (failed(bound)) {
        return failure();
      }
    }
    if (failed(fillDefaults(defaultValue))) {
      return failure();
    }
    if (args.vararg) {
      set(args.vararg, Value::tuple(std::move(extra)), args.vararg->span);
    }
    if (args.kwarg) {
      set(args.kwarg, Value::dict(std::move(named)), args.kwarg->span);
    }
    for (const ast::Arg *parameter : positional) {
      markConstexpr(parameter);
    }
    for (const ast::Arg *parameter : args.kwonlyargs) {
      markConstexpr(parameter);
    }
    return success();
  }

private:
  void set(const ast::Arg *parameter, Value value, ast::Span span) {
    scope.variables[parameter->arg] = {std::move(value), false, span};
  }

  void markConstexpr(const ast::Arg *parameter) {
    scope.variables[parameter->arg].isConstexpr =
        Evaluator::isConstexprAnnotation(parameter->annotation);
  }

  LogicalResult bindPosition(const Argument &argument, size_t given) {
    if (position < positional.size()) {
      set(positional[position++], argument.value, argument.span);
      return success();
    }
    if (args.vararg) {
      extra.push_back(argument.value);
      return success();
    }
    return diag.error(argument.span,
                      who + " takes " + std::to_string(positional.size()) +
                          " positional arguments, got " + std::to_string(given),
                      "expected no more values than parameters");
  }

  const ast::Arg *find(llvm::StringRef name) const {
    for (const ast::Arg *candidate : positional) {
      if (name == llvm::StringRef(candidate->arg)) {
        return candidate;
      }
    }
    for (const ast::Arg *candidate : args.kwonlyargs) {
      if (name == llvm::StringRef(candidate->arg)) {
        return candidate;
      }
    }
    return nullptr;
  }

  LogicalResult bindKeyword(const Argument &argument) {
    const ast::Arg *parameter = find(argument.keyword);
    if (!parameter && args.kwarg) {
      named.emplace_back(Value(argument.keyword), argument.value);
      return success();
    }
    if (!parameter) {
      std::vector<std::string> names;
      for (const ast::Arg *candidate : positional) {
        names.emplace_back(candidate->arg);
      }
      return diag.error(argument.span,
                        who + " has no parameter '" + argument.keyword + "'",
                        choices(argument.keyword, names));
    }
    if (scope.variables.contains(parameter->arg)) {
      return diag.error(argument.span,
                        who + ": argument '" + argument.keyword +
                            "' is given twice; expected it once");
    }
    set(parameter, argument.value, argument.span);
    return success();
  }

  LogicalResult fill(const ast::Arg *parameter, const ast::Expr *initial,
                     DefaultValue defaultValue) {
    if (scope.variables.contains(parameter->arg)) {
      return success();
    }
    if (!initial) {
      return diag.error(
          who + ": missing argument '" + std::string(parameter->arg) +
          "'; expected a value for each parameter that has no default");
    }
    FailureOr<Value> value = defaultValue(initial);
    if (failed(value)) {
      return failure();
    }
    set(parameter, std::move(*value), parameter->span);
    return success();
  }

  LogicalResult fillDefaults(DefaultValue defaultValue) {
    size_t firstDefault = positional.size() - args.defaults.size();
    for (size_t i = 0; i < positional.size(); ++i) {
      const ast::Expr *initial =
          i < firstDefault ? nullptr : args.defaults[i - firstDefault];
      if (failed(fill(positional[i], initial, defaultValue))) {
        return failure();
      }
    }
    for (size_t i = 0; i < args.kwonlyargs.size(); ++i) {
      if (failed(fill(args.kwonlyargs[i], args.kwDefaults[i], defaultValue))) {
        return failure();
      }
    }
    return success();
  }

  Diagnostics &diag;
  const ast::Arguments &args;
  std::string who;
  Scope &scope;
  llvm::SmallVector<const ast::Arg *> positional;
  size_t position = 0;
  std::vector<Value> extra;
  std::vector<std::pair<Value, Value>> named;
};

} // namespace

LogicalResult Evaluator::bindParameters(const Function &function,
                                        llvm::ArrayRef<Argument> arguments,
                                        Scope &scope) {
  return ParameterBinder(diag, function, scope)
      .run(arguments, [&](const ast::Expr *initial) {
        return defaultValue(function, initial);
      });
}

std::vector<const ast::Arg *> parametersOf(const Function &function) {
  const ast::Arguments &args = function.arguments();
  std::vector<const ast::Arg *> parameters(args.posonlyargs.begin(),
                                           args.posonlyargs.end());
  parameters.insert(parameters.end(), args.args.begin(), args.args.end());
  parameters.insert(parameters.end(), args.kwonlyargs.begin(),
                    args.kwonlyargs.end());
  return parameters;
}

} // namespace nereid::irgen
