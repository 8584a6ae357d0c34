//===- AMD.h - Instructions of AMD's processors -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_IR_AMD_H
#define NEREID_DIALECT_AMD_IR_AMD_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "nereid/Dialect/AMD/IR/AMDDialect.h.inc"
#include "nereid/Dialect/AMD/IR/AMDEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/AMD/IR/AMDAttrs.h.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/AMD/IR/AMDOps.h.inc"

#endif // NEREID_DIALECT_AMD_IR_AMD_H
