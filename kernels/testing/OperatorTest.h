//===- OperatorTest.h - Operators against double precision ------*- C++ -*-===//
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
// Results and gradients are judged twice. By the operator's reference, on every
// device: each element may be off by twice what a plain loop in fp32 may be,
// which the reference's numbers know (kernels/testing/Number.h), and by one
// rounding to its type. And on other devices than `interp`, of cases with an
// odd seed, which are small: each launch by the reference executor with the
// same kernel, grid and arguments (kernels/testing/LaunchJudge.h).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_TESTING_OPERATORTEST_H
#define NEREID_KERNELS_TESTING_OPERATORTEST_H

#include "kernels/testing/LaunchJudge.h"
#include "kernels/testing/Number.h"
#include "nereid/Autograd/Variable.h"
#include "test/e2e/OnDevice.h"

#include <functional>
#include <random>

namespace nereid::kernels {

using Values = std::vector<double>;
using reference::Bound;
using reference::Number;
using reference::Numbers;

/// The elements, without error; none of an undefined tensor.
Numbers exactly(const Tensor &tensor);
Numbers exactly(const Values &values);

/// What of `got` is farther from the reference than twice a plain loop in fp32
/// may be, and one rounding to its type: the first such element; empty if there
/// is none.
std::string misfit(const Tensor &got, const Numbers &expected);
std::string misfit(const Tensor &got, const std::vector<Bound> &expected);

/// The message of the Error that `call` throws; empty if it throws none.
std::string messageOf(const std::function<void()> &call);

class OperatorTest : public e2e::OnDevice {
protected:
  void SetUp() override;

  /// Runs `one` for as many random cases as asked for; fewer on `interp`, and
  /// where each compiles kernels of its own.
  void forCases(const std::function<void()> &one, int cases = 6);

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

  void expectClose(const Tensor &got, const Numbers &expected,
                   const char *what);

  /// `inputs`: leaves on the device, all of them floats; `output` was computed
  /// from them. `reference` computes the output from their values. Each element
  /// of the gradients of a random `output.backward(dy)` must fit the
  /// reference's.
  void checkGradients(
      const Variable &output, const std::vector<Variable> &inputs,
      const std::function<Numbers(const std::vector<Numbers> &)> &reference);

  /// Judges the launches of a case that is judged; else null.
  std::unique_ptr<LaunchJudge> judge;
  /// Small cases alone: of the interpreter, the simulated GPU
  /// (NEREID_CUDA_DRIVER=simulator), and where launches are judged.
  bool isSlow = false;
  std::mt19937_64 generator;
  uint64_t seed = 0;
};

} // namespace nereid::kernels

#define NEREID_ON_EVERY_DEVICE(Suite)                                          \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite,                                     \
                           ::testing::Values("cpu", "interp", "cuda:0"),       \
                           [](const auto &info) {                              \
                             std::string name = info.param;                    \
                             return name.substr(0, name.find(':'));            \
                           })

/// A suite that needs no more than the fixture, on every device.
#define NEREID_OPERATOR_TEST(Suite)                                            \
  class Suite : public nereid::kernels::OperatorTest {};                       \
  NEREID_ON_EVERY_DEVICE(Suite)

#endif // NEREID_KERNELS_TESTING_OPERATORTEST_H
