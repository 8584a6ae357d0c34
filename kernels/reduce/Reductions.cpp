//===- Reductions.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reduce/Reductions.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Parts.h"
#include "kernels/reduce/Reduce.h"
#include "nereid/Autograd/Record.h"

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {

/// Of a result: without the dimensions that are reduced, and with them as 1.
struct ResultShapes {
  ResultShapes(const char *op, const Tensor &x, const Axes &axes);
  const Shape &result(bool keepDim) const { return keepDim ? kept : shape; }

  std::vector<bool> isReduced;
  Shape shape, kept;
};

/// A reduction of x seen as [outer, length, inner].
struct Reduction : ResultShapes {
  Tensor x;           ///< contiguous, of that shape
  int64_t length = 1; ///< of elements for a result
};

} // namespace

ResultShapes::ResultShapes(const char *op, const Tensor &x, const Axes &axes)
    : isReduced(axes.of(op, x)) {
  for (int i = 0; i < x.rank(); ++i) {
    kept.push_back(isReduced[size_t(i)] ? 1 : x.size(i));
    if (!isReduced[size_t(i)]) {
      shape.push_back(x.size(i));
    }
  }
}

static Reduction reductionOf(const char *op, const Tensor &x,
                             const Axes &axes) {
  Checks(op).any("x", x);
  if (isFloat(x.dtype()) && byteSize(x.dtype()) == 1) {
    Checks(op).fail("x", "a tensor of fp32, fp16, bf16, fp64, integers or int1",
                    x.str());
  }
  if (!hasCompiler() && (x.dtype() == f64 || x.dtype() == u64)) {
    Checks(op).fail("x",
                    "a tensor of neither fp64 nor u64 in a program without a "
                    "compiler",
                    x.str());
  }
  Reduction r = {{op, x, axes}, {}};
  const std::vector<bool> &isReduced = r.isReduced;
  std::vector<int> order;
  int first = -1, last = -1;
  for (int i = 0; i < x.rank(); ++i) {
    if (!isReduced[size_t(i)]) {
      order.push_back(i);
      continue;
    }
    r.length *= x.size(i);
    if (x.size(i) != 1) {
      first = first < 0 ? i : first;
      last = i;
    }
  }
  bool isOneRun = true;
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (isReduced[size_t(i)]) {
      continue;
    }
    isOneRun &= i < first || i > last || x.size(i) == 1;
    (i < first ? outer : inner) *= x.size(i);
  }
  if (isOneRun) {
    r.x = x.contiguous().reshape({outer, r.length, inner});
    return r;
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (isReduced[size_t(i)]) {
      order.push_back(i);
    }
  }
  r.x = x.permute(order).contiguous().reshape({outer * inner, r.length, 1});
  return r;
}

static const char *widthOf(DType dtype) {
  return dtype == f64     ? "double"
         : isFloat(dtype) ? "float"
         : dtype == u64   ? "unsigned"
                          : "signed";
}

/// As kernels read it: those that were compiled ahead of time are few.
static Tensor readable(const Tensor &x, bool isOfFloats, bool isWidened) {
  if (hasCompiler()) {
    return x;
  }
  bool isRead = isOfFloats && !isWidened && isKernelFloat(x.dtype());
  return isRead ? x : x.to(isOfFloats ? f32 : i64);
}

/// The sums of x [A, R, B] over R, or of squares of what is between x and
/// `mean` [A, B], divided by `divisor`: [A, B] of `dtype`.
static Tensor totals(const Tensor &given, const Tensor &mean, int64_t divisor,
                     DType dtype, const char *wide) {
  Tensor x = readable(given, wide == std::string_view("float"), false);
  int64_t a = x.size(0), r = x.size(1), b = x.size(2);
  ReducePrograms p(x, 2048, !hasCompiler());
  bool isLast = p.parts == 1;
  DType partial = wide == std::string_view("double")  ? f64
                  : wide == std::string_view("float") ? f32
                                                      : i64;
  Tensor y = empty({a, p.parts, b}, isLast && hasCompiler() ? dtype : partial,
                   x.device());
  int64_t by = isLast ? divisor : 1;
  if (p.isInner) {
    static const OperatorKernel inner("reduce", "inner_totals_kernel");
    inner[{cdiv(a, p.height), p.parts}](
        y, x, orNone(mean), a, r, p.part, p.parts, by, "WIDE"_a = wide,
        "BLOCK_M"_a = p.height, "BLOCK_N"_a = p.width, "num_warps"_a = 4);
  } else {
    static const OperatorKernel outer("reduce", "outer_totals_kernel");
    outer[{a * p.blocks, p.parts}](y, x, orNone(mean), r, b, p.part, p.parts,
                                   p.blocks, by, "WIDE"_a = wide,
                                   "BLOCK_M"_a = p.height,
                                   "BLOCK_N"_a = p.width, "num_warps"_a = 4);
  }
  return isLast ? y.to(dtype) : totals(y, {}, divisor, dtype, wide);
}

