//===- OperandType.h - Types of products' operands --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_NV_OPERANDTYPE_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_NV_OPERANDTYPE_H

#include "mlir/IR/Types.h"

namespace nereid::togpu {

/// The element type of an operand of a product, as the instruction has it: f32
/// is multiplied as tf32, and integers have a sign or none.
mlir::Type operandType(mlir::Type element, bool isUnsigned);

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_NV_OPERANDTYPE_H
