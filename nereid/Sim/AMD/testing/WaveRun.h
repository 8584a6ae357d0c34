//===- WaveRun.h - A few instructions, run ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_TESTING_WAVERUN_H
#define NEREID_SIM_AMD_TESTING_WAVERUN_H

#include "nereid/Sim/AMD/LoadedProgram.h"

#include <cstring>

namespace nereid::sim::amd {

using Words = std::vector<uint32_t>;

inline Words operator+(Words first, const Words &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// One workgroup of a kernel whose argument is the address of `memory`: s[0:1]
/// points to the argument, v0 is the number of the thread.
struct WaveRun {
  Generation generation = Generation::Cdna;
  std::string target; ///< empty: the generation's first that is simulated
  Words code;
  uint32_t threads = 64;
  uint32_t sharedBytes = 1024, privateBytes = 64;
  uint64_t mostInstructions = 100000;
  uint64_t seed = 0;
  std::vector<uint32_t> memory = std::vector<uint32_t>(256);

  /// Empty, or what went wrong.
  std::string run() {
    Program program;
    program.generation = generation;
    program.target = !target.empty()                   ? target
                     : generation == Generation::Cdna  ? "gfx942"
                     : generation == Generation::Rdna3 ? "gfx1100"
                                                       : "gfx1201";
    Kernel kernel;
    kernel.name = "k";
    kernel.lanes = generation == Generation::Cdna ? 64 : 32;
    kernel.sharedBytes = sharedBytes;
    kernel.privateBytes = privateBytes;
    kernel.argumentBytes = 8;
    kernel.properties = 1 << 3; // the kernarg segment's address
    kernel.rsrc2 = 2 << 1;      // of user registers
    kernel.arguments = {{0, 8, "global_buffer"}};
    program.kernels.push_back(kernel);
    program.image.resize(code.size() * 4);
    std::memcpy(program.image.data(), code.data(), program.image.size());
    program.textEnd = program.image.size();
    Status status = decodeText(program);
    if (!status.ok()) {
      return status.failure().message;
    }
    Allocations allocations;
    auto address = reinterpret_cast<uint64_t>(memory.data());
    allocations.add(address, memory.size() * 4);
    LaunchRequest request{
        program, kernel, allocations, {1, 1, 1}, {threads, 1, 1}};
    request.arguments.resize(8);
    std::memcpy(request.arguments.data(), &address, 8);
    request.mostInstructions = mostInstructions;
    request.seed = seed;
    status = launch(request);
    return status.ok() ? "" : status.failure().message;
  }
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_TESTING_WAVERUN_H
