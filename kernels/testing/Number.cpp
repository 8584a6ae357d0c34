//===- Number.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/Number.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numbers>
#include <utility>

namespace nereid::kernels::reference {

static constexpr double unknown = std::numeric_limits<double>::infinity();
/// Two roundings are as far as one spacing of fp32.
static constexpr double roundingsOfUlp = 2;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The largest |f(x) - value| for x within a's error, of a monotonic f.
template <typename F>
static double movedBy(Bound a, double value, F f) {
  return a.error == 0 ? 0
                      : std::max(std::fabs(f(a.value + a.error) - value),
                                 std::fabs(f(a.value - a.error) - value));
}

Bound operator/(Bound a, Bound b) {
  double least = std::fabs(b.value) - b.error, value = a.value / b.value;
  return least > 0
             ? rounded(value, (a.error + std::fabs(value) * b.error) / least)
             : Bound{value, unknown};
}

/// May be 2 to the power of x * log2(e), whose constant and product are
/// rounded.
Bound exp(Bound a) {
  double value = std::exp(a.value);
  double argument = a.error + 2 * unit * std::fabs(a.value);
  return rounded(value, value * std::expm1(argument), 4 * roundingsOfUlp);
}

Bound log(Bound a) {
  double value = std::log(a.value);
  return a.value > a.error
             ? rounded(value,
                       movedBy(a, value, [](double x) { return std::log(x); }),
                       4 * roundingsOfUlp)
             : Bound{value, unknown};
}

Bound sqrt(Bound a) {
  double value = std::sqrt(a.value);
  return rounded(value, movedBy(a, value, [](double x) {
                   return std::sqrt(std::max(x, 0.0));
                 }));
}

Bound rsqrt(Bound a, double least) {
  auto f = [](double x) { return 1 / std::sqrt(x); };
  double value = f(a.value), low = std::max(a.value - a.error, least);
  return low > 0
             ? rounded(value,
                       a.error == 0 ? 0
                                    : std::max(f(low) - value,
                                               value - f(a.value + a.error)),
                       2 * roundingsOfUlp)
             : Bound{value, unknown};
}

Bound tanh(Bound a) {
  double value = std::tanh(a.value);
  return rounded(value,
                 movedBy(a, value, [](double x) { return std::tanh(x); }),
                 8 * roundingsOfUlp);
}

Bound erf(Bound a) {
  double value = std::erf(a.value);
  return rounded(value, movedBy(a, value, [](double x) { return std::erf(x); }),
                 8 * roundingsOfUlp);
}

Bound pow(Bound a, double exponent) {
  auto f = [=](double x) { return std::pow(x, exponent); };
  double value = f(a.value);
  return a.value > a.error
             ? rounded(value, movedBy(a, value, f), 16 * roundingsOfUlp)
             : Bound{value, unknown};
}

Bound roundedTo(Bound a, DType type) {
  // Half the distance of the smallest numbers, where they are not flushed.
  double relative = type == bf16 ? 0x1p-8 : type == f16 ? 0x1p-11 : unit;
  double absolute = type == f16 ? 0x1p-25 : smallest;
  return {a.value,
          a.error + relative * (std::fabs(a.value) + a.error) + absolute};
}

//===----------------------------------------------------------------------===//
// The tape
//===----------------------------------------------------------------------===//

static thread_local Tape *recording = nullptr;

Tape::Tape() : outer(std::exchange(recording, this)) {}
Tape::~Tape() { recording = outer; }
Tape *Tape::current() { return recording; }

int32_t Tape::add(std::span<const Edge> more, DType type) {
  edges.insert(edges.end(), more.begin(), more.end());
  nodes.push_back({edges.size(), type});
  return int32_t(nodes.size() - 1);
}

Number Tape::leaf(double value) { return {Bound{value, 0}, add({})}; }

std::vector<Bound> Tape::backward(const Numbers &results,
                                  const std::vector<double> &seeds,
                                  const Numbers &leaves) const {
  std::vector<BoundedSum> sums(nodes.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].node >= 0) {
      sums[size_t(results[i].node)].add({seeds[i], 0});
    }
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    Bound gradient = sums[i].total();
    if (gradient.isZero()) {
      continue; // even where a slope is unknown
    }
    if (nodes[i].type != f32) {
      gradient = roundedTo(gradient, nodes[i].type);
    }
    size_t end = nodes[i].edgesEnd, begin = i ? nodes[i - 1].edgesEnd : 0;
    for (size_t e = begin; e < end; ++e) {
      const Edge &edge = edges[e];
      bool isOne = edge.slope.value == 1 && edge.slope.error == 0;
      sums[size_t(edge.operand)].add(isOne ? gradient : gradient * edge.slope);
    }
  }
  std::vector<Bound> gradients;
  for (const Number &leaf : leaves) {
    gradients.push_back(leaf.node >= 0 ? sums[size_t(leaf.node)].total()
                                       : Bound{});
  }
  return gradients;
}

