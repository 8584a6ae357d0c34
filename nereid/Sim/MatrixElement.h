//===- MatrixElement.h - Numbers of products --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products are computed in doubles: the products of an instruction and the
// addend are summed up there, and rounded once. GPUs keep fewer bits while they
// add, so that results agree within the rounding of a sum, not bit by bit;
// integers agree exactly.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_MATRIXELEMENT_H
#define NEREID_SIM_MATRIXELEMENT_H

#include <cstdint>
#include <string_view>

namespace nereid::sim {

enum class MatrixType : uint8_t {
  F16,
  BF16,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  S8,
  U8,
  S4,
  U4,
  S32,
  None
};

MatrixType matrixType(std::string_view name);
unsigned bitsOf(MatrixType type);
/// From the lower bits.
double numberOf(uint64_t bits, MatrixType type);
/// The bits of a sum: rounded, or for integers wrapped.
uint64_t bitsOfSum(double sum, MatrixType type);

} // namespace nereid::sim

#endif // NEREID_SIM_MATRIXELEMENT_H
