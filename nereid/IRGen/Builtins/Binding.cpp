//===- Binding.cpp - Arguments of built-ins against their parameters *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::irgen {

namespace {

class Binder {
public:
  Binder(CallContext &context, llvm::ArrayRef<Argument> arguments)
      : context(context), builtin(context.builtin), diag(context.diag),
        arguments(arguments), items(builtin.parameters.size()),
        callSpan(diag.stack.empty() ? ast::Span() : diag.stack.back().span) {}

  FailureOr<BoundArguments> run() {
    if (failed(assignArguments()) || failed(fillDefaults())) {
      return failure();
    }
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].given && failed(convert(i))) {
        return failure();
      }
    }
    return BoundArguments(builtin, std::move(items));
  }

private:
  LogicalResult assignArguments() {
    size_t position = 0;
    for (const Argument &argument : arguments) {
      if (!argument.keyword.empty()) {
        if (failed(assignKeyword(argument))) {
          return failure();
        }
        continue;
      }
      if (position < builtin.parameters.size() &&
          builtin.parameters[position].isVariadic) {
        variadic.push_back(argument.value);
        markGiven(position, argument);
        continue;
      }
      if (position >= builtin.parameters.size() ||
          builtin.parameters[position].keywordOnly) {
        return tooMany(argument);
      }
      items[position].value = argument.value;
      markGiven(position++, argument);
    }
    return success();
  }

  void markGiven(size_t index, const Argument &argument) {
    if (!items[index].given) {
      items[index].span = argument.span;
    }
    items[index].given = true;
  }

  LogicalResult tooMany(const Argument &argument) {
    size_t positional = 0;
    for (const BuiltinParameter &parameter : builtin.parameters) {
      positional += !parameter.keywordOnly;
    }
    size_t given = llvm::count_if(
        arguments, [](const Argument &a) { return a.keyword.empty(); });
    return diag.error(argument.span,
                      context.name() + " takes at most " +
                          std::to_string(positional) +
                          " positional arguments, got " + std::to_string(given),
                      "its parameters: " + signature());
  }

  std::string signature() const {
    return context.name() + std::string(llvm::StringRef(builtin.signature)
                                            .drop_front(builtin.name.size()));
  }

  LogicalResult assignKeyword(const Argument &argument) {
    for (size_t i = 0; i < builtin.parameters.size(); ++i) {
      if (builtin.parameters[i].takesKeywords) {
        keywords.emplace_back(Value(argument.keyword), argument.value);
        markGiven(i, argument);
        return success();
      }
      if (builtin.parameters[i].name != argument.keyword) {
        continue;
      }
      if (items[i].given) {
        return diag.error(argument.span,
                          context.name() + ": argument '" + argument.keyword +
                              "' is given twice; expected it once");
      }
      if (builtin.parameters[i].isVariadic) {
        // `shape=(2, 3)` for `*shape`.
        variadic.push_back(argument.value);
      } else {
        items[i].value = argument.value;
      }
      markGiven(i, argument);
      return success();
    }
    std::vector<std::string> names;
    for (const BuiltinParameter &parameter : builtin.parameters) {
      names.push_back(parameter.name);
    }
    std::string hint = suggestion(argument.keyword, names);
    return diag.error(argument.span,
                      context.name() + " has no parameter '" +
                          argument.keyword + "'",
                      hint.empty() ? "its parameters: " + signature() : hint);
  }

  LogicalResult fillDefaults() {
    for (size_t i = 0; i < items.size(); ++i) {
      const BuiltinParameter &parameter = builtin.parameters[i];
      if (parameter.isVariadic) {
        items[i].value = Value::tuple(std::move(variadic));
        items[i].span = items[i].given ? items[i].span : callSpan;
        continue;
      }
      if (parameter.takesKeywords) {
        items[i].value = Value::dict(std::move(keywords));
        continue;
      }
      if (items[i].given) {
        continue;
      }
      if (!parameter.hasDefault) {
        return diag.error(context.name() + ": missing argument '" +
                              parameter.name + "'",
                          "its parameters: " + signature());
      }
      items[i].value = parameter.defaultValue;
      items[i].span = callSpan;
    }
    return success();
  }

  LogicalResult wrong(size_t index, llvm::StringRef expected,
                      std::string hint = {}) {
    const Value &value = items[index].value;
    std::string message = context.name() + ": argument '" +
                          builtin.parameters[index].name + "': expected " +
                          expected.str() + ", got " + value.describe();
    if (value.isOpaque()) {
      diag.dueToHost |= diag.errors.empty();
    }
    return diag.error(items[index].span, std::move(message), std::move(hint));
  }

  /// A run-time value where a static one is needed.
  LogicalResult notStatic(size_t index, llvm::StringRef what) {
    return wrong(index, (what + " known while compiling").str(),
                 context.evaluator.constexprHint(items[index].span));
  }

  LogicalResult convert(size_t index) {
    const BuiltinParameter &parameter = builtin.parameters[index];
    Value &value = items[index].value;
    bool optional = parameter.hasDefault && parameter.defaultValue.isNone();
    if (value.isNone() && optional) {
      return success();
    }
    switch (parameter.kind) {
    case ParameterKind::Any:
      return success();
    case ParameterKind::Tensor:
      return convertTensor(index, parameter.isVariadic);
    case ParameterKind::Int:
      return convertScalar(index, "an integer", value.isIntegral());
    case ParameterKind::Float:
      return convertScalar(index, "a number", value.isNumber());
    case ParameterKind::Bool:
      if (value.isInt()) {
        value = Value(value.integer() != 0);
      }
      return convertScalar(index, "True or False", value.isBool());
    case ParameterKind::String:
      return convertScalar(index, "a string", value.isString());
    case ParameterKind::Ints:
      return convertInts(index, parameter.isVariadic);
    case ParameterKind::DType:
      return convertType(index);
    case ParameterKind::Static:
      return value.isStatic() ? success() : notStatic(index, "a value");
    case ParameterKind::Function:
      if (value.isFunction() || value.isBuiltin() || value.isMethod()) {
        return success();
      }
      return wrong(index, "a function",
                   "pass a function decorated with @triton.jit");
    }
    return success();
  }

  LogicalResult convertScalar(size_t index, llvm::StringRef expected,
                              bool isRight) {
    if (isRight) {
      return success();
    }
    return items[index].value.isTensor() ? notStatic(index, expected)
                                         : wrong(index, expected);
  }

  LogicalResult convertTensor(size_t index, bool isVariadic) {
    SpanScope at(diag, items[index].span);
    std::string what =
        context.name() + ": argument '" + builtin.parameters[index].name + "'";
    if (!isVariadic) {
      FailureOr<Tensor> tensor =
          context.emitter.toTensor(items[index].value, what);
      if (failed(tensor)) {
        return failure();
      }
      items[index].value = Value(*tensor);
      return success();
    }
    std::vector<Value> tensors;
    for (const Value &item : items[index].value.items()) {
      FailureOr<Tensor> tensor = context.emitter.toTensor(item, what);
      if (failed(tensor)) {
        return failure();
      }
      tensors.emplace_back(*tensor);
    }
    items[index].value = Value::tuple(std::move(tensors));
    return success();
  }

  LogicalResult convertInts(size_t index, bool isVariadic) {
    Value value = items[index].value;
    // f((2, 3)) for f(*shape).
    if (isVariadic && value.items().size() == 1 &&
        value.items()[0].isSequence()) {
      value = Value(value.items()[0]);
    }
    std::vector<Value> ints;
    llvm::ArrayRef<Value> given =
        value.isSequence() ? value.items() : llvm::ArrayRef<Value>(value);
    for (const Value &item : given) {
      if (!item.isIntegral()) {
        items[index].value = item;
        return item.isTensor() ? notStatic(index, "an integer")
                               : wrong(index, "integers");
      }
      if (item.integer() < INT64_MIN || item.integer() > INT64_MAX) {
        items[index].value = item;
        return wrong(index, "integers of 64 bits");
      }
      ints.emplace_back(item.integer());
    }
    items[index].value = Value::tuple(std::move(ints));
    return success();
  }

  LogicalResult convertType(size_t index) {
    Value &value = items[index].value;
    if (value.isType()) {
      return success();
    }
    if (value.isString()) {
      llvm::StringRef name(value.string());
      bool isPointer = name.consume_front("*");
      std::optional<DType> dtype =
          parseDType(std::string_view(name.data(), name.size()));
      if (dtype) {
        value =
            Value(isPointer ? ScalarType::pointer(*dtype) : ScalarType(*dtype));
        return success();
      }
    }
    return wrong(index, "a type such as tl.float32");
  }

  CallContext &context;
  const Builtin &builtin;
  Diagnostics &diag;
  llvm::ArrayRef<Argument> arguments;
  std::vector<BoundArguments::Item> items;
  std::vector<Value> variadic;
  std::vector<std::pair<Value, Value>> keywords;
  ast::Span callSpan;
};

} // namespace

FailureOr<BoundArguments> bindArguments(CallContext &context,
                                        llvm::ArrayRef<Argument> arguments) {
  return Binder(context, arguments).run();
}

} // namespace nereid::irgen
