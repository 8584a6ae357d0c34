//===- CheckedOptions.h - Values that options may have ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_CHECKEDOPTIONS_H
#define NEREID_PIPELINE_CHECKEDOPTIONS_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/ABI/Status.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

namespace nereid {

/// InvalidArgument for what no target takes.
Status checkOptions(const CompileRequest &request);
/// Has it the options waves_per_eu, matrix_instr_nonkdim and kpack?
bool takesMatrixOptions(const tilegpu::TargetInfo &target);

/// InvalidArgument or Unsupported for what this GPU does not take. What has no
/// effect on it is no error.
Status checkOptions(const CompileRequest &request,
                    const tilegpu::TargetInfo &target);

} // namespace nereid

#endif // NEREID_PIPELINE_CHECKEDOPTIONS_H