namespace {
struct Extremes {
  Tensor values, places;
};
} // namespace

/// Of x [A, R, B] over R. `from`: the places of x's elements; undefined: those
/// in R.
static Extremes extremes(const Tensor &given, const Tensor &from, bool least,
                         bool wantsPlaces, DType dtype, const char *wide) {
  Tensor x = readable(given, wide == std::string_view("float"), true);
  int64_t a = x.size(0), r = x.size(1), b = x.size(2);
  ReducePrograms p(x, 2048, !hasCompiler());
  Extremes y;
  y.values =
      empty({a, p.parts, b}, hasCompiler() ? dtype : x.dtype(), x.device());
  if (wantsPlaces || !hasCompiler()) {
    y.places = empty({a, p.parts, b}, i64, x.device());
  }
  if (p.isInner) {
    static const OperatorKernel inner("reduce", "inner_extremes_kernel");
    inner[{cdiv(a, p.height), p.parts}](
        y.values, orNone(y.places), x, orNone(from), a, r, p.part, p.parts,
        "LEAST"_a = least, "WIDE"_a = wide, "BLOCK_M"_a = p.height,
        "BLOCK_N"_a = p.width, "num_warps"_a = 4);
  } else {
    static const OperatorKernel outer("reduce", "outer_extremes_kernel");
    outer[{a * p.blocks, p.parts}](
        y.values, orNone(y.places), x, orNone(from), r, b, p.part, p.parts,
        p.blocks, "LEAST"_a = least, "WIDE"_a = wide, "BLOCK_M"_a = p.height,
        "BLOCK_N"_a = p.width, "num_warps"_a = 4);
  }
  if (p.parts > 1) {
    return extremes(y.values, y.places, least, wantsPlaces, dtype, wide);
  }
  y.values = y.values.to(dtype);
  return y;
}

static Tensor sumOf(const Tensor &x, const Axes &axes, bool keepDim) {
  DType t = x.dtype();
  if (x.defined() && isKernelFloat(t)) {
    ResultShapes shapes("sum", x, axes);
    return sumTo(x, shapes.kept).reshape(shapes.result(keepDim));
  }
  Reduction r = reductionOf("sum", x, axes);
  DType type = t == f64 ? f64 : i64;
  return x.numel() == 0
             ? zeros(r.result(keepDim), type, x.device())
             : totals(r.x, {}, 1, type, widthOf(t)).reshape(r.result(keepDim));
}

static DType typeOfMean(DType t) { return isFloat(t) ? t : f32; }

/// Of the reduction's results, `count` elements where x has none.
static Tensor meanOf(const Reduction &r, DType from, DType to) {
  if (r.x.numel() == 0) {
    return full(r.kept, std::numeric_limits<double>::quiet_NaN(), to,
                r.x.device());
  }
  return totals(r.x, {}, r.length, to, from == f64 ? "double" : "float");
}

static Tensor extremeOf(const char *op, const Tensor &x, const Axes &axes,
                        bool keepDim, bool least, bool wantsPlaces) {
  Reduction r = reductionOf(op, x, axes);
  if (r.length == 0) {
    Checks(op).fail("x", "elements along the dimensions that are reduced",
                    x.str());
  }
  const Shape &shape = r.result(keepDim);
  if (x.numel() == 0) {
    return empty(shape, wantsPlaces ? i64 : x.dtype(), x.device());
  }
  Extremes y =
      extremes(r.x, {}, least, wantsPlaces, x.dtype(), widthOf(x.dtype()));
  return (wantsPlaces ? y.places : y.values).reshape(shape);
}

/// The result's gradient for each element of x.
static Tensor spread(const Tensor &dy, const Shape &kept, const Shape &shape) {
  return dy.reshape(kept).expand(shape);
}

