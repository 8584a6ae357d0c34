//===- GroupNorm.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/group_norm/GroupNorm.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/ColumnSums.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {

/// x as [samples, channels, positions] in one of the two memory orders.
struct Samples {
  Samples(const Tensor &x, int64_t groups);
  /// The same order for another tensor of x's shape, copied where needed.
  Tensor inOrder(const Tensor &t) const;
  Tensor make() const;

  Shape shape;
  Tensor tensor;
  int64_t count = 0, channels = 0, positions = 0, groups = 0;
  bool isLast = false; ///< channels are neighbours in memory
  int64_t blockOfChannels = 1, blockOfPositions = 1;
};

struct GroupStatistics {
  Tensor mean, rstd;
};

/// How lines of neighbouring channels are gone over (group_norm.py): a host
/// takes whole ones, a program of a GPU 64 channels of each.
struct Lines {
  explicit Lines(const Samples &in) {
    const Device device = in.tensor.device();
    const bool isHost = device.isHost();
    blockOfGroup = std::min<int64_t>(in.channels / in.groups, 64);
    width = isHost ? std::min<int64_t>(in.channels, 512)
                   : std::min<int64_t>(nextPowerOf2(in.channels), 64);
    height = std::max<int64_t>(elements / width, 1);
    int64_t blocks = cdiv(in.channels, width);
    int64_t programs = isHost ? 64 : 4 * int64_t(numbersOf(device).processors);
    // One program makes a group's numbers of those of all parts.
    int64_t most = 2 * elements / blockOfGroup;
    int64_t wanted =
        std::clamp<int64_t>(programs / (in.count * blocks), 1,
                            std::min(cdiv(in.positions, height), most));
    share = cdiv(cdiv(in.positions, wanted), height) * height;
    parts = cdiv(in.positions, share);
    grid = {in.count * parts * blocks};
  }
  /// Three launches in place of one: on a GPU a group of two tiles is done
  /// sooner by the program that has it to itself.
  static bool fit(const Samples &in) {
    bool isSmall = in.channels / in.groups * in.positions <= 2 * elements;
    return in.isLast && hasCompiler() &&
           (in.tensor.device().isHost() || !isSmall);
  }
  static constexpr int64_t elements = 4096; ///< of a tile
  int64_t width, height, blockOfGroup;
  int64_t share, parts; ///< of a sample's lines: in a part, and their number
  Grid grid = {1};
};

} // namespace

/// Channels moved after the positions.
static Tensor channelsBehind(const Tensor &t) {
  std::vector<int> order = {0};
  for (int axis = 2; axis < t.rank(); ++axis) {
    order.push_back(axis);
  }
  order.push_back(1);
  return t.permute(order);
}

static Tensor channelsSecond(const Tensor &t) {
  std::vector<int> order = {0, t.rank() - 1};
  for (int axis = 1; axis < t.rank() - 1; ++axis) {
    order.push_back(axis);
  }
  return t.permute(order);
}

Samples::Samples(const Tensor &x, int64_t groups)
    : shape(x.shape()), count(x.size(0)), channels(x.size(1)), groups(groups) {
  positions = 1;
  for (int axis = 2; axis < x.rank(); ++axis) {
    positions *= x.size(axis);
  }
  isLast = !x.isContiguous() && channelsBehind(x).isContiguous();
  tensor = inOrder(x);
  // Tiles of 4,096 elements, whose second dimension is long where it can be.
  int64_t inGroup = channels / groups;
  if (!hasCompiler()) {
    blockOfChannels = isLast ? 16 : 4;
    blockOfPositions = isLast ? 256 : 1024;
  } else if (isLast) {
    blockOfChannels = std::clamp<int64_t>(inGroup, 1, 256);
    blockOfPositions =
        std::clamp<int64_t>(positions, 1, 4096 / blockOfChannels);
  } else {
    blockOfPositions = std::clamp<int64_t>(positions, 1, 1024);
    blockOfChannels = std::clamp<int64_t>(inGroup, 1, 4096 / blockOfPositions);
  }
}

Tensor Samples::inOrder(const Tensor &t) const {
  return isLast ? channelsSecond(channelsBehind(t).contiguous())
                : t.contiguous();
}

Tensor Samples::make() const {
  if (!isLast) {
    return empty(shape, tensor.dtype(), tensor.device());
  }
  Shape behind = channelsBehind(tensor).shape();
  return channelsSecond(empty(behind, tensor.dtype(), tensor.device()));
}

static void checkArguments(const Tensor &x, int64_t groups,
                           const Tensor &weight, const Tensor &bias,
                           double eps) {
  Checks checks("group_norm");
  checks.gradients("x", x).rank(2, 16);
  Shape channels = {x.size(1)};
  for (auto [name, t] : {std::pair("weight", &weight), {"bias", &bias}}) {
    if (isOfDoubles(x) && t->defined()) {
      checks.gradients(name, *t).shape(channels, "the channels of x");
    } else {
      checks.optional(name, *t).shape(channels, "the channels of x");
    }
  }
  checks.require(groups > 0 && x.size(1) % groups == 0, "groups",
                 "a divisor of the channels, " + std::to_string(x.size(1)),
                 double(groups));
  checks.require(eps >= 0, "eps", "a number that is not negative", eps);
}

