//===- Attention.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Attention.h"

#include "kernels/attention/AttentionPlan.h"
#include "kernels/attention/Composed.h"
#include "kernels/attention/PackedSequences.h"
#include "kernels/operator/AttentionChecks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/Nearby.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Precision.h"
#include "kernels/operator/Stages.h"
#include "kernels/reduce/Reduce.h"
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
  const char *precision, *precisionOfKeys; ///< of the gradients of keys
  bool tf32 = false; ///< no form that is compiled ahead of time has it
  double drop, keep;
  bool drops;
};

} // namespace

void kernels::checkAttention(const char *op, const Tensor &q, const Tensor &k,
                             const Tensor &v, const AttentionOptions &options,
                             bool takesDoubles) {
  Checks checks(op);
  (takesDoubles ? checks.gradients("q", q) : checks.floats("q", q)).rank(4, 4);
  checkKeysAndValues(checks, q, k, v, options.window, options.scale);
  const AttentionDropout &dropout = options.dropout;
  checks.require(dropout.p >= 0 && dropout.p < 1, "dropout",
                 "a probability from 0 to below 1", dropout.p);
  if (dropout.seedOnDevice.defined()) {
    checks.any("seedOnDevice", dropout.seedOnDevice).shape({1}).dtype(i64);
  }
  checkPackedSequences(op, q, k, options);
}

namespace {

/// As kernels take it, which is one of each score: none, or with its strides.
struct BiasArguments {
  Tensor all;
  Argument batch = none, head = none, row = none, column = none;
};

} // namespace

void kernels::checkAttentionBias(const char *op, const Tensor &q,
                                 const Tensor &k, const Tensor &bias) {
  Checks checks(op);
  checks.any("q", q);
  checks.any("bias", bias);
  if (bias.dtype() != i1) {
    isOfDoubles(q) ? checks.gradients("bias", bias)
                   : checks.floats("bias", bias);
  }
  Shape scores = {q.size(0), q.size(1), q.size(2), k.size(2)};
  bool fits = bias.rank() <= 4;
  for (int i = 1; fits && i <= bias.rank(); ++i) {
    fits = bias.size(-i) == 1 || bias.size(-i) == scores[size_t(4 - i)];
  }
  if (!fits) {
    checks.fail("bias",
                "a shape that broadcasts to [" + std::to_string(scores[0]) +
                    ", " + std::to_string(scores[1]) + ", " +
                    std::to_string(scores[2]) + ", " +
                    std::to_string(scores[3]) + "], that of the scores",
                bias.str());
  }
}

static BiasArguments biasOf(const char *op, const Tensor &q, const Tensor &k,
                            const Tensor &bias) {
  if (!bias.defined()) {
    return {};
  }
  checkAttentionBias(op, q, k, bias);
  if (!hasCompiler()) {
    Checks(op).fail(
        "bias",
        "none in a program without a compiler (hint: softmax with a "
        "mask, between two products)",
        bias.str());
  }
  Tensor all = bias.expand({q.size(0), q.size(1), q.size(2), k.size(2)});
  return {all, Argument(all.stride(0)), Argument(all.stride(1)),
          Argument(all.stride(2)), Argument(all.stride(3))};
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
  // A window that nothing lies beyond is no window.
  int64_t longest = s.queries + s.keys;
  constexpr int64_t beyond = int64_t{1} << 29;
  s.windowed = options.window > 0 && options.window < longest;
  // Kernels with bounds know queries that see one key.
  s.bounded = options.causal || s.windowed || s.keys == 1;
  s.window = s.windowed ? options.window : 0;
  s.ahead = options.causal ? 1 : s.windowed ? s.window : beyond;
  s.scale = options.scale.value_or(1 / std::sqrt(double(s.headSize)));
  s.scale2 = s.scale * std::numbers::log2e;
  s.drop = options.dropout.p;
  s.keep = 1 / (1 - s.drop);
  s.drops = s.drop > 0;
  s.tf32 = options.tf32 && hasCompiler();
  Precision precision =
      precisionOfAttention(q.dtype(), s.tf32, q.device(), s.headSize,
                           PackedSequences(options).length(s.keys));
  s.precision = nameOf(precision);
  bool splits = precision == Precision::Split;
  s.precisionOfKeys = splits && !splitsKeysBackward(s.headSize)
                          ? nameOf(Precision::Exact)
                          : s.precision;
  if (!hasCompiler()) {
    // One form serves all (ahead.txt): bounds that nothing lies beyond.
    s.window = s.windowed ? s.window : beyond;
    s.bounded = s.windowed = true;
  }
  return s;
}

