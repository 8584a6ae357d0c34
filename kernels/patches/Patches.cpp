//===- Patches.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/patches/Patches.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {
/// How many patches an image has.
struct Count {
  int64_t down, across;
};
} // namespace

static Count countOf(const Checks &checks, int64_t height, int64_t width,
                     const Patch &p) {
  constexpr int64_t most = int64_t{1} << 24;
  auto require = [&](const char *name, int64_t value, int64_t least,
                     int64_t last) {
    checks.require(value >= least && value <= last, name,
                   "a number from " + std::to_string(least) + " to " +
                       std::to_string(last),
                   value);
  };
  require("patch.height", p.height, 1, 256);
  require("patch.width", p.width, 1, 256);
  require("patch.stepDown", p.stepDown, 1, most);
  require("patch.stepAcross", p.stepAcross, 1, most);
  require("patch.padDown", p.padDown, 0, most);
  require("patch.padAcross", p.padAcross, 0, most);
  require("height", height, 0, most);
  require("width", width, 0, most);
  int64_t rows = height + 2 * p.padDown, columns = width + 2 * p.padAcross;
  if (rows < p.height || columns < p.width) {
    checks.fail("patch",
                "one that fits the image with its padding, " +
                    std::to_string(rows) + " x " + std::to_string(columns),
                std::to_string(p.height) + " x " + std::to_string(p.width));
  }
  return {(rows - p.height) / p.stepDown + 1,
          (columns - p.width) / p.stepAcross + 1};
}

/// Columns of a program; ahead.txt has 256.
static int64_t blockOf(int64_t columns) {
  return hasCompiler() ? std::min<int64_t>(nextPowerOf2(columns), 256) : 256;
}

/// No form that is compiled ahead of time takes fp64.
static Checks::Argument floatsFor(Checks &checks, const char *name,
                                  const Tensor &t) {
  return hasCompiler() ? checks.gradients(name, t) : checks.floats(name, t);
}

Tensor kernels::unfold(const Tensor &x, const Patch &p) {
  Checks checks("unfold");
  floatsFor(checks, "x", x).rank(4, 4);
  int64_t channels = x.size(1);
  Count count = countOf(checks, x.size(2), x.size(3), p);
  int64_t patches = count.down * count.across,
          columns = channels * p.height * p.width;
  checks.require(std::max(patches, columns) <= INT32_MAX / 2, "x",
                 "less than 2^30 patches, and elements of one",
                 std::max(patches, columns));
  Tensor y = empty({x.size(0), patches, columns}, x.dtype(), x.device());
  if (y.numel() == 0) {
    return y;
  }
  int64_t width = blockOf(columns), height = 1024 / width;
  static const OperatorKernel own("patches", "unfold_kernel"),
      any("patches", "unfold_any_kernel");
  (hasCompiler()
       ? own
       : any)[{x.size(0) * cdiv(patches, height) * cdiv(columns, width)}](
      y, x, channels, x.size(2), x.size(3), count.across, patches, x.stride(0),
      x.stride(1), x.stride(2), x.stride(3), p.padDown, p.padAcross,
      "KY"_a = p.height, "KX"_a = p.width, "STEP_Y"_a = p.stepDown,
      "STEP_X"_a = p.stepAcross, "BLOCK_M"_a = height, "BLOCK"_a = width,
      "num_warps"_a = 4);
  return y;
}

Tensor kernels::fold(const Tensor &y, int64_t height, int64_t width,
                     const Patch &p) {
  Checks checks("fold");
  floatsFor(checks, "y", y).rank(3, 3);
  Count count = countOf(checks, height, width, p);
  int64_t elements = p.height * p.width, channels = y.size(2) / elements;
  if (y.size(1) != count.down * count.across || y.size(2) % elements != 0) {
    checks.fail("y",
                std::to_string(count.down * count.across) +
                    " patches of a multiple of " + std::to_string(elements) +
                    " elements",
                y.str());
  }
  checks.require(std::max(y.size(1), y.size(2)) <= INT32_MAX / 2, "y",
                 "less than 2^30 patches, and elements of one",
                 std::max(y.size(1), y.size(2)));
  Tensor x = empty({y.size(0), channels, height, width}, y.dtype(), y.device());
  if (x.numel() == 0) {
    return x;
  }
  int64_t block = blockOf(width), lines = 1024 / block;
  static const OperatorKernel own("patches", "fold_kernel"),
      any("patches", "fold_any_kernel");
  (hasCompiler() ? own : any)[{y.size(0) * cdiv(channels * height, lines) *
                               cdiv(width, block)}](
      x, y, channels, height, width, count.down, count.across, y.stride(0),
      y.stride(1), y.stride(2), p.padDown, p.padAcross, "KY"_a = p.height,
      "KX"_a = p.width, "STEP_Y"_a = p.stepDown, "STEP_X"_a = p.stepAcross,
      "BLOCK_M"_a = lines, "BLOCK"_a = block, "num_warps"_a = 4);
  return x;
}

Variable kernels::unfold(const Variable &x, const Patch &patch) {
  Tensor y = unfold(x.value(), patch);
  int64_t height = x.size(2), width = x.size(3);
  return autograd::record(
      "unfold", {x}, y,
      [height, width, patch](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{fold(dy, height, width, patch)};
      });
}

Variable kernels::fold(const Variable &y, int64_t height, int64_t width,
                       const Patch &patch) {
  return autograd::record("fold", {y}, fold(y.value(), height, width, patch),
                          [patch](const Tensor &dx, autograd::Needs) {
                            return autograd::Gradients{unfold(dx, patch)};
                          });
}
