//===- Variable.h - A tensor that remembers its operator -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Variable w(randn({768}), /*requiresGrad=*/true);
//   Variable loss = kernels::crossEntropy(model(x, w), targets);
//   loss.backward();
//   w.grad();                              // a Tensor
//
// An operator that is given a variable which requires a gradient records
// itself (Record.h); `backward` then walks the records, latest first. Each is
// dropped, with the tensors that it saved, as soon as it is done. Nothing is
// recorded under a NoGrad, and nothing of inputs that require no gradient.
//
// A variable is a handle: copies are the same variable. A Tensor converts to a
// variable that requires no gradient. Changing a tensor that an operator has
// saved is an error of `backward`, where it was changed by `fill`, `copyFrom`
// or an operator of the library; kernels that a program launches itself are not
// seen (Tensor::noteWrite).
//
// Handles are not thread-safe to modify. Threads may record graphs of their own
// over the same leaves, and call `backward` at once: each adds to a leaf's
// gradient alone, in the order in which they come. On a GPU they do so on one
// stream. Nothing else may be done with a leaf meanwhile.
//
// Errors: InvalidArgument, with the operator's name and what to do.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_AUTOGRAD_VARIABLE_H
#define NEREID_AUTOGRAD_VARIABLE_H

#include "nereid/Runtime/Tensor.h"

#include <functional>
#include <iosfwd>

namespace nereid {

namespace autograd {
struct VariableState;
struct Recorder;
} // namespace autograd

class Variable {
public:
  /// Undefined: an optional input that is absent.
  Variable() = default;
  Variable(std::nullopt_t) {}
  /// A leaf. Gradients are of floats: an integer tensor cannot require one.
  Variable(Tensor value, bool requiresGrad = false);

  bool defined() const { return state != nullptr; }
  /// Undefined for an undefined variable.
  const Tensor &value() const;
  const Shape &shape() const { return value().shape(); }
  int64_t size(int axis) const { return value().size(axis); }
  int rank() const { return value().rank(); }
  int64_t numel() const { return value().numel(); }
  /// The only element, as Tensor::item.
  double item() const { return value().item(); }
  template <typename T>
  T item() const {
    return value().item<T>();
  }
  DType dtype() const { return value().dtype(); }
  Device device() const { return value().device(); }

  /// Moves a leaf to other memory: `value` is what the next operators read.
  /// Shape, dtype and device stay, and the gradient does. Not between an
  /// operator and its backward.
  void setValue(Tensor value) const;

  bool requiresGrad() const;
  /// Of a leaf: false freezes it, and forgets its gradient.
  void setRequiresGrad(bool isOn) const;
  /// False where an operator computed the value.
  bool isLeaf() const;
  /// The gradient so far: undefined before `backward`. Kept for leaves, and for
  /// variables that `retainGrad` was called on.
  const Tensor &grad() const;
  /// Keeps the gradient of a variable that is no leaf.
  const Variable &retainGrad() const;
  /// Replaces the gradient; undefined forgets it, so that the next `backward`
  /// takes its first sum as it is. Shape and device are the value's, and dtype
  /// is the value's or fp32: to an fp32 sum `backward` adds in fp32.
  void setGrad(Tensor gradient) const;
  void zeroGrad() const { setGrad(Tensor()); }

  /// Adds d(this)/d(leaf) to each leaf's gradient. Without `gradient`, this
  /// must have one element, and the gradient is 1. The graph is consumed unless
  /// `retainGraph`. Gradients are added in an order that depends on the graph
  /// alone: two runs give the same bits.
  void backward(Tensor gradient = Tensor(), bool retainGraph = false) const;

  // Views as those of Tensor.h, recorded: they share memory with this and cost
  // nothing. Going back, the gradient is viewed the other way round; that of a
  // slice is written into zeros, that of an expanded one is summed.
  Variable reshape(Shape shape) const; ///< a view if possible, else a copy
  Variable view(Shape shape) const;    ///< contiguous only
  Variable flatten() const { return reshape({value().numel()}); }
  Variable transpose(int a, int b) const;
  Variable permute(const std::vector<int> &order) const;
  Variable slice(int axis, int64_t start, int64_t stop = INT64_MAX,
                 int64_t step = 1) const;
  Variable select(int axis, int64_t index) const; ///< drops the dimension
  Variable operator[](int64_t index) const { return select(0, index); }
  Variable expand(Shape shape) const;
  Variable unsqueeze(int axis) const;
  Variable squeeze(int axis) const;

  /// The same tensor without its history.
  Variable detach() const;

  /// Called on the thread of `backward` when this leaf's gradient is complete
  /// in a backward pass; what reduces gradients over GPUs meanwhile.
  void onGradient(std::function<void(const Variable &)> hook) const;

private:
  friend struct autograd::Recorder;
  explicit Variable(std::shared_ptr<autograd::VariableState> state)
      : state(std::move(state)) {}
  autograd::VariableState &require(const char *call) const;

  std::shared_ptr<autograd::VariableState> state;
};

/// Its value, as a tensor prints (nereid/Runtime/Print.h).
std::ostream &operator<<(std::ostream &stream, const Variable &variable);

/// While it lives, nothing is recorded on this thread.
class NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
  NoGrad &operator=(const NoGrad &) = delete;

private:
  bool before;
};

/// Is anything recorded on this thread?
bool gradEnabled();

} // namespace nereid

#endif // NEREID_AUTOGRAD_VARIABLE_H