/// As an argument: a number, or a tensor. The forms compiled ahead of time take
/// a tensor, and do not read it where nothing is dropped.
static Tensor seedOf(const AttentionDropout &dropout, Device device) {
  return dropout.seedOnDevice.defined() ? dropout.seedOnDevice
         : hasCompiler()                ? Tensor()
         : dropout.p > 0
             ? Tensor::fromVector(std::vector<int64_t>{dropout.seed},
                                  std::nullopt, device)
             : zeros({1}, i64, device);
}

/// The constant DROPS (attention.py).
static int dropsOf(const Setting &s) { return hasCompiler() ? s.drops : 2; }

/// The head size of kernels: without a compiler there are three (ahead.txt).
static int64_t widthFor(int64_t headSize) {
  return hasCompiler()     ? headSize
         : headSize <= 64  ? 64
         : headSize <= 128 ? 128
                           : 256;
}

/// Can kernels work on it in place? Those of ahead.txt read 16 bytes at once.
static bool isFitting(const Tensor &t) {
  const Shape &strides = t.strides();
  return hasCompiler() || (t.size(3) == widthFor(t.size(3)) &&
                           strides[3] == 1 && strides[2] % 16 == 0 &&
                           strides[1] % 16 == 0 && strides[0] % 16 == 0 &&
                           reinterpret_cast<uintptr_t>(t.data()) % 16 == 0);
}

static Tensor emptyOfWidth(const Tensor &t) {
  return empty({t.size(0), t.size(1), t.size(2), widthFor(t.size(3))},
               t.dtype(), t.device());
}

/// As kernels read it; heads are filled up with zeros.
static Tensor fitted(const Tensor &t) {
  if (isFitting(t)) {
    return nearby(t);
  }
  Tensor wide = emptyOfWidth(t).zero();
  wide.slice(3, 0, t.size(3)).copyFrom(t);
  return wide;
}

/// What a kernel writes instead of `t`.
static Tensor targetFor(const Tensor &t) {
  return isFitting(t) && isNearby(t) ? t : emptyOfWidth(t);
}

static void copyBack(const Tensor &t, const Tensor &target) {
  if (target.data() != t.data()) {
    t.copyFrom(target.slice(3, 0, t.size(3)));
  }
}

/// Uninitialised, and with heads and rows in the order that `t` has them in
/// memory: [batch, sequence, heads, D] stays so.
static Tensor emptyAs(const Tensor &t) {
  bool rowsFirst = t.stride(2) > t.stride(1) && t.size(1) > 1 && isNearby(t);
  if (!rowsFirst) {
    return empty(t.shape(), t.dtype(), t.device());
  }
  return empty({t.size(0), t.size(2), t.size(1), t.size(3)}, t.dtype(),
               t.device())
      .transpose(1, 2);
}

/// For the choice of a kernel with roles, whose operands these are. With a bias
/// or dropout the other kernels have been measured alone.
static AttentionRoles rolesOf(const Setting &s, const AttentionOptions &options,
                              std::initializer_list<Tensor> operands) {
  bool isMapped = !options.queryStarts.defined() && !options.bias.defined() &&
                  !s.drops &&
                  std::ranges::all_of(operands, [](const Tensor &t) {
                    return isMappable(t) && t.stride(3) == 1;
                  });
  return {isMapped, s.bounded, s.batch * s.heads};
}

