//===- Product.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Product.h"

#include "kernels/linear/AlignedRows.h"
#include "kernels/linear/Doubles.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/Precision.h"
#include "kernels/operator/Stages.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

const char *kernels::nameOf(Activation activation) {
  switch (activation) {
  case Activation::None:
    return "none";
  case Activation::Relu:
    return "relu";
  case Activation::Gelu:
    return "gelu";
  case Activation::GeluTanh:
    return "gelu_tanh";
  case Activation::Silu:
    return "silu";
  }
  __builtin_unreachable();
}

/// Of a residual; 0 where there is none.
static std::array<int64_t, 3> stridesOf(const Tensor &residual) {
  return residual.defined() ? std::array{residual.stride(0), residual.stride(1),
                                         residual.stride(2)}
                            : std::array<int64_t, 3>{};
}

/// The largest offset within a batch.
static int64_t extentOfBatch(const Tensor &t) {
  return (t.size(1) - 1) * t.stride(1) + (t.size(2) - 1) * t.stride(2);
}

/// All matrices as one, where the rows of `a` follow each other with one stride
/// and all are multiplied by the same.
static bool foldBatch(Product &p) {
  const Tensor &a = p.a;
  if (a.size(0) == 1 || p.b.stride(0) != 0 || p.sumsBatches ||
      p.options.residual.defined() || a.stride(0) != a.size(1) * a.stride(1)) {
    return false;
  }
  // Row-major in its first two dimensions, so that slices of one row do.
  p.a = a.asStrided({1, a.size(0) * a.size(1), a.size(2)},
                    {0, a.stride(1), a.stride(2)});
  p.b = p.b.slice(0, 0, 1);
  return true;
}

bool kernels::isWide(const Product &p) {
  const Tensor &residual = p.options.residual;
  std::array<int64_t, 3> r = stridesOf(residual);
  int64_t m = p.a.size(1), n = p.b.size(2);
  // Blocks go beyond the end by less than 512.
  int64_t largest = std::max(
      {extentOfBatch(p.a) + 512 * std::max(p.a.stride(1), p.a.stride(2)),
       extentOfBatch(p.b) + 512 * std::max(p.b.stride(1), p.b.stride(2)),
       (m + 512) * n, (m + 512) * r[1] + (n + 512) * r[2]});
  return largest > INT32_MAX;
}

/// Are operand 0's rows to run along M, or operand 1's along K? Those of 8 bits
/// run along K alone, as the instructions want.
static bool isToRunAlongFirst(const Tensor &matrices, int operand) {
  return byteSize(matrices.dtype()) == 1 ? operand == 1
                                         : runAlongFirst(matrices);
}

/// Can roles_kernel's warps that copy have the engine copy tiles of it? Of the
/// rest, 2^31 rows and the like, the launch takes care.
static bool isMapped(const Tensor &matrices, int operand) {
  return copiesBoxes(matrices.device(), matrices.dtype()) &&
         unitOfRows(matrices) > 0 &&
         runAlongFirst(matrices) == isToRunAlongFirst(matrices, operand);
}

/// Copies what the engine cannot, where the product is large enough that this
/// pays.
static void alignRows(Product &p) {
  constexpr double enough = 1 << 29; // operations
  double operations = 2.0 * double(p.a.size(0)) * double(p.a.size(1)) *
                      double(p.a.size(2)) * double(p.b.size(2));
  if (operations < enough || !copiesBoxes(p.a.device(), p.a.dtype())) {
    return;
  }
  int operand = 0;
  for (Tensor *matrices : {&p.a, &p.b}) {
    if (!isMapped(*matrices, operand)) {
      *matrices =
          withAlignedRows(*matrices, isToRunAlongFirst(*matrices, operand));
    }
    ++operand;
  }
}

namespace {
/// A launch of one of the kernels.
struct ProductLaunch {
  const Product &p;
  const ProductPlan &plan;
  Tensor to;     ///< [splits, batches, M, N] where there are parts, else y
  int64_t share; ///< of K, a split's
  bool hasParts, plain;

  /// What follows the product stands in parts_kernel where there are parts.
  const Tensor &orAbsent(const Tensor &tensor) const {
    static const Tensor absent;
    return hasParts ? absent : tensor;
  }
  void run() const;
  void runWithRoles() const;
  int64_t pieces() const;
  int64_t unitOfLaunch() const;
};
} // namespace

