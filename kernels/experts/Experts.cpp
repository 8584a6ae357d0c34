//===- Experts.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/experts/Experts.h"

#include "kernels/linear/ProductPlan.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/Nearby.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Precision.h"
#include "kernels/operator/Rows.h"
#include "kernels/operator/Stages.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// One pass, where programs would each go over all choices.
static void sortOnHost(const Groups &groups, const Tensor &experts) {
  int32_t *order = groups.order.data<int32_t>(),
          *places = groups.places.data<int32_t>(),
          *starts = groups.starts.data<int32_t>();
  const int32_t *chosen = experts.data<int32_t>();
  int64_t choices = experts.numel(), count = groups.starts.size(0) - 1;
  auto exists = [&](int32_t e) { return e >= 0 && e < count; };
  std::fill_n(starts, count + 1, 0);
  for (int64_t i = 0; i < choices; ++i) {
    starts[exists(chosen[i]) ? chosen[i] + 1 : 0] += exists(chosen[i]);
  }
  std::partial_sum(starts, starts + count + 1, starts);
  std::vector<int32_t> next(starts, starts + count + 1);
  std::fill_n(order, choices, -1);
  for (int64_t i = 0; i < choices; ++i) {
    places[i] = exists(chosen[i]) ? next[size_t(chosen[i])]++ : -1;
    if (places[i] >= 0) {
      order[places[i]] = int32_t(i);
    }
  }
}

Groups kernels::groupByExpert(const Tensor &experts, int64_t count) {
  Checks checks("groupByExpert");
  checks.integers("experts", experts).rank(2, 2);
  constexpr int64_t most = INT32_MAX;
  checks.require(count >= 1 && count < most, "count",
                 "a number of experts from 1 to below 2^31", count);
  int64_t choices = experts.numel();
  checks.require(choices <= most, "experts", "less than 2^31 choices", choices);
  Device device = experts.device();
  Groups groups = {empty({choices}, i32, device),
                   empty(experts.shape(), i32, device),
                   empty({count + 1}, i32, device)};
  // What 32 bits cannot hold is none of the experts.
  Tensor chosen = experts;
  if (experts.dtype() == i64 && !hasCompiler()) {
    std::vector<int64_t> all = experts.toVector<int64_t>();
    std::vector<int32_t> narrow;
    for (int64_t e : all) {
      narrow.push_back(e >= 0 && e < count ? int32_t(e) : -1);
    }
    chosen = Tensor::fromVector(narrow, experts.shape(), device);
  } else if (experts.dtype() == i64) {
    Expression e(experts);
    chosen = where(e >= 0, where(e < count, e, -1), -1).value().to(i32);
  }
  chosen = chosen.contiguous();
  if (choices == 0) {
    groups.starts.zero();
  } else if (device.isHost()) {
    sortOnHost(groups, chosen);
  } else {
    groups.order.fill(-1);
    groups.places.fill(-1);
    static const OperatorKernel kernel("experts", "order_kernel");
    kernel[{count + 1}](groups.order, groups.places, groups.starts, chosen,
                        choices, count, "BLOCK"_a = 1024, "num_warps"_a = 4);
  }
  return groups;
}

/// `places` has `tokens` rows, or any number where that is -1.
static void checkGroups(const Checks &checks, const Groups &groups,
                        int64_t tokens) {
  for (auto [name, tensor] : {std::pair("groups.places", &groups.places),
                              {"groups.order", &groups.order}}) {
    if (!tensor->defined()) {
      checks.fail(name, "what groupByExpert returns", "an undefined tensor");
    }
  }
  if (groups.places.rank() != 2 || groups.places.dtype() != i32 ||
      groups.order.dtype() != i32 || !groups.places.isContiguous() ||
      groups.order.shape() != Shape{groups.places.numel()} ||
      !groups.order.isContiguous()) {
    checks.fail("groups", "what groupByExpert returns",
                groups.places.str() + " and " + groups.order.str());
  }
  if (tokens >= 0 && groups.places.size(0) != tokens) {
    checks.fail("groups",
                "those of " + std::to_string(tokens) + " tokens, the rows of x",
                "those of " + std::to_string(groups.places.size(0)));
  }
}