AttentionResult kernels::attentionForward(const Tensor &q, const Tensor &k,
                                          const Tensor &v,
                                          const AttentionOptions &options,
                                          bool keepsLse) {
  checkAttention("attention", q, k, v, options);
  BiasArguments bias = biasOf("attention", q, k, options.bias);
  Setting s = settingOf(q, k, options);
  AttentionResult result;
  result.o = emptyAs(q);
  if (keepsLse || !hasCompiler()) {
    result.lse = empty({s.batch, s.heads, s.queries}, f32, q.device());
  }
  if (q.numel() == 0) {
    return result;
  }
  if (s.keys == 0) {
    result.o.zero();
    if (result.lse.defined()) {
      result.lse.fill(-std::numeric_limits<double>::infinity());
    }
    return result;
  }
  if (options.queryStarts.defined() && !hasCompiler()) {
    forEachSequence(options, [&](const Sequence &one) {
      AttentionResult of = attentionForward(one.queriesOf(q), one.keysOf(k),
                                            one.keysOf(v), one.options, true);
      one.queriesOf(result.o).copyFrom(of.o);
      one.queriesOf(result.lse).copyFrom(of.lse);
    });
    return result;
  }
  Tensor query = fitted(q), key = fitted(k), value = fitted(v);
  int64_t width = query.size(3);
  Tensor o = targetFor(result.o);
  Tensor seed = seedOf(options.dropout, q.device());
  PackedSequences packed(options);
  AttentionPlan plan = planAttention(
      s.headSize, packed.length(s.queries), packed.length(s.keys), q.dtype(),
      s.tf32, q.device(), rolesOf(s, options, {query, key, value}));
  static const OperatorKernel kernel("attention", "attention_kernel");
  kernel[{s.batch * s.heads * packed.blocks(s.queries, plan.queries)}](
      o, orNone(result.lse), query, key, value, o.stride(0), o.stride(1),
      o.stride(2), query.stride(0), query.stride(1), query.stride(2),
      query.stride(3), key.stride(0), key.stride(1), key.stride(2),
      key.stride(3), value.stride(0), value.stride(1), value.stride(2),
      value.stride(3), s.heads, s.heads / s.kvHeads, s.queries, s.keys, s.ahead,
      s.window, s.scale2,
      seed.defined() ? Argument(seed) : Argument(options.dropout.seed),
      options.dropout.site, s.drop, s.keep, orNone(bias.all), bias.batch,
      bias.head, bias.row, bias.column, "D"_a = width,
      "BLOCK_M"_a = plan.queries, "BLOCK_N"_a = plan.keys,
      "BOUNDED"_a = s.bounded, "WINDOW"_a = s.windowed,
      "PRECISION"_a = s.precision, "DROPS"_a = dropsOf(s),
      "q_starts_ptr"_a = orNone(packed.queryStarts),
      "k_starts_ptr"_a = orNone(packed.keyStarts),
      "sequences"_a = packed.count(), "ROLES"_a = plan.hasRoles,
      "num_warps"_a = plan.warps,
      "num_stages"_a = stagesFor(plan.stages, {key, value}));
  copyBack(result.o, o);
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
      "D"_a = o.size(3), "BLOCK_M"_a = rows, "num_warps"_a = 4);
  return delta;
}

static AttentionGradients zeroed(const AttentionGradients &gradients) {
  for (const Tensor &t :
       {gradients.q, gradients.k, gradients.v, gradients.bias}) {
    if (t.defined()) {
      t.zero();
    }
  }
  return gradients;
}

static void checkResult(Checks &checks, const Tensor &grad, const Tensor &q,
                        const AttentionResult &result) {
  checks.floats("grad", grad).shape(q.shape(), "that of q").dtype(q.dtype());
  checks.floats("o", result.o).shape(q.shape(), "that of q").dtype(q.dtype());
  checks.floats("lse", result.lse)
      .shape({q.size(0), q.size(1), q.size(2)}, "of q")
      .dtype(f32)
      .contiguous();
}

/// Of packed sequences, into what `gradients` has of them.
static void backwardOfEach(const Tensor &grad, const Tensor &q, const Tensor &k,
                           const Tensor &v, const AttentionResult &result,
                           const AttentionOptions &options,
                           const AttentionGradients &gradients) {
  bool wantsQ = gradients.q.defined(), wantsKV = gradients.k.defined();
  forEachSequence(options, [&](const Sequence &one) {
    AttentionGradients to;
    if (wantsQ) {
      to.q = one.queriesOf(gradients.q);
    }
    if (wantsKV) {
      to.k = one.keysOf(gradients.k);
      to.v = one.keysOf(gradients.v);
    }
    attentionBackward(
        one.queriesOf(grad), one.queriesOf(q), one.keysOf(k), one.keysOf(v),
        {one.queriesOf(result.o), one.queriesOf(result.lse).contiguous()},
        one.options, wantsQ, wantsKV, to);
  });
}

