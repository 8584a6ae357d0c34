//===- CrossEntropy.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cross_entropy/CrossEntropy.h"

#include "kernels/indexing/Indexing.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/softmax/Softmax.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <bit>
#include <limits>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static constexpr int64_t block = 4096;
static constexpr int warps = 8;

void cross_entropy::checkTargets(const char *op, const Tensor &targets,
                                 int64_t classes, int64_t ignored) {
  if (!targets.device().isHost()) {
    return;
  }
  std::vector<int64_t> all = targets.toVector<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] != ignored && (all[i] < 0 || all[i] >= classes)) {
      Checks(op).fail(
          "targets",
          "classes from 0 to " + std::to_string(classes - 1) + ", or " +
              std::to_string(ignored) + " for what is ignored",
          std::to_string(all[i]) + " at element " + std::to_string(i));
    }
  }
}

Tensor cross_entropy::count(const Tensor &targets, int64_t ignored) {
  Tensor result = empty({}, f32, targets.device());
  static const OperatorKernel kernel("cross_entropy",
                                     "cross_entropy_count_kernel");
  kernel[{1}](result, targets, ignored, targets.numel(), "BLOCK"_a = block,
              "num_warps"_a = warps);
  return result;
}

namespace {

/// How a row is gone over.
struct RowsPlan {
  int64_t block = ::block, group = 1;
  int warps = ::warps;
};

} // namespace

static RowsPlan planOf(int64_t columns, bool hasGradient, Device device) {
  RowsPlan plan;
  if (!hasCompiler()) {
    // Those of ahead.txt: on a host one for few classes, too.
    constexpr int64_t few = 64;
    plan.block = device.isHost() && columns <= few ? few : block;
    return plan;
  }
  if (device.isHost() || columns <= block) {
    plan.block = std::clamp<int64_t>(columns, 1, block);
    // 512 columns a warp: a thread has 16.
    plan.warps = static_cast<int>(std::bit_floor(
        static_cast<uint64_t>(std::clamp<int64_t>(columns / 512, 1, warps))));
    return plan;
  }
  plan.group = 8; // of bf16 what a thread loads at once
  // A row that is read twice should be in the second-level cache still: large
  // programs, thus few rows under way.
  if (hasGradient) {
    plan.block = 16384;
    plan.warps = 16;
  }
  return plan;
}

void cross_entropy::losses(const Tensor &losses, const Tensor &lse,
                           const Tensor &gradient, const Tensor &logits,
                           int64_t stride, const Tensor &targets,
                           const Tensor &count,
                           const CrossEntropyOptions &options) {
  int64_t columns = logits.size(-1);
  constexpr int64_t few = 64, elementsOfProgram = 1024;
  if (hasCompiler() && logits.device().isHost() && columns <= few) {
    int64_t rows = targets.numel(),
            together = std::min(elementsOfProgram / nextPowerOf2(columns),
                                nextPowerOf2(rows));
    static const OperatorKernel several("cross_entropy",
                                        "cross_entropy_rows_kernel");
    several[{cdiv(rows, together)}](
        losses, orNone(lse), orNone(gradient), logits, targets, orNone(count),
        stride, columns, options.ignoreIndex, options.labelSmoothing, rows,
        "N"_a = columns, "ROWS"_a = together,
        "SMOOTHS"_a = options.labelSmoothing > 0, "num_warps"_a = warps);
    return;
  }
  RowsPlan plan = planOf(columns, gradient.defined(), logits.device());
  static const OperatorKernel kernel("cross_entropy", "cross_entropy_kernel");
  kernel[{targets.numel()}](
      losses, orNone(lse), orNone(gradient), logits, targets, orNone(count),
      stride, columns, options.ignoreIndex, options.labelSmoothing, columns,
      "BLOCK"_a = plan.block, "SMOOTHS"_a = options.labelSmoothing > 0,
      "GROUP"_a = plan.group, "num_warps"_a = plan.warps);
}

Tensor cross_entropy::sum(const Tensor &losses, const Tensor &count) {
  Tensor result = empty({}, f32, losses.device());
  static const OperatorKernel kernel("cross_entropy",
                                     "cross_entropy_sum_kernel");
  kernel[{1}](result, losses, orNone(count), losses.numel(), "BLOCK"_a = block,
              "num_warps"_a = warps);
  return result;
}

void cross_entropy::scale(const Tensor &x, const Tensor &factor) {
  if (x.numel() == 0) {
    return;
  }
  static const OperatorKernel kernel("cross_entropy",
                                     "cross_entropy_scale_kernel");
  int64_t most = 16 * int64_t(numbersOf(x.device()).processors);
  kernel[{std::min(cdiv(x.numel(), block), most)}](
      x, factor, x.numel(), "BLOCK"_a = block, "num_warps"_a = warps);
}

namespace {

struct Kept {
  Rows logits;
  Tensor targets, lse, gradient, count;
  CrossEntropyOptions options;
  Shape shape; ///< of the logits
};

} // namespace

static void checkArguments(const Tensor &logits, const Tensor &targets,
                           const CrossEntropyOptions &options) {
  Checks checks("cross_entropy");
  checks.gradients("logits", logits).rank(1, 16);
  Shape rows(logits.shape().begin(), logits.shape().end() - 1);
  checks.integers("targets", targets)
      .shape(rows, "that of logits without the last dimension");
  checks.require(options.labelSmoothing >= 0 && options.labelSmoothing <= 1,
                 "labelSmoothing", "a number from 0 to 1",
                 options.labelSmoothing);
  if (logits.size(-1) == 0 && targets.numel() != 0) {
    checks.fail("logits", "at least one class", logits.str());
  }
  cross_entropy::checkTargets("cross_entropy", targets, logits.size(-1),
                              options.ignoreIndex);
}

