//===- ProductLoops.h - Loops that ptxas may not unroll ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ptxas (13.0, and the drivers of that time) unrolls a loop of few iterations,
// and then takes an expression of a wgmma's result for the same expression of
// the next iteration's: with `s + 0` in one branch and `0 + s` after it, the
// first iteration's elements were lost. The same products unrolled by the
// compiler come out right, so unrolling by ptxas is what is forbidden.
// test/gpu/check_sass.py finds such losses; test/gpu/planted has one.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_PRODUCTLOOPS_H
#define NEREID_TARGET_NVPTX_PRODUCTLOOPS_H

namespace llvm {
class Function;
} // namespace llvm

namespace nereid::nvptx {

/// Marks every loop of `function` in which a wgmma's result is made and
/// computed with, inner loops included, with `.pragma "nounroll"`. A loop that
/// only adds products up, as a matrix product's, may be unrolled. Changes
/// metadata only. Linear in the function's size for each product.
void forbidUnrollingProducts(llvm::Function &function);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_PRODUCTLOOPS_H
