//===- SelectiveScan.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/selective_scan/SelectiveScan.h"

#include "kernels/expression/Expression.h"
#include "kernels/join/Join.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>
#include <array>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {

struct Inputs {
  Tensor x, dt, a, b, c, d;
};

/// Steps and channels of a block [steps, channels, N], a few of them a program
/// in registers.
struct Plan {
  explicit Plan(const Inputs &in) {
    int64_t most = in.x.device().isHost() ? 2048 : 4096,
            states = nextPowerOf2(std::max<int64_t>(in.a.size(1), 1));
    channels = std::max<int64_t>(most / steps / states, 1);
    if (hasCompiler()) {
      channels = std::min(channels, nextPowerOf2(in.a.size(0)));
    }
  }
  static constexpr int64_t steps = 16, warps = 8;
  int64_t channels;
};

} // namespace

static void checkInputs(const Inputs &in) {
  Checks checks("selectiveScan");
  checks.gradients("x", in.x).rank(3, 3);
  auto floats = [&](const char *name, const Tensor &t) {
    return isOfDoubles(in.x) ? checks.gradients(name, t)
                             : checks.floats(name, t);
  };
  int64_t batch = in.x.size(0), steps = in.x.size(1), channels = in.x.size(2);
  floats("dt", in.dt).shape(in.x.shape(), "that of x");
  floats("a", in.a).rank(2, 2).shape({channels, -1},
                                     "the channels of x, and states");
  int64_t states = in.a.size(1);
  checks.require(states >= 1 && states <= 256, "a",
                 "1 to 256 states of a channel", states);
  Shape ofSteps = {batch, steps, states};
  floats("b", in.b).shape(ofSteps, "batch and steps of x, states of a");
  floats("c", in.c).shape(ofSteps, "batch and steps of x, states of a");
  if (in.d.defined()) {
    floats("d", in.d).shape({channels}, "the channels of x");
  }
  checks.require(steps <= INT32_MAX - 16, "x", "less than 2^31 steps", steps);
}

/// Neighbours along the last dimension.
static Tensor inLines(const Tensor &t) {
  return t.stride(2) == 1 ? t : t.contiguous();
}

/// The numbers of states that kernels are compiled ahead of time for: what is
/// filled up with zeros stays 0.
static int64_t statesFor(int64_t states) {
  return hasCompiler() ? states : states <= 16 ? 16 : states <= 64 ? 64 : 256;
}

static Tensor withStates(const Tensor &t, int64_t states) {
  if (t.size(-1) == states) {
    return t;
  }
  Shape shape = t.shape();
  shape.back() = states;
  Tensor wide = zeros(shape, t.dtype(), t.device());
  wide.slice(-1, 0, t.size(-1)).copyFrom(t);
  return wide;
}

static Inputs inLines(const Inputs &in) {
  return {inLines(in.x), inLines(in.dt), in.a.contiguous(),
          inLines(in.b), inLines(in.c),  contiguousOrNone(in.d)};
}

/// `saved`: the states in front of each chunk, or undefined.
/// As kernels compiled ahead of time take them: in fp32, with a d.
static Inputs prepared(const Inputs &in) {
  int64_t states = statesFor(in.a.size(1));
  Device device = in.x.device();
  return {inType(in.x),
          inType(in.dt),
          withStates(inType(in.a), states),
          withStates(inType(in.b), states),
          withStates(inType(in.c), states),
          orFilled(inType(in.d), in.x.size(2), 0, f32, device)};
}

static bool isPrepared(const Inputs &in) {
  bool isReady = in.a.size(1) == statesFor(in.a.size(1)) && in.d.defined();
  for (const Tensor *t : {&in.x, &in.dt, &in.a, &in.b, &in.c, &in.d}) {
    isReady &= !t->defined() || t->dtype() == f32;
  }
  return isReady;
}

static Tensor forward(const Inputs &given, const Tensor &state,
                      const Tensor &saved) {
  if (!hasCompiler() && !isPrepared(given) && given.x.numel() != 0) {
    Inputs wide = prepared(given);
    if (!state.defined()) {
      return forward(wide, {}, saved).to(given.x.dtype());
    }
    Tensor all = withStates(state, wide.a.size(1));
    Tensor y = forward(wide, all, saved).to(given.x.dtype());
    if (all.data() != state.data()) {
      state.copyFrom(all.slice(2, 0, state.size(2)));
    }
    return y;
  }
  Tensor y = empty(given.x.shape(), given.x.dtype(), given.x.device());
  if (y.numel() == 0) {
    return y;
  }
  Inputs in = inLines(given);
  Plan plan(in);
  int64_t channels = in.x.size(2);
  static const OperatorKernel kernel("selective_scan", "selective_scan_kernel");
  kernel[{in.x.size(0) * cdiv(channels, plan.channels)}](
      y, orNone(state), orNone(saved), in.x, in.dt, in.a, in.b, in.c,
      orNone(in.d), in.x.size(1), channels, in.x.stride(0), in.x.stride(1),
      in.dt.stride(0), in.dt.stride(1), in.b.stride(0), in.b.stride(1),
      in.c.stride(0), in.c.stride(1), "N"_a = in.a.size(1),
      "CHUNK"_a = Plan::steps, "BLOCK"_a = plan.channels,
      "num_warps"_a = Plan::warps);
  return y;
}