Tensor kernels::sum(const Tensor &x, const Axes &axes, bool keepDim) {
  return sumOf(x, axes, keepDim);
}

Variable kernels::sum(const Variable &x, const Axes &axes, bool keepDim) {
  Tensor y = sumOf(x.value(), axes, keepDim);
  return autograd::record(
      "sum", {x}, y,
      [kept = ResultShapes("sum", x.value(), axes).kept,
       shape = x.shape()](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{spread(dy, kept, shape)};
      });
}

Tensor kernels::mean(const Tensor &x, const Axes &axes, bool keepDim) {
  Reduction r = reductionOf("mean", x, axes);
  return meanOf(r, x.dtype(), typeOfMean(x.dtype())).reshape(r.result(keepDim));
}

Variable kernels::mean(const Variable &x, const Axes &axes, bool keepDim) {
  Tensor y = mean(x.value(), axes, keepDim);
  int64_t length = x.numel() / std::max<int64_t>(y.numel(), 1);
  return autograd::record(
      "mean", {x}, y,
      [kept = ResultShapes("mean", x.value(), axes).kept, shape = x.shape(),
       length](const Tensor &dy, autograd::Needs) {
        if (dy.numel() == 0 || length == 0) {
          return autograd::Gradients{zeros(shape, dy.dtype(), dy.device())};
        }
        // Sums of one, divided.
        Tensor each = totals(dy.contiguous().view({dy.numel(), 1, 1}), {},
                             length, dy.dtype(), widthOf(dy.dtype()));
        return autograd::Gradients{spread(each, kept, shape)};
      });
}

/// What expressions of it are computed in.
static DType wideOf(DType t) { return t == f64 ? f64 : f32; }

static Variable recordedExtreme(const char *op, const Variable &x,
                                const Axes &axes, bool keepDim, bool least) {
  Tensor y = extremeOf(op, x.value(), axes, keepDim, least, false);
  return autograd::record(
      op, {x}, y,
      [kept = ResultShapes(op, x.value(), axes).kept, x = x.value(),
       y](const Tensor &dy, autograd::Needs) {
        // As PyTorch: of a NaN, which is equal to nothing, 0 / 0.
        Tensor extreme = y.reshape(kept);
        Tensor isOne = cast(Expression(x) == Expression(extreme),
                            wideOf(x.dtype())); // 1 or 0
        Tensor count = sumTo(isOne, kept);
        Tensor dx =
            cast(where(isOne, dy.reshape(kept), 0.0) / count, x.dtype());
        return autograd::Gradients{dx};
      },
      {x.value(), y});
}

Tensor kernels::max(const Tensor &x, const Axes &axes, bool keepDim) {
  return extremeOf("max", x, axes, keepDim, false, false);
}
Variable kernels::max(const Variable &x, const Axes &axes, bool keepDim) {
  return recordedExtreme("max", x, axes, keepDim, false);
}
Tensor kernels::min(const Tensor &x, const Axes &axes, bool keepDim) {
  return extremeOf("min", x, axes, keepDim, true, false);
}
Variable kernels::min(const Variable &x, const Axes &axes, bool keepDim) {
  return recordedExtreme("min", x, axes, keepDim, true);
}

static Tensor placeOf(const char *op, const Tensor &x, const Axes &axis,
                      bool keepDim, bool least) {
  if (axis.count() > 1) {
    Checks(op).fail("axis", "one axis, or none for all elements",
                    std::to_string(axis.count()) + " axes");
  }
  return extremeOf(op, x, axis, keepDim, least, true);
}

Tensor kernels::argmax(const Tensor &x, const Axes &axis, bool keepDim) {
  return placeOf("argmax", x, axis, keepDim, false);
}
Tensor kernels::argmin(const Tensor &x, const Axes &axis, bool keepDim) {
  return placeOf("argmin", x, axis, keepDim, true);
}

namespace {
struct Variance {
  Tensor var,
      mean; ///< the mean with the dimensions as 1, in what it is taken in
  double freedom = 0;
};
} // namespace

