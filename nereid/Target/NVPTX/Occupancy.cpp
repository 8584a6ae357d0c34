//===- Occupancy.cpp - How much of a multiprocessor a kernel fills --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/Occupancy.h"

#include "nereid/Target/NVPTX/NvptxTarget.h"

#include <algorithm>

namespace nereid::nvptx {

/// A multiprocessor has four partitions, with so many registers each, given out
/// to a warp in units of 256.
static constexpr unsigned partitions = 4, partitionRegisters = 16384,
                          registerUnit = 256;

static unsigned roundUp(unsigned value, unsigned unit) {
  return (value + unit - 1) / unit * unit;
}

Expected<Occupancy> occupancyOf(const KernelImage &image) {
  Expected<NvptxTarget> found = resolve(image.target);
  if (!found.ok()) {
    return found.failure();
  }
  const tilegpu::TargetInfo &target = found->info;
  // Shared memory comes in units of 128 bytes (256 before 8.0), and from 8.0
  // on the system keeps 1 KiB of it for each block.
  bool isNew = found->computeCapability >= 80;
  // Of all threads: a kernel may have warps that only copy.
  unsigned warps =
      std::max(1u, (image.threadsPerBlock + target.lanes - 1) / target.lanes);
  unsigned registersOfWarp =
      roundUp(image.numRegisters * target.lanes, registerUnit);
  unsigned sharedOfBlock =
      roundUp(image.sharedBytes + (isNew ? 1024 : 0), isNew ? 128 : 256);
  const std::pair<unsigned, const char *> limits[] = {
      {target.processorBlocks, "blocks"},
      {target.processorWarps / warps, "warps"},
      {registersOfWarp
           ? partitionRegisters / registersOfWarp * partitions / warps
           : ~0u,
       "registers"},
      {sharedOfBlock ? target.processorShared / sharedOfBlock : ~0u,
       "shared memory"},
  };
  Occupancy result{limits[0].first, 0, target.processorWarps, limits[0].second};
  for (auto [blocks, limit] : limits) {
    if (blocks < result.blocks) {
      result.blocks = blocks;
      result.limit = limit;
    }
  }
  result.warps = result.blocks * warps;
  return result;
}

unsigned mostRegisters(unsigned warps) {
  unsigned ofPartition = (warps + partitions - 1) / partitions;
  unsigned ofWarp =
      partitionRegisters / ofPartition / registerUnit * registerUnit;
  return std::min(ofWarp / 32, 255u);
}

} // namespace nereid::nvptx
