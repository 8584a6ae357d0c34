//===- Objects.cpp - Instances of the host's classes ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configuration code keeps its state in objects: loaders, detectors,
// registries. `Class(...)` outside of kernels runs __new__ and __init__ of the
// class and of its bases; attributes can be assigned. Where a base is a class
// of the host, or __init__ cannot be evaluated, nothing is known of the object:
// it is opaque, with the reason.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/Objects.h"
#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

const Value *PythonClass::ownMember(llvm::StringRef name) const {
  for (const auto &[member, value] : members) {
    if (member == name) {
      return &value;
    }
  }
  return nullptr;
}

void PythonClass::setMember(llvm::StringRef name, Value value) const {
  for (auto &[member, old] : members) {
    if (member == name) {
      old = std::move(value);
      return;
    }
  }
  members.emplace_back(name.str(), std::move(value));
}

/// A diamond of bases is looked through as often as there are ways down it;
/// the limit ends what a program cannot mean.
static void addWithBases(const PythonClass &cls,
                         std::vector<const PythonClass *> &order) {
  if (order.size() >= 256) {
    return;
  }
  order.push_back(&cls);
  for (const auto &base : cls.bases) {
    addWithBases(*base, order);
  }
}

std::vector<const PythonClass *> lookupOrder(const PythonClass &cls) {
  std::vector<const PythonClass *> all, order;
  addWithBases(cls, all);
  for (size_t i = 0; i < all.size(); ++i) {
    auto rest = llvm::ArrayRef<const PythonClass *>(all).drop_front(i + 1);
    if (!llvm::is_contained(rest, all[i])) {
      order.push_back(all[i]);
    }
  }
  return order;
}

const Value *PythonClass::find(llvm::StringRef name) const {
  if (bases.empty()) {
    return ownMember(name);
  }
  for (const PythonClass *cls : lookupOrder(*this)) {
    if (const Value *found = cls->ownMember(name)) {
      return found;
    }
  }
  return nullptr;
}

bool PythonClass::derivesFrom(const PythonClass &other) const {
  return this == &other || llvm::any_of(bases, [&](const auto &base) {
           return base->derivesFrom(other);
         });
}

const Value *HostObject::find(llvm::StringRef name) const {
  for (const auto &[attribute, value] : attributes) {
    if (attribute == name) {
      return &value;
    }
  }
  return nullptr;
}

void HostObject::set(llvm::StringRef name, Value value) {
  for (auto &[attribute, old] : attributes) {
    if (attribute == name) {
      old = std::move(value);
      return;
    }
  }
  attributes.emplace_back(name.str(), std::move(value));
}

//===----------------------------------------------------------------------===//
// Making objects
//===----------------------------------------------------------------------===//

std::shared_ptr<HostObject>
HostState::make(const std::shared_ptr<const PythonClass> &cls) {
  Budget::make(sizeof(HostObject));
  auto object = std::make_shared<HostObject>();
  object->cls = cls;
  objects.push_back(object);
  return object;
}

HostState::~HostState() {
  for (const std::weak_ptr<HostObject> &weak : objects) {
    if (std::shared_ptr<HostObject> object = weak.lock()) {
      auto attributes = std::move(object->attributes);
      object->attributes.clear();
    }
  }
  for (const std::shared_ptr<const PythonClass> &cls : classes) {
    auto members = std::move(cls->members);
    cls->members.clear();
  }
}

/// Where nothing can be evaluated of an object, the program goes on without:
/// most objects of the host mean nothing to a kernel.
FailureOr<Value>
Evaluator::instantiate(const std::shared_ptr<const PythonClass> &cls,
                       llvm::ArrayRef<Argument> arguments) {
  auto unknown = [&] {
    return Value(Opaque{cls->name + "(...)", cls->unknown});
  };
  if (!cls->unknown.empty() || host.skipsObjects || emits()) {
    return unknown();
  }
  Diagnostics::Mark mark = diag.mark();
  FailureOr<Value> object = initialised(cls, arguments);
  if (succeeded(object) || !diag.exception.empty() || Budget::exceeded()) {
    return object;
  }
  cls->unknown = diag.reason();
  diag.forget(mark);
  return unknown();
}

