//===- EmitAtomics.cpp - Atomic read-modify-write --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the language allows, which is what GPUs have: additions of every float
// of 16 bits or more, minima and maxima of 32- and 64-bit numbers, everything
// else on 32- and 64-bit integers; exchange also of 32- and 64-bit floats.
// Loads and stores are those of 16, 32 and 64 bits: an operation that one
// thread does for all, as the others are, so that they agree on what was read.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMemory.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

FailureOr<tile::AtomicKind> atomicKind(CallContext &ctx, llvm::StringRef op,
                                       ScalarType type, bool ofDescriptor) {
  using K = tile::AtomicKind;
  bool isFloat = type.isFloat(), isUnsigned = type.isUnsignedInt();
  std::optional<K> kind =
      llvm::StringSwitch<std::optional<K>>(op)
          .Case("add", isFloat ? K::FAdd : K::Add)
          .Case("max", isFloat      ? K::FMax
                       : isUnsigned ? K::UMax
                                    : K::Max)
          .Case("min", isFloat      ? K::FMin
                       : isUnsigned ? K::UMin
                                    : K::Min)
          .Case("xchg", K::Xchg)
          .Case("and", isFloat ? std::optional<K>() : K::And)
          .Case("or", isFloat ? std::optional<K>() : K::Or)
          .Case("xor", isFloat ? std::optional<K>() : K::Xor)
          .Default(std::nullopt);
  bool isHalf = isFloat && type.bits() == 16;
  bool takesHalf = op == "add" || ofDescriptor;
  if (ofDescriptor && isFloat && !isHalf && kind && op != "add") {
    return callError(ctx, "not available on elements of " + type.str(),
                     "use float16, bfloat16 or integers, or tl.atomic_" +
                         op.str() + " on pointers");
  }
  if (!kind || type.bits() < 16 || (type.isInteger() && type.bits() == 16) ||
      (isHalf && !takesHalf)) {
    return callError(ctx, "not available on elements of " + type.str(),
                     op == "add"
                         ? "use float16, bfloat16, or a 32- or 64-bit type"
                     : op == "and" || op == "or" || op == "xor"
                         ? "use a 32- or 64-bit integer type"
                         : "use a 32- or 64-bit type");
  }
  return *kind;
}

Tensor emitAtomicOf(Emitter &e, tile::AtomicKind kind,
                    const AccessOperands &access, Tensor value,
                    tile::MemSemantic semantic, tile::MemScope scope) {
  mlir::Value mask = access.mask ? access.mask->value : mlir::Value();
  return {e.create<tile::AtomicRMWOp>(kind, semantic, scope,
                                      access.pointer.value, value.value, mask),
          value.type};
}

