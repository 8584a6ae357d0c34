//===- Expression.cpp - Types and shapes of expressions ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Node.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

[[noreturn]] static void invalid(const std::string &message) {
  raise({ErrorCode::InvalidArgument, "expression: " + message, {}});
}

static std::string text(const Node &node) {
  std::string text = std::string(shortName(node.dtype)) + "[";
  for (size_t i = 0; i < node.shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(node.shape[i]);
  }
  return text + "]";
}

static Shape broadcast(const Node &a, const Node &b) {
  const Shape &x = a.shape, &y = b.shape;
  Shape result(std::max(x.size(), y.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t m = i < x.size() ? x[x.size() - 1 - i] : 1;
    int64_t n = i < y.size() ? y[y.size() - 1 - i] : 1;
    if (m != n && m != 1 && n != 1) {
      invalid("expected shapes whose sizes, counted from the last, are equal "
              "or 1, got " +
              text(a) + " and " + text(b));
    }
    result[result.size() - 1 - i] = m == 1 ? n : m;
  }
  return result;
}

/// Does it read memory of `result`, but for an element where it is written?
static bool readsElsewhere(const Node &root, const Tensor &result) {
  auto *y = static_cast<const std::byte *>(result.data());
  NodePtr node = root.shared_from_this();
  for (const Node *leaf : inOrder({&node, 1})) {
    const Tensor &x = leaf->tensor;
    if (!x.defined() || x.numel() == 0 || result.numel() == 0) {
      continue;
    }
    auto *at = static_cast<const std::byte *>(x.data());
    if (at >= y + result.extentBytes() || y >= at + x.extentBytes()) {
      continue;
    }
    bool isSame = at == y && x.dtype() == result.dtype() &&
                  x.expand(result.shape()).strides() == result.strides();
    if (!isSame) {
      return true;
    }
  }
  return false;
}

void kernels::evaluateInto(const Tensor &result, const Expression &given) {
  const Node &node = *given.node;
  if (!node.device) {
    invalid("expected a tensor in it, got numbers alone");
  }
  if (!result.defined() || result.shape() != node.shape ||
      result.device() != *node.device) {
    invalid("expected a result like " + text(node) + " on " +
            node.device->str() + ", got " + result.str() +
            (result.defined() ? " on " + result.device().str() : ""));
  }
  if (result.sharesElements()) {
    invalid("expected a result whose elements are places of their own, got " +
            result.str());
  }
  if (readsElsewhere(node, result)) {
    DType type = result.dtype();
    result.copyFrom(launch({&given.node, 1}, {&type, 1}, {})[0]);
    return;
  }
  result.noteWrite();
  launchInto(result, given.node);
}

/// No form that is compiled ahead of time has fp64.
static void checkDouble(const char *what) {
  if (!hasCompiler()) {
    invalid(std::string("expected ") + what +
            " of fp32, fp16, bf16 or integers, got fp64; " +
            whoHasNoCompiler() + "; hint: " + howToHaveACompiler());
  }
}

static Expression leaf(const Tensor &tensor, const Variable &variable) {
  if (!tensor.defined()) {
    invalid("expected a tensor, got an undefined one");
  }
  DType t = tensor.dtype();
  if (isFloat(t) && byteSize(t) == 1) {
    invalid(
        "expected a tensor of fp32, fp16, bf16, fp64, integers or int1, got " +
        tensor.str());
  }
  if (t == f64) {
    checkDouble("a tensor");
  }
  auto node = std::make_shared<Node>();
  node->dtype = t;
  node->shape = tensor.shape();
  node->tensor = tensor;
  node->variable = variable;
  node->device = tensor.device();
  return Expression(std::move(node));
}

Expression::Expression(const Tensor &tensor)
    : node(leaf(tensor, Variable()).node) {}

Expression::Expression(const Variable &variable)
    : node(leaf(variable.value(), variable).node) {}

Expression::Expression(double number, int64_t integer, bool isInteger) {
  auto made = std::make_shared<Node>();
  made->op = Op::Number;
  made->isNumber = true;
  made->isInteger = isInteger;
  made->dtype = isInteger ? i64 : f32;
  made->number = number;
  made->integer = integer;
  node = std::move(made);
}

const Shape &Expression::shape() const { return node->shape; }
DType Expression::dtype() const { return node->dtype; }

int64_t Expression::numel() const {
  int64_t count = 1;
  for (int64_t size : node->shape) {
    count *= size;
  }
  return count;
}

int64_t Expression::size(int axis) const {
  int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) {
    invalid((rank() == 0
                 ? "expected no dimension"
                 : "expected a dimension from " + std::to_string(-rank()) +
                       " to " + std::to_string(rank() - 1)) +
            ", of " + text(*node) + ", got " + std::to_string(axis));
  }
  return node->shape[size_t(at)];
}

