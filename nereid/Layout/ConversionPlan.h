//===- ConversionPlan.h - How values get from one layout to another -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every place of the target layout there is a place of the source layout
// that holds its element. The cheapest choice decides the mechanism:
//
//   Nothing    the same place
//   Registers  the same lane and warp: a renaming
//   Shuffles   the same warp
//   Shared     anywhere: a trip through shared memory
//
// "The same lane and warp" is a linear condition: target(l) - source(l) must
// lie in the span of the source's registers for every lane and warp basis l. So
// a source that holds copies is used where it helps, without search.
//
// The trip through shared memory uses a layout of offsets, computed, under
// which neither the stores nor the loads have bank conflicts. With V the span
// of elements that both sides hold in registers (one vector access) and P, Q
// the spans of the lanes of one wavefront of stores and of loads, a layout with
// basis (V, banks, rest) is free of conflicts exactly if (V + rest) meets P and
// Q only in V. Two subspaces of one dimension always have a common complement -
// with p_i, q_i completing P meet Q to P and Q it is spanned by all p_i + q_i
// and a complement of P + Q - and that is the rest.
//
// One side may take more at once: where the loads want W registers beside V in
// one access, as wide as accesses are, a wavefront has fewer of their lanes and
// Q is these and W; the basis is (V, W, banks, rest). The result of a matrix
// product on its way to memory is stored in words and loaded in vectors so.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_CONVERSIONPLAN_H
#define NEREID_LAYOUT_CONVERSIONPLAN_H

#include "nereid/Layout/LinearLayout.h"
#include "nereid/Layout/SharedMemoryShape.h"

namespace nereid {

struct ConversionPlan {
  enum class Kind { Nothing, Registers, Shuffles, Shared };
  Kind kind = Kind::Nothing;
  /// From places of the target to places of the source that hold the same
  /// element. For Registers and Shuffles warp (and lane) bits are unchanged.
  LinearLayout pull;
  /// Shared: from offsets (in elements) to elements. A bijection.
  LinearLayout shared;
  /// Shared: elements that one store and one load move.
  unsigned storeVector = 1, loadVector = 1;
};

/// Both layouts map (register, lane, warp) onto all of the same outputs.
/// `elementBytes` is 1, 2, 4, 8 or 16.
ConversionPlan planConversion(const LinearLayout &source,
                              const LinearLayout &target, unsigned elementBytes,
                              const SharedMemoryShape &memory);

/// The same where no element leaves its warp; absent elsewhere.
std::optional<ConversionPlan> planWithinWarp(const LinearLayout &source,
                                             const LinearLayout &target);

/// The same, through shared memory whatever else would do.
ConversionPlan planShared(const LinearLayout &source,
                          const LinearLayout &target, unsigned elementBytes,
                          const SharedMemoryShape &memory);

/// Shared-memory cycles ("wavefronts") of one access of every lane of warp 0 to
/// `vector` elements from register `reg` on, counted by enumeration; lanes that
/// touch the same word share it. The least possible number is bytes moved /
/// `wavefrontBytes`, rounded up.
unsigned countWavefronts(const LinearLayout &distributed,
                         const LinearLayout &shared, unsigned reg,
                         unsigned vector, unsigned elementBytes,
                         const SharedMemoryShape &memory);

} // namespace nereid

#endif // NEREID_LAYOUT_CONVERSIONPLAN_H