namespace {

struct Ordering {
  tile::MemSemantic semantic;
  tile::MemScope scope;
};

/// `sem` must be one of `allowed`; the first one is the default.
FailureOr<Ordering>
orderingArguments(CallContext &ctx, const BoundArguments &args,
                  llvm::ArrayRef<tile::MemSemantic> allowed = {
                      tile::MemSemantic::AcqRel, tile::MemSemantic::Relaxed,
                      tile::MemSemantic::Acquire, tile::MemSemantic::Release}) {
  Ordering ordering{allowed.front(), tile::MemScope::Device};
  if (!args.isNone("sem")) {
    llvm::SmallVector<llvm::StringRef> names;
    for (tile::MemSemantic semantic : allowed) {
      names.push_back(tile::stringifyMemSemantic(semantic));
    }
    FailureOr<size_t> i = choiceArgument(ctx, args, "sem", names);
    if (failed(i)) {
      return failure();
    }
    ordering.semantic = allowed[*i];
  }
  if (!args.isNone("scope")) {
    static constexpr tile::MemScope scopes[] = {
        tile::MemScope::Block, tile::MemScope::Device, tile::MemScope::System};
    FailureOr<size_t> i =
        choiceArgument(ctx, args, "scope", {"cta", "gpu", "sys"});
    if (failed(i)) {
      return failure();
    }
    ordering.scope = scopes[*i];
  }
  return ordering;
}

/// An operand in the pointee's type and the pointer's shape.
FailureOr<Tensor> operand(CallContext &ctx, const BoundArguments &args,
                          llvm::StringRef parameter, const Tensor &pointer) {
  FailureOr<Tensor> value = tensorArgument(ctx, args, parameter);
  if (failed(value)) {
    return failure();
  }
  if (value->isBlock() && !pointer.isBlock()) {
    return argumentError(ctx, args, parameter,
                         "a scalar, because 'pointer' is a single pointer",
                         value->typeStr());
  }
  value = args[parameter].isNumber()
              ? FailureOr<Tensor>(ctx.emitter.numberAs(args[parameter],
                                                       pointer.type.pointee()))
              : ctx.emitter.cast(*value, pointer.type.pointee());
  if (failed(value)) {
    return failure();
  }
  return spreadArgument(ctx, args, parameter, *value, pointer.shape());
}

/// The mask, if any, in the pointer's shape.
LogicalResult maskLikePointer(CallContext &ctx, const BoundArguments &args,
                              AccessOperands &access) {
  if (args.isNone("mask")) {
    return success();
  }
  FailureOr<Tensor> mask = maskArgument(ctx, args, access.pointer);
  if (failed(mask)) {
    return failure();
  }
  mask = spreadArgument(ctx, args, "mask", *mask, access.pointer.shape());
  if (failed(mask)) {
    return failure();
  }
  access.mask = *mask;
  return success();
}

FailureOr<Value> emitAtomicRMW(CallContext &ctx, const BoundArguments &args) {
  AccessOperands access;
  access.pointer = args.tensor("pointer");
  if (failed(requirePointer(ctx, args, "pointer", access.pointer, true))) {
    return failure();
  }
  FailureOr<tile::AtomicKind> kind =
      atomicKind(ctx, llvm::StringRef(ctx.builtin.name).drop_front(7),
                 access.pointer.type.pointee());
  FailureOr<Ordering> ordering = orderingArguments(ctx, args);
  if (failed(kind) || failed(ordering)) {
    return failure();
  }
  FailureOr<Tensor> value = operand(ctx, args, "val", access.pointer);
  if (failed(value)) {
    return failure();
  }
  if (failed(maskLikePointer(ctx, args, access))) {
    return failure();
  }
  return Value(emitAtomicOf(ctx.emitter, *kind, access, *value,
                            ordering->semantic, ordering->scope));
}

FailureOr<Value> emitAtomicCAS(CallContext &ctx, const BoundArguments &args) {
  const Tensor &pointer = args.tensor("pointer");
  if (failed(requirePointer(ctx, args, "pointer", pointer, true))) {
    return failure();
  }
  ScalarType element = pointer.type.pointee();
  if (element.bits() < 16) {
    return callError(ctx, "not available on elements of " + element.str(),
                     "use a 16-, 32- or 64-bit type");
  }
  // Bits are compared, so an implicit conversion would rarely be what is meant.
  for (const char *name : {"cmp", "val"}) {
    const Value &value = args[name];
    if (value.isTensor() && !(value.tensor().type == element)) {
      return argumentError(
          ctx, args, name,
          element.str() + ", the type that 'pointer' points to",
          value.tensor().typeStr(), "convert it with .to(...)");
    }
  }
  FailureOr<Ordering> ordering = orderingArguments(ctx, args);
  FailureOr<Tensor> compare = operand(ctx, args, "cmp", pointer);
  FailureOr<Tensor> value = operand(ctx, args, "val", pointer);
  if (failed(ordering) || failed(compare) || failed(value)) {
    return failure();
  }
  return Value(Tensor{ctx.emitter.create<tile::AtomicCASOp>(
                          ordering->semantic, ordering->scope, pointer.value,
                          compare->value, value->value),
                      element});
}

/// The integer of an element's width: what an atomic load or store moves is its
/// bits.
FailureOr<DType> wordOf(CallContext &ctx, ScalarType element) {
  switch (element.bits()) {
  case 16:
    return DType::Int16;
  case 32:
    return DType::Int32;
  case 64:
    return DType::Int64;
  default:
    return callError(ctx, "not available on elements of " + element.str(),
                     "use a 16-, 32- or 64-bit type");
  }
}

/// "or" with zero: the bits as they are.
FailureOr<Value> emitAtomicLoad(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  AccessOperands access;
  access.pointer = args.tensor("pointer");
  if (failed(requirePointer(ctx, args, "pointer", access.pointer, false))) {
    return failure();
  }
  ScalarType element = access.pointer.type.pointee();
  FailureOr<DType> word = wordOf(ctx, element);
  FailureOr<Ordering> ordering = orderingArguments(
      ctx, args, {tile::MemSemantic::Acquire, tile::MemSemantic::Relaxed});
  if (failed(word) || failed(ordering)) {
    return failure();
  }
  if (!args.isNone("mask")) {
    FailureOr<Tensor> mask = maskArgument(ctx, args, access.pointer);
    if (failed(mask) ||
        failed(e.broadcast(access.pointer, *mask,
                           ctx.name() + ": arguments 'pointer' and 'mask'"))) {
      return failure();
    }
    access.mask = *mask;
  }
  FailureOr<Tensor> words = e.cast(access.pointer, ScalarType::pointer(*word));
  if (failed(words)) {
    return failure();
  }
  access.pointer = *words;
  Tensor loaded = emitAtomicOf(e, tile::AtomicKind::Or, access,
                               e.zero(*word, access.pointer.shape()),
                               ordering->semantic, ordering->scope);
  return asValue(e.bitcast(loaded, element));
}

FailureOr<Value> emitAtomicStore(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  AccessOperands access;
  access.pointer = args.tensor("pointer");
  if (failed(requirePointer(ctx, args, "pointer", access.pointer, true))) {
    return failure();
  }
  FailureOr<DType> word = wordOf(ctx, access.pointer.type.pointee());
  FailureOr<Ordering> ordering = orderingArguments(
      ctx, args, {tile::MemSemantic::Release, tile::MemSemantic::Relaxed});
  FailureOr<Tensor> value = operand(ctx, args, "val", access.pointer);
  if (failed(word) || failed(ordering) || failed(value) ||
      failed(maskLikePointer(ctx, args, access))) {
    return failure();
  }
  FailureOr<Tensor> words = e.cast(access.pointer, ScalarType::pointer(*word));
  FailureOr<Tensor> bits = e.bitcast(*value, *word);
  if (failed(words) || failed(bits)) {
    return failure();
  }
  access.pointer = *words;
  emitAtomicOf(e, tile::AtomicKind::Xchg, access, *bits, ordering->semantic,
               ordering->scope);
  return Value();
}

FailureOr<Value> emitAtomicPoll(CallContext &ctx, const BoundArguments &args) {
  const Tensor &pointer = args.tensor("pointer");
  if (failed(requirePointer(ctx, args, "pointer", pointer, true))) {
    return failure();
  }
  ScalarType element = pointer.type.pointee();
  if (!element.isInteger() || element.bits() < 16) {
    return argumentError(ctx, args, "pointer",
                         "pointers to 16-, 32- or 64-bit integers",
                         pointer.typeStr());
  }
  Value timeout = args["timeout_ns"];
  if (timeout.isNumber() && timeout.isIntegral() && timeout.integer() < 0) {
    return argumentError(ctx, args, "timeout_ns", "0 or more", timeout.repr());
  }
  if (!timeout.isNone()) {
    FailureOr<Tensor> budget = tensorArgument(ctx, args, "timeout_ns");
    if (failed(budget)) {
      return failure();
    }
    if (budget->isBlock() || !budget->type.isInteger()) {
      return argumentError(ctx, args, "timeout_ns", "an integer scalar",
                           budget->typeStr());
    }
    budget = ctx.emitter.cast(*budget, DType::UInt64);
    if (failed(budget)) {
      return failure();
    }
    timeout = *budget;
  }
  FailureOr<Ordering> ordering = orderingArguments(
      ctx, args, {tile::MemSemantic::Acquire, tile::MemSemantic::Relaxed});
  FailureOr<Tensor> expected = operand(ctx, args, "expected_value", pointer);
  if (failed(ordering) || failed(expected)) {
    return failure();
  }
  Value semantic = args.isNone("sem") ? Value("acquire") : args["sem"];
  Value scope = args.isNone("scope") ? Value("gpu") : args["scope"];
  return callLibrary(ctx, "standard", "_wait_until",
                     {Argument{"", Value(pointer), {}},
                      Argument{"", Value(*expected), {}},
                      Argument{"", semantic, {}}, Argument{"", scope, {}},
                      Argument{"", timeout, {}}});
}

} // namespace