Device Expression::device() const {
  if (!node->device) {
    invalid("expected a tensor in it, got numbers alone");
  }
  return *node->device;
}

Expression expression::constant(double value) {
  auto node = std::make_shared<Node>();
  node->op = Op::Constant;
  node->isNumber = true;
  node->number = value;
  return Expression(std::move(node));
}

Places::Places(std::span<const Node *const> order,
               std::pmr::memory_resource *memory)
    : order(order), byNode(memory) {
  constexpr size_t few = 32; // are looked for one after the other
  if (order.size() > few) {
    for (size_t i = 0; i < order.size(); ++i) {
      byNode.emplace(order[i], i);
    }
  }
}

Expression expression::gradientOf(const Node &result) {
  auto node = std::make_shared<Node>();
  node->op = Op::Gradient;
  node->dtype = result.dtype;
  node->shape = result.shape;
  node->device = result.device;
  return Expression(std::move(node));
}

NodePtr expression::make(Op op, Inputs inputs, DType dtype, double number) {
  auto node = std::make_shared<Node>();
  node->op = op;
  node->dtype = dtype;
  node->number = number;
  node->isNumber = true;
  for (NodePtr &input : inputs) {
    if (input->size > mostNodes && input->device) {
      input = partOf(input);
    }
    node->size += input->size;
    if (input->device && node->device && *input->device != *node->device) {
      invalid("expected tensors of one device, got some on " +
              node->device->str() + " and on " + input->device->str());
    }
    node->device = node->device ? node->device : input->device;
    node->isNumber &= input->isNumber;
    node->shape = broadcast(*node, *input);
  }
  node->isInteger = node->isNumber && !isFloat(dtype);
  node->inputs = std::move(inputs);
  if (node->size > mostNodes) { // nodes of several users are counted once
    NodePtr root = node;
    node->size = inOrder({&root, 1}).size();
  }
  return node;
}

/// The type of a + b.
static DType promote(const Node &a, const Node &b) {
  if (a.isNumber != b.isNumber) {
    const Node &tensor = a.isNumber ? b : a, &number = a.isNumber ? a : b;
    if (isFloat(tensor.dtype)) {
      return tensor.dtype;
    }
    return !number.isInteger ? f32 : tensor.dtype == i1 ? i64 : tensor.dtype;
  }
  DType x = a.dtype, y = b.dtype;
  if (x == y) {
    return x;
  }
  if (isFloat(x) || isFloat(y)) {
    return !isFloat(x) ? y : !isFloat(y) ? x : x == f64 || y == f64 ? f64 : f32;
  }
  if (x == i1 || y == i1) {
    return x == i1 ? y : x;
  }
  if (isSigned(x) == isSigned(y)) {
    return bitWidth(x) > bitWidth(y) ? x : y;
  }
  // The signed type that holds both; 64 bits where none does.
  unsigned bits = std::max(bitWidth(isSigned(x) ? x : y),
                           2 * bitWidth(isSigned(x) ? y : x));
  return bits <= 16 ? i16 : bits <= 32 ? i32 : i64;
}

/// Of few nodes: those that are known are looked for one after the other.
template <typename Nodes>
static void visitFew(const Node *node, Nodes &order) {
  if (std::find(order.begin(), order.end(), node) != order.end()) {
    return;
  }
  for (const NodePtr &input : node->inputs) {
    visitFew(input.get(), order);
  }
  order.push_back(node);
}

template <typename Nodes>
static void visitMany(std::span<const NodePtr> roots, Nodes &order) {
  std::unordered_set<const Node *> seen;
  // Long chains would overflow the stack of a recursion.
  std::vector<std::pair<const Node *, size_t>> stack;
  for (const NodePtr &root : roots) {
    if (seen.insert(root.get()).second) {
      stack.push_back({root.get(), 0});
    }
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (next == node->inputs.size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const Node *input = node->inputs[next++].get();
      if (seen.insert(input).second) {
        stack.push_back({input, 0});
      }
    }
  }
}

template <typename Nodes>
static void visit(std::span<const NodePtr> roots, Nodes &order) {
  constexpr size_t few = 48;
  size_t most = 0; // that there may be
  for (const NodePtr &root : roots) {
    most += root->size;
  }
  if (most > few) {
    visitMany(roots, order);
    return;
  }
  order.reserve(most);
  for (const NodePtr &root : roots) {
    visitFew(root.get(), order);
  }
}

std::vector<const Node *> expression::inOrder(std::span<const NodePtr> roots) {
  std::vector<const Node *> order;
  visit(roots, order);
  return order;
}

void expression::inOrder(std::span<const NodePtr> roots,
                         std::pmr::vector<const Node *> &order) {
  visit(roots, order);
}

