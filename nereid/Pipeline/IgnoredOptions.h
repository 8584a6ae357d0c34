//===- IgnoredOptions.h - Options that change nothing -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An option that is not at its default, and that nothing of the compilation has
// asked for, is a mistake that would stay unseen. Each is a warning of the
// image.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_IGNOREDOPTIONS_H
#define NEREID_PIPELINE_IGNOREDOPTIONS_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid {

/// Warnings for the kernel's loops: what tl.range takes and no pass reads.
/// `copiesAhead`: the target has a pass that reads num_stages.
std::vector<Diagnostic> ignoredLoopHints(mlir::func::FuncOp kernel,
                                         const Source &source,
                                         const std::string &target,
                                         bool copiesAhead, bool rolesOfWarps);

/// Warnings of a compilation for a host. num_warps and num_stages stand in
/// every kernel that is also for GPUs: they are reported as decisions, not as
/// warnings.
std::vector<Diagnostic> optionsIgnoredOnHost(mlir::func::FuncOp kernel,
                                             const CompileRequest &request,
                                             const std::string &target);
/// Warnings of a compilation for a GPU; `kernel` has its copies and prefetches.
std::vector<Diagnostic> optionsIgnoredOnGpu(mlir::func::FuncOp kernel,
                                            const CompileRequest &request,
                                            const tilegpu::TargetInfo &target);

} // namespace nereid

#endif // NEREID_PIPELINE_IGNOREDOPTIONS_H
