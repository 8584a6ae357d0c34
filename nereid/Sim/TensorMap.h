//===- TensorMap.h - What the copy engine knows of a tensor -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver makes a map with cuTensorMapEncodeTiled. What its 128 bytes hold
// is the driver's own affair, and here the simulator's.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_TENSORMAP_H
#define NEREID_SIM_TENSORMAP_H

#include "nereid/ABI/Status.h"

#include <cstdint>
#include <vector>

namespace nereid::sim {

inline constexpr unsigned mostDimensions = 5;

/// The arguments of cuTensorMapEncodeTiled, with cuda.h's numbers of enums;
/// the innermost dimension first.
struct TensorMapRequest {
  int type = 0;
  unsigned rank = 0;
  uint64_t address = 0;
  const uint64_t *sizes = nullptr;          ///< elements
  const uint64_t *strides = nullptr;        ///< bytes, of dimension 1 and up
  const uint32_t *box = nullptr;            ///< elements
  const uint32_t *elementStrides = nullptr; ///< elements, from one to the next
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct alignas(64) TensorMap {
  uint64_t mark;
  uint64_t address;
  uint64_t sizes[mostDimensions];
  uint64_t strides[mostDimensions - 1];
  uint16_t box[mostDimensions];
  uint8_t elementStrides[mostDimensions];
  uint8_t rank, elementBytes;
  uint8_t swizzle; ///< 0 none, 1: 32 bytes, 2: 64, 3: 128

  /// False for memory that no driver has made a map of.
  bool isValid() const;
  /// The bytes of a copy, with those outside the tensor.
  uint32_t boxBytes() const;
};
static_assert(sizeof(TensorMap) == 128);

/// InvalidArgument, "expected ..., got ...", for what the driver refuses with
/// CUDA_ERROR_INVALID_VALUE; Unsupported for what is not simulated.
Expected<TensorMap> encodeTiled(const TensorMapRequest &request);

/// A piece of a copy that is one run in both memories.
struct CopyRun {
  uint32_t shared;
  uint64_t global; ///< 0: outside the tensor
  uint32_t bytes;
};

/// A box at `coordinates`, `map.rank` of them, which lies in shared memory
/// from `shared` on.
std::vector<CopyRun> runsOf(const TensorMap &map, const int32_t *coordinates,
                            uint32_t shared);

} // namespace nereid::sim

#endif // NEREID_SIM_TENSORMAP_H
