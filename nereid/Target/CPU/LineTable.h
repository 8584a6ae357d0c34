//===- LineTable.h - From machine code to the kernel's source ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects carry no debug information: it would double them, and only a crash
// asks for it. Code is the same with and without, so the table of a kernel that
// crashed is made by compiling it again.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CPU_LINETABLE_H
#define NEREID_TARGET_CPU_LINETABLE_H

#include "nereid/Target/CPU/CpuTarget.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::cpu {

/// Of the code that emitObject makes of `module`, one line for each run of
/// instructions: "OFFSET LINE COLUMN ENDLINE ENDCOLUMN FILE", where the run
/// begins, in bytes from `entry`, and its place in the source by `placeOf`;
/// line 0 where there is none. Sorted. Fails with Internal if the code differs
/// from emitObject's.
Expected<std::string>
emitLineTable(mlir::ModuleOp module, const CpuTarget &target,
              const std::string &entry,
              llvm::function_ref<SourceLocation(mlir::Location)> placeOf);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_LINETABLE_H
