//===- Expression.h - Element-wise chains as one kernel ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Tensor y = gelu(x + bias) * gate;      // one kernel
//   Variable z = silu(gate) * up;          // one kernel, one node of the tape
//   puts(source(gelu(x + bias)).c_str());  // the kernel, to be read
//
// Operators on tensors, variables and numbers build an Expression and compute
// nothing. What turns it into a Tensor or a Variable evaluates it: it becomes
// the text of a kernel, which is compiled when that text is first met, and
// launched. `auto y = x + 1` is thus no tensor, but a value all the same: it is
// computed when that is asked for (docs/operators/Values.md).
//
// Formula:      the one that is written; gelu(x) = x * (1 + erf(x/sqrt 2)) / 2,
//               geluTanh(x) = x * (1 + tanh(sqrt(2/pi)(x + 0.044715 x^3))) / 2,
//               silu(x) = x * sigmoid(x), reluSquared(x) = max(x, 0)^2,
//               swiglu(g, u) = silu(g) * u, geglu(g, u) = gelu(g) * u,
//               softplus(x, b) = log(1 + exp(b x)) / b
// Shapes:       broadcast as NumPy's; any strides; the result is row-major
// Types:        fp32, fp16, bf16, fp64, integers of 8 to 64 bits, int1. Types
//               meet as PyTorch's: fp16 with bf16 is fp32, a number takes the
//               tensor's type. Arithmetic of floats is fp32 throughout: only
//               the result and what `cast` asks for is rounded. What fp64 is
//               part of is fp64, and needs a compiler
// Gradients:    every variable, from expressions that are derived: the ones of
//               the full shape are one kernel together, those of broadcast
//               variables are summed after. floor, ceil, round and comparisons
//               have none; pow(x, p) has PyTorch's: of x 0 where p is 0, of p 0
//               where x is 0 and p is not negative
// Memory:       each tensor is read once, the result is written once; one of
//               more than 128 operations is several kernels, with tensors of
//               fp32 between them. The tape keeps the tensors that derivatives
//               read; a broadcast variable's gradient needs fp32 scratch of the
//               result's shape
// Determinism:  the same bits in each run on one device
// Source:       Hendrycks, Gimpel, "Gaussian Error Linear Units",
//               arXiv 1606.08415; Shazeer, "GLU Variants Improve Transformer",
//               arXiv 2002.05202
//
// In a program without a compiler, common expressions (sums, products, numbers,
// activations, swiglu, geglu, dropout) and their gradients are one kernel of
// kernels/expression/expression.py where all is row-major and of one type.
// Others are a kernel for each operation, in fp32, and integers are refused.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_EXPRESSION_H
#define NEREID_KERNELS_EXPRESSION_EXPRESSION_H

#include "nereid/Autograd/Variable.h"

#include <concepts>
#include <iosfwd>
#include <optional>
#include <span>

namespace nereid::kernels {

namespace expression {
struct Node;
} // namespace expression

/// A handle; copies are the same expression. Immutable. Threads may use it at
/// once.
class Expression {
public:
  /// Throws InvalidArgument for an undefined tensor or an fp64 or fp8 one.
  Expression(const Tensor &tensor);
  Expression(const Variable &variable);
  /// A number: it has no shape, and takes the type of what it meets. Kernels
  /// get it as an argument, so that another number compiles nothing.
  template <typename T>
    requires std::integral<T> || std::floating_point<T>
  Expression(T number)
      : Expression(static_cast<double>(number), integerOf(number),
                   std::integral<T>) {}
  explicit Expression(std::shared_ptr<const expression::Node> node)
      : node(std::move(node)) {}

  /// `value()`. Throws InvalidArgument where a variable requires a gradient and
  /// one is recorded: a tensor would lose it.
  operator Tensor() const;
  /// The same as one operator on a tape.
  operator Variable() const;

  const Shape &shape() const;
  DType dtype() const;
  int rank() const { return static_cast<int>(shape().size()); }
  int64_t size(int axis) const;
  int64_t numel() const;

