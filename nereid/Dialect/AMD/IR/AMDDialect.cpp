//===- AMDDialect.cpp - Registration --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/IR/AMD.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "nereid/Dialect/AMD/IR/AMDDialect.cpp.inc"
#include "nereid/Dialect/AMD/IR/AMDEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/AMD/IR/AMDAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/AMD/IR/AMDOps.cpp.inc"

namespace nereid::amd {

void AMDDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nereid/Dialect/AMD/IR/AMDAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/AMD/IR/AMDOps.cpp.inc"
      >();
}

} // namespace nereid::amd
