//===- SourceLines.h - Which line an instruction comes from -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX names the source line of its instructions in `.file` and `.loc`, code
// objects have a table of lines (DWARF's .debug_line): profilers show kernels
// with them. There is nothing else of debug information: code stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_SOURCELINES_H
#define NEREID_TARGET_SOURCELINES_H

#include "mlir/IR/BuiltinOps.h"

namespace nereid::target {

enum class LinesIn { Assembly, Object };

/// Gives the functions of `module` (`llvm` operations) a scope each, without
/// which translation drops locations, and their operations one position each:
/// of an inlined function's operation the innermost that a file on disk has.
/// Changes nothing but locations; a second call changes nothing.
void addSourceLines(mlir::ModuleOp module, LinesIn kind);

} // namespace nereid::target

#endif // NEREID_TARGET_SOURCELINES_H
