//===- SharedMemoryShape.h - Banks of shared memory -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_SHAREDMEMORYSHAPE_H
#define NEREID_LAYOUT_SHAREDMEMORYSHAPE_H

namespace nereid {

/// Shared memory serves one word of every bank in a cycle. All three numbers
/// are powers of two.
struct SharedMemoryShape {
  unsigned banks = 0;
  unsigned bankBytes = 0;   ///< of a word
  unsigned accessBytes = 0; ///< of the widest load or store of a thread

  /// What one cycle moves at most.
  unsigned wavefrontBytes() const { return banks * bankBytes; }
};

} // namespace nereid

#endif // NEREID_LAYOUT_SHAREDMEMORYSHAPE_H
