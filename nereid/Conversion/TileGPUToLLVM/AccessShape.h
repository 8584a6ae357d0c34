//===- AccessShape.h - How elements move in words ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_ACCESSSHAPE_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_ACCESSSHAPE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <algorithm>

namespace nereid::togpu {

/// Bits that a lane value takes in memory and in a word: an i1 is a byte.
inline unsigned bitsInMemory(mlir::Type lane) {
  return mlir::isa<mlir::LLVM::LLVMPointerType>(lane) ? 64
         : lane.isInteger(1) ? 8
                             : lane.getIntOrFloatBitWidth();
}

/// One load or store of `count` elements of `width` bits, at most 16 bytes: as
/// few words as there are, of 8 to 64 bits.
struct AccessShape {
  AccessShape(unsigned width, unsigned count) {
    unsigned total = width * count;
    wordBits = width == 64 ? 64 : std::min(total, 32u);
    words = total / wordBits;
  }
  /// A byte lives in a 16-bit register.
  unsigned registerBits() const { return std::max(wordBits, 16u); }

  unsigned wordBits, words;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_ACCESSSHAPE_H