/// As an expression, which is derived as others are.
static Variable ofDoubles(const Variable &logits, const Tensor &targets,
                          const CrossEntropyOptions &options) {
  checkArguments(logits.value(), targets, options);
  bool isOne = options.reduction != Reduction::None;
  if (targets.numel() == 0) {
    return isOne ? sum(logits) : sum(logits, -1);
  }
  Expression target(targets);
  Tensor isIgnored = target == options.ignoreIndex,
         isClass = logicalAnd(target >= 0, target < logits.size(-1)),
         at = where(isClass, target, 0);
  Variable logs = logSoftmax(logits);
  double smoothing = options.labelSmoothing;
  Expression losses =
      (smoothing - 1) * gather(logs, -1, at.unsqueeze(-1)).squeeze(-1);
  if (smoothing > 0) { // the logarithms may be infinite
    losses = losses - smoothing * mean(logs, -1);
  }
  // On a GPU, targets were not checked.
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  losses = where(isIgnored, 0.0, where(isClass, losses, nan));
  if (!isOne) {
    return losses;
  }
  Variable total = sum(losses);
  return options.reduction == Reduction::Sum
             ? total
             : Variable(total /
                        maximum(sum(cast(logicalNot(isIgnored), f64)), 1));
}

/// `kept`: filled in where it is not null.
static Tensor forward(const Tensor &logits, const Tensor &targets,
                      const CrossEntropyOptions &options, Kept *kept) {
  if (isOfDoubles(logits)) {
    return ofDoubles(Variable(logits), targets, options).value();
  }
  checkArguments(logits, targets, options);
  Shape rows(logits.shape().begin(), logits.shape().end() - 1);
  bool one = options.reduction != Reduction::None;
  Device device = logits.device();
  Kept local;
  Kept &k = kept ? *kept : local;
  k.shape = logits.shape();
  k.options = options;
  if (targets.numel() == 0) {
    return one ? zeros({}, f32, device) : empty(rows, f32, device);
  }
  k.targets = targets.contiguous();
  k.logits = rowsOf(logits);
  if (options.reduction == Reduction::Mean) {
    k.count = cross_entropy::count(k.targets, options.ignoreIndex);
  }
  Tensor losses = empty(rows, f32, device), divisor = k.count;
  // Gradients of a mean are too small for fp16 before they are scaled.
  if (kept && one && logits.dtype() != f16) {
    k.gradient = options.overwritesLogits && logits.isContiguous()
                     ? logits
                     : empty(logits.shape(), logits.dtype(), device);
    k.gradient.noteWrite();
    divisor = k.count.defined() ? k.count : full({}, 1, f32, device);
  } else if (kept) {
    k.lse = empty(rows, f32, device);
  }
  cross_entropy::losses(losses, k.lse, k.gradient, k.logits.tensor,
                        k.logits.stride, k.targets,
                        k.gradient.defined() ? divisor : Tensor(), options);
  if (k.gradient.defined()) {
    k.logits = {};
  }
  return one ? cross_entropy::sum(losses, k.count) : losses;
}

/// `again`: it will be asked for once more.
static Tensor backward(Kept &kept, const Tensor &dloss, bool again) {
  if (kept.gradient.defined()) {
    Tensor result = again ? kept.gradient.clone() : std::move(kept.gradient);
    result.noteWrite(); // it may be the logits
    cross_entropy::scale(result, dloss);
    return result;
  }
  if (!kept.logits.tensor.defined()) {
    return zeros(kept.shape, f32, dloss.device()); // no rows
  }
  const Rows &logits = kept.logits;
  Tensor dx = empty(kept.shape, logits.tensor.dtype(), dloss.device());
  Tensor factors = dloss.contiguous();
  int64_t blockOfRow =
      hasCompiler() ? block : planOf(logits.columns, true, dx.device()).block;
  static const OperatorKernel kernel("cross_entropy",
                                     "cross_entropy_backward_kernel");
  kernel[{cdiv(logits.columns, blockOfRow) * logits.count}](
      dx, logits.tensor, kept.targets, kept.lse, factors, orNone(kept.count),
      logits.stride, kept.options.reduction == Reduction::None ? 1 : 0,
      kept.options.ignoreIndex, kept.options.labelSmoothing, logits.columns,
      "BLOCK"_a = blockOfRow, "SMOOTHS"_a = kept.options.labelSmoothing > 0,
      "num_warps"_a = warps);
  return dx;
}

Tensor kernels::crossEntropy(const Tensor &logits, const Tensor &targets,
                             const CrossEntropyOptions &options) {
  return forward(logits, targets, options, nullptr);
}

Variable kernels::crossEntropy(const Variable &logits, const Tensor &targets,
                               const CrossEntropyOptions &options) {
  if (isOfDoubles(logits)) {
    return ofDoubles(logits, targets, options);
  }
  auto kept = std::make_shared<Kept>();
  bool keeps = autograd::isRecording({logits});
  Tensor loss =
      forward(logits.value(), targets, options, keeps ? kept.get() : nullptr);
  return autograd::record(
      "cross_entropy", {logits}, loss,
      [kept, dtype = logits.dtype()](const Tensor &dloss,
                                     autograd::Needs needs) {
        return autograd::Gradients{
            backward(*kept, dloss, needs.graphStays()).to(dtype)};
      },
      {kept->logits.tensor.defined() ? logits.value() : Tensor(),
       kept->lse.defined() ? targets : Tensor(), kept->gradient});
}