static Expression binary(Op op, const Expression &a, const Expression &b) {
  DType type = promote(*a.node, *b.node);
  // Sums and products of int1 are no int1.
  bool counts = op == Op::Add || op == Op::Subtract || op == Op::Multiply;
  if (counts && type == i1) {
    type = i32;
  }
  return Expression(make(op, {a.node, b.node}, type));
}

static Expression compare(Op op, const Expression &a, const Expression &b) {
  return Expression(make(op, {a.node, b.node}, i1));
}

static Expression ofFloat(Op op, const Expression &x, double number = 0) {
  DType type = isFloat(x.dtype()) ? x.dtype() : f32;
  return Expression(make(op, {x.node}, type, number));
}

namespace nereid::kernels {

Expression operator+(const Expression &a, const Expression &b) {
  return binary(Op::Add, a, b);
}
Expression operator-(const Expression &a, const Expression &b) {
  return binary(Op::Subtract, a, b);
}
Expression operator*(const Expression &a, const Expression &b) {
  return binary(Op::Multiply, a, b);
}
Expression operator/(const Expression &a, const Expression &b) {
  DType type = promote(*a.node, *b.node);
  return Expression(
      make(Op::Divide, {a.node, b.node}, isFloat(type) ? type : f32));
}
Expression operator-(const Expression &x) {
  DType type = x.dtype() == i1 ? i32 : x.dtype();
  return Expression(make(Op::Negate, {x.node}, type));
}
Expression operator<(const Expression &a, const Expression &b) {
  return compare(Op::Less, a, b);
}
Expression operator<=(const Expression &a, const Expression &b) {
  return compare(Op::LessEqual, a, b);
}
Expression operator>(const Expression &a, const Expression &b) { return b < a; }
Expression operator>=(const Expression &a, const Expression &b) {
  return b <= a;
}
Expression operator==(const Expression &a, const Expression &b) {
  return compare(Op::Equal, a, b);
}
Expression operator!=(const Expression &a, const Expression &b) {
  return compare(Op::NotEqual, a, b);
}
Expression logicalAnd(const Expression &a, const Expression &b) {
  return cast(cast(a != 0, i32) * cast(b != 0, i32), i1);
}
Expression logicalOr(const Expression &a, const Expression &b) {
  return cast(cast(a != 0, i32) + cast(b != 0, i32), i1);
}
Expression logicalNot(const Expression &x) { return x == 0; }
Expression isnan(const Expression &x) { return x != x; }
Expression isinf(const Expression &x) {
  return abs(x) == std::numeric_limits<double>::infinity();
}

Variable &operator+=(Variable &x, const Expression &y) { return x = x + y; }
Variable &operator-=(Variable &x, const Expression &y) { return x = x - y; }
Variable &operator*=(Variable &x, const Expression &y) { return x = x * y; }
Variable &operator/=(Variable &x, const Expression &y) { return x = x / y; }
Expression &operator+=(Expression &x, const Expression &y) { return x = x + y; }
Expression &operator-=(Expression &x, const Expression &y) { return x = x - y; }
Expression &operator*=(Expression &x, const Expression &y) { return x = x * y; }
Expression &operator/=(Expression &x, const Expression &y) { return x = x / y; }

static Tensor &assign(Tensor &x, const Expression &value) {
  if (value.requiresGrad() && gradEnabled()) {
    invalid("expected tensors, got a variable that requires a gradient, which "
            "a tensor would lose; hint: Variable y = ..., or NoGrad");
  }
  evaluateInto(x, value);
  return x;
}
Tensor &operator+=(Tensor &x, const Expression &y) { return assign(x, x + y); }
Tensor &operator-=(Tensor &x, const Expression &y) { return assign(x, x - y); }
Tensor &operator*=(Tensor &x, const Expression &y) { return assign(x, x * y); }
Tensor &operator/=(Tensor &x, const Expression &y) { return assign(x, x / y); }

Expression where(const Expression &condition, const Expression &a,
                 const Expression &b) {
  return Expression(make(Op::Where, {condition.node, a.node, b.node},
                         promote(*a.node, *b.node)));
}
Expression maximum(const Expression &a, const Expression &b) {
  return binary(Op::Maximum, a, b);
}
Expression minimum(const Expression &a, const Expression &b) {
  return binary(Op::Minimum, a, b);
}
Expression clamp(const Expression &x, const std::optional<Expression> &least,
                 const std::optional<Expression> &most) {
  if (!least && !most) {
    invalid("clamp: expected a least or a most value, got neither");
  }
  Expression y = x;
  if (least) {
    y = where(y < *least, *least, y);
  }
  return most ? where(*most < y, *most, y) : y;
}

Expression exp(const Expression &x) { return ofFloat(Op::Exp, x); }
Expression log(const Expression &x) { return ofFloat(Op::Log, x); }
Expression sqrt(const Expression &x) { return ofFloat(Op::Sqrt, x); }
Expression rsqrt(const Expression &x) { return ofFloat(Op::Rsqrt, x); }
Expression tanh(const Expression &x) { return ofFloat(Op::Tanh, x); }
Expression sigmoid(const Expression &x) { return ofFloat(Op::Sigmoid, x); }
Expression erf(const Expression &x) { return ofFloat(Op::Erf, x); }
Expression sin(const Expression &x) { return ofFloat(Op::Sin, x); }
Expression cos(const Expression &x) { return ofFloat(Op::Cos, x); }
Expression log1p(const Expression &x) { return ofFloat(Op::Log1p, x); }
Expression expm1(const Expression &x) { return ofFloat(Op::Expm1, x); }

Expression softplus(const Expression &x, double beta) {
  if (!(beta > 0)) {
    invalid("softplus: expected a beta above 0, got " + std::to_string(beta));
  }
  return beta == 1 ? ofFloat(Op::Softplus, x)
                   : ofFloat(Op::Softplus, x * beta) / beta;
}
Expression logSigmoid(const Expression &x) { return -softplus(-x); }

Expression pow(const Expression &x, const Expression &exponent) {
  DType type = promote(*x.node, *exponent.node);
  return Expression(
      make(Op::Power, {x.node, exponent.node}, isFloat(type) ? type : f32));
}

Expression pow(const Expression &x, double exponent) {
  return exponent == 2     ? isFloat(x.dtype()) ? x * x : pow(cast(x, f32), 2)
         : exponent == 0.5 ? sqrt(x)
                           : pow(x, Expression(exponent));
}

static Expression toInteger(Op op, const Expression &x) {
  return isFloat(x.dtype()) ? ofFloat(op, x) : x;
}
Expression floor(const Expression &x) { return toInteger(Op::Floor, x); }
Expression ceil(const Expression &x) { return toInteger(Op::Ceil, x); }
Expression round(const Expression &x) { return toInteger(Op::Round, x); }

Expression sign(const Expression &x) {
  return cast(cast(0 < x, i32) - cast(x < 0, i32),
              x.dtype() == i1 ? i32 : x.dtype());
}
Expression square(const Expression &x) { return x * x; }
Expression reciprocal(const Expression &x) { return 1 / x; }

Expression abs(const Expression &x) {
  return Expression(make(Op::Abs, {x.node}, x.dtype() == i1 ? i32 : x.dtype()));
}

Expression cast(const Expression &x, DType dtype) {
  if (dtype == f64) {
    checkDouble("cast: a type");
  }
  return Expression(make(Op::Cast, {x.node}, dtype));
}

Expression dropout(const Expression &x, double p, int64_t seed,
                   int64_t offset) {
  if (!(p >= 0 && p <= 1) || offset < 0) {
    invalid("dropout: expected a probability in [0, 1] and an offset that is "
            "not negative, got " +
            std::to_string(p) + " and " + std::to_string(offset));
  }
  if (p == 1) { // 0 of infinities, too; no number is less than itself
    return where(x < x, x, 0.0);
  }
  auto node = std::make_shared<Node>(*ofFloat(Op::Dropout, x, p).node);
  node->seed = seed;
  node->offset = offset;
  return Expression(std::move(node));
}

Expression relu(const Expression &x) {
  return Expression(
      make(Op::Relu, {x.node}, x.dtype() == i1 ? i32 : x.dtype()));
}
Expression leakyRelu(const Expression &x, double slope) {
  return where(0 < x, x, slope * x);
}
// The exponential of what is not taken would overflow, and its derivative with
// it.
Expression elu(const Expression &x, double alpha) {
  return relu(x) + alpha * expm1(where(0 < x, 0.0, x));
}
Expression reluSquared(const Expression &x) {
  Expression positive = relu(x);
  return positive * positive;
}
Expression silu(const Expression &x) { return x * sigmoid(x); }

Expression gelu(const Expression &x) {
  return x * (constant(0.5) +
              constant(0.5) * erf(x * constant(0.70710678118654752)));
}

// (1 + tanh(u)) / 2 = sigmoid(2u), and 2 sqrt(2/pi) = 1.59576...
Expression geluTanh(const Expression &x) {
  Expression cubic = x * (constant(1.5957691216057308) +
                          constant(0.071354816272600248) * (x * x));
  return x * sigmoid(cubic);
}

Expression swiglu(const Expression &gate, const Expression &up) {
  return silu(gate) * up;
}
Expression geglu(const Expression &gate, const Expression &up) {
  return gelu(gate) * up;
}

} // namespace nereid::kernels
