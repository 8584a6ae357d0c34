//===- Reference.h - What a launch may leave in memory ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch, run by the reference executor with error bounds
// (Interp/Oracle.h). Where programs meet at an address it is run again from the
// last program to the first: what then differs depends on an order that no
// executor promises.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_CHECK_REFERENCE_H
#define NEREID_TOOLS_CHECK_REFERENCE_H

#include "Arrays.h"

#include "nereid/Interp/Oracle.h"
#include "nereid/Runtime/Kernel.h"

#include <functional>
#include <memory>
#include <optional>

namespace nereid::check {

/// The launch, on copies of its arrays: `tensors` in the order of
/// Arrays::views.
using Launcher =
    std::function<void(const Kernel &kernel, const ArraysCopy &copy)>;

class Reference {
public:
  /// One float, or an integer without a claim, at a byte of a
  /// region: |value - what an executor may store| <= error.
  struct Bound {
    int64_t offset = 0;
    interp::FloatBound is;
    bool isUndecided() const;
    /// Whether the bits that an executor left there are within the bound.
    bool allows(uint64_t bits, double more = 0) const;
  };

  /// Runs the launch, to judge devices on host memory or GPUs; `load` gives its
  /// kernel in the context that it is handed. Throws what the launch throws,
  /// and KernelFault where the kernel leaves its arrays.
  static Reference run(const Arrays &arrays, bool isForHost,
                       const std::function<Kernel(Context &)> &load,
                       const Launcher &launch);

  /// What the regions hold afterwards: to be equal where no bound is.
  Contents contents;
  /// By offset, a list for each region.
  std::vector<std::vector<Bound>> bounds;
  /// Bytes whose first use is a store, by one program: what they held before
  /// cannot matter.
  std::vector<std::vector<bool>> isOverwritten;
  /// Bytes that two views have in common and that the launch stores to.
  struct Overlap {
    size_t first, second; ///< of Arrays::views
    int64_t begin, end;   ///< bytes of their region: the first, past the last
  };
  std::vector<Overlap> overlaps;
  /// Control flow depends on a rounding: nothing is claimed.
  bool isUndecided = false;
  /// Does it hold for executors of host memory alone, or for GPUs, which may
  /// read float32 as TF32? Absent: for all.
  std::optional<bool> isForHost;

  /// The bound at a byte of a region; null if there is none.
  const Bound *find(size_t region, int64_t offset) const;

  /// What the regions shall hold before another executor runs: what it is to
  /// overwrite, the complement of what is expected.
  Contents poisoned(const Arrays &arrays) const;

private:
  /// Keeps of each claim what holds in the other order too.
  void join(const Reference &other);
};

} // namespace nereid::check

#endif // NEREID_TOOLS_CHECK_REFERENCE_H
