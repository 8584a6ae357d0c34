//===- AssemblyToTile.h - Assembly by its meaning ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_ASSEMBLYTOTILE_ASSEMBLYTOTILE_H
#define NEREID_CONVERSION_ASSEMBLYTOTILE_ASSEMBLYTOTILE_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/LogicalResult.h"

namespace nereid {

/// Replaces every tile.inline_asm under `root` by operations that compute what
/// its PTX does, for targets that are no NVIDIA GPU. Every element is computed
/// by itself, in all slots of a packed register: which elements share one is
/// unspecified in the language. Straight-line computations are understood;
/// fails with an error at the operation that names any other instruction.
llvm::LogicalResult convertAssemblyToTile(mlir::Operation *root);

} // namespace nereid

#endif // NEREID_CONVERSION_ASSEMBLYTOTILE_ASSEMBLYTOTILE_H
