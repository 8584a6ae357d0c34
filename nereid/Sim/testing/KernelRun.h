//===- KernelRun.h - A few lines of PTX, run --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_TESTING_KERNELRUN_H
#define NEREID_SIM_TESTING_KERNELRUN_H

#include "nereid/Sim/Launch.h"
#include "nereid/Sim/TensorMap.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace nereid::sim {

/// One block of a kernel with one parameter, the address of `memory`. The body
/// may use %r0..%r31, %rd0..%rd31, %f0..%f31, %rs0..%rs15 and %p0..%p7; %rd0
/// holds the address, %r0 the thread. A map of a tensor is a second parameter,
/// its address in %rd30.
struct KernelRun {
  std::string body;
  uint32_t threads = 32;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  AsyncOrder asyncOrder = AsyncOrder::Late;
  bool checksRaces = false;
  bool isCooperative = false;
  uint64_t seed = 0;
  Profile *profile = nullptr;
  uint32_t sharedBytes = 1024;
  std::string directives = {}; ///< of the kernel, in front of its body
  std::optional<TensorMap> map = {};
  std::vector<uint32_t> memory = std::vector<uint32_t>(1024);

  std::string text() const {
    return std::string(".version 8.0\n.target sm_90a\n.address_size 64\n"
                       ".extern .shared .align 128 .b8 shared[];\n"
                       ".visible .entry k(.param .u64 p") +
           (map ? ", .param .align 64 .b8 map[128]" : "") + ")\n" + directives +
           "{\n"
           ".reg .pred %p<8>;\n.reg .b16 %rs<16>;\n.reg .b32 %r<32>;\n"
           ".reg .b32 %f<32>;\n.reg .b64 %rd<32>;\n"
           "ld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\n" +
           (map ? "mov.b64 %rd30, map;\ncvta.param.u64 %rd30, %rd30;\n" : "") +
           body + "\nret;\n}\n";
  }

  /// Empty, or what went wrong.
  std::string run() {
    auto module = parsePtx(text());
    if (!module.ok()) {
      return module.failure().message;
    }
    auto program = decode(**module, (*module)->entries[0], 0);
    if (!program.ok()) {
      return program.failure().message;
    }
    Allocations allocations;
    auto address = reinterpret_cast<uint64_t>(memory.data());
    allocations.add(address, memory.size() * sizeof(uint32_t));
    LaunchRequest request{**program, allocations, grid, {threads, 1, 1}};
    request.sharedBytes = sharedBytes;
    for (unsigned i = 0; i < 8; ++i) {
      request.parameters.push_back(uint8_t(address >> (8 * i)));
    }
    if (map) {
      request.parameters.resize(64 + sizeof(TensorMap));
      std::memcpy(&request.parameters[64], &*map, sizeof(TensorMap));
    }
    request.asyncOrder = asyncOrder;
    request.checksRaces = checksRaces;
    request.isCooperative = isCooperative;
    request.seed = seed;
    request.profile = profile;
    Status status = launch(request);
    return status.ok() ? "" : status.failure().message;
  }
};

/// %rd1: the address of this thread's word.
inline constexpr const char *ownWord =
    "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\n";

} // namespace nereid::sim

#endif // NEREID_SIM_TESTING_KERNELRUN_H
