//===- MatrixFragments.h - Which lane holds what of a product ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix instruction of one warp computes C[m, n] += A[m, k] * B[k, n] of a
// block. Which lane holds which elements, in which register, is written down as
// its manual has it: runs of bits of the register or lane number along m, n or
// k, each beyond the runs before it along the same side. 16 x 16 sums on 64
// lanes, four neighbours of a row in each:
//
//   {Register, N, 2}, {Lane, M, 4}, {Lane, N, 2}
//
// What a larger tile repeats, and what its warps share, is added here.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_MATRIXFRAGMENTS_H
#define NEREID_LAYOUT_MATRIXFRAGMENTS_H

#include "nereid/Layout/StandardLayouts.h"

namespace nereid {

enum class MatrixSide { M, N, K };

struct FragmentRun {
  Axis input; ///< Register or Lane
  MatrixSide side;
  unsigned bits;
  bool isCopied = false; ///< places that differ in these bits hold the same
  bool operator==(const FragmentRun &) const = default;
};
using Fragment = std::vector<FragmentRun>;

/// Of one instruction.
struct MatrixFragments {
  Fragment result; ///< of M and N
  Fragment left;   ///< of M and K
  Fragment right;  ///< of N and K
  /// An instruction adds up K in no order of its own: a lane's registers along
  /// K, a few at a time, may be any elements, if both operands agree.
  bool anyDepthOrder = false;
};

/// mma.sync m16n8 (PTX ISA, "Matrix fragments for mma.m16n8k16 with floating
/// point type"): lane 4*r + c holds (r, 2c), (r, 2c+1), (r+8, 2c), (r+8, 2c+1).
/// Of operands a thread holds `kWidth` consecutive elements along K (32 bits of
/// them: 2 for 16-bit types, 4 for 8-bit, 1 for tf32), twice.
MatrixFragments mmaFragments(unsigned kWidth);

/// Bits of the block along `side` that a fragment has, from registers, lanes or
/// both.
unsigned fragmentBits(const Fragment &fragment, MatrixSide side);
unsigned fragmentBits(const Fragment &fragment, MatrixSide side, Axis input);

/// Of a tile C [M, N]; `warps` along each dimension. Rank 3 has a batch in
/// front, repeated in registers or over warps.
LinearLayout fragmentResult(const Shape &shape, const MatrixFragments &one,
                            const std::vector<unsigned> &warps);
/// Of an operand's tile: `index` 0: A [M, K]; 1: B [K, N]. Warps along the
/// dimension that the operand lacks hold copies.
LinearLayout fragmentOperand(const Shape &shape, unsigned index,
                             const MatrixFragments &one,
                             const std::vector<unsigned> &warps);

/// The same product, with operands that lie along K as the result does along
/// N, where lanes are alike: a result that becomes the left operand of the next
/// product then stays where it is. Needs anyDepthOrder, else nothing changes.
MatrixFragments meetingResult(const MatrixFragments &one);

} // namespace nereid

#endif // NEREID_LAYOUT_MATRIXFRAGMENTS_H
