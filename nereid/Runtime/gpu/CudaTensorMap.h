//===- CudaTensorMap.h - Tensors for the engine of boxes --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_CUDATENSORMAP_H
#define NEREID_RUNTIME_GPU_CUDATENSORMAP_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

namespace nereid::gpu {

struct alignas(64) TensorMap {
  std::byte bytes[128];
};

/// The map that `source` describes, for a launch whose parameters, those of
/// `image`, are `slots`. Unsupported where the engine does not take such sizes
/// or strides.
Status makeTensorMap(const KernelImage &image, const TensorMapSource &source,
                     const uint64_t *slots, DeviceState &device,
                     TensorMap &map);

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_CUDATENSORMAP_H
