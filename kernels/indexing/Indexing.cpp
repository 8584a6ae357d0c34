//===- Indexing.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/indexing/Indexing.h"

#include "kernels/embedding/Embedding.h"
#include "kernels/operator/Axes.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {

/// A tensor seen as [outer, length, inner] around an axis.
struct Around {
  Around(const Shape &shape, int axis);
  int64_t outer = 1, length = 1, inner = 1;
};

} // namespace

Around::Around(const Shape &shape, int axis) : length(shape[size_t(axis)]) {
  for (int i = 0; i < int(shape.size()); ++i) {
    (i < axis ? outer : inner) *= i == axis ? 1 : shape[size_t(i)];
  }
}

/// Those on a host device; reading others would wait for the GPU.
static void checkIndex(const Checks &checks, const Tensor &index,
                       int64_t length) {
  if (!index.device().isHost()) {
    return;
  }
  std::vector<int64_t> all = index.toVector<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || all[i] >= length) {
      checks.fail("index",
                  length == 0
                      ? "none, where x has no elements"
                      : "numbers from 0 to " + std::to_string(length - 1),
                  std::to_string(all[i]) + " at element " + std::to_string(i));
    }
  }
}

/// x and result contiguous.
/// As kernels move it: those that were compiled ahead of time know floats,
/// whose missing elements are NaN, and else bits.
static Tensor movable(const Tensor &t) {
  if (hasCompiler() || isKernelFloat(t.dtype()) || t.dtype() == f64) {
    return t;
  }
  size_t bytes = byteSize(t.dtype());
  DType bits = bytes == 1 ? i8 : bytes == 2 ? i16 : bytes == 4 ? i32 : i64;
  return Tensor::adopt(std::make_shared<Tensor>(t), t.data(), t.shape(), bits,
                       t.device(), t.strides());
}

static Tensor readableIndex(const Tensor &index) {
  return hasCompiler() ? index : index.to(i64);
}

static void launchGather(const Tensor &to, const Tensor &from,
                         const Tensor &givenIndex, const Around &of,
                         int64_t length, bool isShared) {
  if (to.numel() == 0) {
    return;
  }
  Tensor y = movable(to), x = movable(from), index = readableIndex(givenIndex);
  constexpr int64_t block = 1024;
  static const OperatorKernel kernel("indexing", "gather_kernel");
  kernel[{cdiv(y.numel(), block)}](y, x, index, y.numel(), length, of.length,
                                   of.inner, "SHARED"_a = isShared,
                                   "BLOCK"_a = block, "num_warps"_a = 4);
}

/// Into y, contiguous, of what sums are taken in.
static void launchScatterAdd(const Tensor &y, const Tensor &source,
                             const Tensor &givenIndex, const Around &of,
                             int64_t length, bool isShared) {
  if (source.numel() == 0 || y.numel() == 0) {
    return;
  }
  Tensor index = readableIndex(givenIndex);
  int64_t lanes = of.outer * of.inner;
  // On a GPU each lane has a thread of its own.
  int64_t block = y.device().isHost() && hasCompiler()
                      ? std::min<int64_t>(nextPowerOf2(lanes), 256)
                      : 128;
  static const OperatorKernel kernel("indexing", "scatter_add_kernel");
  kernel[{cdiv(lanes, block)}](y, source, index, lanes, length, of.length,
                               of.inner, "SHARED"_a = isShared,
                               "BLOCK"_a = block, "num_warps"_a = 4);
}

/// What sums of a type are taken in.
static DType typeOfSums(DType t) { return isKernelFloat(t) ? f32 : t; }

Tensor kernels::indexSelect(const Tensor &x, int axis, const Tensor &index) {
  Checks checks("index_select");
  checks.any("x", x);
  checks.integers("index", index).rank(1, 1);
  int at = checkedAxis("index_select", x, axis);
  checkIndex(checks, index, x.size(at));
  Shape shape = x.shape();
  shape[size_t(at)] = index.numel();
  Tensor y = empty(shape, x.dtype(), x.device());
  launchGather(y, x.contiguous(), index.contiguous(), Around(shape, at),
               x.size(at), true);
  return y;
}

static Tensor indexSelectBackward(const Tensor &dy, int axis,
                                  const Tensor &index, const Shape &shape) {
  Around of(shape, axis);
  if (of.outer == 1 && of.inner > 0 && isKernelFloat(dy.dtype())) {
    return embeddingBackward(dy.reshape({index.numel(), of.inner}), index,
                             of.length)
        .reshape(shape);
  }
  Tensor dx = zeros(shape, typeOfSums(dy.dtype()), dy.device());
  launchScatterAdd(dx, dy.contiguous(), index.contiguous(),
                   Around(dy.shape(), axis), of.length, true);
  return dx.to(dy.dtype());
}

/// Sums have no fp8.
static void checkGradient(const char *op, const Variable &x) {
  if (autograd::isRecording({x})) {
    Checks(op).gradients("x", x.value());
  }
}

Variable kernels::indexSelect(const Variable &x, int axis,
                              const Tensor &index) {
  checkGradient("index_select", x);
  Tensor y = indexSelect(x.value(), axis, index);
  return autograd::record(
      "index_select", {x}, y,
      [at = checkedAxis("index_select", x.value(), axis), index,
       shape = x.shape()](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{indexSelectBackward(dy, at, index, shape)};
      },
      {index});
}

