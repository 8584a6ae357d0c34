//===- StructuredControl.h - Branches and loops to blocks ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_LANES_STRUCTUREDCONTROL_H
#define NEREID_CONVERSION_LANES_STRUCTUREDCONTROL_H

#include "mlir/IR/BuiltinOps.h"

namespace nereid::lanes {

/// Marks a loop of the kernel among those that a conversion makes, whose
/// bounds are small: its counter may not pass the end of its type.
inline constexpr llvm::StringLiteral exactLoop = "nereid.exact";

/// Replaces scf operations by blocks and branches, in time linear in their
/// number. MLIR's own conversion goes forward, and moves all that follows at
/// every branch. A loop ends as Python's does where its counter would pass the
/// end of its type, and does not begin where its step is not positive.
void lowerStructuredControl(mlir::ModuleOp module);

} // namespace nereid::lanes

#endif // NEREID_CONVERSION_LANES_STRUCTUREDCONTROL_H
