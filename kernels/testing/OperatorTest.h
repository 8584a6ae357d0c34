//===- OperatorTest.h - Operators against double precision -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fixture for tests of operators on each device. Cases are drawn from a seed:
// 1, or KERNELS_TEST_SEED. KERNELS_TEST_CASES says how many (1,000 in the long
// run). Tensors are row-major, have gaps between rows, begin at an offset, or
// are transposed views, by the draw.
//
// NEREID_CUDA_DRIVER=simulator makes cuda:0 the simulated GPU
// (docs/Simulator.md).
//
// Gradients: `checkGradients` compares the operator's with those of the
// reference, by central differences in double precision along random
// directions: d/dt ref(x + t v) = <gradient, v>.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_TESTING_OPERATORTEST_H
#define NEREID_KERNELS_TESTING_OPERATORTEST_H

#include "nereid/Autograd/Variable.h"
#include "test/e2e/OnDevice.h"

#include <functional>
#include <random>

namespace nereid::kernels {

namespace reference {
using Values = std::vector<double>;
} // namespace reference
using reference::Values;

class OperatorTest : public e2e::OnDevice {
protected:
  void SetUp() override;

  /// Runs `one` for as many random cases as asked for; fewer on `interp`.
  void forCases(const std::function<void()> &one, int cases = 12);

  int64_t pick(int64_t low, int64_t high); ///< both included
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[pick(0, int64_t(choices.size()) - 1)];
  }
  bool coin() { return pick(0, 1); }
  /// 1, primes, just over a block, powers of two, up to `most`.
  int64_t awkwardSize(int64_t most);
  DType floatType() { return oneOf({f32, bf16, f16}); }

  /// Standard normal, of any layout.
  Tensor random(const Shape &shape, DType dtype, double scale = 1,
                double offset = 0);
  /// `values` in a random layout.
  Tensor laidOut(const Tensor &values);

  /// Each element within `ulps` roundings of the dtype of its scale, where the
  /// scale is |expected| + `floor`.
  void expectClose(const Tensor &got, const Values &expected, double ulps,
                   double floor, const char *what);

  /// `inputs`: leaves on the device, all of them floats; `output` was computed
  /// from them. `reference` computes the output from their values in double
  /// precision. Compares <dx, v> with the reference's derivative along v within
  /// `tolerance` of the gradient's scale + `floor`.
  void checkGradients(
      const Variable &output, const std::vector<Variable> &inputs,
      const std::function<Values(const std::vector<Values> &)> &reference,
      double tolerance, double floor = 1e-3);

  /// The interpreter, and the simulated GPU (NEREID_CUDA_DRIVER=simulator):
  /// small cases alone.
  bool isSlow = false;
  std::mt19937_64 generator;
  uint64_t seed = 0;
};

/// Relative rounding of one operation in this type.
double roundingOf(DType dtype);

} // namespace nereid::kernels

/// On every device.
#define NEREID_OPERATOR_TEST(Suite)                                            \
  class Suite : public nereid::kernels::OperatorTest {};                       \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite,                                     \
                           ::testing::Values("cpu", "interp", "cuda:0"),       \
                           [](const auto &info) {                              \
                             std::string name = info.param;                    \
                             return name.substr(0, name.find(':'));            \
                           })

#endif // NEREID_KERNELS_TESTING_OPERATORTEST_H