template <typename T>
static T takeAlong(const T &x, const Tensor &value, const Tensor &index,
                   int axis) {
  Checks checks("take");
  checks.any("x", value);
  checks.integers("index", index);
  int at = checkedAxis("take", value, axis);
  Shape shape = value.shape();
  shape.erase(shape.begin() + at);
  shape.insert(shape.begin() + at, index.shape().begin(), index.shape().end());
  return indexSelect(x, at, index.flatten()).reshape(shape);
}

Tensor kernels::take(const Tensor &x, const Tensor &index, int axis) {
  return takeAlong(x, x, index, axis);
}
Variable kernels::take(const Variable &x, const Tensor &index, int axis) {
  return takeAlong(x, x.value(), index, axis);
}

/// The part of `x` that an index of `shape` reaches: all along the axis.
static Tensor reached(const Tensor &x, int axis, const Shape &shape) {
  Tensor part = x;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis && part.size(i) != shape[size_t(i)]) {
      part = part.slice(i, 0, shape[size_t(i)]);
    }
  }
  return part;
}

static int checkGather(const char *op, const Tensor &x, int axis,
                       const Tensor &index) {
  Checks checks(op);
  checks.any("x", x);
  checks.integers("index", index);
  int at = checkedAxis(op, x, axis);
  bool fits = index.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = i == at || index.size(i) <= x.size(i);
  }
  if (!fits) {
    checks.fail("index",
                "the rank of x, " + x.str() +
                    ", and along other dimensions than " + std::to_string(at) +
                    " no larger sizes",
                index.str());
  }
  checkIndex(checks, index, x.size(at));
  return at;
}

Tensor kernels::gather(const Tensor &x, int axis, const Tensor &index) {
  int at = checkGather("gather", x, axis, index);
  Tensor y = empty(index.shape(), x.dtype(), x.device());
  launchGather(y, reached(x, at, index.shape()).contiguous(),
               index.contiguous(), Around(index.shape(), at), x.size(at),
               false);
  return y;
}

/// Adds `source` to `sums`, which is contiguous.
static void addTo(const Tensor &sums, int axis, const Tensor &index,
                  const Tensor &source) {
  if (index.numel() == 0) {
    return;
  }
  Around of(index.shape(), axis);
  Tensor part = reached(sums, axis, index.shape());
  Tensor whole = part.contiguous();
  launchScatterAdd(whole, source.contiguous(), index.contiguous(), of,
                   sums.size(axis), false);
  if (whole.data() != part.data()) {
    part.copyFrom(whole);
  }
}

Variable kernels::gather(const Variable &x, int axis, const Tensor &index) {
  checkGradient("gather", x);
  Tensor y = gather(x.value(), axis, index);
  return autograd::record(
      "gather", {x}, y,
      [at = checkedAxis("gather", x.value(), axis), index,
       shape = x.shape()](const Tensor &dy, autograd::Needs) {
        Tensor dx = zeros(shape, typeOfSums(dy.dtype()), dy.device());
        addTo(dx, at, index, dy);
        return autograd::Gradients{dx.to(dy.dtype())};
      },
      {index});
}

Tensor kernels::scatterAdd(const Tensor &x, int axis, const Tensor &index,
                           const Tensor &source) {
  Checks checks("scatter_add");
  checks.any("x", x);
  DType t = x.dtype();
  if (t == i1 || (isFloat(t) && byteSize(t) == 1)) {
    checks.fail("x", "a tensor of fp32, fp16, bf16, fp64 or integers", x.str());
  }
  if (!hasCompiler() && !isKernelFloat(t) && t != i32 && t != i64) {
    checks.fail("x",
                "fp32, fp16, bf16, i32 or i64 in a program without a compiler",
                x.str());
  }
  int at = checkGather("scatter_add", x, axis, index);
  checks.any("source", source)
      .shape(index.shape(), "that of index")
      .dtype(t, "that of x");
  Tensor sums = x.to(typeOfSums(t)).clone();
  addTo(sums, at, index, source);
  return sums.to(t);
}

Variable kernels::scatterAdd(const Variable &x, int axis, const Tensor &index,
                             const Variable &source) {
  Tensor y = scatterAdd(x.value(), axis, index, source.value());
  return autograd::record(
      "scatter_add", {x, source}, y,
      [axis, index](const Tensor &dy, autograd::Needs needs) {
        return autograd::Gradients{needs[0] ? dy : Tensor(),
                                   needs[1] ? gather(dy, axis, index)
                                            : Tensor()};
      },
      {source.requiresGrad() ? index : Tensor()});
}

Tensor kernels::oneHot(const Tensor &index, int64_t classes, DType dtype) {
  Checks checks("one_hot");
  checks.integers("index", index);
  checks.require(classes > 0, "classes", "a number above 0", classes);
  checkIndex(checks, index, classes);
  if (!hasCompiler()) {
    Shape shape = index.shape();
    shape.push_back(classes);
    Tensor at = index.unsqueeze(-1);
    return scatterAdd(zeros(shape, f32, index.device()), -1, at,
                      full(at.shape(), 1, f32, index.device()))
        .to(dtype);
  }
  Tensor all = arange({classes}, i64, index.device());
  return cast(index.unsqueeze(-1) == all, dtype);
}
