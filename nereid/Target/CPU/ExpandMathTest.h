//===- ExpandMathTest.h - Running expanded functions on arrays --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the tests of ExpandMath. A math operation is expanded, compiled for
// a target and run over arrays; errors are counted in units in the last place
// (ulp) of the exact result.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CPU_EXPANDMATHTEST_H
#define NEREID_TARGET_CPU_EXPANDMATHTEST_H

#include "nereid/Target/CPU/CpuTarget.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

namespace nereid::cpu {

/// A `math` operation and what it should give. `error32` and `error64` are the
/// errors that docs/Math.md promises.
struct MathFunction {
  const char *op;
  double (*inDouble)(double);
  long double (*inLongDouble)(long double);
  double error32, error64;
};

struct MathFunction2 {
  const char *op;
  double (*inDouble)(double, double);
  long double (*inLongDouble)(long double, long double);
  double error32, error64;
};

llvm::ArrayRef<MathFunction> mathFunctions();
llvm::ArrayRef<MathFunction2> mathFunctions2();

struct LoweredModule {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Text of func, scf, arith, math, vector and llvm operations to the llvm
/// dialect, with math expanded for the target.
Expected<LoweredModule> lowerText(const std::string &text,
                                  const CpuTarget &target);

/// A compiled loop `out[i] = op(x[i]...)`.
class MathKernel {
public:
  /// `type` is "f32" or "f64"; one lane makes a loop over scalars.
  static Expected<MathKernel> create(const std::string &op, int numOperands,
                                     const std::string &type, unsigned lanes,
                                     const CpuTarget &target);

  /// `count` is a multiple of the lanes.
  void run(const void *x, const void *y, void *out, int64_t count) const {
    std::array<uint64_t, 3> arguments = {reinterpret_cast<uint64_t>(x),
                                         reinterpret_cast<uint64_t>(y),
                                         reinterpret_cast<uint64_t>(out)};
    LaunchFrame frame = {};
    frame.arguments = arguments.data();
    code.entry(code.self, &frame, 0, count);
  }

private:
  HostCode code;
};

/// |got - exact| in ulp of the exact value, infinite where a NaN, an infinity
/// or the sign of a zero is wrong. Wide has at least 10 bits more than T.
template <typename T, typename Wide>
double errorInUlp(T got, Wide exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got)) {
    return std::isnan(exact) && std::isnan(got) ? 0 : wrong;
  }
  if (exact == 0 || std::isinf(exact)) {
    bool same = static_cast<Wide>(got) == exact &&
                std::signbit(got) == std::signbit(exact);
    return same ? 0 : wrong;
  }
  if (std::signbit(got) != std::signbit(exact)) {
    return wrong;
  }
  int exponent = std::ilogb(exact);
  exponent = std::max(exponent, Limits::min_exponent - 1);
  Wide ulp = std::ldexp(Wide(1), exponent - (Limits::digits - 1));
  // An overflow counts as the value after the largest.
  Wide value =
      std::isinf(got)
          ? std::copysign(std::ldexp(Wide(1), Limits::max_exponent), Wide(got))
          : static_cast<Wide>(got);
  if (std::isinf(got) && std::fabs(exact) > std::fabs(value)) {
    return 0;
  }
  return static_cast<double>(std::fabs(value - exact) / ulp);
}

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_EXPANDMATHTEST_H
