//===- Number.h - Numbers that know their error and gradient ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The references of operators (kernels/*/reference.h) compute with these: in
// double precision, and beside each value a bound of the error that a plain
// loop in fp32 may have made of it (Wilkinson's running error analysis: each
// operation adds its rounding to what its operands' errors become). While a
// Tape lives in the thread, operations are recorded; `backward` then gives the
// derivatives of the result, with the bounds of a plain backward in fp32. No
// step of a difference, and no constant, is chosen.
//
// What fp32 means here: each operation is rounded once to 24 bits, numbers
// below 2^-126 may be flushed to 0, the functions are as exact as
// nereid/Interp/MathOps.cpp says, and beyond fp32's range nothing is claimed.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_TESTING_NUMBER_H
#define NEREID_KERNELS_TESTING_NUMBER_H

#include "nereid/Runtime/Tensor.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace nereid::kernels::reference {

/// |what is computed - value| <= error; infinity: no claim.
struct Bound {
  double value = 0, error = 0;
  bool isZero() const { return value == 0 && error == 0; }
};

/// fp32's unit roundoff, and its smallest normal number.
constexpr double unit = 0x1p-24, smallest = 0x1p-126;
/// A sum in another order has other partial sums, about as large as those of
/// the order that was computed (interp::orderAllowance).
constexpr double otherOrders = 4;

/// An operation's result: operands' errors have moved it by `moved`.
inline Bound rounded(double value, double moved, double roundings = 1) {
  double size = std::fabs(value) + moved;
  if (!(size <= std::numeric_limits<float>::max())) {
    return {value, std::numeric_limits<double>::infinity()};
  }
  return {value, moved + roundings * unit * size + smallest};
}

inline Bound operator+(Bound a, Bound b) {
  return rounded(a.value + b.value, a.error + b.error);
}
inline Bound operator-(Bound a) { return {-a.value, a.error}; }
inline Bound operator-(Bound a, Bound b) { return a + -b; }
inline Bound operator*(Bound a, Bound b) {
  return rounded(a.value * b.value, std::fabs(a.value) * b.error +
                                        std::fabs(b.value) * a.error +
                                        a.error * b.error);
}
Bound operator/(Bound a, Bound b);
Bound exp(Bound a);
Bound log(Bound a);
Bound sqrt(Bound a);
/// For numbers that are computed as `least` or more, whatever a's error is.
Bound rsqrt(Bound a, double least = 0);
Bound tanh(Bound a);
Bound erf(Bound a);
Bound pow(Bound a, double exponent);

/// A sum of fp32 in any order.
class BoundedSum {
public:
  void add(Bound a) {
    value += a.value;
    moved += a.error;
    sizes += std::fabs(value);
  }
  Bound total() const {
    return sizes == 0 && moved == 0
               ? Bound{value, 0}
               : rounded(value, moved + otherOrders * unit * sizes, 0);
  }

private:
  double value = 0, moved = 0, sizes = 0;
};

/// A number of a computation; one that a tape knows has a place in it.
struct Number : Bound {
  int32_t node = -1;
  Number(double value = 0) : Bound{value, 0} {}
  Number(Bound bound, int32_t node = -1) : Bound(bound), node(node) {}
};
using Numbers = std::vector<Number>;

/// What a kernel is given as a number of fp32.
inline Number parameter(double value) {
  return Bound{value, unit * std::fabs(value)};
}

/// The operations of one computation, in their order.
class Tape {
public:
  Tape(); ///< records this thread's operations
  ~Tape();
  Tape(const Tape &) = delete;
  Tape &operator=(const Tape &) = delete;

  Number leaf(double value);
  /// The derivatives of sum(seeds[i] * results[i]) by `leaves`.
  std::vector<Bound> backward(const Numbers &results,
                              const std::vector<double> &seeds,
                              const Numbers &leaves) const;

  struct Edge {
    int32_t operand;
    Bound slope;
  };
  /// A node of these operands; derivatives by it are kept in `type`.
  int32_t add(std::span<const Edge> edges, DType type = DType::Float32);
  /// This thread's; null where nothing is recorded.
  static Tape *current();

private:
  struct Node {
    size_t edgesEnd;
    DType type;
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  Tape *outer;
};

Number operator+(const Number &a, const Number &b);
Number operator-(const Number &a, const Number &b);
Number operator-(const Number &a);
Number operator*(const Number &a, const Number &b);
Number operator/(const Number &a, const Number &b);
Number exp(const Number &a);
Number log(const Number &a);
Number sqrt(const Number &a);
Number rsqrt(const Number &a, double least = 0);
Number tanh(const Number &a);
Number erf(const Number &a);
Number pow(const Number &a, double exponent);
/// 1 / (1 + exp(-a)).
Number sigmoid(const Number &a);
/// log(sum(exp(x))); of nothing, -infinity. Its derivatives are
/// exp(x - result), as kernels compute them.
Number logSumExp(std::span<const Number> x);

/// `a` as memory of `type` holds it; its derivative is kept there, too.
Number storedAs(const Number &a, DType type);
/// `a`; its derivative is kept in `type`.
Number gradientIn(const Number &a, DType type);
Numbers storedAs(Numbers values, DType type);
Numbers gradientIn(Numbers values, DType type);

/// A bound with one rounding to `type` more.
Bound roundedTo(Bound a, DType type);

class Sum {
public:
  void add(const Number &a) { addTerm(a, a, {1, 0}); }
  void addProduct(const Number &a, const Number &b);
  Number total() const;

private:
  void addTerm(const Bound &term, const Number &operand, Bound slope) {
    sum.add(term);
    record(operand, slope);
  }
  void record(const Number &operand, Bound slope) {
    if (operand.node >= 0) {
      edges.push_back({operand.node, slope});
    }
  }
  BoundedSum sum;
  std::vector<Tape::Edge> edges;
};

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_TESTING_NUMBER_H
