//===- Product.h - One product, and how it is launched ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_PRODUCT_H
#define NEREID_KERNELS_LINEAR_PRODUCT_H

#include "kernels/linear/Linear.h"
#include "kernels/linear/ProductPlan.h"

#include <optional>

namespace nereid::kernels {

/// A checked product: `a` [B, M, K], `b` [B, K, N] of any strides, where a
/// batch of stride 0 is repeated.
struct Product {
  Tensor a, b;
  MatmulOptions options; ///< residual [B, M, N] or undefined
  Tensor before;         ///< kept: what the activation is applied to
  /// Instead of being activated, the product is multiplied by the activation's
  /// derivative at these values.
  Tensor of;
  /// The sum over all batches instead of all of them: [1, M, N].
  bool sumsBatches = false;
  /// The result, row-major, of any shape; undefined: a new tensor.
  Tensor to = {};
  std::optional<ProductPlan> plan = {}; ///< absent: planProduct's
};

/// `to`, or a new [B, M, N], row-major.
Tensor run(const Product &product);

/// Copies operands that no engine copies, where that pays. What is left to
/// plan.
ProductSize prepareProduct(Product &product);

/// Into `y`, where the product has so few rows that reading `b` is what takes
/// the time, and `b` is a transposed weight (FewRows.cpp). False: not computed.
bool runFewRows(const Product &product, const Tensor &y);

const char *nameOf(Activation activation);
/// What kernels whose ACTIVATION is "given" take: 0 for None, else one bit, in
/// the order of the enumeration.
inline int bitOf(Activation activation) {
  return activation == Activation::None ? 0 : 1 << (int(activation) - 1);
}

/// Do offsets within a batch take 64 bits?
bool isWide(const Product &product);

/// Into `y`, by the forms that were compiled ahead of time (ahead.txt): what no
/// form has after the product is done by a second launch.
void runAheadOfTime(const Product &product, const Tensor &y);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_PRODUCT_H
