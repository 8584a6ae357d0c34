//===- Quantized.h - Products with weights of 8 or 4 bits -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y = x @ w^T + bias with w[n, k] = scales[n, k / group] * q[n,
//               k]; quantize: scales are the largest |w| of a group / 127, or /
//               7, and q is w / scale, rounded to the nearest (even) whole
//               number; a group with a number that is not finite is NaN
// Shapes:       x [..., K], w [N, K], y [..., N], bias [N] or undefined
// Types:        x of fp32, fp16, bf16, which y has; the sum over a group is in
//               fp32
//               and takes its scale there, so that q is multiplied exactly. Of
//               x of fp64, the product is one of dequantize(w)
// Gradients:    x, bias. In the gradient of x, dy times a scale is rounded to
//               x's type. Weights and scales have none
// Memory:       a byte, or half of one, for each weight, and 4 bytes a group
// Determinism:  the same bits in each run on one device; no atomics
// Source:       scales of groups: Frantar et al., "GPTQ", arXiv 2210.17323
//
// A weight is read as it is packed, and widened in registers.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_QUANTIZED_QUANTIZED_H
#define NEREID_KERNELS_QUANTIZED_QUANTIZED_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

struct QuantizedWeight {
  /// i8: [N, K], or of 4 bits [N, 32 * ceil(K / 64)]: of each 64 elements, byte
  /// i has element i in its low half and 32 + i in its high half.
  Tensor values;
  Tensor scales;       ///< fp32 [N, ceil(K / group)]
  int64_t columns = 0; ///< K
  int64_t bits = 8;    ///< or 4
  int64_t group = 0;   ///< of columns that share a scale; K for one a row
};

struct QuantizeOptions {
  int64_t bits = 8; ///< or 4
  /// A multiple of 32; 0: one scale for each row.
  int64_t group = 0;
};

/// Takes weight [N, K] of floats, with any strides.
QuantizedWeight quantize(const Tensor &weight,
                         const QuantizeOptions &options = {});

/// [N, K] again, row-major.
Tensor dequantize(const QuantizedWeight &weight, DType type = f32);

Tensor quantizedLinear(const Tensor &x, const QuantizedWeight &weight,
                       const Tensor &bias = {});
Variable quantizedLinear(const Variable &x, const QuantizedWeight &weight,
                         const Variable &bias = {});
inline Expression quantizedLinear(const Expression &x,
                                  const QuantizedWeight &weight,
                                  const Variable &bias = {}) {
  return quantizedLinear(x.variable(), weight, bias);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_QUANTIZED_QUANTIZED_H
