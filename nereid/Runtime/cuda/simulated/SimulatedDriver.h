//===- SimulatedDriver.h - A driver whose GPU is the simulator --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NEREID_CUDA_DRIVER=simulator: cuda:0 is nereid/Sim, and everything above the
// driver is what it is on a GPU. Memory of the device is the host's, work of a
// stream is done when it is given, and events measure the host's clock: results
// and faults are a GPU's, times are not. docs/Simulator.md.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CUDA_SIMULATED_SIMULATEDDRIVER_H
#define NEREID_RUNTIME_CUDA_SIMULATED_SIMULATEDDRIVER_H

#include "nereid/Runtime/cuda/CudaDriver.h"

namespace nereid::cuda {

/// With the options of NEREID_SIMULATOR. InvalidArgument for words that are
/// none.
Expected<std::unique_ptr<const Driver>> simulatedDriver();

} // namespace nereid::cuda

#endif // NEREID_RUNTIME_CUDA_SIMULATED_SIMULATEDDRIVER_H
