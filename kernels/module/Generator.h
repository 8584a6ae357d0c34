//===- Generator.h - Seeds that go on --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Generator generator(42);
//   Tensor a = randn({3}, f32, device, generator.next());
//   Tensor b = randn({3}, f32, device, generator.next()); // others
//
// A sequence of seeds of one's own, beside that of the process (manualSeed,
// nextSeed). Its state is two numbers, which a checkpoint may keep.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_MODULE_GENERATOR_H
#define NEREID_KERNELS_MODULE_GENERATOR_H

#include "nereid/Runtime/Seeds.h"

#include <atomic>

namespace nereid {

/// Threads may call `next` at once; nothing else meanwhile.
class Generator {
public:
  explicit Generator(uint64_t seed) { manualSeed(seed); }

  void manualSeed(uint64_t seed) { now = {seed, 0}; }
  /// Another number each time, the same ones in each run.
  uint64_t next() {
    return drawSeed([this] {
      uint64_t place = std::atomic_ref(now.drawn).fetch_add(1) + 1;
      // SplitMix64's finisher: neighbouring counts give unlike seeds.
      uint64_t z = now.seed + place * 0x9E3779B97F4A7C15;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
      return z ^ (z >> 31);
    });
  }

  struct State {
    uint64_t seed = 0, drawn = 0;
    bool operator==(const State &) const = default;
  };
  State state() const { return now; }
  void setState(State state) { now = state; }

private:
  State now;
};

} // namespace nereid

#endif // NEREID_KERNELS_MODULE_GENERATOR_H