//===----------------------------------------------------------------------===//
// Rows to their experts, and back
//===----------------------------------------------------------------------===//

/// What a program takes of rows of `columns`.
namespace {
struct Block {
  explicit Block(int64_t n)
      : columns(hasCompiler() ? std::min<int64_t>(nextPowerOf2(n), 1024) : 256),
        rows(std::max<int64_t>(1024 / columns, 1)) {}
  int64_t columns, rows;
};
} // namespace

/// dispatch; with weights, the gradient of what `combine` sums.
/// Kernels compiled ahead of time have weights of fp32, and any number of
/// choices.
static Tensor readable(const Tensor &weights) {
  return contiguousOrNone(hasCompiler() ? weights : inType(weights));
}

static int64_t sharedOf(const Groups &groups) {
  return hasCompiler() ? groups.places.size(1) : 0;
}

static Tensor spread(const Tensor &x, const Tensor &weights,
                     const Groups &groups, DType type) {
  int64_t choices = groups.order.numel(), n = x.size(1);
  if (!hasCompiler() && type != x.dtype()) {
    return spread(inType(x), weights, groups, f32).to(type);
  }
  Tensor y = empty({choices, n}, type, x.device());
  if (y.numel() == 0) {
    return y;
  }
  Rows rows = rowsOf(x);
  Block block(n);
  static const OperatorKernel kernel("experts", "spread_kernel");
  kernel[{cdiv(choices, block.rows) * cdiv(n, block.columns)}](
      y, rows.tensor, groups.order, orNone(readable(weights)), rows.stride,
      choices, n, groups.places.size(1), "SHARED"_a = sharedOf(groups),
      "BLOCK_M"_a = block.rows, "BLOCK"_a = block.columns, "num_warps"_a = 4);
  return y;
}

/// combine; without weights, the gradient of what `dispatch` takes.
static Tensor gathered(const Tensor &x, const Tensor &weights,
                       const Groups &groups) {
  int64_t tokens = groups.places.size(0), n = x.size(1);
  Tensor y = empty({tokens, n}, x.dtype(), x.device());
  if (y.numel() == 0) {
    return y;
  }
  if (groups.places.size(1) == 0) {
    return y.zero();
  }
  Rows rows = rowsOf(x);
  Block block(n);
  static const OperatorKernel kernel("experts", "combine_kernel");
  kernel[{cdiv(tokens, block.rows) * cdiv(n, block.columns)}](
      y, rows.tensor, groups.places, orNone(readable(weights)), rows.stride,
      tokens, n, groups.places.size(1), "SHARED"_a = sharedOf(groups),
      "BLOCK_M"_a = block.rows, "BLOCK"_a = block.columns, "num_warps"_a = 4);
  return y;
}

static Tensor weightsBackward(const Tensor &dy, const Tensor &x,
                              const Groups &groups, DType type) {
  int64_t choices = groups.order.numel(), n = x.size(1);
  if (!hasCompiler() && type != f32) {
    return weightsBackward(dy, x, groups, f32).to(type);
  }
  if (mixesTypes({x, dy})) {
    return weightsBackward(inType(dy), inType(x), groups, type);
  }
  Tensor dw = empty(groups.places.shape(), type, x.device());
  if (dw.numel() == 0) {
    return dw;
  }
  if (n == 0) {
    return dw.zero();
  }
  Rows rows = rowsOf(x), gradients = rowsOf(dy);
  Block block(n);
  static const OperatorKernel kernel("experts", "weights_backward_kernel");
  kernel[{cdiv(choices, block.rows)}](
      dw, gradients.tensor, rows.tensor, groups.places, gradients.stride,
      rows.stride, choices, n, groups.places.size(1),
      "SHARED"_a = sharedOf(groups), "BLOCK_M"_a = block.rows,
      "BLOCK"_a = block.columns, "num_warps"_a = 4);
  return dw;
}

/// No form that is compiled ahead of time takes fp64.
static Checks::Argument floatsFor(Checks &checks, const char *name,
                                  const Tensor &t) {
  return hasCompiler() ? checks.gradients(name, t) : checks.floats(name, t);
}