AttentionGradients kernels::attentionBackward(
    const Tensor &grad, const Tensor &q, const Tensor &k, const Tensor &v,
    const AttentionResult &result, const AttentionOptions &options, bool wantsQ,
    bool wantsKV, const AttentionGradients &into, bool wantsBias) {
  checkAttention("attention backward", q, k, v, options);
  BiasArguments bias = biasOf("attention backward", q, k, options.bias);
  Setting s = settingOf(q, k, options);
  Checks checks("attention backward");
  checkResult(checks, grad, q, result);
  AttentionGradients gradients;
  auto place = [&](const char *name, const Tensor &given, const Tensor &like) {
    if (!given.defined()) {
      return emptyAs(like);
    }
    checks.floats(name, given).shape(like.shape()).dtype(like.dtype());
    checks.require(given.stride(3) == 1 || s.headSize == 1, name,
                   "neighbours along the last dimension",
                   double(given.stride(3)));
    checks.any(name, given).writable();
    for (const Tensor *other : {&into.q, &into.k, &into.v}) {
      if (other != &given && other->defined() && given.numel() != 0 &&
          other->data() == given.data()) {
        checks.fail(name, "memory of its own", "that of another gradient");
      }
    }
    given.noteWrite();
    return given;
  };
  if (wantsQ) {
    gradients.q = place("into.q", into.q, q);
  }
  if (wantsKV) {
    gradients.k = place("into.k", into.k, k);
    gradients.v = place("into.v", into.v, v);
  }
  if (wantsBias) {
    checks.floats("bias", options.bias);
  }
  if (q.numel() == 0 || k.numel() == 0) {
    gradients.bias = wantsBias ? emptyLike(options.bias) : Tensor();
    return zeroed(gradients);
  }
  if (options.queryStarts.defined() && !hasCompiler()) {
    backwardOfEach(grad, q, k, v, result, options, gradients);
    return gradients;
  }
  PackedSequences packed(options);
  Tensor query = fitted(q), key = fitted(k), value = fitted(v),
         dout = fitted(grad);
  Tensor out = fitted(result.o.stride(3) == 1 || s.headSize == 1
                          ? result.o
                          : result.o.contiguous());
  int64_t width = query.size(3);
  Tensor seed = seedOf(options.dropout, q.device());
  Argument seedArgument =
      seed.defined() ? seed : Argument(options.dropout.seed);
  Tensor delta = deltaOf(out, dout, s);
  if (wantsKV) {
    AttentionPlan plan =
        planKeysBackward(s.headSize, packed.length(s.queries),
                         packed.length(s.keys), q.dtype(), s.tf32, q.device());
    Tensor dk = targetFor(gradients.k), dv = targetFor(gradients.v);
    static const OperatorKernel kernel("attention", "keys_backward_kernel");
    kernel[{s.batch * s.kvHeads * packed.blocks(s.keys, plan.keys)}](
        dk, dv, query, key, value, dout, result.lse, delta, dk.stride(0),
        dk.stride(1), dk.stride(2), dv.stride(0), dv.stride(1), dv.stride(2),
        query.stride(0), query.stride(1), query.stride(2), query.stride(3),
        key.stride(0), key.stride(1), key.stride(2), key.stride(3),
        value.stride(0), value.stride(1), value.stride(2), value.stride(3),
        dout.stride(0), dout.stride(1), dout.stride(2), dout.stride(3),
        s.kvHeads, s.heads / s.kvHeads, s.queries, s.keys, s.ahead, s.window,
        s.scale, s.scale2, seedArgument, options.dropout.site, s.drop, s.keep,
        orNone(bias.all), bias.batch, bias.head, bias.row, bias.column,
        "D"_a = width, "BLOCK_M"_a = plan.queries, "BLOCK_N"_a = plan.keys,
        "BOUNDED"_a = s.bounded, "WINDOW"_a = s.windowed,
        "PRECISION"_a = s.precisionOfKeys, "DROPS"_a = dropsOf(s),
        "q_starts_ptr"_a = orNone(packed.queryStarts),
        "k_starts_ptr"_a = orNone(packed.keyStarts),
        "sequences"_a = packed.count(), "num_warps"_a = plan.warps,
        "num_stages"_a = stagesFor(plan.stages, {query, dout}));
    copyBack(gradients.k, dk);
    copyBack(gradients.v, dv);
  }
  if (wantsQ || wantsBias) {
    // Blocks of keys that no query of a block sees are not visited.
    Tensor dbias = wantsBias ? zeros({s.batch, s.heads, s.queries, s.keys}, f32,
                                     q.device())
                             : Tensor();
    AttentionPlan plan = planQueriesBackward(
        s.headSize, packed.length(s.queries), packed.length(s.keys), q.dtype(),
        s.tf32, q.device(), rolesOf(s, options, {query, key, value, dout}));
    Tensor dq = wantsQ ? targetFor(gradients.q) : emptyOfWidth(q);
    static const OperatorKernel kernel("attention", "queries_backward_kernel");
    kernel[{s.batch * s.heads * packed.blocks(s.queries, plan.queries)}](
        dq, query, key, value, dout, result.lse, delta, dq.stride(0),
        dq.stride(1), dq.stride(2), query.stride(0), query.stride(1),
        query.stride(2), query.stride(3), key.stride(0), key.stride(1),
        key.stride(2), key.stride(3), value.stride(0), value.stride(1),
        value.stride(2), value.stride(3), dout.stride(0), dout.stride(1),
        dout.stride(2), dout.stride(3), s.heads, s.heads / s.kvHeads, s.queries,
        s.keys, s.ahead, s.window, s.scale, s.scale2, seedArgument,
        options.dropout.site, s.drop, s.keep, orNone(bias.all), bias.batch,
        bias.head, bias.row, bias.column, orNone(dbias), "D"_a = width,
        "BLOCK_M"_a = plan.queries, "BLOCK_N"_a = plan.keys,
        "BOUNDED"_a = s.bounded, "WINDOW"_a = s.windowed,
        "PRECISION"_a = s.precision, "DROPS"_a = dropsOf(s),
        "q_starts_ptr"_a = orNone(packed.queryStarts),
        "k_starts_ptr"_a = orNone(packed.keyStarts),
        "sequences"_a = packed.count(), "ROLES"_a = plan.hasRoles,
        "num_warps"_a = plan.warps,
        "num_stages"_a = stagesFor(plan.stages, {key, value}));
    if (wantsQ) {
      copyBack(gradients.q, dq);
    }
    if (wantsBias) {
      gradients.bias = sumTo(dbias, options.bias.shape(), options.bias.dtype());
    }
  }
  return gradients;
}

