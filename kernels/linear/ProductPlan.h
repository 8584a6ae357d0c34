//===- ProductPlan.h - Blocks, warps, stages and splits --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_PRODUCTPLAN_H
#define NEREID_KERNELS_LINEAR_PRODUCTPLAN_H

#include "nereid/ABI/DType.h"
#include "nereid/Runtime/Device.h"

#include <cstdint>
#include <functional>

namespace nereid::kernels {

/// How a product [batch, m, k] @ [batch, k, n] is cut into programs.
struct ProductPlan {
  int64_t blockM = 0, blockN = 0, blockK = 0;
  int warps = 4, stages = 1;
  int64_t splits = 1;     ///< of K
  bool hasRoles = false;  ///< roles_kernel instead of linear_kernel
  double nanoseconds = 0; ///< as ProductPlan.cpp estimates them
  /// Of `a`, the first ones, which this plan is for: whole waves of blocks. The
  /// others are a product of their own, in smaller blocks. 0: all.
  int64_t rows = 0;
};

struct ProductSize {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  /// An engine can copy tiles of both operands (roles_kernel).
  bool isMapped = false;
  /// Other kernels see that rows begin at multiples of 16 bytes; else they load
  /// element by element.
  bool isAligned = true;
  /// Bytes from row to row of the left operand, where neighbours along k are
  /// neighbours in memory: a processor may read its rows where they lie. 0:
  /// they are not.
  int64_t rowBytes = 0;
};

/// The fastest for the device: what has been measured for large products, and
/// smaller blocks or splits where those would leave processors idle
/// (ProductPlan.cpp). `plain`: nothing but a store follows the product.
ProductPlan planProduct(const ProductSize &size, DType dtype, bool tf32,
                        Device device, bool plain = false);

using PlanConsumer = std::function<void(const ProductPlan &)>;

/// All that planProduct chooses from, for bench/operators/product_plans.py.
void forEachProductPlan(const ProductSize &size, DType dtype, bool tf32,
                        Device device, bool plain, const PlanConsumer &use);
void forEachHostPlan(const ProductSize &size, DType dtype,
                     const PlanConsumer &use);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_PRODUCTPLAN_H
