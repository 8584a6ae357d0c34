//===- Record.h - How an operator takes part -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator computes its output from plain tensors and records how gradients
// go back. What the function captures is what the operator saves:
//
//   Variable square(const Variable &x) {
//     return autograd::record(
//         "square", {x}, multiply(x.value(), x.value()),
//         [x = x.value()](const Tensor &dy, autograd::Needs) {
//           return autograd::Gradients{scale(multiply(x, dy), 2)};
//         },
//         {x.value()});
//   }
//
// The last argument says which of these tensors `backward` must find as they
// were: it is an error if one was written to meanwhile (Tensor::writes).
//
// It should capture no Variable: a graph that holds itself is never freed.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_AUTOGRAD_RECORD_H
#define NEREID_AUTOGRAD_RECORD_H

#include "nereid/Autograd/Variable.h"
#include "nereid/Runtime/Text.h"

#include <concepts>
#include <span>
#include <type_traits>

namespace nereid::autograd {

/// Which inputs a gradient is wanted for.
class Needs {
public:
  explicit Needs(std::span<const char> flags, bool graphStays = false)
      : flags(flags), isKept(graphStays) {}
  bool operator[](size_t input) const { return flags[input] != 0; }
  /// Will the function be asked again (`retainGraph`)? Else it may hand out
  /// what it saved.
  bool graphStays() const { return isKept; }

private:
  std::span<const char> flags;
  bool isKept;
};

/// One an input; undefined where none is wanted. A gradient may share memory
/// with the output's: what is added to is then copied first.
using Gradients = std::vector<Tensor>;

/// `gradients` has one tensor an output, undefined for outputs that nothing
/// depends on.
using Backward =
    std::function<Gradients(std::span<const Tensor> gradients, Needs needs)>;
using BackwardOfOne =
    std::function<Gradients(const Tensor &gradient, Needs needs)>;

/// Would `record` keep anything? Operators compute what only the backward
/// needs (mean and rstd of a layer norm) where this holds.
bool isRecording(std::span<const Variable> inputs);
inline bool isRecording(std::initializer_list<Variable> inputs) {
  return isRecording(std::span(inputs.begin(), inputs.size()));
}

/// Tensors that the backward reads; undefined ones count as absent.
using Saved = std::vector<Tensor>;

/// Variables for `outputs`, computed from `inputs` (undefined ones count as
/// absent). Where nothing is recorded, `backward` is dropped. Throws
/// InvalidArgument for an undefined output, or no function.
std::vector<Variable> record(Text name, std::span<const Variable> inputs,
                             std::vector<Tensor> outputs, Backward backward,
                             const Saved &saved = {});
Variable record(Text name, std::initializer_list<Variable> inputs,
                Tensor output, BackwardOfOne backward, const Saved &saved = {});

/// The same of one output.
Variable recordOne(Text name, std::span<const Variable> inputs, Tensor output,
                   Backward backward, std::span<const Tensor> saved);

/// The same of a lambda, which becomes a function only where something is
/// recorded: elsewhere nothing is allocated but the variable.
template <typename F>
  requires(std::is_class_v<F> && !std::same_as<F, BackwardOfOne> &&
           std::is_invocable_r_v<Gradients, const F &, const Tensor &, Needs>)
Variable record(Text name, std::initializer_list<Variable> inputs,
                Tensor output, F backward,
                std::initializer_list<Tensor> saved = {}) {
  if (output.defined() && !isRecording(inputs)) {
    return Variable(std::move(output));
  }
  return recordOne(
      name, std::span(inputs.begin(), inputs.size()), std::move(output),
      [backward = std::move(backward)](std::span<const Tensor> gradients,
                                       Needs needs) {
        return backward(gradients[0], needs);
      },
      std::span(saved.begin(), saved.size()));
}

} // namespace nereid::autograd

#endif // NEREID_AUTOGRAD_RECORD_H
