//===- HostArguments.cpp - A launch's arguments in host code ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostArguments.h"

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

namespace {

// Fields that Python has no names for begin with an underscore.
enum TensorField { TensorName, TensorStrides, TensorDType, TensorShape };
enum DescriptorField { DescriptorName };

const std::shared_ptr<const AggregateType> &tensorType() {
  static const auto type = std::make_shared<const AggregateType>(
      AggregateType{"torch.Tensor",
                    {"_name", "_strides", "dtype", "shape", "ndim"},
                    /*isTuple=*/false,
                    "host_tensor",
                    nullptr});
  return type;
}

const std::shared_ptr<const AggregateType> &descriptorType() {
  static const auto type = std::make_shared<const AggregateType>(
      AggregateType{"host tensor descriptor",
                    {"_name", "base", "shape", "strides", "block_shape"},
                    /*isTuple=*/false,
                    "",
                    nullptr});
  return type;
}

Value tensorValue(const std::string &name, const StaticValue::Dict &facts) {
  Value shape = Value::fromStatic(facts.at("shape"));
  auto rank = static_cast<int64_t>(shape.items().size());
  std::string dtype(languageName(std::get<DType>(facts.at("dtype").value)));
  return Value(
      Aggregate{tensorType(),
                {Value(name), Value::fromStatic(facts.at("stride")),
                 Value(Opaque{"torch." + (dtype == "int1" ? "bool" : dtype)}),
                 shape, Value(rank)}});
}

bool isTensor(const Value &value) {
  return value.isAggregate() && value.aggregate().type == tensorType();
}

} // namespace

Value hostArgument(const std::string &name, const StaticValue &value) {
  const auto *facts = std::get_if<StaticValue::Dict>(&value.value);
  if (facts && facts->contains("stride") && facts->contains("dtype")) {
    return tensorValue(name, *facts);
  }
  if (facts && facts->contains("block_shape") && facts->contains("base")) {
    return Value(
        Aggregate{descriptorType(),
                  {Value(name), hostArgument(name + ".base", facts->at("base")),
                   Value::fromStatic(facts->at("shape")),
                   Value::fromStatic(facts->at("strides")),
                   Value::fromStatic(facts->at("block_shape"))}});
  }
  if (const auto *items = std::get_if<StaticValue::Tuple>(&value.value)) {
    std::vector<Value> values;
    for (const StaticValue &item : *items) {
      values.push_back(
          hostArgument(name + "." + std::to_string(values.size()), item));
    }
    return Value::tuple(std::move(values));
  }
  return Value::fromStatic(value);
}

Value hostArguments(const std::map<std::string, StaticValue> &values) {
  std::vector<std::pair<Value, Value>> entries;
  for (const auto &[name, value] : values) {
    entries.emplace_back(Value(name), hostArgument(name, value));
  }
  return Value::dict(std::move(entries));
}

bool isHostInstance(const Value &value, llvm::StringRef className) {
  llvm::StringRef last = className.rsplit('.').second;
  last = last.empty() ? className : last;
  return value.isAggregate() &&
         ((last == "Tensor" && value.aggregate().type == tensorType()) ||
          (last == "TensorDescriptor" &&
           value.aggregate().type == descriptorType()));
}

//===----------------------------------------------------------------------===//
// What a hook does
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::storeAttribute(const ast::Attribute *target,
                                        const Value &value) {
  SpanScope at(diag, target->span);
  FailureOr<Value> object = evaluate(target->value);
  if (failed(object)) {
    return failure();
  }
  bool isBlockShape = object->isAggregate() &&
                      object->aggregate().type == descriptorType() &&
                      llvm::StringRef(target->attr) == "block_shape";
  if (!isBlockShape) {
    return diag.error("a hook cannot assign to '" + std::string(target->attr) +
                          "' of " + object->describe(),
                      "hooks may zero_, fill_ and copy_ tensors, and set the "
                      "block_shape of tensor descriptors");
  }
  HookAction action;
  action.kind = HookAction::Kind::BlockShape;
  action.argument = object->aggregate().fields[DescriptorName].string();
  FailureOr<std::vector<Value>> sizes = iterate(value, "block_shape");
  if (failed(sizes)) {
    return failure();
  }
  for (const Value &size : *sizes) {
    if (!size.isIntegral()) {
      return diag.error("block_shape: expected integers, got " +
                        size.describe());
    }
    action.shape.push_back(static_cast<int64_t>(size.integer()));
  }
  hookActions->push_back(std::move(action));
  return success();
}

/// Notes what is done to the argument `self`; gives `self`, as torch does.
static FailureOr<Value> note(CallContext &ctx, const BoundArguments &args,
                             HookAction action) {
  if (!ctx.evaluator.hookActions) {
    return ctx.diag.error(
        "only a hook of @triton.autotune may change a "
        "tensor's elements; expected code that reads arguments only");
  }
  action.argument = args["self"].aggregate().fields[TensorName].string();
  ctx.evaluator.hookActions->push_back(std::move(action));
  return args["self"];
}

