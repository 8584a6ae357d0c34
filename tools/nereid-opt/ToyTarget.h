//===- ToyTarget.h - A GPU that does not exist ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `target=toy64` of nereid-opt: warps of 64 threads, banks of another number,
// no asynchronous copies, no prefetches, no matrix instructions. No such
// machine exists: with it, tests show that passes ask the target, and that what
// is missing is done without.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREIDOPT_TOYTARGET_H
#define NEREID_TOOLS_NEREIDOPT_TOYTARGET_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/DialectRegistry.h"

namespace nereid {

inline tilegpu::TargetInfo describeToy() {
  tilegpu::TargetInfo info;
  info.name = "toy64";
  info.instructions = "nv"; // it has none of its own to show
  info.lanes = 64;
  info.accessBytes = 16;
  info.threadRegisters = 128;
  info.mostWarps = 16;
  info.sharedLimit = 64 * 1024;
  info.shared = {/*banks=*/64, /*bankBytes=*/4, /*accessBytes=*/16};
  info.processorWarps = 32;
  info.processorBlocks = 16;
  info.processorShared = 64 * 1024;
  info.processorRegisters = 128 * 1024;
  info.bytesInFlight = 32 * 1024;
  return info;
}

inline void registerToyTarget(mlir::DialectRegistry &registry) {
  registry.addExtension(
      +[](mlir::MLIRContext *, tilegpu::TileGPUDialect *dialect) {
        dialect->addTarget(describeToy());
        tilegpu::TargetInfo bare = describeToy();
        bare.name = "toy-without-instructions";
        bare.instructions = "none";
        dialect->addTarget(bare);
      });
}

} // namespace nereid

#endif // NEREID_TOOLS_NEREIDOPT_TOYTARGET_H
