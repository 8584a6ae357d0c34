//===- LinearCrossEntropy.cpp -----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"

#include "kernels/linear/Linear.h"
#include "kernels/linear/Product.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/Nearby.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// c = a @ b + before (undefined: 0). c and before are row-major, and may be
/// the same.
static void product(const Tensor &c, const Tensor &before, const Tensor &a,
                    const Tensor &b) {
  if (hasCompiler() && !a.device().isHost()) {
    Product p;
    p.a = a.unsqueeze(0);
    p.b = b.unsqueeze(0);
    p.to = c.unsqueeze(0);
    p.options.residual = before.defined() ? before.unsqueeze(0) : Tensor();
    run(p);
    return;
  }
  bool isWide = a.dtype() == f32;
  int64_t m = isWide ? 64 : 128, n = m, k = isWide ? 32 : 64;
  if (hasCompiler() && a.device().isHost()) {
    // Blocks that the caches of a core hold.
    auto block = [](int64_t size, int64_t least, int64_t most) {
      return std::clamp(nextPowerOf2(size), least, most);
    };
    m = block(c.size(0), 4, 128);
    n = block(c.size(1), 16, 128);
    k = block(a.size(1), 16, 256);
  }
  static const OperatorKernel kernel("linear_cross_entropy",
                                     "chunk_product_kernel");
  kernel[{cdiv(c.size(0), m) * cdiv(c.size(1), n)}](
      c, orNone(before), a, b, c.size(0), c.size(1), a.size(1), a.stride(0),
      a.stride(1), b.stride(0), b.stride(1), c.size(1), "BLOCK_M"_a = m,
      "BLOCK_N"_a = n, "BLOCK_K"_a = k,
      "PRECISION"_a = isWide ? "ieee" : "tf32", "num_warps"_a = isWide ? 4 : 8);
}

namespace {

/// What a recorded loss keeps: its gradients, to be scaled.
struct Gradients {
  Tensor x, weight;
  Tensor divisor; ///< undefined for 1
  DType weightType = f32;
};

} // namespace

static void checkArguments(const Tensor &x, const Tensor &weight,
                           const Tensor &targets,
                           const CrossEntropyOptions &options) {
  Checks checks("linear_cross_entropy");
  checks.gradients("x", x).rank(1, 16);
  checks.gradients("weight", weight)
      .shape({-1, x.size(-1)}, "classes, and the last dimension of x")
      .dtype(x.dtype(), "those of x");
  Shape rows(x.shape().begin(), x.shape().end() - 1);
  checks.integers("targets", targets)
      .shape(rows, "that of x without the last dimension");
  checks.require(options.labelSmoothing >= 0 && options.labelSmoothing <= 1,
                 "labelSmoothing", "a number from 0 to 1",
                 options.labelSmoothing);
  if (options.reduction == Reduction::None) {
    checks.fail("reduction", "Mean or Sum", "None");
  }
  if (weight.size(0) == 0 || x.size(-1) == 0) {
    checks.fail("weight", "at least one class and one column", weight.str());
  }
  cross_entropy::checkTargets("linear_cross_entropy", targets, weight.size(0),
                              options.ignoreIndex);
}

