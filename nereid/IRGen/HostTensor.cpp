//===- HostTensor.cpp - Tensors as heuristics and grids see them *- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime describes a tensor argument by a dict: shape, strides, dtype.
// Host code asks it as it would ask torch: args["x"].shape[0],
// args["x"].stride(0), args["x"].dtype == torch.float16.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Evaluator.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

static const std::shared_ptr<const RecordType> &tensorType() {
  static const auto type = std::make_shared<const RecordType>(
      RecordType{"torch.Tensor",
                 {"shape", "strides", "dtype", "ndim"},
                 /*isTuple=*/false,
                 "host",
                 nullptr});
  return type;
}

Value hostArgument(const StaticValue &value) {
  const auto *facts = std::get_if<StaticValue::Dict>(&value.value);
  auto fact = [&](const char *name) -> const StaticValue * {
    auto it = facts->find(name);
    return it == facts->end() ? nullptr : &it->second;
  };
  const StaticValue *shape = facts ? fact("shape") : nullptr;
  const StaticValue *dtype = facts ? fact("dtype") : nullptr;
  if (!shape || !dtype || !std::holds_alternative<DType>(dtype->value)) {
    return Value::fromStatic(value);
  }
  Value extents = Value::fromStatic(*shape);
  const StaticValue *strides = fact("stride");
  std::string name(languageName(std::get<DType>(dtype->value)));
  return Value(
      Record{tensorType(),
             {extents, strides ? Value::fromStatic(*strides) : Value(),
              Value(Opaque{"torch." + (name == "int1" ? "bool" : name)}),
              Value(static_cast<int64_t>(
                  extents.isSequence() ? extents.items().size() : 0))}});
}

bool isTensorMethod(const Value &self, llvm::StringRef name) {
  return self.isRecord() && self.record().type == tensorType() &&
         llvm::StringSwitch<bool>(name)
             .Cases({"size", "stride", "numel", "dim", "element_size",
                     "is_contiguous", "nelement"},
                    true)
             .Default(false);
}

FailureOr<Value> Evaluator::tensorMethod(const Record &tensor,
                                         llvm::StringRef name,
                                         llvm::ArrayRef<Argument> arguments) {
  const Value &shape = tensor.fields[0], &strides = tensor.fields[1];
  if (name == "dim") {
    return tensor.fields[3];
  }
  if (name == "element_size") {
    std::optional<DType> dtype = parseDType(tensor.fields[2].opaque().name);
    return Value(static_cast<int64_t>(dtype ? byteSize(*dtype) : 1));
  }
  if (name == "size" || name == "stride") {
    const Value &all = name == "size" ? shape : strides;
    return arguments.empty() ? FailureOr<Value>(all)
                             : subscriptValue(all, arguments[0].value);
  }
  Int count = 1;
  bool isContiguous = true;
  for (size_t i = shape.items().size(); i-- > 0;) {
    if (strides.isSequence() && i < strides.items().size() &&
        shape.items()[i].integer() != 1) {
      isContiguous &= strides.items()[i].integer() == count;
    }
    count *= shape.items()[i].integer();
  }
  return name == "is_contiguous" ? Value(isContiguous) : Value(count);
}

} // namespace nereid::irgen
