//===- Expander.h - One instruction as LLVM has it --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of this folder share. Each `expand` replaces `op` and is true,
// or leaves an operation of another file as it is.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_TRANSFORMS_EXPANDER_H
#define NEREID_DIALECT_AMD_TRANSFORMS_EXPANDER_H

#include "nereid/Dialect/AMD/IR/AMD.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nereid::amd {

/// A call of an intrinsic of LLVM that MLIR has no operation for.
mlir::Value callIntrinsic(mlir::OpBuilder &b, mlir::Location loc,
                          llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange operands = {});

bool expandMemory(mlir::Operation *op);
bool expandArithmetic(mlir::Operation *op);
bool expandMatrix(mlir::Operation *op);
bool expandProgram(mlir::Operation *op);

} // namespace nereid::amd

#endif // NEREID_DIALECT_AMD_TRANSFORMS_EXPANDER_H