FailureOr<Value>
Evaluator::initialised(const std::shared_ptr<const PythonClass> &cls,
                       llvm::ArrayRef<Argument> arguments) {
  Value type(cls);
  ast::Span span = diag.stack.back().span;
  auto callMember = [&](const Value &function, const Value &self) {
    llvm::SmallVector<Argument> all = {{"", self, span}};
    all.append(arguments.begin(), arguments.end());
    return call(function, all);
  };
  Value object;
  if (const Value *make = cls->find("__new__")) {
    FailureOr<Value> made = callMember(*make, type);
    if (failed(made)) {
      return failure();
    }
    object = *made;
    if (!object.isObject() || !object.object().cls ||
        !object.object().cls->derivesFrom(*cls)) {
      return object;
    }
  } else {
    object = Value(host.make(cls));
  }
  const Value *init = cls->find("__init__");
  if (init) {
    FailureOr<Value> done = callMember(*init, object);
    return failed(done) ? FailureOr<Value>(failure())
                        : FailureOr<Value>(object);
  }
  if (isException(*cls)) {
    std::vector<Value> values;
    for (const Argument &argument : arguments) {
      values.push_back(argument.value);
    }
    object.object().set("args", Value::tuple(std::move(values)));
    return object;
  }
  if (!arguments.empty() && !cls->find("__new__")) {
    return diag.raises("TypeError")
        .error(arguments.front().span, "'" + cls->name +
                                           "' takes no arguments; expected " +
                                           cls->name + "()");
  }
  return object;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

FailureOr<Value> Evaluator::objectAttribute(const Value &self,
                                            llvm::StringRef name) {
  const HostObject &object = self.object();
  if (!object.cls) {
    return diag.hostError("the object is gone");
  }
  const PythonClass &cls = *object.cls;
  if (!cls.def && cls.name == "super") {
    return superAttribute(object, name);
  }
  const Value *own = object.find(name);
  const Value *member = own ? nullptr : cls.find(name);
  if (frame && frame->isKernel && !member) {
    // What an object holds is a matter of what the program has run.
    return Value(Opaque{cls.name + "(...)." + name.str()});
  }
  if (own) {
    return *own;
  }
  if (member) {
    return member->isFunction() ? memberFunction(self, *member)
                                : FailureOr<Value>(*member);
  }
  if (name == "__class__") {
    return Value(object.cls);
  }
  if (name == "__dict__") {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto &[attribute, value] : object.attributes) {
      entries.emplace_back(Value(attribute), value);
    }
    return Value::dict(std::move(entries));
  }
  if (name == "__init__" || name == "__setattr__") {
    BoundMethod method;
    method.self = self;
    method.name = name.str();
    return Value(std::move(method));
  }
  if (!name.starts_with("__")) {
    if (std::optional<FailureOr<Value>> made =
            callSpecial(self, "__getattr__", {Value(name)})) {
      return *made;
    }
  }
  std::vector<std::string> candidates;
  for (const auto &entry : object.attributes) {
    candidates.push_back(entry.first);
  }
  for (const PythonClass *base : lookupOrder(cls)) {
    for (const auto &entry : base->members) {
      candidates.push_back(entry.first);
    }
  }
  return diag.raises("AttributeError")
      .error(self.describe() + " has no attribute '" + name.str() + "'",
             choices(name, candidates));
}