static FailureOr<Value> emitZero(CallContext &ctx, const BoundArguments &args) {
  return note(ctx, args, {});
}

static FailureOr<Value> emitFill(CallContext &ctx, const BoundArguments &args) {
  const Value &value = args["value"];
  if (!value.isNumber()) {
    return ctx.diag.error(args.span("value"),
                          "fill_: expected a number, got " + value.describe());
  }
  HookAction action;
  action.value = value.number();
  return note(ctx, args, action);
}

static FailureOr<Value> emitCopy(CallContext &ctx, const BoundArguments &args) {
  const Value &source = args["src"];
  if (!isTensor(source)) {
    return ctx.diag.error(args.span("src"),
                          "copy_: expected another argument that is a tensor, "
                          "got " +
                              source.describe());
  }
  HookAction action;
  action.kind = HookAction::Kind::Copy;
  action.source = source.aggregate().fields[TensorName].string();
  return note(ctx, args, action);
}

//===----------------------------------------------------------------------===//
// What may be asked of a tensor
//===----------------------------------------------------------------------===//

/// All of `field`, or the entry of `dim`.
static FailureOr<Value> entryOf(CallContext &ctx, const BoundArguments &args,
                                TensorField field) {
  const Value &values = args["self"].aggregate().fields[field];
  const Value &dim = args["dim"];
  if (dim.isNone()) {
    return values;
  }
  Int rank = static_cast<Int>(values.items().size());
  Int i = !dim.isIntegral()   ? rank
          : dim.integer() < 0 ? dim.integer() + rank
                              : dim.integer();
  if (i < 0 || i >= rank) {
    return ctx.diag.error(args.span("dim"),
                          "expected a dimension of a tensor of rank " +
                              toString(rank) + ", got " + dim.describe());
  }
  return Value(values.items()[static_cast<size_t>(i)]);
}

static FailureOr<Value> emitStride(CallContext &ctx,
                                   const BoundArguments &args) {
  return entryOf(ctx, args, TensorStrides);
}

static FailureOr<Value> emitSize(CallContext &ctx, const BoundArguments &args) {
  return entryOf(ctx, args, TensorShape);
}

static FailureOr<Value> emitNumel(CallContext &, const BoundArguments &args) {
  Int count = 1;
  for (const Value &size :
       args["self"].aggregate().fields[TensorShape].items()) {
    count *= size.integer();
  }
  return Value(count);
}

static FailureOr<Value> emitDim(CallContext &, const BoundArguments &args) {
  return Value(static_cast<int64_t>(
      args["self"].aggregate().fields[TensorShape].items().size()));
}

static FailureOr<Value> emitElementSize(CallContext &,
                                        const BoundArguments &args) {
  const Value &type = args["self"].aggregate().fields[TensorDType];
  return Value(static_cast<int64_t>(byteSize(*parseDType(type.opaque().name))));
}

static FailureOr<Value> emitIsContiguous(CallContext &,
                                         const BoundArguments &args) {
  const Aggregate &tensor = args["self"].aggregate();
  llvm::ArrayRef<Value> shape = tensor.fields[TensorShape].items();
  llvm::ArrayRef<Value> strides = tensor.fields[TensorStrides].items();
  Int count = 1;
  bool isContiguous = true;
  for (size_t i = shape.size(); i-- > 0;) {
    isContiguous &= shape[i].integer() == 1 || strides[i].integer() == count;
    count *= shape[i].integer();
  }
  return Value(isContiguous);
}

/// config.all_kwargs(): values and options in one dict.
static FailureOr<Value> emitAllKwargs(CallContext &,
                                      const BoundArguments &args) {
  const Aggregate &config = args["self"].aggregate();
  std::vector<std::pair<Value, Value>> entries = config.find("kwargs")->dict();
  for (const char *name : {"num_warps", "num_ctas", "num_stages", "maxnreg"}) {
    if (const Value *value = config.find(name); !value->isNone()) {
      entries.emplace_back(Value(name), *value);
    }
  }
  return Value::dict(std::move(entries));
}

void registerHostArguments(BuiltinTable &table) {
  unsigned method = MemberOnly | HostToo | Internal;
  table.add({"host_tensor", "zero_(self)", emitZero, "", method});
  table.add({"host_tensor", "fill_(self, value)", emitFill, "", method});
  table.add({"host_tensor", "copy_(self, src, non_blocking=False)", emitCopy,
             "", method});
  table.add({"host_tensor", "stride(self, dim=None)", emitStride, "", method});
  table.add({"host_tensor", "size(self, dim=None)", emitSize, "", method});
  table.add({"host_tensor", "numel(self)", emitNumel, "", method});
  table.add({"host_tensor", "nelement(self)", emitNumel, "", method});
  table.add(
      {"host_tensor", "is_contiguous(self)", emitIsContiguous, "", method});
  table.add({"host_tensor", "dim(self)", emitDim, "", method});
  table.add({"host_tensor", "element_size(self)", emitElementSize, "", method});
  table.add({"triton_config", "all_kwargs(self)", emitAllKwargs, "", method});
}

} // namespace nereid::irgen
