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

/// The clock of GlobalTimerOp counts nanoseconds; this one has 100 MHz.
FailureOr<Value> emitRealTime(CallContext &ctx, const BoundArguments &) {
  Emitter &e = ctx.emitter;
  Tensor tick = e.constant(DType::Int64, Int{10});
  mlir::Value now = e.create<tile::GlobalTimerOp>();
  return Value(
      Tensor{e.create<mlir::arith::DivUIOp>(now, tick.value), DType::Int64});
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

bool isHip(llvm::StringRef target) { return target.starts_with("gfx"); }

/// RDNA's waves have 32 lanes, those of the chips before (gfx9) 64.
int64_t warpSizeOf(llvm::StringRef target) {
  return target.starts_with("gfx9") ? 64 : 32;
}

FailureOr<Value> emitCapability(CallContext &ctx, const BoundArguments &args) {
  int64_t wanted = 10 * args.integer("major") + args.integer("minor");
  llvm::StringRef target = ctx.evaluator.target;
  return Value(!isHip(target) && capabilityOf(target) >= wanted);
}

FailureOr<Value> emitIsCuda(CallContext &ctx, const BoundArguments &) {
  return Value(!isHip(ctx.evaluator.target));
}

constexpr char anyHip[] = "gfx", cdna3[] = "gfx942", cdna4[] = "gfx950",
               gfx1250[] = "gfx1250";

/// Is it one whose name begins so?
template <const char *prefix>
FailureOr<Value> emitIsHip(CallContext &ctx, const BoundArguments &) {
  return Value(llvm::StringRef(ctx.evaluator.target).starts_with(prefix));
}

FailureOr<Value> emitNever(CallContext &, const BoundArguments &) {
  return Value(false);
}

FailureOr<Value> emitCurrentTarget(CallContext &ctx, const BoundArguments &) {
  static const auto type = [] {
    auto aggregate = std::make_shared<AggregateType>();
    aggregate->name = "GPUTarget";
    aggregate->fields = {"backend", "arch", "warp_size"};
    return aggregate;
  }();
  llvm::StringRef target = ctx.evaluator.target;
  bool isOfHip = isHip(target);
  return Value(
      Aggregate{type,
                {Value(isOfHip ? "hip" : "cuda"),
                 isOfHip ? Value(target.str()) : Value(capabilityOf(target)),
                 Value(warpSizeOf(target))}});
}

void addTargetInfo(BuiltinTable &table) {
  const char *module = "tl.target_info";
  table.add({module, "current_target()", emitCurrentTarget,
             "The GPU that is compiled for: backend, arch, warp_size; `cpu` "
             "and `interp` answer as an H100.",
             HostToo});
  table.add({module, "is_cuda()", emitIsCuda,
             "Whether it is no AMD GPU: `cpu` and `interp` answer as an H100.",
             HostToo});
  table.add({module, "cuda_capability_geq(major: int, minor: int=0)",
             emitCapability, "Whether the compute capability is at least this.",
             HostToo});
  table.add({module, "is_hip()", emitIsHip<anyHip>, "Whether it is an AMD GPU.",
             HostToo});
  table.add({module, "is_hip_cdna3()", emitIsHip<cdna3>,
             "Whether it is gfx942.", HostToo});
  table.add({module, "is_hip_cdna4()", emitIsHip<cdna4>,
             "Whether it is gfx950.", HostToo});
  table.add({module, "is_hip_gfx1250()", emitIsHip<gfx1250>,
             "Whether it is gfx1250.", HostToo});
  table.add({module, "is_xpu()", emitNever, "False.", HostToo});
}

} // namespace

void registerMachineBuiltins(BuiltinTable &table) {
  addTargetInfo(table);
  table.add({"tl.extra.cuda", "globaltimer()", emitGlobalTimer,
             "A clock that all programs share: nanoseconds; on `cpu` ticks of "
             "the time-stamp counter."});
  table.add({"tl.extra.hip", "memrealtime()", emitRealTime,
             "A clock that all programs share, of 100 MHz; on `cpu` a tenth of "
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
