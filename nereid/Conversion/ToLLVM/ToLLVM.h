//===- ToLLVM.h - Scalars and vectors to the LLVM dialect -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The end of the way of every target: after TileToCPU and after TileGPUToLLVM.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TOLLVM_TOLLVM_H
#define NEREID_CONVERSION_TOLLVM_TOLLVM_H

#include "nereid/ABI/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid {

/// Every operation of `func`, `scf`, `cf`, `arith`, `math`, `vector` and `ub`
/// becomes one of the `llvm` dialect. `math` operations that have no LLVM
/// intrinsic must be gone (ExpandMath). Operations of `machineDialects` stay:
/// their translation knows them.
Status convertToLLVM(mlir::ModuleOp module,
                     llvm::ArrayRef<llvm::StringRef> machineDialects = {});

} // namespace nereid

#endif // NEREID_CONVERSION_TOLLVM_TOLLVM_H
