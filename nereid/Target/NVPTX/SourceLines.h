//===- SourceLines.h - Which line an instruction comes from -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX names the source line of its instructions in `.file` and `.loc`; the
// assembler makes of them the line table that profilers show kernels with.
// There is nothing else of debug information: code stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_SOURCELINES_H
#define NEREID_TARGET_NVPTX_SOURCELINES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nereid::nvptx {

/// Gives the functions of `module` (`llvm` operations) a scope each, without
/// which translation drops locations, and their operations one position each:
/// of an inlined function's operation the innermost that a file on disk has.
/// Changes nothing but locations; a second call changes nothing.
void addSourceLines(mlir::ModuleOp module);

/// LLVM marks the ends of scopes with labels, for debug sections that are not
/// there. ptxas takes a label for the start of a block, and schedules
/// accordingly: without them the machine code is that without lines.
std::string withoutScopeLabels(llvm::StringRef ptx);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_SOURCELINES_H
