//===- BufferReader.h - Registers out of a buffer ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_BUFFERREADER_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_BUFFERREADER_H

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

namespace nereid::togpu {

/// A tile in a buffer. Registers are loaded when they are wanted, as many at
/// once as one access moves.
struct KernelEmitter::BufferReader {
  SlotPlaces places;
  std::vector<uint32_t> columns; ///< bytes that a bit of the register adds
  unsigned width = 1, bytes = 0; ///< registers of an access; of a register
  mlir::Type lane;
  Registers loaded;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_BUFFERREADER_H
