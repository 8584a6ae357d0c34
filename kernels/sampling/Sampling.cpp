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

static void checkArguments(Checks &checks, const Tensor &logits,
                           const SamplingOptions &options) {
  checks.floats("logits", logits).rank(2, 2);
  if (logits.size(1) == 0) {
    checks.fail("logits", "at least one column", logits.str());
  }
  checks.require(options.temperature >= 0, "temperature",
                 "a number that is not negative", options.temperature);
  checks.require(options.topK >= 0, "topK", "a number that is not negative",
                 double(options.topK));
  // As fp32, which is what the kernel takes.
  checks.require(static_cast<float>(options.topP) > 0 && options.topP <= 1,
                 "topP", "a number in (0, 1]", options.topP);
  checks.require(options.offset >= 0, "offset", "a number that is not negative",
                 double(options.offset));
}

/// Of each row into `y`.
static void draw(const Tensor &given, const Tensor &y,
                 const SamplingState &state, const SamplingOptions &options) {
  if (y.numel() == 0) {
    return;
  }
  Tensor logits = hasCompiler() ? given : given.to(f32); // as ahead.txt has it
  Rows rows = rowsOf(logits);
  int64_t columns = logits.size(1);
  bool draws = options.temperature > 0;
  // A row is one program's: as many threads as a multiprocessor has, each with
  // 16 loads under way.
  int64_t block = std::min<int64_t>(nextPowerOf2(columns),
                                    logits.device().isHost() ? 4096 : 16384);
  if (!hasCompiler()) {
    block = 4096;
  }
  int64_t warps = std::clamp<int64_t>(block / 512, 4, 32);
  int64_t ring = state.history.defined() ? state.history.size(0) : 1;
  static const OperatorKernel kernel("sampling", "sampling_kernel");
  kernel[{rows.count}](
      y, rows.tensor, orNone(state.positions), orNone(state.steps),
      orNone(state.history), rows.stride, columns,
      draws ? 1 / options.temperature : 1.0, double(options.topK), options.topP,
      options.seed, options.offset, ring,
      "TOP_K"_a = draws && options.topK > 0 && options.topK < columns,
      "TOP_P"_a = draws && options.topP < 1, "DRAWS"_a = draws,
      "BLOCK"_a = block, "num_warps"_a = warps);
}

Tensor kernels::sample(const Tensor &logits, const SamplingOptions &options) {
  Checks checks("sampling");
  checkArguments(checks, logits, options);
  Tensor y = empty({logits.size(0)}, i32, logits.device());
  draw(logits, y, {}, options);
  return y;
}

void kernels::sampleNext(const Tensor &logits, const SamplingState &state,
                         const SamplingOptions &options) {
  Checks checks("sampling");
  checkArguments(checks, logits, options);
  Shape rows = {logits.size(0)};
  auto check = [&](const char *name, const Tensor &tensor) {
    checks.any(name, tensor).shape(rows, "the rows of logits").dtype(i32);
    checks.any(name, tensor).contiguous();
  };
  check("tokens", state.tokens);
  check("positions", state.positions);
  check("steps", state.steps);
  checks.any("history", state.history)
      .shape({-1, logits.size(0)}, "columns: the rows of logits")
      .dtype(i32)
      .contiguous();
  checks.require(state.history.size(0) > 0, "history", "at least one row", 0);
  draw(logits, state.tokens, state, options);
}
