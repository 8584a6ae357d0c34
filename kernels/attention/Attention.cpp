//===- Attention.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Attention.h"

#include "kernels/attention/AttentionPlan.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Stages.h"
#include "nereid/Autograd/Record.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {

/// What all kernels take.
struct Setting {
  int64_t batch, heads, kvHeads, queries, keys, headSize;
  int64_t ahead, window;
  bool bounded, windowed;
  double scale, scale2;
  const char *precision;
};

} // namespace

static void checkArguments(const char *op, const Tensor &q, const Tensor &k,
                           const Tensor &v, const AttentionOptions &options) {
  Checks checks(op);
  checks.floats("q", q).rank(4, 4);
  checks.require(q.size(3) >= 1 && q.size(3) <= 256, "q",
                 "a head size (its last dimension) from 1 to 256",
                 double(q.size(3)));
  checks.floats("k", k)
      .shape({q.size(0), -1, -1, q.size(3)}, "batch and head size of q")
      .dtype(q.dtype(), "as q has");
  if (k.size(1) == 0 ? q.size(1) != 0 : q.size(1) % k.size(1) != 0) {
    checks.fail("k",
                "a number of heads that divides the " +
                    std::to_string(q.size(1)) + " of q",
                k.str());
  }
  checks.floats("v", v)
      .shape(k.shape(), "that of k")
      .dtype(q.dtype(), "as q has");
  checks.require(options.window >= 0, "window", "a number that is not negative",
                 double(options.window));
  double scale = options.scale.value_or(1);
  checks.require(scale > 0 && std::isfinite(scale), "scale",
                 "a finite number of more than 0", scale);
}

static Setting settingOf(const Tensor &q, const Tensor &k,
                         const AttentionOptions &options) {
  Setting s;
  s.batch = q.size(0);
  s.heads = q.size(1);
  s.kvHeads = k.size(1);
  s.queries = q.size(2);
  s.keys = k.size(2);
  s.headSize = q.size(3);
  // A window that nothing lies beyond is none.
  int64_t longest = s.queries + s.keys;
  s.windowed = options.window > 0 && options.window < longest;
  s.bounded = options.causal || s.windowed;
  s.window = s.windowed ? options.window : 0;
  s.ahead = options.causal ? 1 : s.window;
  s.scale = options.scale.value_or(1 / std::sqrt(double(s.headSize)));
  s.scale2 = s.scale * std::numbers::log2e;
  s.precision = options.tf32 ? "tf32" : "ieee";
  return s;
}

/// A tensor whose offsets within a block fit 32 bits, copied otherwise.
static Tensor nearby(const Tensor &t) {
  constexpr int64_t most = INT32_MAX / 512;
  return t.stride(2) <= most && t.stride(3) <= most ? t : t.contiguous();
}

/// Uninitialised, and with heads and rows in the order that `t` has them in
/// memory: [batch, sequence, heads, D] stays so.
static Tensor emptyAs(const Tensor &t) {
  bool rowsFirst = t.stride(2) > t.stride(1) && t.size(1) > 1;
  if (!rowsFirst) {
    return empty(t.shape(), t.dtype(), t.device());
  }
  return empty({t.size(0), t.size(2), t.size(1), t.size(3)}, t.dtype(),
               t.device())
      .transpose(1, 2);
}

AttentionResult kernels::attentionForward(const Tensor &q, const Tensor &k,
                                          const Tensor &v,
                                          const AttentionOptions &options,
                                          bool keepsLse) {
  checkArguments("attention", q, k, v, options);
  Setting s = settingOf(q, k, options);
  AttentionResult result;
  result.o = emptyAs(q);
  const Tensor &o = result.o;
  if (keepsLse) {
    result.lse = empty({s.batch, s.heads, s.queries}, f32, q.device());
  }
  if (q.numel() == 0) {
    return result;
  }
  if (s.keys == 0) {
    o.zero();
    if (keepsLse) {
      result.lse.fill(-std::numeric_limits<double>::infinity());
    }
    return result;
  }
  Tensor query = nearby(q), key = nearby(k), value = nearby(v);
  AttentionPlan plan = planAttention(s.headSize, s.queries, s.keys, q.dtype(),
                                     options.tf32, q.device());
  static const OperatorKernel kernel("attention", "attention_kernel");
  kernel[{s.batch * s.heads * cdiv(s.queries, plan.queries)}](
      o, orNone(result.lse), query, key, value, o.stride(0), o.stride(1),
      o.stride(2), query.stride(0), query.stride(1), query.stride(2),
      query.stride(3), key.stride(0), key.stride(1), key.stride(2),
      key.stride(3), value.stride(0), value.stride(1), value.stride(2),
      value.stride(3), s.heads, s.heads / s.kvHeads, s.queries, s.keys, s.ahead,
      s.window, s.scale2, "D"_a = s.headSize, "BLOCK_M"_a = plan.queries,
      "BLOCK_N"_a = plan.keys, "BOUNDED"_a = s.bounded, "WINDOW"_a = s.windowed,
      "PRECISION"_a = s.precision, "num_warps"_a = plan.warps,
      "num_stages"_a = stagesFor(plan.stages, {key, value}));
  return result;
}

