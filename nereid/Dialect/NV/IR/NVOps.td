//===- NVOps.td - All operations of the dialect ------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "nereid/Dialect/NV/IR/NVArithmeticOps.td"
include "nereid/Dialect/NV/IR/NVAsyncOps.td"
include "nereid/Dialect/NV/IR/NVMatrixOps.td"
include "nereid/Dialect/NV/IR/NVMemoryOps.td"
