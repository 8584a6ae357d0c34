//===- Elementwise.h - Loops over elements, for the handlers ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_ELEMENTWISE_H
#define NEREID_INTERP_ELEMENTWISE_H

#include "nereid/Interp/Handlers.h"
#include "nereid/Interp/Machine.h"

namespace nereid::interp {

/// Elements of an operand. A single element serves for all: a scalar from
/// outside of a region that runs on many lanes, or select's scalar condition.
template <typename T>
class Elements {
public:
  explicit Elements(const std::vector<T> &values)
      : data(values.data()), stride(values.size() == 1 ? 0 : 1) {}
  T operator[](int64_t i) const { return data[i * stride]; }

private:
  const T *data;
  int64_t stride;
};

/// `f(a, width)` on integers of `width` bits.
template <typename F>
Handler intUnary(F f) {
  auto run = [f](Machine &m, const Step &step) {
    Elements<int64_t> a(m.in(step, 0).ints);
    unsigned width = m.in(step, 0).element.width;
    TileValue &r = m.out(step);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      r.ints[i] = wrap(r.element.width, f(a[i], width));
    }
  };
  return {run, true};
}

/// `f(a, b, width)` on integers of `width` bits.
template <typename F>
Handler intBinary(F f) {
  auto run = [f](Machine &m, const Step &step) {
    Elements<int64_t> a(m.in(step, 0).ints), b(m.in(step, 1).ints);
    unsigned width = m.in(step, 0).element.width;
    TileValue &r = m.out(step);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      r.ints[i] = wrap(r.element.width, f(a[i], b[i], width));
    }
  };
  return {run, true};
}

/// A floating-point operation of one to three operands.
struct FloatFunction {
  double (*evaluate)(double a, double b, double c);
  /// How far another executor's result may be off, in units of the spacing of
  /// the element type: 0 if it is one of the operands or exact by nature, 0.5
  /// if IEEE demands the nearest, more for what libraries approximate.
  double ulps;
  /// |f(x) - f(y)| <= |x - y|, but f turns within any interval: sin, cos.
  bool isWave = false;
  /// What a GPU may do where the operation carries `afn`: so many ulps, of the
  /// function of an argument that is off by so much of itself. 0: as without.
  double approximateUlps = 0;
  double approximateArgument = 0;
  /// What is computed in float32 may be 0 where it lies below the smallest
  /// normal number.
  bool mayFlush = false;
  /// What upstream's instruction for float32 may be off by
  /// (Oracle::judgesUpstream). 0: as without.
  double upstreamUlps = 0;
};

Handler floatOp(FloatFunction function);

/// Of a sum of floats that has run: the error of an executor whose product
/// begins with the other addend, so that each rounding may be one of a number
/// as large as that and the products together.
void allowForAccumulation(Machine &m, const Step &step);

/// Error of one rounding to `format` of a result within `slack` of `value`,
/// whose operands are exact if slack == 0; `ulps` as in FloatFunction.
double roundingError(const FloatFormat &format, double value, double slack,
                     double ulps);

} // namespace nereid::interp

#endif // NEREID_INTERP_ELEMENTWISE_H