static Variance varianceOf(const Tensor &x, const Axes &axes, bool keepDim,
                           double correction) {
  Reduction r = reductionOf("var", x, axes);
  DType t = x.dtype(), wide = wideOf(t);
  if (t == i1) {
    Checks("var").fail("x", "a tensor of numbers", x.str());
  }
  // Below it, and where it is taken off a length, numbers are exact.
  constexpr double most = 0x1p53;
  Checks("var").require(std::fabs(correction) < most, "correction",
                        "a finite number, below 2^53 in size", correction);
  Variance v;
  v.freedom = std::max(double(r.length) - correction, 0.0);
  const Shape &shape = r.result(keepDim);
  if (x.numel() == 0) {
    v.mean = v.var = meanOf(r, t, wide);
    v.var = v.var.to(typeOfMean(t)).reshape(shape);
    return v;
  }
  Tensor mean = meanOf(r, t, wide);
  const char *in = t == f64 ? "double" : "float";
  auto whole = int64_t(v.freedom);
  if (double(whole) == v.freedom) {
    v.var = totals(r.x, mean, whole, typeOfMean(t), in).reshape(shape);
  } else {
    Tensor squares = totals(r.x, mean, 1, wide, in).reshape(shape);
    v.var = cast(Expression(squares) / v.freedom, typeOfMean(t));
  }
  v.mean = mean.reshape(r.kept);
  return v;
}

Tensor kernels::var(const Tensor &x, const Axes &axes, bool keepDim,
                    double correction) {
  return varianceOf(x, axes, keepDim, correction).var;
}

Variable kernels::var(const Variable &x, const Axes &axes, bool keepDim,
                      double correction) {
  Variance v = varianceOf(x.value(), axes, keepDim, correction);
  return autograd::record(
      "var", {x}, v.var,
      [kept = ResultShapes("var", x.value(), axes).kept, x = x.value(),
       mean = v.mean, freedom = v.freedom](const Tensor &dy, autograd::Needs) {
        DType wide = mean.dtype();
        Tensor dx = cast(cast(dy.reshape(kept), wide) * (2 / freedom) *
                             (cast(x, wide) - mean),
                         x.dtype());
        return autograd::Gradients{dx};
      },
      {x.value(), v.mean});
}

/// Of what is made of expressions, whatever x has for a gradient.
static void checkExpressible(const char *op, const Tensor &x) {
  Checks checks(op);
  checks.any("x", x);
  DType t = x.dtype();
  if (isFloat(t) && byteSize(t) == 1) {
    checks.fail("x", "a tensor of fp32, fp16, bf16, fp64, integers or int1",
                x.str());
  }
}

Expression kernels::stddev(const Variable &x, const Axes &axes, bool keepDim,
                           double correction) {
  checkExpressible("stddev", x.value());
  return sqrt(Expression(var(x, axes, keepDim, correction)));
}

/// The extreme of a tensor of int1; of none, what any or all of none is.
static Tensor extremeOfFlags(const char *op, const Tensor &flags,
                             const Axes &axes, bool keepDim, bool least) {
  Reduction r = reductionOf(op, flags, axes);
  return r.length == 0 ? full(r.result(keepDim), least, i1, flags.device())
                       : extremeOf(op, flags, axes, keepDim, least, false);
}

static Tensor flagsOf(const Expression &x) {
  return x.dtype() == i1 ? x.value() : (x != 0).value();
}

Tensor kernels::any(const Expression &x, const Axes &axes, bool keepDim) {
  return extremeOfFlags("any", flagsOf(x), axes, keepDim, false);
}
Tensor kernels::any(const Tensor &x, const Axes &axes, bool keepDim) {
  checkExpressible("any", x);
  return any(Expression(x), axes, keepDim);
}
Tensor kernels::all(const Expression &x, const Axes &axes, bool keepDim) {
  return extremeOfFlags("all", flagsOf(x), axes, keepDim, true);
}
Tensor kernels::all(const Tensor &x, const Axes &axes, bool keepDim) {
  checkExpressible("all", x);
  return all(Expression(x), axes, keepDim);
}

Variable kernels::logSumExp(const Variable &x, const Axes &axes, bool keepDim) {
  checkExpressible("log_sum_exp", x.value());
  // Where the largest is infinite, nothing is taken off.
  Tensor largest = max(x.value(), axes, true);
  Tensor base = where(isinf(largest), 0.0, largest);
  // A sum of halves may be beyond them where its logarithm is not.
  Variable total =
      sum(exp(cast(x, wideOf(x.dtype())) - base).variable(), axes, keepDim);
  Expression y = log(total) + base.reshape(total.shape());
  return isFloat(x.dtype()) ? cast(y, x.dtype()) : y;
}
