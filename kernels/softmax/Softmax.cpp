//===- Softmax.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/softmax/Softmax.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/Doubles.h"
#include "kernels/operator/OneType.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Rows.h"
#include "kernels/reduce/Reductions.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/Error.h"

#include <limits>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

/// Columns at a time, of rows that are gone over in a loop.
static constexpr int64_t loopBlock = 4096;

namespace {

/// A mask's rows: row r of x has the one at outer, middle and inner index of r.
struct MaskRows {
  Tensor tensor;
  int64_t middle = 1, inner = 1;
  int64_t strides[3] = {0, 0, 0}; ///< outer, middle, inner
  int64_t columnStride = 0;
};

} // namespace

static MaskRows maskRows(const Tensor &mask, const Shape &shape) {
  MaskRows rows;
  if (!mask.defined()) {
    return rows;
  }
  // Dimensions in front of the last, innermost first; neighbours that one
  // stride goes over are one.
  struct Dimension {
    int64_t size, stride;
  };
  auto collapse = [](const Tensor &t) {
    std::vector<Dimension> all;
    for (int axis = t.rank() - 2; axis >= 0; --axis) {
      int64_t size = t.size(axis), stride = t.stride(axis);
      if (size == 1) {
        continue;
      }
      if (!all.empty() && stride == all.back().stride * all.back().size) {
        all.back().size *= size;
      } else {
        all.push_back({size, stride});
      }
    }
    return all;
  };
  // A column's offset is of 32 bits.
  bool isFar = mask.rank() > 0 &&
               mask.stride(-1) > INT32_MAX / std::max<int64_t>(shape.back(), 1);
  rows.tensor = (isFar ? mask.contiguous() : mask).expand(shape);
  std::vector<Dimension> all = collapse(rows.tensor);
  if (all.size() > 3) {
    rows.tensor = rows.tensor.contiguous();
    all = collapse(rows.tensor);
  }
  all.resize(3, {1, 0});
  rows.inner = all[0].size;
  rows.middle = all[1].size;
  for (int i = 0; i < 3; ++i) {
    rows.strides[2 - i] = all[size_t(i)].stride;
  }
  rows.columnStride = shape.back() > 1 ? rows.tensor.stride(-1) : 0;
  return rows;
}

static void checkArguments(const char *op, const Tensor &x,
                           const SoftmaxOptions &options) {
  Checks checks(op);
  checks.gradients("x", x).rank(1, 16);
  if (options.mask.defined()) {
    if (options.mask.dtype() == i1) {
      checks.any("mask", options.mask);
    } else {
      isOfDoubles(x) ? checks.gradients("mask", options.mask)
                     : checks.floats("mask", options.mask);
    }
    const Shape &of = options.mask.shape(), &to = x.shape();
    bool fits = of.size() <= to.size();
    for (size_t i = 0; fits && i < of.size(); ++i) {
      int64_t size = of[of.size() - 1 - i];
      fits = size == 1 || size == to[to.size() - 1 - i];
    }
    if (!fits) {
      checks.fail("mask", "a shape that broadcasts to that of x, " + x.str(),
                  options.mask.str());
    }
  }
}

/// As an expression, which is derived as others are.
static Variable ofDoubles(const char *op, bool isLog, const Variable &x,
                          const SoftmaxOptions &options) {
  checkArguments(op, x.value(), options);
  if (x.numel() == 0) {
    return x * 1;
  }
  constexpr double beyond = -std::numeric_limits<double>::infinity();
  const Tensor &mask = options.mask;
  Expression scores = x * options.scale;
  if (mask.defined()) {
    scores = mask.dtype() == i1 ? where(mask, scores, beyond) : scores + mask;
  }
  if (options.causal) {
    int64_t columns = x.size(-1), rows = x.rank() > 1 ? x.size(-2) : 1;
    Tensor row = arange({rows, 1}, i64, x.device()),
           column = arange({columns}, i64, x.device());
    Expression isSeen = column <= row + (columns - rows);
    scores =
        where(x.rank() > 1 ? isSeen : Expression(isSeen.reshape({columns})),
              scores, beyond);
  }
  Variable s = scores;
  // A constant: what is taken off all scores changes neither value nor
  // gradient. Where nothing of a row takes part, nothing is taken off.
  Tensor largest = max(s.value(), -1, true);
  Tensor base = where(Expression(largest) == beyond, 0.0, largest);
  Expression e = exp(s - base);
  Variable total = sum(e, -1, true);
  Tensor isNone = total.value() == 0;
  Expression divisor = where(isNone, 1.0, total);
  if (isLog) {
    return s - base - log(divisor);
  }
  return e / divisor;
}

