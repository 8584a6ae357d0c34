//===- Sampling.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sampling/Sampling.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
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

namespace {
/// What is drawn of, and how.
struct Draw {
  Rows rows;
  int64_t columns;
  const SamplingState &state;
  const SamplingOptions &options;
  bool draws = options.temperature > 0;
  double scale = draws ? 1 / options.temperature : 1;
  bool topK = draws && options.topK > 0 && options.topK < columns;
  bool topP = draws && options.topP < 1;
  int64_t ring = state.history.defined() ? state.history.size(0) : 1;
};
} // namespace

/// A row is one program's: as many threads as a multiprocessor has, each with
/// 16 loads under way; of short rows one warp, which adds up by shuffles.
static int64_t warpsFor(int64_t block) {
  return std::clamp<int64_t>(block / 512, 1, 32);
}

static void drawAtOnce(const Draw &d, const Tensor &y, int64_t block) {
  bool early = beginsEarly(y.device());
  static const OperatorKernel kernel("sampling", "sampling_kernel");
  kernel[{d.rows.count}](
      y, d.rows.tensor, orNone(d.state.positions), orNone(d.state.steps),
      orNone(d.state.history), d.rows.stride, d.columns, d.scale,
      double(d.options.topK), d.options.topP, d.options.seed, d.options.offset,
      d.ring, "TOP_K"_a = d.topK, "TOP_P"_a = d.topP, "DRAWS"_a = d.draws,
      "BLOCK"_a = block, "EARLY"_a = early, "launch_pdl"_a = early,
      "num_warps"_a = warpsFor(block));
}

/// A long row, each logit with its random number, would keep one multiprocessor
/// longer than a step's products keep all (docs/Training.md, Sampling): all of
/// them take part. Three launches, the first one only where something is left
/// out.
static void drawInParts(const Draw &d, const Tensor &y) {
  Device device = y.device();
  constexpr int64_t floorBlock = 16384, block = 1024;
  int64_t parts = cdiv(d.columns, block);
  Tensor floor, best = empty({d.rows.count, parts}, f32, device),
                index = empty({d.rows.count, parts}, i32, device);
  if (d.topK || d.topP) {
    floor = empty({d.rows.count}, f32, device);
    bool early = beginsEarly(device);
    static const OperatorKernel floors("sampling", "floor_kernel");
    floors[{d.rows.count}](
        floor, d.rows.tensor, d.rows.stride, d.columns, d.scale,
        double(d.options.topK), d.options.topP, "TOP_K"_a = d.topK,
        "TOP_P"_a = d.topP, "BLOCK"_a = floorBlock, "EARLY"_a = early,
        "launch_pdl"_a = early, "num_warps"_a = warpsFor(floorBlock));
  }
  bool early = beginsEarly(device);
  static const OperatorKernel bests("sampling", "best_kernel");
  bests[{d.rows.count, parts}](
      best, index, d.rows.tensor, orNone(floor), orNone(d.state.steps),
      d.rows.stride, d.columns, d.scale, d.options.seed, d.options.offset,
      "DRAWS"_a = d.draws, "BLOCK"_a = block, "EARLY"_a = early,
      "launch_pdl"_a = early, "num_warps"_a = 4);
  early = beginsEarly(device);
  static const OperatorKernel choice("sampling", "choice_kernel");
  choice[{d.rows.count}](y, orNone(d.state.positions), orNone(d.state.steps),
                         orNone(d.state.history), best, index, parts, d.columns,
                         d.ring, "PARTS"_a = nextPowerOf2(parts),
                         "EARLY"_a = early, "launch_pdl"_a = early,
                         "num_warps"_a = warpsFor(nextPowerOf2(parts)));
}

/// Of each row into `y`.
static void draw(const Tensor &given, const Tensor &y,
                 const SamplingState &state, const SamplingOptions &options) {
  if (y.numel() == 0) {
    return;
  }
  Tensor logits = hasCompiler() ? given : given.to(f32); // as ahead.txt has it
  int64_t columns = logits.size(1);
  Draw d{rowsOf(logits), columns, state, options};
  constexpr int64_t longRow = 4096;
  bool isHost = y.device().isHost();
  if (!isHost && hasCompiler() && columns > longRow) {
    drawInParts(d, y);
    return;
  }
  drawAtOnce(
      d, y, hasCompiler() ? std::min(nextPowerOf2(columns), longRow) : longRow);
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
