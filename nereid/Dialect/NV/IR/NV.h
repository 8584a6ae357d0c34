//===- NV.h - Instructions of NVIDIA's processors ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_IR_NV_H
#define NEREID_DIALECT_NV_IR_NV_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "nereid/Dialect/NV/IR/NVDialect.h.inc"
#include "nereid/Dialect/NV/IR/NVEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/NV/IR/NVAttrs.h.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/NV/IR/NVOps.h.inc"

namespace nereid::nv {

/// How the manual spells the element type of an operand of a product: "f16",
/// "e4m3", "u8"; empty for any other type.
llvm::StringRef elementName(mlir::Type type);

} // namespace nereid::nv

#endif // NEREID_DIALECT_NV_IR_NV_H
