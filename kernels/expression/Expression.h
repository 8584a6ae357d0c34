//===- Expression.h - Element-wise chains as one kernel --------*- C++ -*-===//
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
// launched. `auto y = x + 1` is thus no tensor.
//
// Formula:      the one that is written; gelu(x) = x * (1 + erf(x/sqrt 2)) / 2,
//               geluTanh(x) = x * (1 + tanh(sqrt(2/pi)(x + 0.044715 x^3))) / 2,
//               silu(x) = x * sigmoid(x), reluSquared(x) = max(x, 0)^2,
//               swiglu(g, u) = silu(g) * u, geglu(g, u) = gelu(g) * u
// Shapes:       broadcast as NumPy's; any strides; the result is row-major
// Types:        fp32, fp16, bf16, integers of 8 to 64 bits, int1. Types meet as
//               PyTorch's: fp16 with bf16 is fp32, a number takes the tensor's
//               type. Arithmetic of floats is fp32 throughout: only the result
//               and what `cast` asks for is rounded
// Gradients:    every variable, from expressions that are derived: the ones of
//               the full shape are one kernel together, those of broadcast
//               variables are summed after
// Memory:       each tensor is read once, the result is written once. The tape
//               keeps the tensors that derivatives read; a broadcast variable's
//               gradient needs fp32 scratch of the result's shape
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
#include <span>

namespace nereid::kernels {

namespace expression {
struct Node;
} // namespace expression

/// A handle; copies are the same expression. Immutable.
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

  /// The value, computed now. Throws InvalidArgument where a variable requires
  /// a gradient and one is recorded: a tensor would lose it.
  operator Tensor() const;
  /// The same as one operator on a tape.
  operator Variable() const;

  const Shape &shape() const;
  DType dtype() const;

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
Expression equal(const Expression &a, const Expression &b);
Expression notEqual(const Expression &a, const Expression &b);

/// a where the condition is not 0, else b.
Expression where(const Expression &condition, const Expression &a,
                 const Expression &b);
/// NaN where either is NaN.
Expression maximum(const Expression &a, const Expression &b);
Expression minimum(const Expression &a, const Expression &b);

// Of floats; integers become fp32.
Expression exp(const Expression &x);
Expression log(const Expression &x);
Expression sqrt(const Expression &x);
Expression rsqrt(const Expression &x);
Expression tanh(const Expression &x);
Expression sigmoid(const Expression &x);
Expression erf(const Expression &x);
Expression pow(const Expression &x, double exponent);
Expression abs(const Expression &x);

/// Rounded to the type. Floats become integers towards zero.
Expression cast(const Expression &x, DType dtype);

/// 0 with probability `p`, else x / (1 - p). Element i of the result
/// (row-major) is dropped where tl.rand(seed, offset + i) < p. `x` must have
/// the result's shape; the backward draws the same numbers again.
Expression dropout(const Expression &x, double p, int64_t seed,
                   int64_t offset = 0);

Expression relu(const Expression &x);
Expression reluSquared(const Expression &x);
Expression silu(const Expression &x);
Expression gelu(const Expression &x);
Expression geluTanh(const Expression &x);
Expression swiglu(const Expression &gate, const Expression &up);
Expression geglu(const Expression &gate, const Expression &up);
inline Expression add(const Expression &a, const Expression &b) {
  return a + b;
}
inline Expression multiply(const Expression &a, const Expression &b) {
  return a * b;
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
} // namespace nereid

#endif // NEREID_KERNELS_EXPRESSION_EXPRESSION_H
