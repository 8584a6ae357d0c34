//===- HipFixture.h - The runtime over the fake HIP library -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_TESTING_HIPFIXTURE_H
#define NEREID_RUNTIME_GPU_TESTING_HIPFIXTURE_H

#include "nereid/Runtime/gpu/testing/CudaFixture.h"

namespace nereid {

/// A gfx942, a gfx1100 and the GPUs of CudaFixture beside them.
class HipFixture : public CudaFixture {
protected:
  using CudaFixture::CudaFixture;
  ~HipFixture() override {
    driver().fatal = gpu::Success;
    for (Device device : {hip, otherHip}) {
      synchronize(device);
      emptyCache(device);
    }
  }

  const Device hip = Device::hip(0), otherHip = Device::hip(1);
};

} // namespace nereid

#endif // NEREID_RUNTIME_GPU_TESTING_HIPFIXTURE_H
