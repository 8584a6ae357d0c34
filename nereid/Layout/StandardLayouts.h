//===- StandardLayouts.h - Constructors of the usual layouts ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every family is a way to write a LinearLayout down; after construction they
// are all the same thing. Indices of tensor dimensions are Axis::D0, D1, ... in
// order; the flattened output has the last dimension lowest (row-major), so
// that layouts of one shape compare and compose.
//
// A size that is no power of two is padded to one: `paddedBits`. Which
// registers then hold padding on every lane is `deadRegisters` (TileLayout.h);
// code is never emitted for them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_STANDARDLAYOUTS_H
#define NEREID_LAYOUT_STANDARDLAYOUTS_H

#include "nereid/Layout/LinearLayout.h"

namespace nereid {

using Shape = std::vector<int64_t>;

/// ceil(log2(size)), size >= 1.
unsigned paddedBits(int64_t size);

/// The outputs of a layout of a tensor: last dimension first (lowest bits).
std::vector<AxisBits> tensorOutputs(const Shape &shape);

/// Fits a layout to a shape: along a dimension that the layout does not cover,
/// registers are added that repeat it; along one that it exceeds, places wrap
/// onto the part that exists and hold copies.
LinearLayout fitToShape(const LinearLayout &layout, const Shape &shape);

/// `sizePerThread` elements a thread, then `lanes` threads, then `warps`, along
/// each dimension; `order` lists the dimensions from the fastest on. All sizes
/// are powers of two. Repeats over the shape in registers.
LinearLayout blocked(const Shape &shape,
                     const std::vector<unsigned> &sizePerThread,
                     const std::vector<unsigned> &lanes,
                     const std::vector<unsigned> &warps,
                     const std::vector<unsigned> &order);

/// The layout of a tensor without dimension `dim`, where `parent` is that of
/// the tensor with it: what a reduction along `dim` leaves, or what
/// broadcasts into it for free.
LinearLayout slice(const LinearLayout &parent, unsigned dim);

/// Accumulator of wgmma m64 (PTX ISA, "Register Fragments for wgmma"): four
/// warps, 16 rows each in the layout of mma.sync, with all the columns of their
/// group in registers. `groups` of four warps along the two dimensions; columns
/// of a group are consecutive.
LinearLayout warpgroupAccumulator(const Shape &shape,
                                  const std::vector<unsigned> &groups);
/// Left operand [M, K] of the same instruction in registers.
LinearLayout warpgroupOperand(const Shape &shape, unsigned kWidth,
                              const std::vector<unsigned> &groups);

/// Operand of a dot on FMA units: all of K on every thread that needs it.
LinearLayout fmaOperand(const LinearLayout &accumulator, const Shape &shape,
                        unsigned index);

/// Row-major shared memory with the vector index of a row exclusive-ored with
/// `row / perPhase % maxPhase`: the common swizzle, as a map from offsets.
LinearLayout swizzledShared(const Shape &shape, unsigned vector,
                            unsigned perPhase, unsigned maxPhase,
                            const std::vector<unsigned> &order);

} // namespace nereid

#endif // NEREID_LAYOUT_STANDARDLAYOUTS_H