  /// The value, computed when it is first asked for, and kept: this expression
  /// and its copies give the same variable each time. One that was computed
  /// under a NoGrad is computed again where a gradient is recorded.
  Variable variable() const;
  Tensor value() const { return variable().value(); }
  // Of `variable()`.
  void backward(Tensor gradient = Tensor(), bool retainGraph = false) const {
    variable().backward(std::move(gradient), retainGraph);
  }
  Tensor grad() const { return variable().grad(); }
  Variable retainGrad() const { return variable().retainGrad(); }
  Variable detach() const { return variable().detach(); }
  bool requiresGrad() const;
  Device device() const;
  double item() const { return value().item(); }
  Variable reshape(Shape to) const { return variable().reshape(std::move(to)); }
  Variable view(Shape to) const { return variable().view(std::move(to)); }
  Variable flatten() const { return variable().flatten(); }
  Variable transpose(int a, int b) const { return variable().transpose(a, b); }
  Variable permute(const std::vector<int> &order) const {
    return variable().permute(order);
  }
  Variable slice(int axis, int64_t start, int64_t stop = INT64_MAX,
                 int64_t step = 1) const {
    return variable().slice(axis, start, stop, step);
  }
  Variable select(int axis, int64_t index) const {
    return variable().select(axis, index);
  }
  Variable operator[](int64_t index) const { return variable()[index]; }
  Variable expand(Shape to) const { return variable().expand(std::move(to)); }
  Variable unsqueeze(int axis) const { return variable().unsqueeze(axis); }
  Variable squeeze(int axis) const { return variable().squeeze(axis); }

