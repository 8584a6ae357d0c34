//===- RoleSlices.h - Each role's part of a kernel --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_ROLESLICES_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_ROLESLICES_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace nereid::tilegpu {

/// Can the warps that copy compute `value`, as it is at `at`, from arguments,
/// ids and counters alone, by scalars without effects?
bool canSliceTo(mlir::Value value, mlir::Operation *at);

/// Registers of each thread of a block with four more warps that copy; none:
/// the assembler would have no room for an instruction's sums.
std::optional<unsigned> registersToBeginWith(mlir::func::FuncOp kernel,
                                             const TargetInfo &target);

/// The kernel, whose loops have both halves, becomes a condition: one branch
/// copies (fill_slot, copy_tile and what they need, and waits for launches in
/// front), the other does the rest.
/// Buffers and their barriers stay in front.
mlir::scf::IfOp splitRoles(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_ROLESLICES_H
