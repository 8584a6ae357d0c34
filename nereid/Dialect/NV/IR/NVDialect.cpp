//===- NVDialect.cpp - Registration ---------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/IR/NV.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "nereid/Dialect/NV/IR/NVDialect.cpp.inc"
#include "nereid/Dialect/NV/IR/NVEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/NV/IR/NVAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/NV/IR/NVOps.cpp.inc"

namespace nereid::nv {

void NVDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nereid/Dialect/NV/IR/NVAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/NV/IR/NVOps.cpp.inc"
      >();
}

} // namespace nereid::nv
