//===- Extrema.h - V_MAXIMUM and V_MINIMUM ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_EXTREMA_H
#define NEREID_SIM_AMD_EXTREMA_H

#include <algorithm>
#include <cmath>

namespace nereid::sim::amd {

/// The larger one, -0 below 0; a NaN where one of the two is (V_MAXIMUM).
template <typename T>
T maximumOrNan(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) {
    return a + b;
  }
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
template <typename T>
T minimumOrNan(T a, T b) {
  return -maximumOrNan(-a, -b);
}
template <typename T>
T maximum3OrNan(T a, T b, T c) {
  return maximumOrNan(maximumOrNan(a, b), c);
}
template <typename T>
T minimum3OrNan(T a, T b, T c) {
  return minimumOrNan(minimumOrNan(a, b), c);
}
template <typename T>
T minimumMaximumOrNan(T a, T b, T c) {
  return maximumOrNan(minimumOrNan(a, b), c);
}
template <typename T>
T maximumMinimumOrNan(T a, T b, T c) {
  return minimumOrNan(maximumOrNan(a, b), c);
}

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_EXTREMA_H
