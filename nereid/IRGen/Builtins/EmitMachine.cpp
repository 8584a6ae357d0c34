//===- EmitMachine.cpp - What a program asks its machine --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::irgen {

namespace {

FailureOr<Value> emitGlobalTimer(CallContext &ctx, const BoundArguments &) {
  return Value(Tensor{ctx.emitter.create<tile::GlobalTimerOp>(), DType::Int64});
}

FailureOr<Value> emitProcessorId(CallContext &ctx, const BoundArguments &) {
  return Value(Tensor{ctx.emitter.create<tile::ProcessorIdOp>(), DType::Int32});
}

template <tile::GridDependency kind>
FailureOr<Value> emitGridDependency(CallContext &ctx, const BoundArguments &) {
  ctx.emitter.create<tile::GridDependencyOp>(kind);
  return Value();
}

//===----------------------------------------------------------------------===//
// tl.target_info
//===----------------------------------------------------------------------===//

/// The compute capability, 90 for 9.0. Kernels for `cpu` and `interp` are those
/// that an H100 would run.
int64_t capabilityOf(llvm::StringRef target) {
  int64_t capability = 90;
  if (target.consume_front("sm_")) {
    target.take_while(llvm::isDigit).getAsInteger(10, capability);
  }
  return capability;
}

FailureOr<Value> emitCapability(CallContext &ctx, const BoundArguments &args) {
  int64_t wanted = 10 * args.integer("major") + args.integer("minor");
  return Value(capabilityOf(ctx.evaluator.target) >= wanted);
}

template <bool answer>
FailureOr<Value> emitAnswer(CallContext &, const BoundArguments &) {
  return Value(answer);
}

FailureOr<Value> emitCurrentTarget(CallContext &ctx, const BoundArguments &) {
  static const auto type = [] {
    auto aggregate = std::make_shared<AggregateType>();
    aggregate->name = "GPUTarget";
    aggregate->fields = {"backend", "arch", "warp_size"};
    return aggregate;
  }();
  return Value(Aggregate{
      type,
      {Value("cuda"), Value(capabilityOf(ctx.evaluator.target)), Value(32)}});
}

void addTargetInfo(BuiltinTable &table) {
  const char *module = "tl.target_info";
  table.add({module, "current_target()", emitCurrentTarget,
             "The GPU that is compiled for: backend, arch, warp_size; `cpu` "
             "and `interp` answer as an H100.",
             HostToo});
  table.add({module, "is_cuda()", emitAnswer<true>, "True.", HostToo});
  table.add({module, "cuda_capability_geq(major: int, minor: int=0)",
             emitCapability, "Whether the compute capability is at least this.",
             HostToo});
  for (const char *signature : {"is_hip()", "is_hip_cdna3()", "is_hip_cdna4()",
                                "is_hip_gfx1250()", "is_xpu()"}) {
    table.add({module, signature, emitAnswer<false>, "False.", HostToo});
  }
}

} // namespace

void registerMachineBuiltins(BuiltinTable &table) {
  addTargetInfo(table);
  table.add({"tl.extra.cuda", "globaltimer()", emitGlobalTimer,
             "A clock that all programs share: nanoseconds; on `cpu` ticks of "
             "the time-stamp counter."});
  table.add({"tl.extra.cuda", "smid()", emitProcessorId,
             "The multiprocessor that runs the program; 0 on `cpu` and "
             "`interp`."});
  table.add({"tl.extra.cuda", "gdc_wait()",
             emitGridDependency<tile::GridDependency::Wait>,
             "Waits until what the launches before this one wrote is visible; "
             "always so on `cpu` and `interp`."});
  table.add({"tl.extra.cuda", "gdc_launch_dependents()",
             emitGridDependency<tile::GridDependency::Launch>,
             "The next launch may start; nothing on `cpu` and `interp`."});
}

} // namespace nereid::irgen
