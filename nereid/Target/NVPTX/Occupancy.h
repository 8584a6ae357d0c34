//===- Occupancy.h - How full a multiprocessor gets -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_OCCUPANCY_H
#define NEREID_TARGET_NVPTX_OCCUPANCY_H

#include "nereid/ABI/KernelImage.h"

namespace nereid::nvptx {

struct Occupancy {
  unsigned blocks = 0;    ///< resident at once on a multiprocessor
  unsigned warps = 0;     ///< of these blocks
  unsigned mostWarps = 0; ///< that one can hold
  /// What keeps it from more: "registers", "shared memory", "warps", "blocks".
  const char *limit = "";
};

/// From an assembled image: its registers, shared memory and threads.
/// InvalidArgument when its target is no GPU.
Expected<Occupancy> occupancyOf(const KernelImage &image);

/// Registers of a thread, at most, with which a block of so many warps (at
/// least one) runs.
unsigned mostRegisters(unsigned warps);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_OCCUPANCY_H