void registerAtomicBuiltins(BuiltinTable &table) {
  struct Row {
    const char *signature, *summary;
  };
  for (Row row : {
           Row{"atomic_add(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Adds in memory; the old values."},
           Row{"atomic_max(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Maximum in memory; the old values."},
           Row{"atomic_min(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Minimum in memory; the old values."},
           Row{"atomic_and(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Bitwise and in memory; the old values."},
           Row{"atomic_or(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Bitwise or in memory; the old values."},
           Row{"atomic_xor(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Bitwise exclusive or in memory; the old values."},
           Row{"atomic_xchg(pointer: tensor, val, mask=None, sem: str=None, "
               "scope: str=None)",
               "Exchange with memory; the old values."},
       }) {
    table.add({"tl", row.signature, emitAtomicRMW, row.summary, Member});
  }
  table.add({"tl",
             "atomic_cas(pointer: tensor, cmp, val, sem: str=None, scope: "
             "str=None)",
             emitAtomicCAS,
             "val where memory holds cmp, bit for bit; the old values.",
             Member});
  table.add({"tl",
             "atomic_load(pointer: tensor, mask=None, sem: str=None, scope: "
             "str=None)",
             emitAtomicLoad,
             "The values in memory, which must be writable; acquires.",
             Member});
  table.add({"tl",
             "atomic_store(pointer: tensor, val, mask=None, sem: str=None, "
             "scope: str=None)",
             emitAtomicStore, "Writes to memory; releases.", Member});
  table.add({"tl",
             "atomic_poll(pointer: tensor, expected_value, sem: str=None, "
             "scope: str=None, timeout_ns=None)",
             emitAtomicPoll,
             "Waits until memory holds expected_value; where it does, true. "
             "After timeout_ns nanoseconds (cpu: cycles) the wait is over.",
             Member, "standard"});
}

} // namespace nereid::irgen