/// Is there no kernel that does all?
static bool isComposed(const Tensor &q, const Tensor &bias) {
  return isOfDoubles(q) || (bias.defined() && !hasCompiler());
}

/// On a host, one query of each of the heads that share keys can be so many
/// queries of one head: keys are then read once. (On a GPU they are read by
/// processors of their own.)
static bool areQueriesOfOneHead(const Tensor &q, const Tensor &k,
                                const AttentionOptions &options) {
  return q.defined() && k.defined() && q.rank() == 4 && k.rank() == 4 &&
         q.device().isHost() && q.size(2) == 1 && k.size(1) > 0 &&
         q.size(1) > k.size(1) && q.size(1) % k.size(1) == 0 &&
         options.window == 0 && options.dropout.p == 0 &&
         !options.bias.defined() && !options.queryStarts.defined();
}

template <typename T>
static T asQueriesOfOneHead(const T &q, const T &k, const T &v,
                            const AttentionOptions &given) {
  checkAttention("attention", asVariable(q).value(), asVariable(k).value(),
                 asVariable(v).value(), given, /*takesDoubles=*/true);
  AttentionOptions options = given;
  options.causal = false; // the query is at the last key
  int64_t groups = k.size(1);
  Shape shape = q.shape();
  return attention(
             q.reshape({q.size(0), groups, q.size(1) / groups, q.size(3)}), k,
             v, options)
      .reshape(shape);
}

Tensor kernels::attention(const Tensor &q, const Tensor &k, const Tensor &v,
                          const AttentionOptions &options) {
  if (areQueriesOfOneHead(q, k, options)) {
    return asQueriesOfOneHead(q, k, v, options);
  }
  if (isComposed(q, options.bias)) {
    return attentionComposed(constant(q), constant(k), constant(v), {}, options)
        .value();
  }
  return attentionForward(q, k, v, options, false).o;
}

Variable kernels::attention(const Variable &q, const Variable &k,
                            const Variable &v,
                            const AttentionOptions &options) {
  return attention(q, k, v, Variable(), options);
}

