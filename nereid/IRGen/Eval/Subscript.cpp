//===- Subscript.cpp - Subscripts and slices --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

namespace nereid::irgen {

FailureOr<Value> Evaluator::slice(const ast::Slice *expr) {
  SliceValue result;
  std::pair<const ast::Expr *, Value *> parts[] = {{expr->lower, &result.lower},
                                                   {expr->upper, &result.upper},
                                                   {expr->step, &result.step}};
  for (auto [part, value] : parts) {
    if (part) {
      FailureOr<Value> evaluated = evaluate(part);
      if (failed(evaluated)) {
        return failure();
      }
      *value = std::move(*evaluated);
    }
  }
  return Value(std::move(result));
}

FailureOr<Value> Evaluator::subscript(const ast::Subscript *expr) {
  FailureOr<Value> object = evaluate(expr->value);
  FailureOr<Value> index = failed(object) ? object : evaluate(expr->slice);
  return failed(index) ? index : subscriptValue(*object, *index);
}

FailureOr<Value> Evaluator::subscriptValue(const Value &object,
                                           const Value &index) {
  if (object.isTensor()) {
    return subscriptTensor(object.tensor(), index);
  }
  if (object.isSequence() || object.isString()) {
    return subscriptSequence(object, index);
  }
  if (object.isDict()) {
    for (const auto &[key, value] : object.dict()) {
      if (equal(key, index)) {
        return value;
      }
    }
    std::vector<std::string> keys;
    for (const auto &entry : object.dict()) {
      if (entry.first.isString()) {
        keys.push_back(entry.first.string());
      }
    }
    return diag.raises("KeyError")
        .error("the dict has no key " + index.repr(),
               index.isString() ? choices(index.string(), keys)
                                : "expected one of its keys");
  }
  if (object.isOpaque() && object.opaque().name == "os.environ") {
    FailureOr<Value> found = environment({Argument{"", index, {}}});
    return succeeded(found) && found->isNone()
               ? FailureOr<Value>(
                     diag.raises("KeyError")
                         .hostError("the environment has no variable " +
                                    index.repr()))
               : found;
  }
  if (object.isOpaque()) {
    return Value(Opaque{object.opaque().name + "[...]", object.opaque().why});
  }
  if (auto item = callSpecial(object, "__getitem__", {index})) {
    return *item;
  }
  if (namespaceOf(object)) {
    return namespaceEntry(object.object(), index);
  }
  if (object.isClass() && object.pythonClass().isEnum) {
    const PythonClass &cls = object.pythonClass();
    const Value *member =
        index.isString() && llvm::is_contained(cls.enumMembers, index.string())
            ? cls.ownMember(index.string())
            : nullptr;
    if (!member) {
      return diag.raises("KeyError")
          .error(
              "the enum '" + cls.name + "' has no member " + index.repr(),
              choices(index.isString() ? index.string() : "", cls.enumMembers));
    }
    return inKernel() ? plainValue(*member) : *member;
  }
  if (object.isClass()) {
    return object; // list[int], tl.constexpr[int]
  }
  if (object.isFunction()) {
    return diag.error("a kernel cannot be launched here: '" +
                          object.function().name + "[...]'",
                      "call it like a function: " + object.function().name +
                          "(...)");
  }
  return diag.error(object.describe() +
                    " has no elements; expected a block, a tuple, a list, a "
                    "dict or a string before '['");
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static LogicalResult tensorIndexError(Diagnostics &diag, const Tensor &x,
                                      const Value &index) {
  std::string message = x.typeStr() + " cannot be indexed with " +
                        index.describe() + "; only ':' and None are allowed";
  if (x.type.isPointer) {
    return diag.error(message, "read memory with tl.load(pointer + index)");
  }
  return diag.error(message,
                    "to pick elements use tl.gather, or a mask and tl.sum; "
                    "load the part you need with tl.load");
}

/// `x[:, None]`: each None adds an axis of size 1, each ':' keeps one.
FailureOr<Value> Evaluator::subscriptTensor(const Tensor &x,
                                            const Value &index) {
  llvm::ArrayRef<Value> items(index);
  if (index.isTuple()) {
    items = index.items();
  }
  int64_t kept = 0;
  for (const Value &item : items) {
    bool isFull = item.isSlice() && item.slice().lower.isNone() &&
                  item.slice().upper.isNone() && item.slice().step.isNone();
    if (item.isSlice() && !isFull) {
      return diag.error(
          "a block cannot be sliced; only ':' and None are allowed",
          "load the part you need, with the range in tl.arange or the mask");
    }
    if (!isFull && !item.isNone() && !item.isEllipsis()) {
      return tensorIndexError(diag, x, item);
    }
    kept += isFull;
  }
  if (kept > x.rank() && (x.isBlock() || kept > 1 || items.size() == 1)) {
    return diag.error("too many subscripts: " + x.typeStr() + " has " +
                          std::to_string(x.rank()) + " dimensions, and " +
                          std::to_string(kept) +
                          " are named; expected one ':' for each dimension",
                      "None adds one");
  }
  Tensor result = x;
  int64_t axis = 0;
  for (const Value &item : items) {
    if (item.isNone()) {
      result = emitter.expandDims(result, axis);
    }
    axis += item.isEllipsis() ? x.rank() - kept : 1;
    axis = std::min(axis, result.rank());
  }
  if (failed(emitter.checkShape(result.shape()))) {
    return failure();
  }
  return Value(result);
}

//===----------------------------------------------------------------------===//
// Tuples, lists, strings
//===----------------------------------------------------------------------===//

namespace {

/// Start, step and count of a Python slice over `size` elements.
struct SliceRange {
  Int start = 0, step = 1, count = 0;
};

} // namespace

static std::optional<SliceRange> sliceRange(const SliceValue &slice, Int size) {
  auto isBound = [](const Value &v) { return v.isNone() || v.isIntegral(); };
  if (!isBound(slice.lower) || !isBound(slice.upper) || !isBound(slice.step)) {
    return std::nullopt;
  }
  SliceRange range;
  range.step = slice.step.isNone() ? 1 : slice.step.integer();
  if (range.step == 0) {
    return std::nullopt;
  }
  bool forward = range.step > 0;
  auto clamp = [&](const Value &bound, Int none) {
    if (bound.isNone()) {
      return none;
    }
    Int i = bound.integer();
    i = i < 0 ? i + size : i;
    Int low = forward ? 0 : -1, high = forward ? size : size - 1;
    return i < low ? low : i > high ? high : i;
  };
  range.start = clamp(slice.lower, forward ? 0 : size - 1);
  Int stop = clamp(slice.upper, forward ? size : -1);
  Int distance = forward ? stop - range.start : range.start - stop;
  Int stride = forward ? range.step : -range.step;
  range.count = distance > 0 ? (distance - 1) / stride + 1 : 0;
  return range;
}

FailureOr<Value> Evaluator::subscriptSequence(const Value &object,
                                              const Value &index) {
  bool isString = object.isString();
  Int size = static_cast<Int>(isString ? object.string().size()
                                       : object.items().size());
  if (index.isTensor()) {
    return diag.error("a tuple is indexed while compiling, but the index is " +
                          index.describe(),
                      "loop with tl.static_range to get a constant index");
  }
  if (index.isIntegral()) {
    Int i = index.integer() < 0 ? index.integer() + size : index.integer();
    if (i < 0 || i >= size) {
      return diag.raises("IndexError")
          .error("the index " + index.repr() + " is out of range for " +
                     object.describe() +
                     "; expected an index from 0 on, below the length",
                 "negative ones count from the end");
    }
    size_t at = static_cast<size_t>(i);
    return isString ? Value(std::string(1, object.string()[at]))
                    : object.items()[at];
  }
  if (!index.isSlice()) {
    return diag.error(object.describe() + " cannot be indexed with " +
                      index.describe() + "; expected an integer or a slice");
  }
  std::optional<SliceRange> range = sliceRange(index.slice(), size);
  if (!range) {
    return diag.error("slice bounds must be integers, and the step not 0; "
                      "expected [start:stop:step] of constants");
  }
  if (isString) {
    std::string text;
    for (Int i = 0; i < range->count; ++i) {
      text += object.string()[size_t(range->start + i * range->step)];
    }
    return Value(std::move(text));
  }
  std::vector<Value> items;
  for (Int i = 0; i < range->count; ++i) {
    items.push_back(object.items()[size_t(range->start + i * range->step)]);
  }
  return object.isList() ? Value::list(std::move(items))
                         : Value::tuple(std::move(items));
}

} // namespace nereid::irgen
