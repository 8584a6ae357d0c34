//===- Composite.h - Tuples and descriptors as arguments --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argument that is made of others is flattened: its leaves, in order, are
// specialized as if each were an argument of its own, and those that are passed
// at run time have slots of their own. Launches without such arguments do not
// come here.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_COMPOSITE_H
#define NEREID_RUNTIME_LAUNCH_COMPOSITE_H

#include "nereid/Runtime/launch/Specialize.h"

#include <functional>

namespace nereid {

struct LaunchBinding;

/// Does the argument reach the kernel in pieces? A tuple does, but not as a
/// tl.constexpr without names, which is a plain value; a descriptor does.
bool isComposite(const ParameterDescription &parameter,
                 const Argument &argument);

/// Appends the argument's leaves, and to `key` what specializes. On a mismatch,
/// `culprit` is the leaf, with its place in the argument as text ("[1].x").
struct CompositeMismatch {
  ArgumentMismatch mismatch = ArgumentMismatch::None;
  Argument culprit = nullptr;
  std::string place;
};
CompositeMismatch specializeComposite(const ParameterDescription &parameter,
                                      const Argument &argument,
                                      std::vector<Specialized> &leaves,
                                      WordKey &key);

/// The compiler's view of an argument whose leaves begin at `leaf`, which moves
/// after them.
ArgumentSpec specOfComposite(const Argument &argument,
                             const Specialized *&leaf);

/// The names that an image's parameters have for the leaves of an argument, in
/// order, the compiled-in ones among them.
void appendLeafNames(const ArgumentSpec &spec, const std::string &name,
                     std::vector<std::string> &out);

/// Every tensor of an argument, with its name as above.
void forEachTensor(
    const Argument &argument, const std::string &name,
    const std::function<void(const std::string &, const Tensor &)> &visit);
/// Visits the tensors of all arguments.
void forEachTensor(
    const LaunchBinding &binding,
    const std::function<void(const std::string &, const Tensor &)> &visit);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_COMPOSITE_H
