//===- ProductWaits.h - Results of products that are not there ---*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CDNA does not wait for the result of V_MFMA: so many wait states must stand
// between it and an instruction that reads or overwrites it. LLVM looks for the
// product backwards through the blocks in front, and enters each block once. In
// a loop of two ways back it may enter the block of the product by the longer
// one, and then counts the instructions of that way for the shorter one, too.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_PRODUCTWAITS_H
#define NEREID_TARGET_AMDGPU_PRODUCTWAITS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Pass;
} // namespace llvm

namespace nereid::amdgpu {

/// The pass of LLVM that inserts wait states, after which this one belongs.
inline constexpr llvm::StringRef hazardPass = "Post RA hazard recognizer";

/// A new pass that inserts the wait states that are missing, on every way from
/// a product to where its result is touched.
llvm::Pass *createProductWaits();

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_PRODUCTWAITS_H