/// A result of up to two operands.
static Number result(Bound value, const Number &a, Bound slopeA,
                     const Number &b = {}, Bound slopeB = {},
                     DType type = DType::Float32) {
  if (a.node < 0 && b.node < 0) {
    return value;
  }
  assert(recording && "the tape of an operand is gone");
  Tape::Edge edges[2];
  size_t count = 0;
  if (a.node >= 0) {
    edges[count++] = {a.node, slopeA};
  }
  if (b.node >= 0) {
    edges[count++] = {b.node, slopeB};
  }
  return {value, recording->add({edges, count}, type)};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// What operators on numbers compute of their bounds.
static Bound bound(const Number &a) { return a; }

static constexpr Bound one{1, 0};

Number operator+(const Number &a, const Number &b) {
  return result(bound(a) + bound(b), a, one, b, one);
}
Number operator-(const Number &a, const Number &b) {
  return result(bound(a) - bound(b), a, one, b, {-1, 0});
}
Number operator-(const Number &a) { return result(-bound(a), a, {-1, 0}); }
Number operator*(const Number &a, const Number &b) {
  return result(bound(a) * bound(b), a, b, b, a);
}
Number operator/(const Number &a, const Number &b) {
  Bound quotient = bound(a) / bound(b);
  if (a.node < 0 && b.node < 0) {
    return quotient;
  }
  Bound inverse = one / bound(b);
  return result(quotient, a, inverse, b, -(quotient * inverse));
}
Number exp(const Number &a) {
  Bound value = exp(bound(a));
  return result(value, a, value);
}
Number log(const Number &a) { return result(log(bound(a)), a, one / bound(a)); }
Number sqrt(const Number &a) {
  Bound value = sqrt(bound(a));
  return a.node < 0 ? Number(value) : result(value, a, Bound{0.5, 0} / value);
}
Number rsqrt(const Number &a, double least) {
  Bound value = rsqrt(bound(a), least);
  return result(value, a, Bound{-0.5, 0} * value * value * value);
}
Number tanh(const Number &a) {
  Bound value = tanh(bound(a));
  return result(value, a, one - value * value);
}
Number erf(const Number &a) {
  Bound x = a;
  return result(erf(x), a,
                Bound{2 * std::numbers::inv_sqrtpi, 0} * exp(-(x * x)));
}
Number pow(const Number &a, double exponent) {
  return result(pow(bound(a), exponent), a,
                Bound{exponent, 0} * pow(bound(a), exponent - 1));
}
Number sigmoid(const Number &a) {
  Bound value = one / (one + exp(-bound(a)));
  return result(value, a, value * (one - value));
}

Number logSumExp(std::span<const Number> x) {
  double most = -INFINITY;
  for (const Number &one : x) {
    most = std::fmax(most, one.value);
  }
  if (std::isinf(most)) {
    return most;
  }
  BoundedSum total;
  for (const Number &one : x) {
    total.add(exp(bound(one) - Bound{most, 0}));
  }
  Bound value = Bound{most, 0} + log(total.total());
  std::vector<Tape::Edge> edges;
  for (const Number &one : x) {
    if (one.node >= 0) {
      edges.push_back({one.node, exp(bound(one) - value)});
    }
  }
  return {value, edges.empty() ? -1 : recording->add(edges)};
}

Number storedAs(const Number &a, DType type) {
  return type == f32 ? a : result(roundedTo(a, type), a, one, {}, {}, type);
}
Number gradientIn(const Number &a, DType type) {
  return type == f32 ? a : result(a, a, one, {}, {}, type);
}
Numbers storedAs(Numbers values, DType type) {
  for (Number &value : values) {
    value = storedAs(value, type);
  }
  return values;
}
Numbers gradientIn(Numbers values, DType type) {
  for (Number &value : values) {
    value = gradientIn(value, type);
  }
  return values;
}

void Sum::addProduct(const Number &a, const Number &b) {
  sum.add(bound(a) * bound(b));
  record(a, b);
  record(b, a);
}

Number Sum::total() const {
  return {sum.total(), edges.empty() ? -1 : recording->add(edges)};
}

} // namespace nereid::kernels::reference