static autograd::Gradients backward(const Tensor &gradient, const Inputs &given,
                                    const Tensor &saved,
                                    autograd::Needs needs) {
  if (!hasCompiler() && !isPrepared(given) && given.x.numel() != 0) {
    autograd::Gradients all =
        backward(inType(gradient), prepared(given), saved, needs);
    const Tensor *inputs[] = {&given.x, &given.dt, &given.a,
                              &given.b, &given.c,  &given.d};
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].defined() && inputs[i]->defined()) {
        all[i] =
            all[i].slice(-1, 0, inputs[i]->size(-1)).to(inputs[i]->dtype());
      }
    }
    return all;
  }
  int64_t batch = given.x.size(0), steps = given.x.size(1),
          channels = given.x.size(2), states = given.a.size(1);
  Device device = given.x.device();
  Tensor dx = empty(given.x.shape(), given.x.dtype(), device),
         ddt = empty(given.dt.shape(), given.dt.dtype(), device);
  if (dx.numel() == 0) {
    autograd::Gradients all = {dx, ddt};
    for (const Tensor &t : {given.a, given.b, given.c, given.d}) {
      all.push_back(t.defined() ? zeros(t.shape(), t.dtype(), device)
                                : Tensor());
    }
    return all;
  }
  Inputs in = inLines(given);
  Tensor dy = inLines(gradient);
  Plan plan(in);
  int64_t parts = cdiv(channels, plan.channels);
  Tensor da = empty({batch, channels, states}, f32, device),
         db = empty({parts, batch, steps, states}, f32, device),
         dc = empty(db.shape(), f32, device),
         dd = empty({batch, channels}, f32, device);
  static const OperatorKernel kernel("selective_scan",
                                     "selective_scan_backward_kernel");
  kernel[{batch * parts}](
      dx, ddt, da, db, dc, dd, dy, saved, in.x, in.dt, in.a, in.b, in.c,
      orNone(in.d), steps, channels, dy.stride(0), dy.stride(1), in.x.stride(0),
      in.x.stride(1), in.dt.stride(0), in.dt.stride(1), in.b.stride(0),
      in.b.stride(1), in.c.stride(0), in.c.stride(1), "N"_a = states,
      "CHUNK"_a = Plan::steps, "BLOCK"_a = plan.channels,
      "num_warps"_a = Plan::warps);
  auto summed = [&](const Tensor &of, const Tensor &like) {
    return columnSums(of.view({of.size(0), of.numel() / of.size(0)}),
                      like.dtype())
        .view(like.shape());
  };
  autograd::Gradients all = {dx, ddt, {}, {}, {}, {}};
  if (needs[2]) {
    all[2] = summed(da, given.a);
  }
  if (needs[3]) {
    all[3] = summed(db, given.b);
  }
  if (needs[4]) {
    all[4] = summed(dc, given.c);
  }
  if (needs[5]) {
    all[5] = summed(dd, given.d);
  }
  return all;
}

/// A step at a time, as expressions and views, which are derived as others are.
/// `state`: becomes the last one; undefined: 0.
static Variable ofDoubles(const Variable &x, const Variable &dt,
                          const Variable &a, const Variable &b,
                          const Variable &c, const Variable &d,
                          const Tensor &state) {
  if (x.numel() == 0) {
    return x * 1;
  }
  int64_t batch = x.size(0), channels = x.size(2), states = a.size(1);
  Variable h(state.defined()
                 ? state
                 : zeros({batch, channels, states}, f64, x.device()));
  std::vector<Variable> steps;
  for (int64_t t = 0; t < x.size(1); ++t) {
    auto ofChannels = [&](const Variable &v) {
      return v.select(1, t).unsqueeze(-1);
    };
    auto ofStates = [&](const Variable &v) {
      return v.select(1, t).unsqueeze(1);
    };
    Variable width = ofChannels(dt);
    h = exp(width * a) * h + width * ofChannels(x) * ofStates(b);
    steps.push_back(sum(ofStates(c) * h, -1));
  }
  if (state.defined()) {
    state.copyFrom(h.value());
  }
  Variable y = stack(steps, 1);
  if (d.defined()) {
    y += d * x;
  }
  return y;
}

Tensor kernels::selectiveScan(const Tensor &x, const Tensor &dt,
                              const Tensor &a, const Tensor &b, const Tensor &c,
                              const Tensor &d, const Tensor &state) {
  Inputs in = {x, dt, a, b, c, d};
  checkInputs(in);
  if (state.defined()) {
    Checks checks("selectiveScan");
    checks.any("x", x);
    checks.floats("state", state)
        .shape({x.size(0), x.size(2), a.size(1)},
               "batch and channels of x, states of a")
        .dtype(f32)
        .contiguous();
    state.noteWrite();
  }
  if (isOfDoubles(x)) {
    return ofDoubles(constant(x), constant(dt), constant(a), constant(b),
                     constant(c), constant(d), state)
        .value();
  }
  return forward(in, state, {});
}

Variable kernels::selectiveScan(const Variable &x, const Variable &dt,
                                const Variable &a, const Variable &b,
                                const Variable &c, const Variable &d) {
  Inputs in = {x.value(), dt.value(), a.value(),
               b.value(), c.value(),  d.value()};
  checkInputs(in);
  if (isOfDoubles(x)) {
    return ofDoubles(x, dt, a, b, c, d, {});
  }
  Tensor saved;
  if (autograd::isRecording({x, dt, a, b, c, d})) {
    saved = empty({in.x.size(0), cdiv(in.x.size(1), Plan::steps), in.x.size(2),
                   statesFor(in.a.size(1))},
                  f32, in.x.device());
  }
  return autograd::record("selectiveScan", {x, dt, a, b, c, d},
                          forward(in, {}, saved),
                          [in, saved](const Tensor &dy, autograd::Needs needs) {
                            return backward(dy, in, saved, needs);
                          },
                          {in.x, in.dt, in.a, in.b, in.c, in.d});
}
