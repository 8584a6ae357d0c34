//===- Partial.h - Part of a reduction or a scan ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_PARTIAL_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_PARTIAL_H

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

namespace nereid::togpu {

/// A value of every source, and whether it counts (null: always). Padding of
/// the axis counts for nothing.
struct Partial {
  Registers values;
  mlir::Value valid;
};

/// The partial result of another lane: `fetch` of each value.
template <typename F>
Partial ofOtherLane(const Partial &own, F fetch) {
  Partial other;
  for (mlir::Value value : own.values) {
    other.values.push_back(fetch(value));
  }
  if (own.valid) {
    other.valid = fetch(own.valid);
  }
  return other;
}

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_PARTIAL_H