static void normLines(const Tensor &y, const Samples &in, const Tensor &w,
                      const Tensor &b, double eps, const GroupStatistics &of) {
  Lines lines(in);
  int64_t channels = in.channels, positions = in.positions,
          ofGroup = channels / in.groups;
  Shape shape = {in.count * lines.parts, channels};
  Tensor means = empty(shape, f32, y.device()),
         squares = empty(shape, f32, y.device());
  static const OperatorKernel sums("group_norm", "line_sums_kernel"),
      groups("group_norm", "line_groups_kernel"),
      norm("group_norm", "line_norm_kernel");
  sums[lines.grid](means, squares, in.tensor, channels, positions, lines.share,
                   "BLOCK_C"_a = lines.width, "BLOCK_S"_a = lines.height);
  groups[{in.count * in.groups}](of.mean, of.rstd, means, squares, eps,
                                 channels, positions, lines.share, ofGroup,
                                 "PARTS"_a = nextPowerOf2(lines.parts),
                                 "BLOCK"_a = lines.blockOfGroup);
  norm[lines.grid](y, in.tensor, orNone(w), orNone(b), of.mean, of.rstd,
                   channels, positions, lines.share, ofGroup,
                   "BLOCK_C"_a = lines.width, "BLOCK_S"_a = lines.height);
}

/// dx; `dw` and `db` become those of parts.
static void backwardOfLines(const Tensor &dx, Tensor &dw, Tensor &db,
                            const Samples &in, const Tensor &dy,
                            const Tensor &w, const GroupStatistics &of) {
  Lines lines(in);
  int64_t channels = in.channels, positions = in.positions,
          ofGroup = channels / in.groups;
  Device device = dx.device();
  Shape shape = {in.count * lines.parts, channels};
  dw = empty(shape, f32, device);
  db = empty(shape, f32, device);
  Tensor g = empty({in.count * in.groups}, f32, device),
         gx = empty({in.count * in.groups}, f32, device);
  static const OperatorKernel sums("group_norm", "line_sums_backward_kernel"),
      groups("group_norm", "line_groups_backward_kernel"),
      norm("group_norm", "line_norm_backward_kernel");
  sums[lines.grid](dw, db, dy, in.tensor, of.mean, of.rstd, channels, positions,
                   lines.share, ofGroup, "BLOCK_C"_a = lines.width,
                   "BLOCK_S"_a = lines.height);
  groups[{in.count * in.groups}](
      g, gx, dw, db, orNone(w), channels, positions, lines.share, ofGroup,
      "PARTS"_a = nextPowerOf2(lines.parts), "BLOCK"_a = lines.blockOfGroup);
  norm[lines.grid](dx, dy, in.tensor, orNone(w), of.mean, of.rstd, g, gx,
                   channels, positions, lines.share, ofGroup,
                   "BLOCK_C"_a = lines.width, "BLOCK_S"_a = lines.height);
}

static Tensor forward(const Samples &in, const Tensor &weight,
                      const Tensor &bias, double eps, GroupStatistics *kept) {
  if (mixesTypes({in.tensor, weight, bias})) {
    Samples wide = in;
    wide.tensor = in.inOrder(inType(in.tensor));
    return in.make().copyFrom(
        forward(wide, inType(weight), inType(bias), eps, kept));
  }
  Tensor y = in.make();
  if (kept) {
    kept->mean = empty({in.count * in.groups}, f32, y.device());
    kept->rstd = empty({in.count * in.groups}, f32, y.device());
  }
  if (y.numel() == 0) {
    return y;
  }
  Tensor w = contiguousOrNone(weight), b = contiguousOrNone(bias);
  if (w.defined() || b.defined()) {
    // Both, in a kernel compiled ahead of time.
    w = orFilled(w, in.channels, 1, y.dtype(), y.device());
    b = orFilled(b, in.channels, 0, y.dtype(), y.device());
  }
  if (Lines::fit(in)) {
    GroupStatistics own = kept ? *kept : GroupStatistics();
    if (!kept) {
      own.mean = empty({in.count * in.groups}, f32, y.device());
      own.rstd = empty({in.count * in.groups}, f32, y.device());
    }
    normLines(y, in, w, b, eps, own);
    return y;
  }
  static const OperatorKernel kernel("group_norm", "group_norm_kernel");
  kernel[{in.groups * in.count}](
      y, in.tensor, orNone(w), orNone(b),
      kept ? orNone(kept->mean) : Argument(none),
      kept ? orNone(kept->rstd) : Argument(none), eps, in.channels,
      in.positions, in.channels / in.groups, "BLOCK_C"_a = in.blockOfChannels,
      "BLOCK_S"_a = in.blockOfPositions, "LAST"_a = in.isLast,
      "num_warps"_a = 8);
  return y;
}

