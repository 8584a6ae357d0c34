//===- EmitProgram.cpp - Program ids, hints, what is refused ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include "llvm/Support/MathExtras.h"

namespace nereid::irgen {

namespace {

template <typename Op>
FailureOr<Value> emitGridQuery(CallContext &ctx, const BoundArguments &args) {
  int64_t axis = args.integer("axis");
  if (axis < 0 || axis > 2) {
    return argumentError(ctx, args, "axis", "0, 1 or 2", llvm::Twine(axis),
                         "a grid has three dimensions");
  }
  return Value(Tensor{ctx.emitter.create<Op>(static_cast<uint32_t>(axis)),
                      DType::Int32});
}

enum class Hint { Divisibility, Contiguity, Constancy };

/// One number for each dimension of the operand. Of a static number the values
/// are known anyway.
template <Hint hint>
FailureOr<Value> emitHint(CallContext &ctx, const BoundArguments &args) {
  const Value &input = args["input"];
  llvm::SmallVector<int64_t> values = args.ints("values");
  if (input.isNumber()) {
    return input;
  }
  FailureOr<Tensor> x = tensorArgument(ctx, args, "input");
  if (failed(x)) {
    return failure();
  }
  int64_t count = std::max<int64_t>(1, x->rank());
  if (static_cast<int64_t>(values.size()) != count) {
    return argumentError(ctx, args, "values",
                         llvm::Twine(count) +
                             (count == 1 ? " number" : " numbers") +
                             ", one for each dimension of " + x->typeStr(),
                         shapeStr(values));
  }
  for (int64_t value : values) {
    if (value < 1) {
      return argumentError(ctx, args, "values", "numbers of 1 or more",
                           shapeStr(values));
    }
  }
  auto attr = mlir::DenseI64ArrayAttr::get(ctx.emitter.context(), values);
  auto when = [&](Hint kind) {
    return kind == hint ? attr : mlir::DenseI64ArrayAttr();
  };
  return Value(Tensor{ctx.emitter.create<tile::HintOp>(
                          x->value, when(Hint::Divisibility),
                          when(Hint::Contiguity), when(Hint::Constancy)),
                      x->type});
}

FailureOr<Value> emitAssume(CallContext &ctx, const BoundArguments &args) {
  const Value &given = args["cond"];
  if (given.isNumber()) {
    if (truth(given)) {
      return Value();
    }
    return argumentError(ctx, args, "cond", "a condition that can hold",
                         given.repr());
  }
  FailureOr<Tensor> condition = tensorArgument(ctx, args, "cond");
  if (failed(condition)) {
    return failure();
  }
  if (condition->isBlock()) {
    return argumentError(ctx, args, "cond", "a scalar condition",
                         condition->typeStr());
  }
  FailureOr<Tensor> asBool = ctx.emitter.toBool(*condition);
  if (failed(asBool)) {
    return failure();
  }
  ctx.emitter.create<tile::AssumeOp>(asBool->value);
  return Value();
}

FailureOr<Value> emitBarrier(CallContext &ctx, const BoundArguments &) {
  ctx.emitter.create<tile::BarrierOp>();
  return Value();
}

FailureOr<Value> emitToTensor(CallContext &, const BoundArguments &args) {
  return args[size_t{0}];
}

template <int factor>
FailureOr<Value> emitNumWarps(CallContext &ctx, const BoundArguments &) {
  return Value(static_cast<int64_t>(ctx.evaluator.numWarps) * factor);
}

FailureOr<Value> emitLog2(CallContext &ctx, const BoundArguments &args) {
  Int n = args["i"].integer();
  if (n < 1) {
    return argumentError(ctx, args, "i", "1 or more", toString(n));
  }
  int64_t result = 0;
  while (n >>= 1) {
    ++result;
  }
  return Value(result);
}

} // namespace

void registerProgramBuiltins(BuiltinTable &table) {
  table.add({"tl", "program_id(axis: int)", emitGridQuery<tile::ProgramIdOp>,
             "Index of the running program along an axis of the grid."});
  table.add({"tl", "num_programs(axis: int)",
             emitGridQuery<tile::NumProgramsOp>,
             "Extent of the grid along an axis."});
  table.add({"tl", "multiple_of(input, values: ints)",
             emitHint<Hint::Divisibility>,
             "Promise: the first value of every run is a multiple."});
  table.add({"tl", "max_contiguous(input, values: ints)",
             emitHint<Hint::Contiguity>,
             "Promise: runs of this many consecutive values."});
  table.add({"tl", "max_constancy(input, values: ints)",
             emitHint<Hint::Constancy>,
             "Promise: runs of this many equal values."});
  table.add(
      {"tl", "assume(cond)", emitAssume, "Promise: the condition holds."});
  table.add({"tl", "debug_barrier()", emitBarrier,
             "Memory accesses before it come before those after it."});
  table.add({"tl", "to_tensor(x: tensor)", emitToTensor,
             "A number as a run-time scalar."});
  table.add({"tl", "expect_zero(x: tensor, mask)", emitToTensor,
             "x, which is zero where mask is true."});
  table.add({"tl", "condition(arg, disable_licm: bool=False)", emitToTensor,
             "The test of a while loop, with hints."});
  table.add({"tl", "_log2(i: int)", emitLog2,
             "floor(log2(i)) of a compile-time integer.", HostToo});
  registerDebugBuiltins(table);

  registerAssemblyBuiltins(table);
  registerMapBuiltins(table);
  registerExternBuiltins(table);
  registerMachineBuiltins(table);
  table.add({"tl.extra.cuda", "num_warps()", emitNumWarps<1>,
             "The launch option of this name, at compile time."});
  table.add({"tl.extra.cuda", "num_threads()", emitNumWarps<32>,
             "32 num_warps, at compile time."});
}

} // namespace nereid::irgen
