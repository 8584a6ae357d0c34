//===- Classes.cpp - Calling classes: namedtuples and aggregates *- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::irgen {

FailureOr<Value>
Evaluator::namedTupleClass(llvm::ArrayRef<Argument> arguments) {
  auto cls = std::make_shared<PythonClass>();
  auto aggregate = std::make_shared<AggregateType>();
  if (arguments.size() < 2 || !arguments[0].value.isString()) {
    return diag.error("namedtuple: expected a name and field names");
  }
  cls->name = aggregate->name = arguments[0].value.string();
  aggregate->isTuple = true;
  const Value &fields = arguments[1].value;
  if (fields.isString()) {
    std::string text = fields.string();
    std::replace(text.begin(), text.end(), ',', ' ');
    llvm::SmallVector<llvm::StringRef> names;
    llvm::SplitString(text, names, " ");
    for (llvm::StringRef name : names) {
      aggregate->fields.push_back(name.str());
    }
  } else {
    FailureOr<std::vector<Value>> names = iterate(fields, "namedtuple");
    if (failed(names)) {
      return failure();
    }
    for (const Value &name : *names) {
      if (!name.isString()) {
        return diag.error(
            "namedtuple: a field name is " + name.describe() +
            "; expected names as strings: namedtuple('Pair', ['a', 'b'])");
      }
      aggregate->fields.push_back(name.string());
    }
  }
  cls->defaults.resize(aggregate->fields.size());
  cls->aggregate = aggregate;
  return Value(std::shared_ptr<const PythonClass>(cls));
}

std::shared_ptr<const AggregateType>
aggregateTypeOf(const std::shared_ptr<const PythonClass> &cls) {
  if (!cls->aggregate->userClass && cls->def) {
    // Not a cycle of ownership: the pointer shares nothing.
    cls->aggregate->userClass = std::shared_ptr<const PythonClass>(
        std::shared_ptr<const PythonClass>(), cls.get());
  }
  return cls->aggregate;
}

static std::shared_ptr<const Function> findInit(const PythonClass &cls) {
  const Value *init = cls.find("__init__");
  return init && init->isFunction() ? init->functionPtr() : nullptr;
}

/// What a field holds until __init__ sets it.
static constexpr llvm::StringLiteral unsetField = "a field that is not set";

/// An aggregate as its own __init__ makes it: `self` is a variable whose
/// aggregate every assignment to a field replaces.
FailureOr<Value>
Evaluator::construct(const std::shared_ptr<const PythonClass> &cls,
                     const std::shared_ptr<const Function> &init,
                     llvm::ArrayRef<Argument> arguments) {
  std::shared_ptr<const AggregateType> type = aggregateTypeOf(cls);
  std::vector<Value> fields;
  for (size_t i = 0; i < type->fields.size(); ++i) {
    bool hasDefault = i < cls->defaults.size() && cls->defaults[i];
    fields.push_back(hasDefault ? *cls->defaults[i]
                                : Value(Opaque{unsetField.str()}));
  }
  std::vector<const ast::Arg *> parameters = parametersOf(*init);
  if (parameters.empty()) {
    return diag.error(
        "'__init__' of '" + cls->name +
        "' has no parameter for the object; expected def __init__(self, ...)");
  }
  llvm::SmallVector<Argument> all = {
      {"", Value(Aggregate{type, std::move(fields)}), diag.stack.back().span}};
  all.append(arguments.begin(), arguments.end());
  auto scope = std::make_shared<Scope>();
  scope->parent = init->closure;
  if (failed(bindParameters(*init, all, *scope))) {
    return failure();
  }
  Value made;
  {
    FrameScope own(*this, init->module, init, init->kind == Function::Kind::Jit,
                   scope);
    if (failed(runFunction(init->def->body))) {
      return failure();
    }
    made = scope->variables[parameters[0]->arg].value;
  }
  for (auto [name, value] :
       llvm::zip_equal(type->fields, made.aggregate().fields)) {
    if (value.isOpaque() && value.opaque().name == unsetField) {
      return diag.error(
          "'__init__' of '" + cls->name + "' does not set the field '" + name +
          "'; expected each annotated field to be set: self.name = ...");
    }
  }
  return made;
}

FailureOr<Value>
Evaluator::callClass(const std::shared_ptr<const PythonClass> &cls,
                     llvm::ArrayRef<Argument> arguments) {
  bool isKeyworded = llvm::any_of(
      arguments, [](const Argument &a) { return !a.keyword.empty(); });
  if (!cls->def && !cls->aggregate && cls->name == "dict" && isKeyworded) {
    // dict(a=1), dict(other, a=1).
    llvm::SmallVector<Argument> positional, named;
    for (const Argument &argument : arguments) {
      (argument.keyword.empty() ? positional : named).push_back(argument);
    }
    FailureOr<Value> dict = callClass(cls, positional);
    BoundMethod update;
    update.name = "update";
    if (succeeded(dict)) {
      update.self = *dict;
    }
    if (failed(dict) || failed(callHostMethod(update, named))) {
      return failure();
    }
    return dict;
  }
  if (!cls->def && !cls->aggregate) {
    if (const Builtin *conversion =
            BuiltinTable::get().find("python", "_" + cls->name)) {
      return callBuiltin(*conversion, arguments);
    }
    if (!frame->isKernel && isExceptionName(cls->name)) {
      return host.makeException(cls->name, valuesOf(arguments));
    }
    return diag.error("'" + cls->name +
                      "' cannot be called here; expected a class of this "
                      "program, or a dataclass or namedtuple");
  }
  if (cls->isEnum && !frame->isKernel && arguments.size() == 1) {
    return enumMember(diag, *cls, arguments[0].value);
  }
  if (!cls->aggregate && !frame->isKernel) {
    return instantiate(cls, arguments);
  }
  if (!cls->aggregate) {
    return diag.hostError("the class '" + cls->name +
                              "' is host code; it cannot be used here",
                          "a kernel's classes are NamedTuple or "
                          "@triton.aggregate");
  }
  if (std::shared_ptr<const Function> init = findInit(*cls)) {
    return construct(cls, init, arguments);
  }
  const AggregateType &type = *cls->aggregate;
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
                        choices(argument.keyword, type.fields));
    }
    fields[index] = argument.value;
  }
  std::vector<Value> values;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i] && i < cls->defaults.size()) {
      fields[i] = cls->defaults[i];
    }
    if (!fields[i]) {
      return diag.error(
          "'" + cls->name + "': missing field '" + type.fields[i] +
          "'; expected a value for each field that has no default");
    }
    values.push_back(*fields[i]);
  }
  return Value(Aggregate{aggregateTypeOf(cls), std::move(values)});
}

} // namespace nereid::irgen