/// `kept`: filled in where it is not null, as `wants` says.
static Tensor forward(const Tensor &given, const Tensor &givenWeight,
                      const Tensor &targets, const CrossEntropyOptions &options,
                      Gradients *kept, bool wantsX, bool wantsWeight) {
  checkArguments(given, givenWeight, targets, options);
  Tensor weight = nearby(givenWeight);
  Device device = given.device();
  DType dtype = given.dtype();
  int64_t rows = targets.numel(), columns = given.size(-1),
          classes = weight.size(0);
  if (rows == 0) {
    if (kept) {
      kept->x = empty(given.shape(), dtype, device);
      kept->weight = zeros(weight.shape(), weight.dtype(), device);
    }
    return zeros({}, f32, device);
  }
  Tensor x = nearby(given.reshape({rows, columns}));
  Tensor flat = targets.contiguous().view({rows});
  Tensor count;
  if (options.reduction == Reduction::Mean) {
    count = cross_entropy::count(flat, options.ignoreIndex);
  }
  // Shares of a mean are too small for fp16: its gradients are divided last.
  Tensor one = kept ? full({}, 1, f32, device) : Tensor();
  bool dividesLast = dtype == f16;
  Tensor divisor = count.defined() && !dividesLast ? count : one;
  // Each part reads and writes the sums of weight's gradient: on a GPU a few
  // large parts, since that takes as long as a product of a thousand rows. The
  // products have blocks of 128 rows.
  constexpr int64_t large = 4096;
  int64_t wanted = cdiv(rows, 8);
  if (!device.isHost()) {
    wanted = std::max(wanted, std::min(cdiv(rows, 4), large));
  }
  int64_t part = std::min(rows, cdiv(wanted, 128) * 128);
  Tensor losses = empty({rows}, f32, device),
         buffer = empty({part, classes}, dtype, device), dx, dw, sums;
  if (kept && wantsX) {
    dx = empty({rows, columns}, dtype, device);
  }
  if (kept && wantsWeight) {
    dw = empty({classes, columns}, dividesLast ? f32 : dtype, device);
    sums = dtype == f32 || dividesLast || part == rows
               ? dw
               : empty({classes, columns}, f32, device);
  }
  for (int64_t first = 0; first < rows; first += part) {
    int64_t behind = std::min(rows, first + part);
    Tensor of = x.slice(0, first, behind),
           logits = buffer.slice(0, 0, behind - first);
    product(logits, {}, of, weight.transpose(0, 1));
    cross_entropy::losses(losses.slice(0, first, behind), {},
                          kept ? logits : Tensor(), logits, classes,
                          flat.slice(0, first, behind),
                          kept ? divisor : Tensor(), options);
    if (dx.defined()) {
      product(dx.slice(0, first, behind), {}, logits, weight);
    }
    if (dw.defined()) {
      product(behind == rows ? dw : sums, first ? sums : Tensor(),
              logits.transpose(0, 1), of);
    }
  }
  if (kept) {
    kept->x = dx.defined() ? dx.view(given.shape()) : Tensor();
    kept->weight = dw;
    kept->divisor = dividesLast ? count : Tensor();
  }
  return cross_entropy::sum(losses, count);
}

/// `again`: they will be asked for once more.
static autograd::Gradients backward(Gradients &kept, const Tensor &dloss,
                                    bool again) {
  Tensor factor = kept.divisor.defined()
                      ? cross_entropy::sum(dloss.contiguous(), kept.divisor)
                      : dloss.contiguous();
  auto scaled = [&](Tensor &gradient) {
    Tensor result;
    if (gradient.defined()) {
      result = again ? gradient.clone() : std::move(gradient);
      cross_entropy::scale(result, factor);
    }
    return result;
  };
  Tensor dx = scaled(kept.x), dw = scaled(kept.weight);
  return {dx, dw.defined() ? dw.to(kept.weightType) : Tensor()};
}

Tensor kernels::linearCrossEntropy(const Tensor &x, const Tensor &weight,
                                   const Tensor &targets,
                                   const CrossEntropyOptions &options) {
  if (isOfDoubles(x)) {
    checkArguments(x, weight, targets, options);
    return crossEntropy(linear(x, weight), targets, options);
  }
  return forward(x, weight, targets, options, nullptr, false, false);
}

Variable kernels::linearCrossEntropy(const Variable &x, const Variable &weight,
                                     const Tensor &targets,
                                     const CrossEntropyOptions &options) {
  if (isOfDoubles(x)) {
    checkArguments(x.value(), weight.value(), targets, options);
    return crossEntropy(linear(x, weight), targets, options);
  }
  auto kept = std::make_shared<Gradients>();
  kept->weightType = weight.value().dtype();
  bool keeps = autograd::isRecording({x, weight});
  Tensor loss = forward(x.value(), weight.value(), targets, options,
                        keeps ? kept.get() : nullptr, x.requiresGrad(),
                        weight.requiresGrad());
  return autograd::record("linear_cross_entropy", {x, weight}, loss,
                          [kept](const Tensor &dloss, autograd::Needs needs) {
                            return backward(*kept, dloss, needs.graphStays());
                          });
}