/// Row sums of do * o.
static Tensor deltaOf(const Tensor &o, const Tensor &grad, const Setting &s) {
  Tensor delta = empty({s.batch, s.heads, s.queries}, f32, o.device());
  constexpr int64_t rows = 32;
  static const OperatorKernel kernel("attention", "delta_kernel");
  kernel[{s.batch * s.heads * cdiv(s.queries, rows)}](
      delta, o, grad, o.stride(0), o.stride(1), o.stride(2), grad.stride(0),
      grad.stride(1), grad.stride(2), grad.stride(3), s.heads, s.queries,
      "D"_a = s.headSize, "BLOCK_M"_a = rows, "num_warps"_a = 4);
  return delta;
}

AttentionGradients kernels::attentionBackward(const Tensor &grad,
                                              const Tensor &q, const Tensor &k,
                                              const Tensor &v,
                                              const AttentionResult &result,
                                              const AttentionOptions &options,
                                              bool wantsQ, bool wantsKV) {
  checkArguments("attention backward", q, k, v, options);
  Setting s = settingOf(q, k, options);
  Checks checks("attention backward");
  checks.floats("grad", grad).shape(q.shape(), "that of q").dtype(q.dtype());
  checks.floats("o", result.o).shape(q.shape(), "that of q").dtype(q.dtype());
  checks.floats("lse", result.lse)
      .shape({s.batch, s.heads, s.queries}, "of q")
      .dtype(f32)
      .contiguous();
  AttentionGradients gradients;
  if (wantsQ) {
    gradients.q = emptyAs(q);
  }
  if (wantsKV) {
    gradients.k = emptyAs(k);
    gradients.v = emptyAs(v);
  }
  if (q.numel() == 0 || k.numel() == 0) {
    for (const Tensor &t : {gradients.q, gradients.k, gradients.v}) {
      if (t.defined()) {
        t.zero();
      }
    }
    return gradients;
  }
  Tensor query = nearby(q), key = nearby(k), value = nearby(v),
         dout = nearby(grad);
  Tensor out = result.o.stride(3) == 1 || s.headSize == 1
                   ? nearby(result.o)
                   : result.o.contiguous();
  Tensor delta = deltaOf(out, dout, s);
  int64_t group = s.heads / s.kvHeads;
  if (wantsKV) {
    AttentionPlan plan = planKeysBackward(s.headSize, s.queries, s.keys,
                                          q.dtype(), options.tf32, q.device());
    const Tensor &dk = gradients.k, &dv = gradients.v;
    static const OperatorKernel kernel("attention", "keys_backward_kernel");
    kernel[{s.batch * s.kvHeads * cdiv(s.keys, plan.keys)}](
        dk, dv, query, key, value, dout, result.lse, delta, dk.stride(0),
        dk.stride(1), dk.stride(2), dv.stride(0), dv.stride(1), dv.stride(2),
        query.stride(0), query.stride(1), query.stride(2), query.stride(3),
        key.stride(0), key.stride(1), key.stride(2), key.stride(3),
        value.stride(0), value.stride(1), value.stride(2), value.stride(3),
        dout.stride(0), dout.stride(1), dout.stride(2), dout.stride(3),
        s.kvHeads, group, s.queries, s.keys, s.ahead, s.window, s.scale,
        s.scale2, "D"_a = s.headSize, "BLOCK_M"_a = plan.queries,
        "BLOCK_N"_a = plan.keys, "BOUNDED"_a = s.bounded,
        "WINDOW"_a = s.windowed, "PRECISION"_a = s.precision,
        "num_warps"_a = plan.warps,
        "num_stages"_a = stagesFor(plan.stages, {query, dout}));
  }
  if (wantsQ) {
    AttentionPlan plan = planQueriesBackward(
        s.headSize, s.queries, s.keys, q.dtype(), options.tf32, q.device());
    const Tensor &dq = gradients.q;
    static const OperatorKernel kernel("attention", "queries_backward_kernel");
    kernel[{s.batch * s.heads * cdiv(s.queries, plan.queries)}](
        dq, query, key, value, dout, result.lse, delta, dq.stride(0),
        dq.stride(1), dq.stride(2), query.stride(0), query.stride(1),
        query.stride(2), query.stride(3), key.stride(0), key.stride(1),
        key.stride(2), key.stride(3), value.stride(0), value.stride(1),
        value.stride(2), value.stride(3), dout.stride(0), dout.stride(1),
        dout.stride(2), dout.stride(3), s.heads, group, s.queries, s.keys,
        s.ahead, s.window, s.scale, s.scale2, "D"_a = s.headSize,
        "BLOCK_M"_a = plan.queries, "BLOCK_N"_a = plan.keys,
        "BOUNDED"_a = s.bounded, "WINDOW"_a = s.windowed,
        "PRECISION"_a = s.precision, "num_warps"_a = plan.warps,
        "num_stages"_a = stagesFor(plan.stages, {key, value}));
  }
  return gradients;
}

Tensor kernels::attention(const Tensor &q, const Tensor &k, const Tensor &v,
                          const AttentionOptions &options) {
  return attentionForward(q, k, v, options, false).o;
}

Variable kernels::attention(const Variable &q, const Variable &k,
                            const Variable &v,
                            const AttentionOptions &options) {
  bool keeps = autograd::isRecording({q, k, v});
  AttentionResult result =
      attentionForward(q.value(), k.value(), v.value(), options, keeps);
  return autograd::record(
      "attention", {q, k, v}, result.o,
      [q = q.value(), k = k.value(), v = v.value(), result,
       options](const Tensor &grad, autograd::Needs needs) {
        AttentionGradients g = attentionBackward(
            grad, q, k, v, result, options, needs[0], needs[1] || needs[2]);
        return autograd::Gradients{g.q, needs[1] ? g.k : Tensor(),
                                   needs[2] ? g.v : Tensor()};
      });
}
