//===- Attributes.cpp - Attributes of values --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/IRGen/Host/Objects.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

static Value boundMethod(const Value &self, llvm::StringRef name) {
  BoundMethod method;
  method.self = self;
  method.name = name.str();
  return Value(std::move(method));
}

static LogicalResult noAttribute(Diagnostics &diag, const Value &object,
                                 llvm::StringRef name,
                                 std::vector<std::string> candidates,
                                 std::string hint = {}) {
  std::string near =
      hint.empty() ? choices(name, candidates) : suggestion(name, candidates);
  return diag.raises("AttributeError")
      .error(object.describe() + " has no attribute '" + name.str() + "'",
             near.empty() ? hint : near);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static TypeValue typeOf(const Tensor &x) {
  TypeValue type{x.type, x.isBlock(), {}};
  type.shape.assign(x.shape().begin(), x.shape().end());
  return type;
}

FailureOr<Value> Evaluator::tensorAttribute(const Tensor &x,
                                            llvm::StringRef name) {
  if (name == "dtype") {
    return Value(x.type);
  }
  if (name == "type") {
    return Value(typeOf(x));
  }
  if (name == "shape") {
    return Value::ints(x.shape());
  }
  if (name == "numel") {
    return Value(x.numElements());
  }
  const BuiltinTable &table = BuiltinTable::get();
  if (name == "T") {
    if (x.rank() < 2) {
      return diag.error("'.T': expected a block of two dimensions, got " +
                        x.typeStr());
    }
    return callBuiltin(*table.find("tl", "trans"),
                       {Argument{"", Value(x), diag.stack.back().span}});
  }
  if (const Builtin *member = table.findMember("tl", name)) {
    BoundMethod method;
    method.self = Value(x);
    method.name = name.str();
    method.builtin = member;
    return Value(std::move(method));
  }
  std::vector<std::string> candidates = table.names("tl", true);
  candidates.insert(candidates.end(), {"dtype", "type", "shape", "numel", "T"});
  std::string hint;
  if (name == "item" || name == "size" || name == "stride") {
    hint = "pass it to the kernel as an argument";
  }
  return noAttribute(diag, Value(x), name, std::move(candidates), hint);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static const llvm::StringRef typeMethods[] = {"is_int",
                                              "is_int_signed",
                                              "is_int_unsigned",
                                              "is_floating",
                                              "is_standard_floating",
                                              "is_fp8",
                                              "is_fp8e4nv",
                                              "is_fp8e5",
                                              "is_fp8e4b8",
                                              "is_fp8e4b15",
                                              "is_fp8e5b16",
                                              "is_fp16",
                                              "is_bf16",
                                              "is_fp32",
                                              "is_fp64",
                                              "is_int1",
                                              "is_int8",
                                              "is_int16",
                                              "is_int32",
                                              "is_int64",
                                              "is_uint8",
                                              "is_uint16",
                                              "is_uint32",
                                              "is_uint64",
                                              "is_bool",
                                              "is_ptr",
                                              "is_block",
                                              "is_const",
                                              "kind",
                                              "get_int_max_value",
                                              "get_int_min_value",
                                              "get_block_shapes",
                                              "is_void"};

FailureOr<Value> Evaluator::typeAttribute(const TypeValue &type,
                                          llvm::StringRef name) {
  ScalarType scalar = type.scalar;
  if (name == "value") {
    return Value(type); // constexpr(...).value
  }
  if (name == "primitive_bitwidth" || name == "int_bitwidth") {
    return Value(static_cast<int>(
        scalar.isPointer && !type.isBlock ? 64 : bitWidth(scalar.dtype)));
  }
  if (name == "itemsize") {
    return Value(
        static_cast<int64_t>(scalar.isPointer ? 8 : byteSize(scalar.dtype)));
  }
  if (name == "scalar") {
    return Value(scalar);
  }
  if (name == "dtype" && type.isBlock) {
    return Value(scalar);
  }
  if (name == "element_ty") {
    if (type.isBlock) {
      return Value(scalar);
    }
    if (scalar.isPointer) {
      return Value(
          TypeValue{scalar.pointee(), !type.shape.empty(), type.shape});
    }
  }
  if (name == "shape" && type.isBlock) {
    return Value::ints(type.shape);
  }
  if (name == "numel" && type.isBlock) {
    int64_t count = 1;
    for (int64_t extent : type.shape) {
      count *= extent;
    }
    return Value(count);
  }
  if (name == "name") {
    return Value(Value(type).str());
  }
  if (name == "address_space" && scalar.isPointer) {
    return Value(1);
  }
  if (llvm::is_contained(typeMethods, name)) {
    return boundMethod(Value(type), name);
  }
  std::vector<std::string> candidates;
  for (llvm::StringRef method : typeMethods) {
    candidates.push_back(method.str());
  }
  candidates.insert(candidates.end(),
                    {"primitive_bitwidth", "itemsize", "scalar", "element_ty",
                     "name", "shape"});
  return noAttribute(diag, Value(type), name, std::move(candidates));
}

FailureOr<Value> Evaluator::typeMethod(const TypeValue &type,
                                       llvm::StringRef name,
                                       llvm::ArrayRef<Argument> arguments) {
  ScalarType scalar = type.scalar;
  bool isNumber = !scalar.isPointer;
  if (name == "get_int_max_value" || name == "get_int_min_value") {
    if (!scalar.isInteger()) {
      return diag.error(
          Value(type).describe() +
          " is no integer type; expected a type such as tl.int32");
    }
    return Value(name == "get_int_max_value" ? maxValue(scalar.dtype)
                                             : minValue(scalar.dtype));
  }
  if (name == "get_block_shapes") {
    return Value::ints(type.shape);
  }
  if (name == "kind") {
    return Value(scalar.isBool() ? 0 : scalar.isInteger() ? 1 : 2);
  }
  auto is = [&](DType dtype) { return isNumber && scalar.dtype == dtype; };
  return Value(
      llvm::StringSwitch<bool>(name)
          .Case("is_int", scalar.isInteger())
          .Case("is_int_signed", scalar.isSignedInt())
          .Case("is_int_unsigned", scalar.isUnsignedInt())
          .Case("is_floating", scalar.isFloat())
          .Case("is_standard_floating", scalar.isFloat() && !scalar.isFp8())
          .Case("is_fp8", scalar.isFp8())
          .Case("is_fp8e4nv", is(DType::Float8E4M3))
          .Case("is_fp8e5", is(DType::Float8E5M2))
          .Case("is_fp16", is(DType::Float16))
          .Case("is_bf16", is(DType::BFloat16))
          .Case("is_fp32", is(DType::Float32))
          .Case("is_fp64", is(DType::Float64))
          .Case("is_int8", is(DType::Int8))
          .Case("is_int16", is(DType::Int16))
          .Case("is_int32", is(DType::Int32))
          .Case("is_int64", is(DType::Int64))
          .Case("is_uint8", is(DType::UInt8))
          .Case("is_uint16", is(DType::UInt16))
          .Case("is_uint32", is(DType::UInt32))
          .Case("is_uint64", is(DType::UInt64))
          .Cases({"is_bool", "is_int1"}, is(DType::Int1))
          .Case("is_ptr", scalar.isPointer && !type.isBlock)
          .Case("is_block", type.isBlock)
          .Case("is_const", scalar.isConst)
          .Default(false));
}

//===----------------------------------------------------------------------===//
// Records and everything else
//===----------------------------------------------------------------------===//

/// Of a value of the host that is known in part: packaging's versions, what
/// torch says of a GPU. What is not known is opaque.
FailureOr<Value> Evaluator::hostAggregateAttribute(const Aggregate &aggregate,
                                                   llvm::StringRef name) {
  if (aggregate.type->name == "Version") {
    std::string text;
    for (const Value &field : aggregate.fields) {
      text += (text.empty() ? "" : ".") + field.str();
    }
    if (name == "release") {
      return Value::tuple(aggregate.fields);
    }
    if (name == "base_version" || name == "public" || name == "vstring") {
      return Value(text);
    }
  }
  return hostName(aggregate.type->name + "." + name.str());
}

bool isDecoratedAs(const Value &member, llvm::StringRef what) {
  return member.isFunction() && member.function().def &&
         llvm::any_of(member.function().def->decoratorList,
                      [&](const ast::Expr *expr) {
                        const auto *name = ast::dynCast<ast::Name>(expr);
                        const auto *path = ast::dynCast<ast::Attribute>(expr);
                        return what == (name   ? llvm::StringRef(name->id)
                                        : path ? llvm::StringRef(path->attr)
                                               : llvm::StringRef());
                      });
}

/// A function that is a member of `self`, an object or its class.
FailureOr<Value> Evaluator::memberFunction(const Value &self,
                                           const Value &function) {
  const Function &callee = function.function();
  if (isDecoratedAs(function, "staticmethod")) {
    return function;
  }
  bool isCached = isDecoratedAs(function, "cached_property");
  if ((isCached || isDecoratedAs(function, "property")) && !self.isClass()) {
    FailureOr<Value> value =
        call(function, {Argument{"", self, diag.stack.back().span}});
    if (succeeded(value) && isCached && self.isObject()) {
      self.object().set(callee.name, *value);
    }
    return value;
  }
  bool isOfClass = isDecoratedAs(function, "classmethod");
  if (self.isClass() && !isOfClass) {
    return function;
  }
  BoundMethod method;
  method.self = isOfClass && self.isObject() ? Value(self.object().cls) : self;
  method.name = callee.name;
  method.function = function.functionPtr();
  return Value(std::move(method));
}

FailureOr<Value> Evaluator::recordAttribute(const Value &object,
                                            llvm::StringRef name) {
  const Aggregate &aggregate = object.aggregate();
  if (const Value *field = aggregate.find(name)) {
    return *field;
  }
  BoundMethod method;
  method.self = object;
  method.name = name.str();
  const AggregateType &type = *aggregate.type;
  if (!type.methods.empty()) {
    method.builtin = BuiltinTable::get().findMember(type.methods, name);
  }
  if (type.userClass) {
    const Value *member = type.userClass->find(name);
    if (member && !member->isFunction()) {
      return *member;
    }
    if (member) {
      return memberFunction(object, *member);
    }
  }
  if (method.builtin) {
    return Value(std::move(method));
  }
  // A hook's effects are all known, or it is refused.
  if (type.methods == "host" ||
      (type.methods == "host_tensor" && !hookActions)) {
    return hostAggregateAttribute(aggregate, name);
  }
  std::vector<std::string> candidates = type.fields;
  if (!type.methods.empty()) {
    for (std::string &member : BuiltinTable::get().names(type.methods, true)) {
      candidates.push_back(std::move(member));
    }
  }
  return noAttribute(diag, object, name, std::move(candidates));
}

FailureOr<Value> Evaluator::attribute(const Value &object,
                                      llvm::StringRef name) {
  if (object.isTensor()) {
    return tensorAttribute(object.tensor(), name);
  }
  if (object.isModule()) {
    return moduleAttribute(object.module(), name);
  }
  if (object.isType()) {
    return typeAttribute(object.type(), name);
  }
  if (object.isAggregate()) {
    return recordAttribute(object, name);
  }
  if (object.isOpaque()) {
    FailureOr<Value> member = hostName(object.opaque().name + "." + name.str());
    return succeeded(member) && member->isOpaque()
               ? Value(Opaque{member->opaque().name, object.opaque().why})
               : member;
  }
  if (object.isObject()) {
    return objectAttribute(object, name);
  }
  bool isConstexpr = object.isNumber() || object.isString() || object.isNone();
  if (name == "value" && isConstexpr) {
    return object; // constexpr(...).value
  }
  if (object.isClass()) {
    const PythonClass &cls = object.pythonClass();
    if (const Value *member = cls.find(name)) {
      if (member->isFunction()) {
        return memberFunction(object, *member);
      }
      return inKernel() ? plainValue(*member) : *member;
    }
    if (name == "__members__" && cls.isEnum) {
      std::vector<std::pair<Value, Value>> entries;
      for (const std::string &member : cls.enumMembers) {
        entries.emplace_back(Value(member), *cls.ownMember(member));
      }
      return Value::dict(std::move(entries));
    }
    if (name == "__new__" && cls.def) {
      return boundMethod(object, name);
    }
    if (name == "__name__" || name == "__qualname__") {
      return Value(cls.name);
    }
    return noAttribute(diag, object, name, {});
  }
  if (object.isFunction() && name == "__name__") {
    return Value(object.function().name);
  }
  // A jit function's plain function; the wrappers of other packages too.
  if (object.isFunction() && name == "fn") {
    return object;
  }
  llvm::ArrayRef<llvm::StringRef> methods = hostMethods(object);
  if (llvm::is_contained(methods, name)) {
    return boundMethod(object, name);
  }
  // A number that the kernel's code takes for a tensor: x.to(tl.float32) of a
  // static argument.
  if (inKernel() && object.isNumber() &&
      (name == "dtype" || name == "type" || name == "shape" ||
       BuiltinTable::get().findMember("tl", name))) {
    FailureOr<Tensor> scalar = emitter.toTensor(object);
    return failed(scalar) ? FailureOr<Value>(failure())
                          : tensorAttribute(*scalar, name);
  }
  std::vector<std::string> candidates;
  for (llvm::StringRef method : methods) {
    candidates.push_back(method.str());
  }
  std::string hint;
  if (object.isNone()) {
    hint = "the value is None here; test it first: if x is not None";
  }
  return noAttribute(diag, object, name, std::move(candidates), hint);
}

} // namespace nereid::irgen
