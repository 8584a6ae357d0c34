//===- Features.h - What generated kernels have -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_FEATURES_H
#define NEREID_TEST_FUZZ_SOURCE_FEATURES_H

#include <cstddef>
#include <cstdint>

namespace nereid::fuzz::source {

enum class Feature {
#define FEATURE(name) name,
#include "test/fuzz/source/Features.def"
#undef FEATURE
};

inline constexpr const char *featureNames[] = {
#define FEATURE(name) #name,
#include "test/fuzz/source/Features.def"
#undef FEATURE
};
inline constexpr size_t numFeatures = sizeof(featureNames) / sizeof(char *);

/// How often each occurs.
struct FeatureCounts {
  uint64_t counts[numFeatures] = {};

  uint64_t &operator[](Feature feature) {
    return counts[static_cast<size_t>(feature)];
  }
};

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_FEATURES_H