LogicalResult Evaluator::setAttribute(const Value &object, llvm::StringRef name,
                                      const Value &value) {
  if (object.isClass() && object.pythonClass().def &&
      !object.pythonClass().aggregate) {
    object.pythonClass().setMember(name, value);
    return success();
  }
  if (object.isModule() && object.module().source &&
      !object.module().source->isLibrary) {
    object.module().source->state[name] = value;
    return success();
  }
  if (object.isOpaque()) {
    return diag.hostError("cannot assign to an attribute of " +
                          object.describe());
  }
  if (!object.isObject() || !object.object().cls) {
    return diag.error("cannot assign to an attribute of " + object.describe() +
                      "; expected an object of a class of the program");
  }
  if (object.object().cls->isEnum) {
    return diag.raises("AttributeError")
        .error("cannot assign to a member of an enum; expected an object");
  }
  const Value *member = object.object().cls->find(name);
  if (member && isDecoratedAs(*member, "property")) {
    return diag.hostError("'" + name.str() +
                          "' is a property; setters are not supported");
  }
  if (std::optional<FailureOr<Value>> done =
          callSpecial(object, "__setattr__", {Value(name), value})) {
    return LogicalResult::success(succeeded(*done));
  }
  Budget::make(sizeof(Value) + name.size());
  object.object().set(name, value);
  return success();
}

//===----------------------------------------------------------------------===//
// super()
//===----------------------------------------------------------------------===//

FailureOr<Value> Evaluator::superAttribute(const HostObject &super,
                                           llvm::StringRef name) {
  const Value *from = super.find("__thisclass__");
  const Value *self = super.find("__self__");
  if (!from || !self) {
    return diag.hostError("the object is gone");
  }
  const PythonClass &cls =
      self->isClass() ? self->pythonClass() : *self->object().cls;
  bool isBehind = false;
  for (const PythonClass *base : lookupOrder(cls)) {
    const Value *member = isBehind ? base->ownMember(name) : nullptr;
    if (member) {
      return member->isFunction() && name != "__new__"
                 ? memberFunction(*self, *member)
                 : FailureOr<Value>(*member);
    }
    isBehind |= base == &from->pythonClass();
  }
  BoundMethod method;
  method.self = *self;
  method.name = name.str();
  if (name == "__new__" || name == "__init__" || name == "__setattr__" ||
      name == "__init_subclass__") {
    return Value(std::move(method));
  }
  return diag.raises("AttributeError")
      .error("no base class of '" + cls.name + "' has '" + name.str() + "'");
}

/// Methods of Python's `object`.
FailureOr<Value> Evaluator::baseMethod(const BoundMethod &method,
                                       llvm::ArrayRef<Argument> arguments) {
  if (method.name == "__new__") {
    if (arguments.empty() || !arguments.front().value.isClass() ||
        !arguments.front().value.pythonClass().def) {
      return diag.raises("TypeError")
          .error("__new__: expected the class of the object: __new__(cls)");
    }
    return Value(host.make(arguments.front().value.pythonClassPtr()));
  }
  if (method.name == "__setattr__" && method.self.isObject()) {
    if (arguments.size() != 2 || !arguments[0].value.isString()) {
      return diag.raises("TypeError")
          .error("__setattr__: expected a name and a value");
    }
    method.self.object().set(arguments[0].value.string(), arguments[1].value);
    return Value();
  }
  if (method.name == "__init__" && method.self.isObject() &&
      method.self.object().cls && isException(*method.self.object().cls)) {
    std::vector<Value> values;
    for (const Argument &argument : arguments) {
      values.push_back(argument.value);
    }
    method.self.object().set("args", Value::tuple(std::move(values)));
  }
  return Value();
}

//===----------------------------------------------------------------------===//
// What operators call
//===----------------------------------------------------------------------===//

std::optional<FailureOr<Value>>
Evaluator::callSpecial(const Value &object, llvm::StringRef name,
                       llvm::ArrayRef<Value> arguments) {
  const PythonClass *cls = nullptr;
  if (object.isObject()) {
    cls = object.object().cls.get();
  } else if (object.isAggregate()) {
    cls = object.aggregate().type->userClass.get();
  }
  if (!cls) {
    return std::nullopt;
  }
  const Value *member = cls->find(name);
  if (!member || !member->isFunction()) {
    return std::nullopt;
  }
  ast::Span span = diag.stack.back().span;
  llvm::SmallVector<Argument> all = {{"", object, span}};
  for (const Value &argument : arguments) {
    all.push_back({"", argument, span});
  }
  return call(*member, all);
}

