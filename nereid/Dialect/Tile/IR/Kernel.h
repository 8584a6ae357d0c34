//===- Kernel.h - The kernel of a module ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_KERNEL_H
#define NEREID_DIALECT_TILE_IR_KERNEL_H

#include "nereid/ABI/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace nereid::tile {

/// The one function with `tile.kernel`; its body is one block, with structured
/// control flow inside. A module that IRGen has made has it; a stage that was
/// edited by hand may not.
Expected<mlir::func::FuncOp> findKernel(mlir::ModuleOp module);

} // namespace nereid::tile

#endif // NEREID_DIALECT_TILE_IR_KERNEL_H
