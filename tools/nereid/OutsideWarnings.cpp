//===- OutsideWarnings.cpp - Before a launch leaves its arrays ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutsideWarnings.h"

#include "nereid/Runtime/Tensor.h"

namespace nereid {

/// The array becomes the whole of the memory that it lies in.
static void widen(ArgumentFact &array, const std::vector<Tensor> &memory) {
  auto begin = uint64_t(array.integer);
  for (const Tensor &whole : memory) {
    auto from = uint64_t(reinterpret_cast<uintptr_t>(whole.data()));
    auto bytes = uint64_t(whole.extentBytes());
    if (begin >= from && begin - from <= bytes) {
      array.bytesBefore = begin - from;
      array.bytesFrom = bytes - array.bytesBefore;
    }
  }
}

std::vector<Diagnostic>
outsideWarnings(const Kernel &kernel, const Grid &grid,
                std::span<const LaunchArgument> arguments,
                const std::vector<Tensor> &memory, Context &context) {
  LaunchPreview preview = kernel.preview(grid, arguments);
  for (auto &[name, value] : preview.facts.values) {
    if (value.isPointer) {
      widen(value, memory);
    }
  }
  auto found = context.compiler()->findOutside(preview.request, preview.facts);
  return found.ok() ? *found : std::vector<Diagnostic>();
}

} // namespace nereid