Tensor kernels::dispatch(const Tensor &x, const Groups &groups) {
  Checks checks("dispatch");
  floatsFor(checks, "x", x).rank(2, 2);
  checkGroups(checks, groups, x.size(0));
  checks.any("groups", groups.places);
  return spread(x, {}, groups, x.dtype());
}

Variable kernels::dispatch(const Variable &x, const Groups &groups) {
  return autograd::record("dispatch", {x}, dispatch(x.value(), groups),
                          [groups](const Tensor &dy, autograd::Needs) {
                            return autograd::Gradients{
                                gathered(dy, {}, groups)};
                          },
                          {groups.places});
}

Tensor kernels::combine(const Tensor &x, const Tensor &weights,
                        const Groups &groups) {
  Checks checks("combine");
  floatsFor(checks, "x", x).rank(2, 2);
  checkGroups(checks, groups, -1);
  checks.any("groups", groups.places);
  checks.any("x", x).shape({groups.places.numel(), x.size(1)},
                           "a row for each choice");
  if (weights.defined()) {
    floatsFor(checks, "weights", weights)
        .shape(groups.places.shape(), "tokens and choices");
    if (weights.dtype() == f64) {
      checks.any("x", x).dtype(f64, "as weights have");
    }
  }
  return gathered(x, weights, groups);
}