/// a + b of objects: a.__add__(b), else b.__radd__(a).
std::optional<FailureOr<Value>>
Evaluator::specialBinary(ast::Operator op, const Value &a, const Value &b) {
  llvm::StringRef name = [&]() -> llvm::StringRef {
    switch (op) {
    case ast::Operator::Add:
      return "add__";
    case ast::Operator::Sub:
      return "sub__";
    case ast::Operator::Mult:
      return "mul__";
    case ast::Operator::Div:
      return "truediv__";
    case ast::Operator::FloorDiv:
      return "floordiv__";
    case ast::Operator::Mod:
      return "mod__";
    case ast::Operator::BitOr:
      return "or__";
    case ast::Operator::BitAnd:
      return "and__";
    default:
      return "";
    }
  }();
  if (name.empty()) {
    return std::nullopt;
  }
  if (auto done = callSpecial(a, ("__" + name).str(), {b})) {
    return done;
  }
  return callSpecial(b, ("__r" + name).str(), {a});
}

std::optional<FailureOr<Value>>
Evaluator::specialCompare(ast::CompareOperator op, const Value &a,
                          const Value &b) {
  switch (op) {
  case ast::CompareOperator::Eq:
    return callSpecial(a, "__eq__", {b});
  case ast::CompareOperator::NotEq:
    if (auto same = callSpecial(a, "__eq__", {b})) {
      return failed(*same) || (*same)->isOpaque()
                 ? same
                 : FailureOr<Value>(Value(!truth(**same)));
    }
    return std::nullopt;
  case ast::CompareOperator::Lt:
    return callSpecial(a, "__lt__", {b});
  case ast::CompareOperator::LtE:
    return callSpecial(a, "__le__", {b});
  case ast::CompareOperator::Gt:
    return callSpecial(a, "__gt__", {b});
  case ast::CompareOperator::GtE:
    return callSpecial(a, "__ge__", {b});
  case ast::CompareOperator::In:
  case ast::CompareOperator::NotIn: {
    bool isNot = op == ast::CompareOperator::NotIn;
    if (auto has = callSpecial(b, "__contains__", {a})) {
      return failed(*has) || (*has)->isOpaque()
                 ? has
                 : FailureOr<Value>(Value(truth(**has) != isNot));
    }
    if (SourceModule *space = namespaceOf(b)) {
      return FailureOr<Value>(
          Value((a.isString() && hasGlobal(*space, a.string())) != isNot));
    }
    bool isEnum = b.isClass() && b.pythonClass().isEnum;
    if (!isEnum &&
        !(b.isObject() && b.object().cls && b.object().cls->find("__iter__"))) {
      return std::nullopt;
    }
    FailureOr<std::vector<Value>> items = iterate(b, "'in'");
    if (failed(items)) {
      return FailureOr<Value>(failure());
    }
    bool has =
        llvm::any_of(*items, [&](const Value &v) { return equal(v, a); });
    return FailureOr<Value>(Value(has != isNot));
  }
  default:
    return std::nullopt;
  }
}

FailureOr<std::string> Evaluator::textOf(const Value &value) {
  for (llvm::StringRef name : {"__str__", "__repr__"}) {
    if (auto text = callSpecial(value, name)) {
      if (failed(*text) || !(*text)->isString()) {
        return failed(*text)
                   ? failure()
                   : diag.raises("TypeError")
                         .error(name.str() + " returns " + (*text)->describe() +
                                "; expected a string");
      }
      return (*text)->string();
    }
  }
  if (value.isObject() && value.object().cls &&
      isException(*value.object().cls)) {
    const Value *args = value.object().find("args");
    bool isOne = args && args->isTuple() && args->items().size() == 1;
    return isOne ? args->items().front().str() : args ? args->str() : "";
  }
  return value.str();
}

FailureOr<Value> Evaluator::tested(const Value &value) {
  for (llvm::StringRef name : {"__bool__", "__len__"}) {
    if (auto said = callSpecial(value, name)) {
      return *said;
    }
  }
  return value;
}

} // namespace nereid::irgen
