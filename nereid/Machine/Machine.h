//===- Machine.h - What a computation depends on ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What decides by the size of the machine takes a Machine in its options. The
// default is this one; a test says another (testing/FakeMachine.h).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_MACHINE_MACHINE_H
#define NEREID_MACHINE_MACHINE_H

#include <cstdint>
#include <string>

namespace nereid {

struct Machine {
  std::string processor = "unknown"; ///< "Intel(R) Xeon(R) ..."
  /// That this process may run on (affinity and cgroup's quota), at least 1.
  int cores = 1;
  /// Bytes of the largest cache that a core can use.
  uint64_t lastLevelCacheBytes = uint64_t{32} << 20;
  /// Bytes of a core's second-level cache.
  uint64_t secondLevelCacheBytes = uint64_t{1} << 20;
  uint64_t memoryBytes = 0; ///< of the machine; 0: the system does not say

  /// More are never worth it: beyond a few programs a core, threads only take
  /// memory and a container's process ids.
  int mostThreads() const { return 8 * cores; }
};

/// Machine::cores as they are now: affinity and quotas change.
int availableCores();

/// What the system says of the machine that runs this process, asked once.
/// Where it does not say, Machine's defaults.
const Machine &thisMachine();

} // namespace nereid

#endif // NEREID_MACHINE_MACHINE_H