Variable kernels::combine(const Variable &x, const Variable &weights,
                          const Groups &groups) {
  return autograd::record(
      "combine", {x, weights}, combine(x.value(), weights.value(), groups),
      [x = x.value(), weights = weights.value(),
       groups](const Tensor &dy, autograd::Needs needs) {
        autograd::Gradients gradients(2);
        if (needs[0]) {
          gradients[0] = spread(dy, weights, groups, x.dtype());
        }
        if (needs[1]) {
          gradients[1] = weightsBackward(dy, x, groups, weights.dtype());
        }
        return gradients;
      },
      {x.value(), weights.value(), groups.places, groups.order});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// On a host device; reading others would wait for the GPU.
static void checkStarts(const Checks &checks, const Tensor &starts,
                        int64_t rows) {
  if (!starts.device().isHost()) {
    return;
  }
  std::vector<int64_t> all = starts.toVector<int64_t>();
  if (all.front() == 0 && all.back() <= rows && std::ranges::is_sorted(all)) {
    return;
  }
  std::string got;
  for (size_t i = 0; i < std::min<size_t>(all.size(), 8); ++i) {
    got += (i ? ", " : "") + std::to_string(all[i]);
  }
  checks.fail("starts",
              "numbers that ascend from 0 to the " + std::to_string(rows) +
                  " rows of a",
              got + (all.size() > 8 ? ", ..." : "") +
                  "; hint: groupByExpert(...).starts");
}

/// Blocks for a group of an average number of rows. Splits would need rows of
/// all groups in fp32 for each.
static ProductPlan planFor(int64_t groups, int64_t m, int64_t n, int64_t k,
                           DType dtype, bool tf32, Device device) {
  if (dtype == f64) {
    return {32, 32, 16};
  }
  if (!hasCompiler()) { // as ahead.txt has it
    if (device.isHost()) {
      return {32, 128, 128};
    }
    return {64, 64, dtype == f32 ? 32 : 64};
  }
  ProductPlan plan =
      planProduct({groups, std::max<int64_t>(m, 1), n, k}, dtype, tf32, device);
  plan.splits = 1;
  return plan;
}

/// `products`: as planFor is given them for `k`.
static const char *precisionFor(const Tensor &a, bool tf32, int64_t products) {
  return nameOf(precisionOfProduct(a.dtype(), tf32 && hasCompiler(), a.device(),
                                   products));
}

static Tensor multiplied(const Tensor &rowsOfGroups, const Tensor &matrices,
                         const Tensor &starts, bool tf32) {
  Tensor a = nearby(rowsOfGroups), b = nearby(matrices);
  int64_t rows = a.size(0), groups = b.size(0), k = b.size(1), n = b.size(2);
  Tensor y = empty({rows, n}, a.dtype(), a.device());
  if (y.numel() == 0) {
    return y;
  }
  ProductPlan plan =
      planFor(groups, rows / groups, n, k, a.dtype(), tf32, a.device());
  static const OperatorKernel kernel("experts", "grouped_kernel");
  kernel[{(rows / plan.blockM + groups + 1) * cdiv(n, plan.blockN)}](
      y, a, b, starts, rows, groups, n, k, a.stride(0), a.stride(1),
      b.stride(0), b.stride(1), b.stride(2), "BLOCK_M"_a = plan.blockM,
      "BLOCK_N"_a = plan.blockN, "BLOCK_K"_a = plan.blockK,
      "PRECISION"_a = precisionFor(a, tf32, k), "num_warps"_a = plan.warps,
      "num_stages"_a = k % 16 ? 3 : stagesFor(plan.stages, {a, b}));
  return y;
}

static Tensor matricesBackward(const Tensor &gradient,
                               const Tensor &rowsOfGroups, const Tensor &starts,
                               DType type, bool tf32) {
  Tensor dy = nearby(gradient), a = nearby(rowsOfGroups);
  int64_t rows = a.size(0), groups = starts.size(0) - 1, k = a.size(1),
          n = dy.size(1);
  Tensor db = empty({groups, k, n}, type, a.device());
  if (db.numel() == 0) {
    return db;
  }
  ProductPlan plan = planFor(groups, k, n, std::max<int64_t>(rows / groups, 1),
                             a.dtype(), tf32, a.device());
  static const OperatorKernel kernel("experts", "matrices_backward_kernel");
  kernel[{groups * cdiv(k, plan.blockM) * cdiv(n, plan.blockN)}](
      db, a, dy, starts, rows, groups, k, n, a.stride(0), a.stride(1),
      dy.stride(0), dy.stride(1), "BLOCK_M"_a = plan.blockM,
      "BLOCK_N"_a = plan.blockN, "BLOCK_K"_a = plan.blockK,
      "PRECISION"_a =
          precisionFor(a, tf32, std::max<int64_t>(rows / groups, 1)),
      "num_warps"_a = plan.warps,
      "num_stages"_a = stagesFor(plan.stages, {a, dy}));
  return db;
}

/// As kernels take them.
static Tensor inOrder(const Tensor &starts) {
  return starts.to(i32).contiguous();
}

Tensor kernels::groupedMatmul(const Tensor &a, const Tensor &b,
                              const Tensor &starts, bool tf32) {
  Checks checks("groupedMatmul");
  floatsFor(checks, "a", a).rank(2, 2);
  floatsFor(checks, "b", b).rank(3, 3).dtype(a.dtype(), "as a has");
  checks.any("b", b).shape({-1, a.size(1), -1}, "the columns of a in between");
  checks.require(b.size(0) >= 1, "b", "a matrix or more", b.size(0));
  constexpr int64_t widest = INT32_MAX / 512;
  checks.require(a.size(1) <= widest, "a", "less than 2^22 columns", a.size(1));
  checks.require(b.size(2) <= widest, "b", "less than 2^22 columns", b.size(2));
  checks.require(a.size(0) <= INT32_MAX / 2, "a", "less than 2^30 rows",
                 a.size(0));
  checks.integers("starts", starts)
      .shape({b.size(0) + 1}, "one more than b has matrices");
  checkStarts(checks, starts, a.size(0));
  return multiplied(a, b, inOrder(starts), tf32);
}

Variable kernels::groupedMatmul(const Variable &a, const Variable &b,
                                const Tensor &starts, bool tf32) {
  return autograd::record(
      "groupedMatmul", {a, b},
      groupedMatmul(a.value(), b.value(), starts, tf32),
      [a = a.value(), b = b.value(), starts, tf32](const Tensor &given,
                                                   autograd::Needs needs) {
        Tensor from = inOrder(starts), dy = given.to(a.dtype());
        autograd::Gradients gradients(2);
        if (needs[0]) {
          gradients[0] = multiplied(dy, b.transpose(1, 2), from, tf32);
        }
        if (needs[1]) {
          gradients[1] = matricesBackward(dy, a, from, b.dtype(), tf32);
        }
        return gradients;
      },
      {a.value(), b.value(), starts});
}
