//===- AMDOps.td - All operations of the dialect -----------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "nereid/Dialect/AMD/IR/AMDArithmeticOps.td"
include "nereid/Dialect/AMD/IR/AMDMatrixOps.td"
include "nereid/Dialect/AMD/IR/AMDMemoryOps.td"
include "nereid/Dialect/AMD/IR/AMDProgramOps.td"
