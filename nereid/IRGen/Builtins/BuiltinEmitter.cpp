//===- BuiltinEmitter.cpp - What emitters of built-ins share ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::irgen {

LogicalResult argumentError(CallContext &ctx, const BoundArguments &args,
                            llvm::StringRef parameter,
                            const llvm::Twine &expected, const llvm::Twine &got,
                            std::string hint) {
  return ctx.diag.error(args.span(parameter),
                        (ctx.name() + ": argument '" + parameter +
                         "': expected " + expected + ", got " + got)
                            .str(),
                        std::move(hint));
}

LogicalResult callError(CallContext &ctx, const llvm::Twine &message,
                        std::string hint) {
  return ctx.diag.error((ctx.name() + ": " + message).str(), std::move(hint));
}

FailureOr<int64_t> axisArgument(CallContext &ctx, const BoundArguments &args,
                                llvm::StringRef parameter, int64_t rank) {
  int64_t axis = args.integer(parameter);
  if (axis < -rank || axis >= rank) {
    return argumentError(ctx, args, parameter,
                         "an axis from " + llvm::Twine(-rank) + " to " +
                             llvm::Twine(rank - 1),
                         llvm::Twine(axis));
  }
  return axis < 0 ? axis + rank : axis;
}

LogicalResult requireBlock(CallContext &ctx, const BoundArguments &args,
                           llvm::StringRef parameter, const Tensor &x) {
  if (x.isBlock()) {
    return success();
  }
  return argumentError(ctx, args, parameter, "a block",
                       "a scalar of " + x.type.str());
}

static std::string subject(const CallContext &ctx, llvm::StringRef parameter) {
  return (ctx.name() + ": argument '" + parameter + "'").str();
}

FailureOr<Tensor> tensorArgument(CallContext &ctx, const BoundArguments &args,
                                 llvm::StringRef parameter) {
  SpanScope at(ctx.diag, args.span(parameter));
  return ctx.emitter.toTensor(args[parameter], subject(ctx, parameter));
}

FailureOr<Tensor> spreadArgument(CallContext &ctx, const BoundArguments &args,
                                 llvm::StringRef parameter, Tensor x,
                                 llvm::ArrayRef<int64_t> shape) {
  SpanScope at(ctx.diag, args.span(parameter));
  return ctx.emitter.broadcastTo(x, shape, subject(ctx, parameter));
}

FailureOr<llvm::SmallVector<Tensor>>
tensorsArgument(CallContext &ctx, const BoundArguments &args,
                llvm::StringRef parameter) {
  const Value &list = args[parameter];
  if (!list.isSequence()) {
    return argumentError(ctx, args, parameter, "a list of values",
                         list.describe());
  }
  SpanScope at(ctx.diag, args.span(parameter));
  llvm::SmallVector<Tensor> tensors;
  for (const Value &item : list.items()) {
    FailureOr<Tensor> tensor = ctx.emitter.toTensor(
        item, ctx.name() + ": an item of '" + parameter.str() + "'");
    if (failed(tensor)) {
      return failure();
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

LogicalResult spreadAll(CallContext &ctx,
                        llvm::MutableArrayRef<Tensor> tensors) {
  for (int pass = 0; pass < 2; ++pass) {
    for (Tensor &tensor : tensors) {
      if (failed(ctx.emitter.broadcast(tensor, tensors[0], ctx.name()))) {
        return failure();
      }
    }
  }
  return success();
}

FailureOr<size_t> choiceArgument(CallContext &ctx, const BoundArguments &args,
                                 llvm::StringRef parameter,
                                 llvm::ArrayRef<llvm::StringRef> names) {
  const std::string &given = args.string(parameter);
  for (auto [i, name] : llvm::enumerate(names)) {
    if (name == given) {
      return i;
    }
  }
  std::string list;
  for (auto [i, name] : llvm::enumerate(names)) {
    list += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '");
    list += (name + "'").str();
  }
  std::vector<std::string> candidates(names.begin(), names.end());
  return argumentError(ctx, args, parameter, list, "'" + given + "'",
                       suggestion(given, candidates));
}

FailureOr<bool> propagateNanArgument(CallContext &ctx,
                                     const BoundArguments &args) {
  const Value &value = args["propagate_nan"];
  if (value.isNone()) {
    return false;
  }
  if (value.isString() &&
      (value.string() == "NONE" || value.string() == "ALL")) {
    return value.string() == "ALL";
  }
  return argumentError(ctx, args, "propagate_nan",
                       "tl.PropagateNan.NONE or tl.PropagateNan.ALL",
                       value.describe());
}

FailureOr<Tensor> promoteBFloat16(CallContext &ctx, Tensor x) {
  if (x.type == ScalarType(DType::BFloat16)) {
    return ctx.emitter.cast(x, DType::Float32);
  }
  return x;
}

FailureOr<Value> callLibrary(CallContext &ctx, llvm::StringRef library,
                             llvm::StringRef function,
                             llvm::ArrayRef<Argument> arguments) {
  FailureOr<Value> callee = ctx.evaluator.libraryFunction(library, function);
  if (failed(callee)) {
    return failure();
  }
  return ctx.evaluator.call(*callee, arguments);
}

FailureOr<Value> emitUnsupported(CallContext &ctx, const BoundArguments &) {
  return callError(ctx,
                   "not supported: " + llvm::StringRef(ctx.builtin.summary));
}

} // namespace nereid::irgen
