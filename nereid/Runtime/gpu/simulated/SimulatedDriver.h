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

#ifndef NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDDRIVER_H
#define NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDDRIVER_H

#include "nereid/Runtime/gpu/GpuDriver.h"
#include "nereid/Sim/AMD/Counts/Profile.h"

#include <functional>

namespace nereid::gpu {

/// With the options of NEREID_SIMULATOR. InvalidArgument for words that it
/// does not know.
Expected<std::unique_ptr<const Driver>> simulatedDriver();

/// NEREID_HIP_DRIVER=simulator: hip:0 is nereid/Sim/AMD, with the words of
/// NEREID_SIMULATOR that are for it: an architecture (gfx942), races, seed=N.
Expected<std::unique_ptr<const Driver>> simulatedHip();

/// One launch, when it has run.
struct ProfiledLaunch {
  const sim::Program &program;
  const std::string &ptx;
  const sim::Profile &profile;
  std::array<uint32_t, 3> grid;
  uint32_t threads, sharedBytes;
};

/// One launch of a code object, when it has run.
struct ProfiledHipLaunch {
  const sim::amd::Program &program;
  const sim::amd::Kernel &kernel;
  const std::string &object; ///< its bytes
  const sim::amd::Profile &profile;
  std::array<uint32_t, 3> grid;
  uint32_t threads, sharedBytes; ///< dynamic LDS, beside the kernel's
};

/// Before anything asks for cuda devices: cuda:0 of this process is simulated,
/// for `target`, as if NEREID_CUDA_DRIVER said so. Every launch is counted, and
/// reported; of a grid those of `sample` run. False where a driver is loaded
/// already.
bool simulateAndProfile(const std::string &target,
                        const sim::GridSample &sample,
                        std::function<void(const ProfiledLaunch &)> tell);
/// The same for hip:0 and an architecture of AMD's ("gfx942").
bool simulateAndProfile(const std::string &target,
                        const sim::GridSample &sample,
                        std::function<void(const ProfiledHipLaunch &)> tell);
/// NEREID_CUDA_DRIVER=simulator and NEREID_HIP_DRIVER=simulator work in this
/// process from now on.
void installSimulator();

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDDRIVER_H
