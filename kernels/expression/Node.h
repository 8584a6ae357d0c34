//===- Node.h - What an expression is made of -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_NODE_H
#define NEREID_KERNELS_EXPRESSION_NODE_H

#include "kernels/expression/Expression.h"

#include <memory_resource>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace nereid::kernels::expression {

enum class Op : uint8_t {
  Leaf,
  Number,   ///< an argument of the kernel
  Constant, ///< a number in the kernel's text
  Gradient, ///< of the result: bound when the derivative is evaluated
  Cast,
  Add,
  Subtract,
  Multiply,
  Divide,
  Negate,
  Less,
  LessEqual,
  Equal,
  NotEqual,
  Where,
  Maximum,
  Minimum,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Sigmoid,
  Erf,
  Abs,
  Relu,
  Sin,
  Cos,
  Floor,
  Ceil,
  Round, ///< halves to even
  Log1p,
  Expm1,
  Softplus,
  Power,   ///< of the first input, by the second
  Dropout, ///< with probability `number`
};

/// What an expression was computed as, once for all threads. A copy of the node
/// has none: a tape keeps copies, and must not hold itself.
class Computed {
public:
  Computed() = default;
  Computed(const Computed &) {}
  Computed &operator=(const Computed &) = delete;

  /// The one that is kept if `serves` holds for it, else `compute`'s, which is
  /// kept.
  template <typename Serves, typename Compute>
  Variable get(Serves serves, Compute compute) {
    std::lock_guard lock(mutex);
    if (!kept.defined() || !serves(kept)) {
      kept = compute();
    }
    return kept;
  }

private:
  std::mutex mutex;
  Variable kept;
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// What an operation is of: three at most, in the node itself.
class Inputs {
public:
  Inputs() = default;
  Inputs(NodePtr a) : all{std::move(a)}, count(1) {}
  Inputs(NodePtr a, NodePtr b) : all{std::move(a), std::move(b)}, count(2) {}
  Inputs(NodePtr a, NodePtr b, NodePtr c)
      : all{std::move(a), std::move(b), std::move(c)}, count(3) {}

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  NodePtr *begin() { return all; }
  NodePtr *end() { return all + count; }
  const NodePtr *begin() const { return all; }
  const NodePtr *end() const { return all + count; }
  const NodePtr &operator[](size_t i) const { return all[i]; }

private:
  NodePtr all[3];
  size_t count = 0;
};

struct Node : std::enable_shared_from_this<Node> {
  Op op = Op::Leaf;
  DType dtype = f32; ///< of the value, as PyTorch has it
  Shape shape;
  /// A number takes the type of what it meets.
  bool isNumber = false, isInteger = false;
  double number = 0;
  int64_t integer = 0;          ///< the number, where it is one
  int64_t seed = 0, offset = 0; ///< of dropout
  Tensor tensor;                ///< of a leaf
  Variable variable;            ///< of a leaf that is one
  Inputs inputs;
  /// The device of the leaves below; absent for numbers.
  std::optional<Device> device;
  /// Nodes of one kernel, this one and those below it, or somewhat more.
  size_t size = 1;
  mutable Computed computed, wide; ///< `wide`: in fp32, as a part (`partOf`)
};

/// A number in the text of the kernel.
Expression constant(double value);

/// The result's gradient, of this type and shape.
Expression gradientOf(const Node &result);

NodePtr make(Op op, Inputs inputs, DType dtype, double number = 0);

/// An expression with more nodes is several kernels: the time to compile one
/// grows faster than it.
inline constexpr size_t mostNodes = 128;

/// The computed value of `input` as a leaf, in the type that its users compute
/// in, so that nothing is rounded in between; or `input` where its history
/// would be lost, or derivatives are made.
NodePtr partOf(const NodePtr &input);

/// While it lives, `make` cuts nothing off: derivatives have nodes that have no
/// value yet.
class Uncut {
public:
  Uncut();
  ~Uncut();
  Uncut(const Uncut &) = delete;
  Uncut &operator=(const Uncut &) = delete;

private:
  bool before;
};

/// Nodes below the roots, inputs first, each once.
std::vector<const Node *> inOrder(std::span<const NodePtr> roots);
void inOrder(std::span<const NodePtr> roots,
             std::pmr::vector<const Node *> &order);

/// Where nodes stand in an order. It must outlive this.
class Places {
public:
  explicit Places(
      std::span<const Node *const> order,
      std::pmr::memory_resource *memory = std::pmr::get_default_resource());
  /// The number of all for a node that is none of them.
  size_t operator()(const Node *node) const {
    if (byNode.empty()) {
      size_t i = 0;
      while (i < order.size() && order[i] != node) {
        ++i;
      }
      return i;
    }
    auto found = byNode.find(node);
    return found == byNode.end() ? order.size() : found->second;
  }

private:
  std::span<const Node *const> order;
  std::pmr::unordered_map<const Node *, size_t> byNode; ///< of many
};

/// One for each of `leaves`; null where it is zero everywhere. `gradient` is
/// that of the root.
std::vector<NodePtr> derivatives(const NodePtr &root, const NodePtr &gradient,
                                 std::span<const NodePtr> leaves);

/// The type that arithmetic of these is done in: fp32 for floats.
inline DType computedIn(DType dtype) {
  return isFloat(dtype) && dtype != f64 ? f32 : dtype;
}

/// What the common kernel of `roots` computes, into tensors of `types`, with
/// `gradient` for Op::Gradient.
std::vector<Tensor> launch(std::span<const NodePtr> roots,
                           std::span<const DType> types,
                           const Tensor &gradient);

/// The same in a program without a compiler: one kernel where
/// kernels/expression/expression.py has it, else one for each operation, in
/// fp32. Tensors that are not row-major, of the shape and of one float type are
/// copied first. Throws NotFound where no such kernels are linked,
/// InvalidArgument for arithmetic of integers.
std::vector<Tensor> launchAheadOfTime(std::span<const NodePtr> roots,
                                      std::span<const DType> types,
                                      const Tensor &gradient);

/// Into a tensor of any strides, of the root's shape.
void launchInto(const Tensor &result, const NodePtr &root);

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_NODE_H
