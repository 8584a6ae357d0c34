//===- Fragment.h - A product's operand in a buffer -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_NV_FRAGMENT_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_NV_FRAGMENT_H

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

namespace nereid::togpu {

/// An operand of a warp's product that stays in shared memory until a product
/// wants a word (32 bits, or an f64) of it.
struct KernelEmitter::Fragment {
  SlotPlaces places;
  std::vector<uint32_t> columns; ///< bytes that a bit of the word number adds
  bool usesMatrices = false, isTransposed = false;
  mlir::Type wordType;   ///< i32; f64 where that is an element
  unsigned wordBits = 0; ///< register columns inside a word
  unsigned perLoad = 1;  ///< words of one instruction
  unsigned elementBytes = 0;
  std::vector<uint32_t> inner; ///< bytes of the columns inside a word
  std::map<unsigned, mlir::Value> words;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_NV_FRAGMENT_H
