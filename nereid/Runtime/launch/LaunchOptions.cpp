//===- LaunchOptions.cpp - Named arguments that are no parameters ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/LaunchOptions.h"

#include "nereid/ABI/TrappingAsserts.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <initializer_list>
#include <optional>

namespace nereid {

std::span<const std::string> launchOptionNames() {
  static const std::vector<std::string> names = {"num_warps",
                                                 "num_stages",
                                                 "num_ctas",
                                                 "maxnreg",
                                                 "minnreg",
                                                 "waves_per_eu",
                                                 "matrix_instr_nonkdim",
                                                 "kpack",
                                                 "enable_fp_fusion",
                                                 "debug",
                                                 "launch_cooperative_grid",
                                                 "launch_pdl",
                                                 "sanitize_overflow",
                                                 "assert_traps"};
  return names;
}

static Failure expected(const KernelState &kernel, const LaunchArgument &a,
                        const std::string &what) {
  return launchFailure(kernel, "launch option '" + std::string(a.name) +
                                   "': expected " + what + ", got " +
                                   a.value.describe());
}

/// An integer option: low <= value <= high.
static Status setCount(const KernelState &kernel, const LaunchArgument &a,
                       uint32_t &out, int64_t low, int64_t high,
                       bool powerOfTwo = false) {
  bool fits = a.value.kind == Argument::Kind::Int && a.value.integer >= low &&
              a.value.integer <= high;
  if (!fits || (powerOfTwo &&
                !std::has_single_bit(static_cast<uint64_t>(a.value.integer)))) {
    return expected(kernel, a,
                    std::string(powerOfTwo ? "a power of two" : "an integer") +
                        " from " + std::to_string(low) + " to " +
                        std::to_string(high));
  }
  out = static_cast<uint32_t>(a.value.integer);
  return Status::success();
}

/// An integer option with a few values.
static Status setOneOf(const KernelState &kernel, const LaunchArgument &a,
                       uint32_t &out, std::initializer_list<uint32_t> values) {
  for (uint32_t value : values) {
    if (a.value.kind == Argument::Kind::Int && a.value.integer == value) {
      out = value;
      return Status::success();
    }
  }
  std::string list;
  for (const uint32_t &value : values) {
    bool isLast = &value + 1 == values.end();
    list += (list.empty() ? ""
             : isLast     ? " or "
                          : ", ") +
            std::to_string(value);
  }
  return expected(kernel, a, list);
}

static Status setBool(const KernelState &kernel, const LaunchArgument &a,
                      bool &out) {
  if (a.value.kind != Argument::Kind::Bool &&
      a.value.kind != Argument::Kind::Int) {
    return expected(kernel, a, "true or false");
  }
  out = a.value.integer != 0;
  return Status::success();
}

namespace {
struct OtherOption {
  const char *name;
  /// Why the launch cannot have it; null: it changes no result, and is ignored.
  const char *refusal;
  /// Has it been reported that it is ignored?
  mutable std::atomic<bool> isTold = false;
};
} // namespace

/// Options of Triton's that say something to its code generator or driver.
static const OtherOption otherOptions[] = {
    {"instrumentation_mode", nullptr},
    {"enable_reflect_ftz", nullptr},
    {"warp_size", "a warp has 32 threads"},
    {"default_dot_input_precision",
     "say it where it counts: tl.dot(..., input_precision=...)"},
    {"allowed_dot_input_precisions",
     "say it where it counts: tl.dot(..., input_precision=...)"},
    {"max_num_imprecise_acc_default",
     "say it where it counts: tl.dot(..., max_num_imprecise_acc=...)"},
    {"supported_fp8_dtypes", "Nereid has fp8e4nv and fp8e5 on every device"},
    {"deprecated_fp8_dot_operand_dtypes",
     "Nereid has fp8e4nv and fp8e5 on every device"},
    {"extern_libs", "Nereid links no bitcode; tl.extra.cuda.libdevice is "
                    "written in the language"},
    {"ir_override", "NEREID_OVERRIDE takes edited stages of Nereid's own"},
    {"ptx_version", "Nereid writes the version that the driver takes"},
    {"ptx_options",
     "Nereid lets the driver assemble; maxnreg limits registers"},
    {"arch", "Nereid compiles for the device that it launches on"},
    {"backend_name", "the device decides: Kernel::on, --device"},
    {"warmup", "Kernel::compile compiles without running"},
};

static const OtherOption *findOther(std::string_view name) {
  auto found = std::find_if(std::begin(otherOptions), std::end(otherOptions),
                            [&](const auto &o) { return name == o.name; });
  return found == std::end(otherOptions) ? nullptr : found;
}

/// None where Triton's own default is None: as if it had not been given.
static bool isUnset(const LaunchArgument &a) {
  return a.value.kind == Argument::Kind::None;
}

/// Options of AMD's GPUs, as the language's back end for them has them; absent
/// for others.
static std::optional<Status> setMatrixOption(const KernelState &kernel,
                                             const LaunchArgument &a,
                                             CompileOptions &options,
                                             uint32_t &given) {
  bool isWaves = a.name == "waves_per_eu";
  bool isSize = a.name == "matrix_instr_nonkdim";
  if (!isWaves && !isSize && a.name != "kpack") {
    return std::nullopt;
  }
  if (isUnset(a)) {
    return Status::success();
  }
  constexpr int64_t mostWaves = 16; // RDNA
  if (isWaves) {
    given |= GivenWavesPerUnit;
    return setCount(kernel, a, options.wavesPerUnit, 0, mostWaves);
  }
  if (isSize) {
    given |= GivenMatrixSize;
    return setOneOf(kernel, a, options.matrixSize, {0, 16, 32});
  }
  // A lane reads 16 bytes of an operand at once, whatever a kernel asks for.
  uint32_t packing = 1;
  return setOneOf(kernel, a, packing, {1, 2});
}

Status setOption(const KernelState &kernel, const LaunchArgument &a,
                 CompileOptions &options, uint32_t &given) {
  if (a.name == "launch_pdl") {
    return setBool(kernel, a, options.dependentLaunch);
  }
  auto names = launchOptionNames();
  if (kernel.precompiled &&
      std::find(names.begin(), names.end(), a.name) != names.end()) {
    return launchFailure(kernel,
                         "launch option '" + std::string(a.name) +
                             "': the kernel was compiled ahead of time",
                         "options stand in its signature: 'x_ptr=*fp32, ..., "
                         "num_warps=8'");
  }
  if (a.name == "num_warps") {
    given |= GivenWarps;
    return setCount(kernel, a, options.numWarps, 1, 32, true);
  }
  if (a.name == "num_stages") {
    given |= GivenStages;
    return setCount(kernel, a, options.numStages, 0, 64);
  }
  if (a.name == "num_ctas") {
    given |= GivenCtas;
    return setCount(kernel, a, options.numCtas, 1, 16, true);
  }
  if (a.name == "maxnreg" || a.name == "minnreg") {
    if (isUnset(a)) {
      return Status::success();
    }
    bool most = a.name == "maxnreg";
    given |= most ? GivenMaxRegisters : GivenMinRegisters;
    return setCount(kernel, a,
                    most ? options.maxRegisters : options.minRegisters, 1, 255);
  }
  if (auto status = setMatrixOption(kernel, a, options, given)) {
    return *status;
  }
  if (a.name == "enable_fp_fusion") {
    return setBool(kernel, a, options.fpFusion);
  }
  if (a.name == "launch_cooperative_grid") {
    return setBool(kernel, a, options.cooperativeGrid);
  }
  if (a.name == "debug") {
    bool on = false;
    Status status = setBool(kernel, a, on);
    options.checks |= on ? CheckAsserts : 0;
    options.checks |= on && !(given & GivenNoOverflow) ? CheckOverflow : 0;
    return status;
  }
  if (a.name == "sanitize_overflow") { // of `debug`, on either side of it
    bool on = true;
    Status status = setBool(kernel, a, on);
    if (!on) {
      options.checks &= ~uint32_t{CheckOverflow};
      given |= GivenNoOverflow;
    }
    return status;
  }
  if (a.name == "assert_traps") {
    bool on = false;
    Status status = setBool(kernel, a, on);
    options.checks |= on ? AssertsTrap : 0;
    return status;
  }
  const OtherOption *other = findOther(a.name);
  if (!other) {
    return unexpectedKeyword(kernel, a.name);
  }
  if (other->refusal && !isUnset(a)) {
    return launchFailure(kernel,
                         "launch option '" + std::string(a.name) +
                             "' is not supported, got " + a.value.describe(),
                         other->refusal);
  }
  if (!other->refusal && a.value.integer && !other->isTold.exchange(true)) {
    warn("launch option '" + std::string(a.name) + "' has no effect");
  }
  return Status::success();
}

} // namespace nereid
