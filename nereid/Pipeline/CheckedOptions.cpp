//===- CheckedOptions.cpp - Values that options may have ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/CheckedOptions.h"

#include <bit>

namespace nereid {

static Failure wrong(const CompileRequest &request, std::string what,
                     ErrorCode code = ErrorCode::InvalidArgument) {
  return {code, "kernel '" + request.kernel + "': " + std::move(what), {}};
}

Status checkOptions(const CompileRequest &request) {
  const CompileOptions &options = request.options;
  if (options.maxRegisters && options.minRegisters > options.maxRegisters) {
    return wrong(request, "minnreg=" + std::to_string(options.minRegisters) +
                              " is more than maxnreg=" +
                              std::to_string(options.maxRegisters));
  }
  uint32_t size = options.matrixSize;
  if (size != 0 && size != 16 && size != 32) {
    return wrong(request, "matrix_instr_nonkdim is " + std::to_string(size) +
                              "; expected 0, 16 or 32");
  }
  return Status::success();
}

/// "1, 2, 4 or 8".
static std::string powersUpTo(unsigned most) {
  std::string list = "1";
  for (unsigned power = 2; power <= most; power *= 2) {
    list += (power == most ? " or " : ", ") + std::to_string(power);
  }
  return list;
}

bool takesMatrixOptions(const tilegpu::TargetInfo &target) {
  return target.instructions == "amd";
}

Status checkOptions(const CompileRequest &request,
                    const tilegpu::TargetInfo &target) {
  const CompileOptions &options = request.options;
  if (!std::has_single_bit(options.numWarps) ||
      options.numWarps > target.mostWarps) {
    return {ErrorCode::InvalidArgument,
            "num_warps is " + std::to_string(options.numWarps) + "; expected " +
                powersUpTo(target.mostWarps) + " for " + target.name};
  }
  if (!takesMatrixOptions(target)) {
    return Status::success();
  }
  uint32_t mostWaves = target.processorWarps / target.schedulers;
  if (options.wavesPerUnit > mostWaves) {
    return wrong(request, "waves_per_eu is " +
                              std::to_string(options.wavesPerUnit) +
                              "; expected 0 to " + std::to_string(mostWaves) +
                              " for " + target.name);
  }
  bool hasSize = !options.matrixSize;
  for (const tilegpu::MatrixInstruction &one : target.matrix) {
    hasSize |= one.m == options.matrixSize;
  }
  if (!hasSize) {
    return wrong(request,
                 "matrix_instr_nonkdim is " +
                     std::to_string(options.matrixSize) + "; " + target.name +
                     " has no matrix instructions of that size",
                 ErrorCode::Unsupported);
  }
  return Status::success();
}

} // namespace nereid
