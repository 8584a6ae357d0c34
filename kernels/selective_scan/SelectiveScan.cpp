//===- SelectiveScan.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/selective_scan/SelectiveScan.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/OperatorKernel.h"
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
    channels = std::min(std::max<int64_t>(most / steps / states, 1),
                        nextPowerOf2(in.a.size(0)));
  }
  static constexpr int64_t steps = 16, warps = 8;
  int64_t channels;
};

} // namespace

static void checkInputs(const Inputs &in) {
  Checks checks("selectiveScan");
  checks.floats("x", in.x).rank(3, 3);
  int64_t batch = in.x.size(0), steps = in.x.size(1), channels = in.x.size(2);
  checks.floats("dt", in.dt).shape(in.x.shape(), "that of x");
  checks.floats("a", in.a).rank(2, 2).shape({channels, -1},
                                            "the channels of x, and states");
  int64_t states = in.a.size(1);
  checks.require(states >= 1 && states <= 256, "a",
                 "1 to 256 states of a channel", states);
  Shape ofSteps = {batch, steps, states};
  checks.floats("b", in.b).shape(ofSteps, "batch and steps of x, states of a");
  checks.floats("c", in.c).shape(ofSteps, "batch and steps of x, states of a");
  checks.optional("d", in.d).shape({channels}, "the channels of x");
  checks.require(steps <= INT32_MAX - 16, "x", "less than 2^31 steps", steps);
}

/// Neighbours along the last dimension.
static Tensor inLines(const Tensor &t) {
  return t.stride(2) == 1 ? t : t.contiguous();
}

static Inputs inLines(const Inputs &in) {
  return {inLines(in.x), inLines(in.dt), in.a.contiguous(),
          inLines(in.b), inLines(in.c),  contiguousOrNone(in.d)};
}

/// `saved`: the states in front of each chunk, or undefined.
static Tensor forward(const Inputs &given, const Tensor &state,
                      const Tensor &saved) {
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
  return forward(in, state, {});
}

Variable kernels::selectiveScan(const Variable &x, const Variable &dt,
                                const Variable &a, const Variable &b,
                                const Variable &c, const Variable &d) {
  Inputs in = {x.value(), dt.value(), a.value(),
               b.value(), c.value(),  d.value()};
  checkInputs(in);
  Tensor saved;
  if (autograd::isRecording({x, dt, a, b, c, d})) {
    saved = empty({in.x.size(0), cdiv(in.x.size(1), Plan::steps), in.x.size(2),
                   in.a.size(1)},
                  f32, in.x.device());
  }
  return autograd::record("selectiveScan", {x, dt, a, b, c, d},
                          forward(in, {}, saved),
                          [in, saved](const Tensor &dy, autograd::Needs needs) {
                            return backward(dy, in, saved, needs);
                          },
                          {in.x, in.dt, in.a, in.b, in.c, in.d});
}