static Tensor forward(const char *op, bool isLog, const Tensor &x,
                      const SoftmaxOptions &options) {
  if (isOfDoubles(x)) {
    return ofDoubles(op, isLog, Variable(x), options).value();
  }
  checkArguments(op, x, options);
  if (options.mask.defined() && options.mask.dtype() != i1 &&
      mixesTypes({x, options.mask})) {
    SoftmaxOptions wide = options;
    wide.mask = inType(options.mask);
    return forward(op, isLog, inType(x), wide).to(x.dtype());
  }
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  if (x.numel() == 0) {
    return y;
  }
  Rows in = rowsOf(x);
  RowPlan plan = planRows(in.columns, byteSize(x.dtype()), x.device());
  bool isPlain = !isLog && options.scale == 1 && !options.causal &&
                 !options.mask.defined();
  if (isPlain && !plan.loops) {
    if (plan.rowsOfProgram > 1) {
      static const OperatorKernel several("softmax", "softmax_rows_kernel");
      several[{cdiv(in.count, plan.rowsOfProgram)}](
          y, in.tensor, in.columns, in.stride, in.count, "N"_a = in.columns,
          "ROWS"_a = plan.rowsOfProgram, "num_warps"_a = plan.warps);
    } else {
      static const OperatorKernel one("softmax", "softmax_kernel");
      one[{in.count}](y, in.tensor, in.columns, in.stride, "N"_a = in.columns,
                      "num_warps"_a = plan.warps);
    }
    return y;
  }
  MaskRows mask = maskRows(options.mask, x.shape());
  int64_t rowsOfMatrix = x.rank() > 1 ? x.size(-2) : 1;
  if (plan.loops) {
    static const OperatorKernel loop("softmax", "softmax_loop_kernel");
    loop[{in.count}](y, in.tensor, orNone(mask.tensor), in.stride,
                     options.scale, rowsOfMatrix, mask.middle, mask.inner,
                     mask.strides[0], mask.strides[1], mask.strides[2],
                     mask.columnStride, in.columns, "BLOCK"_a = loopBlock,
                     "LOG"_a = isLog, "CAUSAL"_a = options.causal,
                     "num_warps"_a = plan.warps);
  } else {
    static const OperatorKernel whole("softmax", "softmax_forward_kernel");
    whole[{in.count}](y, in.tensor, orNone(mask.tensor), in.stride,
                      options.scale, rowsOfMatrix, mask.middle, mask.inner,
                      mask.strides[0], mask.strides[1], mask.strides[2],
                      mask.columnStride, "N"_a = in.columns, "LOG"_a = isLog,
                      "CAUSAL"_a = options.causal, "num_warps"_a = plan.warps);
  }
  return y;
}

static Tensor backward(bool isLog, const Tensor &dy, const Tensor &y,
                       double scale) {
  Tensor dx = empty(y.shape(), y.dtype(), y.device());
  if (y.numel() == 0) {
    return dx;
  }
  Rows out = rowsOf(dy);
  RowPlan plan = planRows(out.columns, byteSize(y.dtype()), y.device(), 2);
  if (plan.loops) {
    static const OperatorKernel loop("softmax", "softmax_backward_loop_kernel");
    loop[{out.count}](dx, out.tensor, y, out.stride, scale, out.columns,
                      "BLOCK"_a = loopBlock, "LOG"_a = isLog,
                      "num_warps"_a = plan.warps);
  } else if (plan.rowsOfProgram > 1) {
    static const OperatorKernel several("softmax",
                                        "softmax_backward_rows_kernel");
    several[{cdiv(out.count, plan.rowsOfProgram)}](
        dx, out.tensor, y, out.stride, scale, out.count, "N"_a = out.columns,
        "LOG"_a = isLog, "ROWS"_a = plan.rowsOfProgram,
        "num_warps"_a = plan.warps);
  } else {
    static const OperatorKernel whole("softmax", "softmax_backward_kernel");
    whole[{out.count}](dx, out.tensor, y, out.stride, scale,
                       "N"_a = out.columns, "LOG"_a = isLog,
                       "num_warps"_a = plan.warps);
  }
  return dx;
}

static Variable recorded(const char *op, bool isLog, const Variable &x,
                         const SoftmaxOptions &options) {
  if (isOfDoubles(x)) {
    return ofDoubles(op, isLog, x, options);
  }
  Tensor y = forward(op, isLog, x.value(), options);
  return autograd::record(
      op, {x}, y,
      [y, isLog, scale = options.scale](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{backward(isLog, dy, y, scale)};
      },
      {y});
}

Tensor kernels::softmax(const Tensor &x, const SoftmaxOptions &options) {
  return forward("softmax", false, x, options);
}

Variable kernels::softmax(const Variable &x, const SoftmaxOptions &options) {
  return recorded("softmax", false, x, options);
}

Tensor kernels::logSoftmax(const Tensor &x, const SoftmaxOptions &options) {
  return forward("log_softmax", true, x, options);
}

Variable kernels::logSoftmax(const Variable &x, const SoftmaxOptions &options) {
  return recorded("log_softmax", true, x, options);
}