  std::shared_ptr<const expression::Node> node;

private:
  /// A double has no more than 53 bits of an integer.
  Expression(double number, int64_t integer, bool isInteger);
  template <typename T>
  static int64_t integerOf(T number) {
    return std::integral<T> ? static_cast<int64_t>(number) : 0;
  }
};

Tensor evaluate(const Expression &expression);
/// Into a tensor of its shape, of any strides and type; what the tensor shares
/// with the expression's own tensors must be the same elements. Throws
/// InvalidArgument.
void evaluateInto(const Tensor &result, const Expression &expression);
/// Several at once, of one shape: one kernel that reads each tensor once.
std::vector<Tensor> evaluate(std::span<const Expression> expressions);
/// The text of the kernel that `evaluate` launches.
std::string source(const Expression &expression);
std::string source(std::span<const Expression> expressions);
/// Its value, as a tensor prints (nereid/Runtime/Print.h).
std::ostream &operator<<(std::ostream &stream, const Expression &expression);

// True division: the quotient of integers is fp32. Comparisons are int1.
Expression operator+(const Expression &a, const Expression &b);
Expression operator-(const Expression &a, const Expression &b);
Expression operator*(const Expression &a, const Expression &b);
Expression operator/(const Expression &a, const Expression &b);
Expression operator-(const Expression &x);
Expression operator<(const Expression &a, const Expression &b);
Expression operator<=(const Expression &a, const Expression &b);
Expression operator>(const Expression &a, const Expression &b);
Expression operator>=(const Expression &a, const Expression &b);
Expression operator==(const Expression &a, const Expression &b);
Expression operator!=(const Expression &a, const Expression &b);
inline Expression equal(const Expression &a, const Expression &b) {
  return a == b;
}
inline Expression notEqual(const Expression &a, const Expression &b) {
  return a != b;
}
inline Expression less(const Expression &a, const Expression &b) {
  return a < b;
}
inline Expression lessEqual(const Expression &a, const Expression &b) {
  return a <= b;
}
inline Expression greater(const Expression &a, const Expression &b) {
  return a > b;
}
inline Expression greaterEqual(const Expression &a, const Expression &b) {
  return a >= b;
}
/// A number counts as true where it is not 0; the result is int1.
Expression logicalAnd(const Expression &a, const Expression &b);
Expression logicalOr(const Expression &a, const Expression &b);
Expression logicalNot(const Expression &x);
Expression isnan(const Expression &x);
Expression isinf(const Expression &x);

// A variable becomes another one, after which the old one stays in the graph;
// copies of the handle keep the old. A tensor's own elements change, in its
// type: the right side may read them, where they are the same elements.
Variable &operator+=(Variable &x, const Expression &y);
Variable &operator-=(Variable &x, const Expression &y);
Variable &operator*=(Variable &x, const Expression &y);
Variable &operator/=(Variable &x, const Expression &y);
Tensor &operator+=(Tensor &x, const Expression &y);
Tensor &operator-=(Tensor &x, const Expression &y);
Tensor &operator*=(Tensor &x, const Expression &y);
Tensor &operator/=(Tensor &x, const Expression &y);
Expression &operator+=(Expression &x, const Expression &y);
Expression &operator-=(Expression &x, const Expression &y);
Expression &operator*=(Expression &x, const Expression &y);
Expression &operator/=(Expression &x, const Expression &y);

/// a where the condition is not 0, else b.
Expression where(const Expression &condition, const Expression &a,
                 const Expression &b);
/// NaN where either is NaN.
Expression maximum(const Expression &a, const Expression &b);
Expression minimum(const Expression &a, const Expression &b);
/// minimum(maximum(x, least), most), where an absent bound does not bound: the
/// gradient is x's from bound to bound, bounds included. NaN stays NaN.
Expression clamp(const Expression &x, const std::optional<Expression> &least,
                 const std::optional<Expression> &most = std::nullopt);
inline Expression clip(const Expression &x,
                       const std::optional<Expression> &least,
                       const std::optional<Expression> &most = std::nullopt) {
  return clamp(x, least, most);
}

// Of floats; integers become fp32.
Expression exp(const Expression &x);
Expression log(const Expression &x);
Expression sqrt(const Expression &x);
Expression rsqrt(const Expression &x);
Expression tanh(const Expression &x);
Expression sigmoid(const Expression &x);
Expression erf(const Expression &x);
Expression sin(const Expression &x);
Expression cos(const Expression &x);
Expression log1p(const Expression &x); ///< log(1 + x), exact near 0
Expression expm1(const Expression &x); ///< e^x - 1, exact near 0
/// log(1 + exp(beta x)) / beta, for any x.
Expression softplus(const Expression &x, double beta = 1);
Expression logSigmoid(const Expression &x);
/// Another exponent compiles nothing. Broadcasts.
Expression pow(const Expression &x, const Expression &exponent);
Expression pow(const Expression &x, double exponent);

// Integers stay as they are.
Expression floor(const Expression &x);
Expression ceil(const Expression &x);
Expression round(const Expression &x); ///< halves to even

Expression abs(const Expression &x);
Expression sign(const Expression &x);
Expression square(const Expression &x);
Expression reciprocal(const Expression &x);

/// Rounded to the type. Floats become integers towards zero.
Expression cast(const Expression &x, DType dtype);

/// 0 with probability `p`, else x / (1 - p); of p = 1 all are 0. Element i of
/// the result (row-major) is dropped where tl.rand(seed, offset + i) < p. `x`
/// must have the result's shape; the backward draws the same numbers again.
Expression dropout(const Expression &x, double p, int64_t seed,
                   int64_t offset = 0);

Expression relu(const Expression &x);
Expression leakyRelu(const Expression &x, double slope = 0.01);
Expression elu(const Expression &x, double alpha = 1);
Expression reluSquared(const Expression &x);
Expression silu(const Expression &x);
Expression gelu(const Expression &x);
Expression geluTanh(const Expression &x);
Expression swiglu(const Expression &gate, const Expression &up);
Expression geglu(const Expression &gate, const Expression &up);
inline Expression add(const Expression &a, const Expression &b) {
  return a + b;
}
inline Expression subtract(const Expression &a, const Expression &b) {
  return a - b;
}
inline Expression multiply(const Expression &a, const Expression &b) {
  return a * b;
}
inline Expression divide(const Expression &a, const Expression &b) {
  return a / b;
}
inline Expression addBias(const Expression &x, const Expression &bias) {
  return x + bias;
}

} // namespace nereid::kernels

namespace nereid {
// Where operators on tensors and variables are looked for.
using kernels::operator+;
using kernels::operator-;
using kernels::operator*;
using kernels::operator/;
using kernels::operator<;
using kernels::operator<=;
using kernels::operator>;
using kernels::operator>=;
using kernels::operator==;
using kernels::operator!=;
using kernels::operator+=;
using kernels::operator-=;
using kernels::operator*=;
using kernels::operator/=;
} // namespace nereid

#endif // NEREID_KERNELS_EXPRESSION_EXPRESSION_H
