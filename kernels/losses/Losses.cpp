//===- Losses.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/losses/Losses.h"

#include "kernels/operator/Checks.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;

static std::string text(const Expression &x) {
  std::string sizes;
  for (int64_t size : x.shape()) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  return std::string(shortName(x.dtype())) + "[" + sizes + "]";
}

static void check(const char *op, const Expression &x,
                  const Expression &target) {
  Checks checks(op);
  if (!isFloat(x.dtype())) {
    checks.fail("x", "a tensor of fp32, fp16 or bf16", text(x));
  }
  if (target.shape() != x.shape()) {
    checks.fail("target", "the shape of x, " + text(x), text(target));
  }
}

static Expression reduced(const Expression &losses, Reduction reduction) {
  return reduction == Reduction::Mean  ? mean(losses)
         : reduction == Reduction::Sum ? sum(losses)
                                       : Expression(losses.variable());
}

Expression kernels::mseLoss(const Expression &x, const Expression &target,
                            Reduction reduction) {
  check("mse_loss", x, target);
  return reduced(square(x - target), reduction);
}

Expression kernels::l1Loss(const Expression &x, const Expression &target,
                           Reduction reduction) {
  check("l1_loss", x, target);
  return reduced(abs(x - target), reduction);
}

Expression kernels::huberLoss(const Expression &x, const Expression &target,
                              Reduction reduction, double delta) {
  check("huber_loss", x, target);
  Checks("huber_loss").require(delta > 0, "delta", "a number above 0", delta);
  // With c = min(|d|, delta) both cases are c (|d| - c / 2).
  Expression distance = abs(x - target), near = minimum(distance, delta);
  return reduced(near * (distance - 0.5 * near), reduction);
}

namespace {
/// A loss whose derivatives are not those of its formula's steps.
using Formula = Expression (*)(const Expression &x, const Expression &target);
} // namespace

static Expression lossOf(const char *op, const Expression &x,
                         const Expression &target, Formula value, Formula ofX,
                         Formula ofTarget) {
  Variable a = x.variable(), b = target.variable();
  Tensor y = value(a.value(), b.value());
  return autograd::record(
      op, {a, b}, y,
      [x = a.value(), target = b.value(), ofX,
       ofTarget](const Tensor &dy, autograd::Needs needs) {
        autograd::Gradients gradients(2);
        if (needs[0]) {
          gradients[0] = cast(dy * ofX(x, target), x.dtype());
        }
        if (needs[1]) {
          gradients[1] = cast(dy * ofTarget(x, target), target.dtype());
        }
        return gradients;
      },
      {a.value(), b.value()});
}

/// log(x), no less than -100: the loss of a probability of 0 stays finite.
static Expression boundedLog(const Expression &x) {
  return maximum(log(x), -100);
}

Expression kernels::binaryCrossEntropy(const Expression &x,
                                       const Expression &target,
                                       Reduction reduction) {
  check("binary_cross_entropy", x, target);
  return reduced(lossOf(
                     "binary_cross_entropy", x, target,
                     [](const Expression &p, const Expression &t) {
                       return (t - 1) * maximum(log1p(-p), -100) -
                              t * boundedLog(p);
                     },
                     [](const Expression &p, const Expression &t) {
                       return (p - t) / maximum(p * (1 - p), 1e-12);
                     },
                     [](const Expression &p, const Expression &) {
                       return maximum(log1p(-p), -100) - boundedLog(p);
                     }),
                 reduction);
}

Expression kernels::binaryCrossEntropyWithLogits(const Expression &x,
                                                 const Expression &target,
                                                 Reduction reduction) {
  check("binary_cross_entropy_with_logits", x, target);
  return reduced(
      lossOf(
          "binary_cross_entropy_with_logits", x, target,
          [](const Expression &z, const Expression &t) {
            return relu(z) - z * t + softplus(-abs(z));
          },
          [](const Expression &z, const Expression &t) {
            return sigmoid(z) - t;
          },
          [](const Expression &z, const Expression &) { return -z; }),
      reduction);
}

Expression kernels::klDiv(const Expression &x, const Expression &target,
                          Reduction reduction, bool logTarget) {
  check("kl_div", x, target);
  if (logTarget) {
    // 0 times what is infinite would be NaN.
    Expression isNone = target == -INFINITY;
    return reduced(exp(target) *
                       (where(isNone, 0.0, target) - where(isNone, 0.0, x)),
                   reduction);
  }
  // 1 in place of 0, whose logarithm is -inf; and 0 times -inf would be NaN.
  Expression isNone = target == 0, some = where(isNone, 1.0, target);
  return reduced(some * log(some) - target * where(isNone, 0.0, x), reduction);
}
