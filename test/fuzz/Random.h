//===- Random.h - Reproducible choices --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_RANDOM_H
#define NEREID_TEST_FUZZ_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace nereid::fuzz {

/// SplitMix64. The standard distributions differ between libraries; a seed
/// must mean the same program everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// In [0, n).
  int64_t below(int64_t n) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(n));
  }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(int percent) { return below(100) < percent; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }
  template <typename C>
  auto &pickFrom(C &container) {
    return container[below(static_cast<int64_t>(container.size()))];
  }

private:
  uint64_t state;
};

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_RANDOM_H