void ProductLaunch::run() const {
  const Tensor &residual = p.options.residual;
  std::array<int64_t, 3> r = stridesOf(residual);
  int64_t batches = p.a.size(0), m = p.a.size(1), n = p.b.size(2),
          k = p.a.size(2);
  int64_t blocks = cdiv(m, plan.blockM) * cdiv(n, plan.blockN);
  Tensor bias = contiguousOrNone(p.options.bias);
  static const OperatorKernel product("linear", "linear_kernel");
  product[{blocks * batches, plan.splits}](
      to, p.a, p.b, orNone(orAbsent(bias)), orNone(orAbsent(residual)),
      orNone(orAbsent(p.before)), orNone(orAbsent(p.of)), m, n, k,
      batches == 1 ? 0 : p.a.stride(0), p.a.stride(1), p.a.stride(2),
      p.b.size(0) == 1 ? 0 : p.b.stride(0), p.b.stride(1), p.b.stride(2), r[0],
      r[1], r[2], p.options.scale, share, 0, "BLOCK_M"_a = plan.blockM,
      "BLOCK_N"_a = plan.blockN, "BLOCK_K"_a = plan.blockK, "GROUP"_a = 8,
      "WRAP"_a = !to.device().isHost(), "EVEN"_a = k % plan.blockK == 0,
      "WIDE"_a = isWide(p), "PARTS"_a = plan.splits > 1,
      "ACTIVATION"_a = hasParts ? "none" : nameOf(p.options.activation),
      "PLAIN"_a = hasParts || plain,
      "PRECISION"_a = nameOf(
          precisionOfProduct(p.a.dtype(), p.options.tf32, to.device(), k)),
      "num_warps"_a = plan.warps,
      "num_stages"_a = k % 16 ? 3 : stagesFor(plan.stages, {p.a, p.b}));
}

/// Of a block's columns, which roles_kernel stores beside the next block's
/// products: lines of memory, where K has a step for each.
int64_t ProductLaunch::pieces() const {
  constexpr int64_t columns = 64;
  int64_t count = plan.blockN / columns;
  bool isRounded = byteSize(to.dtype()) == 2 && !hasParts;
  bool isAlone = !p.options.residual.defined() && !p.before.defined() &&
                 !p.of.defined() && p.options.activation == Activation::None;
  return isRounded && isAlone && p.a.size(2) > (count - 1) * plan.blockK ? count
                                                                         : 1;
}

/// What strides are given in, so that the kernel sees that rows begin at
/// multiples of 16 bytes.
int64_t ProductLaunch::unitOfLaunch() const {
  int64_t unit = std::min(unitOfRows(p.a), unitOfRows(p.b));
  return unit == 0 || unit == seenMultiples ? 1 : unit;
}

void ProductLaunch::runWithRoles() const {
  const Tensor &residual = p.options.residual;
  std::array<int64_t, 3> r = stridesOf(residual);
  int64_t batches = p.a.size(0), m = p.a.size(1), n = p.b.size(2);
  int64_t blocks = cdiv(m, plan.blockM) * cdiv(n, plan.blockN) * batches;
  Tensor bias = contiguousOrNone(p.options.bias);
  bool aAlongM = runAlongFirst(p.a), bAlongN = !runAlongFirst(p.b);
  constexpr int64_t halvesOfAccess = 8;
  int64_t unit = unitOfLaunch(),
          unitOfN =
              n % seenMultiples && n % halvesOfAccess == 0 ? halvesOfAccess : 1;
  auto inUnits = [&](int64_t stride, bool isOne) {
    return isOne ? stride : stride / unit;
  };
  static const OperatorKernel product("linear", "roles_kernel");
  product[{std::min<int64_t>(blocks * plan.splits,
                             numbersOf(to.device()).processors)}](
      to, p.a, p.b, orNone(orAbsent(bias)), orNone(orAbsent(residual)),
      orNone(orAbsent(p.before)), orNone(orAbsent(p.of)), m, n / unitOfN,
      p.a.size(2), batches, plan.splits, share,
      batches == 1 ? 0 : inUnits(p.a.stride(0), false),
      inUnits(p.a.stride(1), aAlongM), inUnits(p.a.stride(2), !aAlongM),
      p.b.size(0) == 1 ? 0 : inUnits(p.b.stride(0), false),
      inUnits(p.b.stride(1), !bAlongN), inUnits(p.b.stride(2), bAlongN), r[0],
      r[1], r[2], p.options.scale, "BLOCK_M"_a = plan.blockM,
      "BLOCK_N"_a = plan.blockN, "BLOCK_K"_a = plan.blockK, "GROUP"_a = 8,
      "WIDE"_a = isWide(p), "PARTS"_a = plan.splits > 1,
      "ACTIVATION"_a = hasParts ? "none" : nameOf(p.options.activation),
      "PLAIN"_a = hasParts || plain, "PIECES"_a = pieces(), "UNIT"_a = unit,
      "N_UNIT"_a = unitOfN, "A_ALONG_M"_a = aAlongM, "B_ALONG_N"_a = bAlongN,
      "num_warps"_a = plan.warps, "num_stages"_a = plan.stages);
}

