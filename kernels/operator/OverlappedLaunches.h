//===- OverlappedLaunches.h - Launches that begin early ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of inference is a chain of many short launches. On a GPU from 9.0 on,
// a launch of such a chain may begin while the one in front of it runs
// (launch_pdl), and read its weights until what it needs of the others is
// there:
//
//   kernels::OverlappedLaunches overlap;
//   Tensor y = kernels::linear(x, weight, bias);
//
// While the guard lives, nothing that is queued may write a weight or a bias of
// an operator, or lengths and earlier keys of a cache that decodeNext is given:
// they are read early. Elsewhere, and for operators that know
// nothing of it, nothing changes. A guard is of the thread that made it; guards
// nest.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_OVERLAPPEDLAUNCHES_H
#define NEREID_KERNELS_OPERATOR_OVERLAPPEDLAUNCHES_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

class OverlappedLaunches {
public:
  OverlappedLaunches();
  ~OverlappedLaunches();
  OverlappedLaunches(const OverlappedLaunches &) = delete;
  OverlappedLaunches &operator=(const OverlappedLaunches &) = delete;

  /// Launches after this call begin when those in front of it have ended: they
  /// may read early what these write, as lengths. The first of them alone may
  /// begin before, and reads its weights then.
  static void fence();
};

/// Does a guard of this thread live?
bool areLaunchesOverlapped();

enum class Overlap {
  None,
  Early,
  Fence, ///< early, but lets the next launch begin after its own wait
};

/// For an operator that is about to launch a kernel with this choice.
Overlap overlapOf(Device device);

/// For an operator that is about to launch a kernel: may this launch begin
/// early? Then the kernel has a flag (EARLY), and the launch (launch_pdl). The
/// first launch of a guard on a stream may not: what is in front of it may have
/// written weights. Nor may one whose operator has made, in front of it, a copy
/// of what it reads early: that operator does not ask. Nor may the first launch
/// after a fence.
bool beginsEarly(Device device);

/// Does the kernel read a copy, which its operator has made of `given`?
inline bool isCopied(const Tensor &given, const Tensor &read) {
  return given.defined() && given.data() != read.data();
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_OVERLAPPEDLAUNCHES_H
