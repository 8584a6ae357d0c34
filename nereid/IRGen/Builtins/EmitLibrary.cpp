//===- EmitLibrary.cpp - Rows of functions in the language -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions themselves are in stdlib/<library>.py. A row gives name and
// parameters, so that a wrong call is explained where the user wrote it.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMath.h"

namespace nereid::irgen {

namespace {

/// Passes the bound arguments on, in order.
FailureOr<Value> passOn(CallContext &ctx, const BoundArguments &args) {
  llvm::SmallVector<Argument> arguments;
  for (const BuiltinParameter &parameter : ctx.builtin.parameters) {
    const BoundArguments::Item &item = args.item(parameter.name);
    arguments.push_back({"", item.value, item.span});
  }
  return callLibrary(ctx, ctx.builtin.library, ctx.builtin.name, arguments);
}

/// sigmoid, softmax: exp inside wants float32 or float64, and the user should
/// hear it about the argument. (softmax subtracts a maximum, which is one.)
template <FloatWidths widths>
FailureOr<Value> emitFloatFunction(CallContext &ctx,
                                   const BoundArguments &args) {
  const std::string &name = ctx.builtin.parameters[0].name;
  if (failed(requireFloat(ctx, args, name, args.tensor(name), widths))) {
    return failure();
  }
  return passOn(ctx, args);
}

/// sort, topk, flip: a block, and an axis of it.
FailureOr<Value> emitSorting(CallContext &ctx, const BoundArguments &args) {
  const std::string &name = ctx.builtin.parameters[0].name;
  const Tensor &x = args.tensor(name);
  if (failed(requireBlock(ctx, args, name, x))) {
    return failure();
  }
  if (x.type.isPointer && ctx.builtin.name != "flip") {
    return argumentError(ctx, args, name, "numbers", x.typeStr());
  }
  int64_t axis = x.rank() - 1;
  if (!args.isNone("dim")) {
    FailureOr<int64_t> given = axisArgument(ctx, args, "dim", x.rank());
    if (failed(given)) {
      return failure();
    }
    axis = *given;
  }
  int64_t size = x.shape()[axis];
  if (ctx.builtin.name == "topk") {
    int64_t k = args.integer("k");
    if (k < 1 || k > size) {
      return argumentError(ctx, args, "k",
                           "1 to " + llvm::Twine(size) +
                               ", the size of the axis",
                           llvm::Twine(k));
    }
  }
  if (ctx.builtin.name == "bitonic_merge" && (size & (size - 1))) {
    return argumentError(ctx, args, name,
                         "a power of two along axis " + llvm::Twine(axis),
                         x.typeStr());
  }
  return passOn(ctx, args);
}

/// Random numbers: an integer seed and integer counters.
FailureOr<Value> emitRandom(CallContext &ctx, const BoundArguments &args) {
  for (const BuiltinParameter &parameter : ctx.builtin.parameters) {
    if (parameter.kind != ParameterKind::Tensor) {
      continue;
    }
    const Tensor &x = args.tensor(parameter.name);
    if (!x.type.isInteger()) {
      return argumentError(ctx, args, parameter.name, "integers", x.typeStr());
    }
  }
  if (args.integer("n_rounds") < 1) {
    return argumentError(ctx, args, "n_rounds", "1 or more",
                         llvm::Twine(args.integer("n_rounds")));
  }
  return passOn(ctx, args);
}

} // namespace

void registerLibraryBuiltins(BuiltinTable &table) {
  table.add({"tl", "cdiv(x, div)", passOn,
             "ceil(x / div) of non-negative integers.", Member | HostToo,
             "standard"});
  table.add({"tl", "sigmoid(x: tensor)",
             emitFloatFunction<FloatWidths::Only32And64>, "1 / (1 + e^-x).",
             Member, "standard"});
  table.add({"tl",
             "softmax(x: tensor, dim: int=None, keep_dims: static=None, "
             "ieee_rounding: bool=False)",
             emitFloatFunction<FloatWidths::Any>,
             "e^(x - max) / sum along dim (default 0).", Member, "standard"});
  table.add({"tl", "zeros(shape: ints, dtype: dtype)", passOn,
             "A block of zeros.", 0, "standard"});
  table.add({"tl", "zeros_like(input: tensor)", passOn,
             "Zeros in the shape and type of a block.", 0, "standard"});
  table.add({"tl", "swizzle2d(i, j, size_i, size_j, size_g)", passOn,
             "Tile (i, j) renumbered so that size_g rows are walked column by "
             "column.",
             0, "standard"});

  table.add({"tl", "sort(x: tensor, dim: int=None, descending: bool=False)",
             emitSorting, "x sorted along dim (default: the last); NaN last.",
             Member, "sorting"});
  table.add({"tl",
             "topk(x: tensor, k: int, dim: int=None, descending: bool=True)",
             emitSorting, "The k largest elements along dim, in order.", Member,
             "sorting"});
  table.add({"tl",
             "bitonic_merge(x: tensor, dim: int=None, descending: bool=False)",
             emitSorting, "Sorts a sequence that rises and then falls.", 0,
             "sorting"});
  table.add({"tl", "flip(x: tensor, dim: int=None)", emitSorting,
             "Elements in reverse order along dim (default: the last).", Member,
             "sorting"});

  for (const char *signature :
       {"randint(seed: tensor, offset: tensor, n_rounds: int=10)",
        "randint4x(seed: tensor, offset: tensor, n_rounds: int=10)",
        "rand(seed: tensor, offset: tensor, n_rounds: int=10)",
        "rand4x(seed: tensor, offsets: tensor, n_rounds: int=10)",
        "randn(seed: tensor, offset: tensor, n_rounds: int=10)",
        "randn4x(seed: tensor, offset: tensor, n_rounds: int=10)"}) {
    llvm::StringRef name(signature);
    table.add({"tl", signature, emitRandom,
               name.starts_with("randint") ? "Random uint32 (Philox)."
               : name.starts_with("randn")
                   ? "Normal random float32 (Philox)."
                   : "Random float32 in [0, 1) (Philox).",
               0, "random"});
  }
  table.add({"tl libdevice",
             "philox(seed: tensor, c0: tensor, c1: tensor, c2: tensor, c3: "
             "tensor, n_rounds: int=10)",
             emitRandom, "Four random blocks from a counter.", 0, "random"});
  table.add({"tl",
             "philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: "
             "tensor, k1: tensor, n_rounds: int=10)",
             emitRandom, "philox with the key as two words.", 0, "random"});
  table.add({"tl", "uint_to_uniform_float(x: tensor)", passOn,
             "Random bits as a float in [0, 1).", 0, "random"});
  table.add({"tl", "pair_uniform_to_normal(u1: tensor, u2: tensor)", passOn,
             "Two uniform numbers as two normal ones (Box-Muller).", 0,
             "random"});
}

} // namespace nereid::irgen
