//===- Sampling.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sampling/Sampling.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

Tensor kernels::sample(const Tensor &logits, const SamplingOptions &options) {
  Checks checks("sampling");
  checks.floats("logits", logits).rank(2, 2);
  int64_t columns = logits.size(1);
  if (columns == 0) {
    checks.fail("logits", "at least one column", logits.str());
  }
  checks.require(options.temperature >= 0, "temperature",
                 "a number that is not negative", options.temperature);
  checks.require(options.topK >= 0, "topK", "a number that is not negative",
                 double(options.topK));
  checks.require(options.topP > 0 && options.topP <= 1, "topP",
                 "a number in (0, 1]", options.topP);
  checks.require(options.offset >= 0, "offset", "a number that is not negative",
                 double(options.offset));
  Rows rows = rowsOf(logits);
  Tensor y = empty({logits.size(0)}, i32, logits.device());
  if (y.numel() == 0) {
    return y;
  }
  bool draws = options.temperature > 0;
  static const OperatorKernel kernel("sampling", "sampling_kernel");
  kernel[{rows.count}](
      y, rows.tensor, rows.stride, columns,
      draws ? 1 / options.temperature : 1.0, double(options.topK), options.topP,
      options.seed, options.offset,
      "TOP_K"_a = draws && options.topK > 0 && options.topK < columns,
      "TOP_P"_a = draws && options.topP < 1, "DRAWS"_a = draws,
      "BLOCK"_a = std::min<int64_t>(nextPowerOf2(columns), 4096),
      "num_warps"_a = 8);
  return y;
}
