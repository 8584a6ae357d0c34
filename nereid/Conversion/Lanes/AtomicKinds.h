//===- AtomicKinds.h - Atomic operations in LLVM's words --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_LANES_ATOMICKINDS_H
#define NEREID_CONVERSION_LANES_ATOMICKINDS_H

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nereid::lanes {

mlir::LLVM::AtomicBinOp binOpOf(tile::AtomicKind kind);
/// FAdd, FMax, FMin: these compute on floats; Xchg only moves bits.
bool isFloatKind(tile::AtomicKind kind);

mlir::LLVM::AtomicOrdering orderingOf(tile::MemSemantic semantic);
/// Of a compare-and-exchange that fails: it only reads.
mlir::LLVM::AtomicOrdering failureOrdering(mlir::LLVM::AtomicOrdering success);
/// Does what comes after see all that another's release covers?
bool isAcquire(tile::MemSemantic semantic);
/// Does it cover what came before?
bool isRelease(tile::MemSemantic semantic);

} // namespace nereid::lanes

#endif // NEREID_CONVERSION_LANES_ATOMICKINDS_H