static autograd::Gradients backward(const Samples &in, const Tensor &dy,
                                    const Tensor &w, DType biasType,
                                    const GroupStatistics &kept,
                                    autograd::Needs needs) {
  Tensor dx = in.make(), dw, db;
  if (mixesTypes({in.tensor, w, dy})) {
    Samples wide = in;
    wide.tensor = in.inOrder(inType(in.tensor));
    autograd::Gradients g =
        backward(wide, inType(dy), inType(w), biasType, kept, needs);
    return {dx.copyFrom(g[0]), needs[1] ? g[1].to(w.dtype()) : Tensor(), g[2]};
  }
  Device device = dx.device();
  if (dx.numel() == 0) {
    return {dx, needs[1] ? zeros({in.channels}, w.dtype(), device) : Tensor(),
            needs[2] ? zeros({in.channels}, biasType, device) : Tensor()};
  }
  if (Lines::fit(in)) {
    backwardOfLines(dx, dw, db, in, in.inOrder(dy), w, kept);
    auto [dwSum, dbSum] =
        columnSums(needs[1] ? dw : Tensor(), needs[1] ? w.dtype() : f32,
                   needs[2] ? db : Tensor(), biasType);
    return {dx, dwSum, dbSum};
  }
  // Both, in a kernel compiled ahead of time.
  bool both = (needs[1] || needs[2]) && !hasCompiler();
  Shape sums = {in.count, in.channels};
  dw = needs[1] || both ? empty(sums, f32, device) : Tensor();
  db = needs[2] || both ? empty(sums, f32, device) : Tensor();
  static const OperatorKernel kernel("group_norm",
                                     "group_norm_backward_kernel");
  kernel[{in.groups * in.count}](
      dx, orNone(dw), orNone(db), in.inOrder(dy), in.tensor, orNone(w),
      kept.mean, kept.rstd, in.channels, in.positions, in.channels / in.groups,
      "BLOCK_C"_a = in.blockOfChannels, "BLOCK_S"_a = in.blockOfPositions,
      "LAST"_a = in.isLast, "num_warps"_a = 8);
  dw = needs[1] ? dw : Tensor();
  db = needs[2] ? db : Tensor();
  auto [dwSum, dbSum] =
      columnSums(dw, needs[1] ? w.dtype() : f32, db, biasType);
  return {dx, dwSum, dbSum};
}

/// As an expression, which is derived as others are.
static Variable ofDoubles(const Variable &x, int64_t groups,
                          const Variable &weight, const Variable &bias,
                          double eps) {
  if (x.numel() == 0) {
    return x * 1;
  }
  int64_t count = x.size(0), channels = x.size(1);
  Variable grouped = x.reshape({count, groups, x.numel() / (count * groups)});
  Variable centred = grouped - mean(grouped, -1, true);
  Expression normed = centred * rsqrt(mean(square(centred), -1, true) + eps);
  Expression y = normed.reshape(x.shape());
  Shape ofChannels(size_t(x.rank()) - 1, 1);
  ofChannels[0] = channels;
  if (weight.defined()) {
    y = y * weight.reshape(ofChannels);
  }
  if (bias.defined()) {
    y = y + bias.reshape(ofChannels);
  }
  return y;
}

Tensor kernels::groupNorm(const Tensor &x, int64_t groups, const Tensor &weight,
                          const Tensor &bias, double eps) {
  checkArguments(x, groups, weight, bias, eps);
  if (isOfDoubles(x)) {
    return ofDoubles(Variable(x), groups, constant(weight), constant(bias), eps)
        .value();
  }
  return forward(Samples(x, groups), weight, bias, eps, nullptr);
}

Variable kernels::groupNorm(const Variable &x, int64_t groups,
                            const Variable &weight, const Variable &bias,
                            double eps) {
  checkArguments(x.value(), groups, weight.value(), bias.value(), eps);
  if (isOfDoubles(x)) {
    return ofDoubles(x, groups, weight, bias, eps);
  }
  Samples in(x.value(), groups);
  GroupStatistics kept;
  bool keeps = autograd::isRecording({x, weight, bias});
  Tensor y =
      forward(in, weight.value(), bias.value(), eps, keeps ? &kept : nullptr);
  DType biasType = bias.defined() ? bias.dtype() : f32;
  return autograd::record("group_norm", {x, weight, bias}, y,
                          [in, w = contiguousOrNone(weight.value()), biasType,
                           kept](const Tensor &dy, autograd::Needs needs) {
                            return backward(in, dy, w, biasType, kept, needs);
                          },
                          {x.value(), weight.value()});
}
