//===- CompileSpecialization.h - Code for a specialization ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_COMPILESPECIALIZATION_H
#define NEREID_RUNTIME_LAUNCH_COMPILESPECIALIZATION_H

#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/Specialize.h"

namespace nereid {

/// Parameter by parameter, on the stack up to 64; made only as far as used.
class SpecializedArguments {
public:
  explicit SpecializedArguments(size_t count) {
    if (count > inlineCount) {
      heap.resize(count);
    } else {
      first = new (inlined) Specialized[count];
    }
  }
  Specialized &operator[](size_t i) { return first ? first[i] : heap[i]; }
  Specialized *data() { return first ? first : heap.data(); }

private:
  static constexpr size_t inlineCount = 64;
  static_assert(std::is_trivially_destructible_v<Specialized>);
  alignas(Specialized) std::byte inlined[inlineCount * sizeof(Specialized)];
  Specialized *first = nullptr;
  std::vector<Specialized> heap;
};

/// A launch whose code is loaded.
struct Prepared {
  explicit Prepared(size_t parameters) : arguments(parameters) {}
  SpecializedArguments arguments;
  /// The leaves of tuples and descriptors; slots count them after the
  /// parameters.
  std::vector<Specialized> leaves;
  Specialization *specialization = nullptr;
  CompiledInfo::Origin origin = CompiledInfo::Origin::Memory;
  double milliseconds = 0;
};

/// What the compiler is asked for, and the names of out.leaves.
Expected<CompileRequest> requestOf(KernelState &kernel,
                                   const LaunchBinding &binding, Prepared &out,
                                   std::vector<std::string> &leafNames);

/// The code of arguments that were specialized to `key`: compiled, or from a
/// cache, or from the program's own library.
Status compileInto(KernelState &kernel, const LaunchBinding &binding,
                   const WordKey &key, Prepared &out);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_COMPILESPECIALIZATION_H
