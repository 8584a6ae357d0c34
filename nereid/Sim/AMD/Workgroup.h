//===- Workgroup.h - Waves that share LDS -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_WORKGROUP_H
#define NEREID_SIM_AMD_WORKGROUP_H

#include "nereid/Sim/AMD/AccessShadow.h"
#include "nereid/Sim/AMD/Counts/Profile.h"
#include "nereid/Sim/AMD/Wave.h"

#include <random>

namespace nereid::sim::amd {

class Workgroup {
public:
  explicit Workgroup(const LaunchRequest &launch);
  Workgroup(const Workgroup &) = delete;
  Workgroup &operator=(const Workgroup &) = delete;

  /// Becomes a workgroup of the grid, the `number`-th of those that run.
  void begin(std::array<uint32_t, 3> position, uint64_t number);
  /// Every wave gets on by a turn; false when all have ended. Throws Fault.
  bool advance();
  /// The registers that the command processor fills in.
  void startRegisters(Wave &wave) const;

  unsigned threadCount() const {
    return launch.threads[0] * launch.threads[1] * launch.threads[2];
  }

  /// Where an access of a lane lies. Throws Fault.
  unsigned char *shared(Wave &wave, unsigned lane, uint64_t address,
                        uint32_t bytes, Access access);
  unsigned char *global(Wave &wave, unsigned lane, uint64_t address,
                        uint32_t bytes, Access access);
  /// Of a scalar load, which may read the kernel's arguments and its code.
  const unsigned char *constant(const Wave &wave, uint64_t address,
                                uint32_t bytes);
  /// Whether so many bytes are there, without a fault.
  bool isGlobal(uint64_t address, uint32_t bytes);

  /// Instructions of all waves since `begin`.
  uint64_t executed() const;

  const LaunchRequest &launch;
  std::array<uint32_t, 3> position = {};
  std::unique_ptr<AccessCounter> counter; ///< null: nothing is counted

private:
  void passBarrier();
  [[noreturn]] void reportDeadlock() const;

  std::vector<unsigned char> arguments; ///< the kernarg segment
  std::vector<unsigned char> lds;
  std::unique_ptr<AccessShadow> ldsShadow, globalShadow;
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<unsigned> order;
  std::mt19937_64 random;
  MemoryRange recent; ///< the allocation of the last access
};

/// "0x1f0"
std::string hexadecimal(uint64_t value);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_WORKGROUP_H