Variable kernels::attention(const Variable &q, const Variable &k,
                            const Variable &v, const Variable &bias,
                            const AttentionOptions &given) {
  AttentionOptions options = given;
  if (bias.defined()) {
    if (given.bias.defined()) {
      Checks("attention")
          .fail("bias", "one, as a variable or in the options", "both");
    }
    options.bias = bias.value();
  }
  if (isComposed(q.value(), options.bias)) {
    options.bias = given.bias;
    return attentionComposed(q, k, v, bias, options);
  }
  if (areQueriesOfOneHead(q.value(), k.value(), options)) {
    return asQueriesOfOneHead(q, k, v, options);
  }
  bool keeps = autograd::isRecording({q, k, v, bias});
  AttentionResult result =
      attentionForward(q.value(), k.value(), v.value(), options, keeps);
  return autograd::record(
      "attention", {q, k, v, bias}, result.o,
      [q = q.value(), k = k.value(), v = v.value(), result,
       options](const Tensor &grad, autograd::Needs needs) {
        AttentionGradients g =
            attentionBackward(grad, q, k, v, result, options, needs[0],
                              needs[1] || needs[2], {}, needs[3]);
        return autograd::Gradients{g.q, needs[1] ? g.k : Tensor(),
                                   needs[2] ? g.v : Tensor(), g.bias};
      },
      {q.value(), k.value(), v.value(), options.bias, result.o,
       options.queryStarts, options.keyStarts});
}

/// Part `i` of three, [B, T, 3 H D], as [B, H, T, D].
static Tensor headsOf(const Tensor &qkv, int64_t i, int64_t heads) {
  int64_t width = qkv.size(2) / 3;
  return qkv.view({qkv.size(0), qkv.size(1), 3, heads, width / heads})
      .select(2, i)
      .transpose(1, 2);
}

static void checkPacked(const Tensor &qkv, int64_t heads) {
  Checks checks("self_attention");
  checks.gradients("qkv", qkv).rank(3, 3);
  if (heads < 1 || qkv.size(2) % (3 * heads) != 0) {
    checks.fail("heads",
                "a number whose triple divides the last dimension of qkv, " +
                    std::to_string(qkv.size(2)),
                std::to_string(heads));
  }
}

/// [B, H, T, D] as [B, T, H D], which is how it lies in memory.
static Tensor joined(const Tensor &o) {
  return o.transpose(1, 2).reshape(
      {o.size(0), o.size(2), o.size(1) * o.size(3)});
}

Tensor kernels::selfAttention(const Tensor &packed, int64_t heads,
                              const AttentionOptions &options) {
  checkPacked(packed, heads);
  if (isComposed(packed, options.bias)) {
    return selfAttention(Variable(packed), heads, options).value();
  }
  Tensor qkv = packed.contiguous();
  return joined(attention(headsOf(qkv, 0, heads), headsOf(qkv, 1, heads),
                          headsOf(qkv, 2, heads), options));
}

Variable kernels::selfAttention(const Variable &packed, int64_t heads,
                                const AttentionOptions &options) {
  checkPacked(packed.value(), heads);
  if (isComposed(packed.value(), options.bias)) {
    int64_t batch = packed.size(0), length = packed.size(1),
            width = packed.size(2) / 3;
    Variable all = packed.reshape({batch, length, 3, heads, width / heads});
    auto part = [&](int64_t i) { return all.select(2, i).transpose(1, 2); };
    return attention(part(0), part(1), part(2), options)
        .transpose(1, 2)
        .reshape({batch, length, width});
  }
  Tensor qkv = packed.value().contiguous();
  AttentionResult result = attentionForward(
      headsOf(qkv, 0, heads), headsOf(qkv, 1, heads), headsOf(qkv, 2, heads),
      options, autograd::isRecording({packed}));
  return autograd::record(
      "self_attention", {packed}, joined(result.o),
      [qkv, result, heads, options](const Tensor &grad, autograd::Needs) {
        Tensor d = empty(qkv.shape(), qkv.dtype(), qkv.device());
        Tensor dout = grad.contiguous()
                          .view({qkv.size(0), qkv.size(1), heads,
                                 qkv.size(2) / 3 / heads})
                          .transpose(1, 2);
        attentionBackward(
            dout, headsOf(qkv, 0, heads), headsOf(qkv, 1, heads),
            headsOf(qkv, 2, heads), result, options, true, true,
            {headsOf(d, 0, heads), headsOf(d, 1, heads), headsOf(d, 2, heads)});
        return autograd::Gradients{d};
      },
      {qkv, options.bias, result.o, options.queryStarts, options.keyStarts});
}
