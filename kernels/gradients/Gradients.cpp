//===- Gradients.cpp ------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gradients/Gradients.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static int64_t blockOf(Device device) { return device.isHost() ? 4096 : 2048; }

std::vector<Tensor> gradients::of(const char *op,
                                  std::span<const Variable> parameters) {
  Checks checks(op);
  std::vector<Tensor> all;
  for (const Variable &one : parameters) {
    if (one.defined() && one.grad().defined() && one.numel() > 0) {
      checks.floats("gradient", one.grad()).contiguous().writable();
      all.push_back(one.grad());
    }
  }
  return all;
}

Tensor gradients::squares(std::span<const Tensor> gradients) {
  Device device = gradients[0].device();
  int64_t block = blockOf(device), count = 0;
  for (const Tensor &one : gradients) {
    count += cdiv(one.numel(), block);
  }
  Tensor parts = empty({count}, f64, device);
  int64_t begin = 0;
  for (const Tensor &one : gradients) {
    int64_t programs = cdiv(one.numel(), block);
    static const OperatorKernel kernel("gradients", "squares_kernel");
    kernel[{programs}](parts.slice(0, begin, begin + programs), one,
                       one.numel(), "BLOCK"_a = block, "num_warps"_a = 4);
    begin += programs;
  }
  return parts;
}

void gradients::scale(std::span<const Tensor> gradients, const Tensor &factor) {
  int64_t block = blockOf(factor.device());
  for (const Tensor &one : gradients) {
    one.noteWrite();
    static const OperatorKernel kernel("gradients", "scale_kernel");
    kernel[{cdiv(one.numel(), block)}](one, factor, one.numel(),
                                       "BLOCK"_a = block, "num_warps"_a = 4);
  }
}

/// The norm, and the factor.
static std::pair<Tensor, Tensor> normOf(std::span<const Tensor> gradients,
                                        double most) {
  Tensor parts = gradients::squares(gradients);
  Tensor norm = empty({1}, f32, parts.device()),
         factor = empty({1}, f32, parts.device());
  static const OperatorKernel kernel("gradients", "clip_kernel");
  kernel[{1}](norm, factor, parts, parts.numel(), most, "BLOCK"_a = 4096,
              "num_warps"_a = 8);
  return {norm, factor};
}

static Tensor noNorm(std::span<const Variable> parameters) {
  return zeros({1}, f32,
               !parameters.empty() && parameters[0].defined()
                   ? parameters[0].device()
                   : Device::best());
}

Tensor kernels::clipGradNorm(std::span<const Variable> parameters,
                             double most) {
  Checks("clipGradNorm").require(most > 0, "most", "a positive number", most);
  std::vector<Tensor> all = gradients::of("clipGradNorm", parameters);
  if (all.empty()) {
    return noNorm(parameters);
  }
  auto [norm, factor] = normOf(all, most);
  gradients::scale(all, factor);
  return norm;
}

Tensor kernels::gradNorm(std::span<const Variable> parameters) {
  std::vector<Tensor> all = gradients::of("gradNorm", parameters);
  return all.empty() ? noNorm(parameters) : normOf(all, 1).first;
}
