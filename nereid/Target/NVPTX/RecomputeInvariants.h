//===- RecomputeInvariants.h - Addresses in full registers ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM computes in front of a loop what the loop does not change: the address
// of each row that a thread loads, and whether that row is inside. Where the
// loop's results and loads fill the registers, ptxas keeps some of these values
// in local memory. A reload stands between loads of the loop, shares one of the
// six scoreboards of a warp with them, and so waits for all that were started
// before it.
//
// A sum or a product is cheaper. In a loop whose values are more than a thread
// has registers, invariants are computed beside their use, the cheapest first,
// until the others fit.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_RECOMPUTEINVARIANTS_H
#define NEREID_TARGET_NVPTX_RECOMPUTEINVARIANTS_H

namespace llvm {
class Function;
} // namespace llvm

namespace nereid::nvptx {

/// Changes innermost loops of `function` that hold more than `registers` words
/// at once. True if there was one.
bool recomputeInvariants(llvm::Function &function, unsigned registers);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_RECOMPUTEINVARIANTS_H