/// Rows [first, end) of a product of one batch.
static Product rowsOf(const Product &p, const Tensor &y, int64_t first,
                      int64_t end) {
  int64_t m = p.a.size(1), n = p.b.size(2);
  auto ofResult = [&](const Tensor &t) {
    return t.defined() ? t.view({1, m, n}).slice(1, first, end) : t;
  };
  Product part = p;
  part.a = p.a.slice(1, first, end);
  part.to = ofResult(y);
  part.before = ofResult(p.before);
  part.of = ofResult(p.of);
  if (p.options.residual.defined()) {
    part.options.residual = p.options.residual.slice(1, first, end);
  }
  return part;
}

static void runInTwo(const Product &p, const Tensor &y, ProductPlan plan) {
  int64_t rows = std::exchange(plan.rows, 0);
  Product first = rowsOf(p, y, 0, rows), rest = rowsOf(p, y, rows, p.a.size(1));
  first.plan = plan;
  rest.plan.reset();
  run(first);
  run(rest);
}

ProductSize kernels::prepareProduct(Product &p) {
  alignRows(p);
  return {p.a.size(0),
          p.a.size(1),
          p.b.size(2),
          p.a.size(2),
          isMapped(p.a, 0) && isMapped(p.b, 1),
          unitOfRows(p.a) == seenMultiples && unitOfRows(p.b) == seenMultiples,
          p.a.stride(2) == 1 ? p.a.stride(1) * int64_t(byteSize(p.a.dtype()))
                             : 0};
}

Tensor kernels::run(const Product &given) {
  Product p = given;
  DType inType = p.a.dtype(), sumType = inType == i8 ? i32 : f32;
  DType outType = p.options.type.value_or(inType == i8       ? i32
                                          : isFloat8(inType) ? bf16
                                                             : inType);
  Tensor y =
      p.to.defined()
          ? p.to
          : empty({p.sumsBatches ? 1 : p.a.size(0), p.a.size(1), p.b.size(2)},
                  outType, p.a.device());
  if (y.numel() == 0) {
    return y;
  }
  foldBatch(p);
  if (inType == f64) {
    runOfDoubles(p, y);
    return y;
  }
  if (!hasCompiler()) {
    runAheadOfTime(p, y);
    return y;
  }
  if (!p.plan && runFewRows(p, y)) {
    return y;
  }
  ProductSize size = prepareProduct(p);
  int64_t m = size.m, n = size.n, k = size.k;
  bool plain = !p.options.bias.defined() && !p.options.residual.defined() &&
               !p.before.defined() && !p.of.defined() &&
               p.options.activation == Activation::None && p.options.scale == 1;
  ProductPlan plan =
      p.plan ? *p.plan
             : planProduct(size, inType, p.options.tf32, y.device(), plain);
  if (plan.rows > 0 && plan.rows < m && size.batch == 1) {
    runInTwo(p, y, plan);
    return y;
  }
  if (p.sumsBatches) {
    plan.splits = 1; // each batch is a part
  }
  int64_t share = cdiv(cdiv(k, plan.splits), plan.blockK) * plan.blockK;
  if (plan.splits > 1) {
    plan.splits = cdiv(k, share);
  }
  bool hasParts = plan.splits > 1 || (p.sumsBatches && size.batch > 1);
  int64_t parts = p.sumsBatches ? size.batch : plan.splits;
  int64_t batchOfParts = p.sumsBatches ? 1 : size.batch;

  const Tensor &residual = p.options.residual;
  std::array<int64_t, 3> r = stridesOf(residual);
  const char *activation = nameOf(p.options.activation);
  bool wide = isWide(p);
  Tensor bias = contiguousOrNone(p.options.bias);
  Tensor partial = hasParts
                       ? empty({parts, batchOfParts, m, n}, sumType, y.device())
                       : Tensor();
  ProductLaunch launch{p, plan, hasParts ? partial : y, share, hasParts, plain};
  // Of K = 0 there are no boxes to copy.
  bool hasRoles = plan.hasRoles && k > 0;
  hasRoles ? launch.runWithRoles() : launch.run();
  if (hasParts) {
    constexpr int64_t blockM = 8, blockN = 128;
    static const OperatorKernel sum("linear", "parts_kernel");
    sum[{batchOfParts * cdiv(m, blockM) * cdiv(n, blockN)}](
        y, partial, orNone(bias), orNone(residual), orNone(p.before),
        orNone(p.of), m, n, r[0], r[1], r[2], p.options.scale, parts,
        batchOfParts * m * n, "BLOCK_M"_a = blockM, "BLOCK_N"_a = blockN,
        "WIDE"_a = wide, "ACTIVATION"_a = activation, "PLAIN"_a = plain,
        "num_warps"_a = 4);
  }
  return y;
}
