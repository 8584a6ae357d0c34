//===- KernelConversion.h - What conversions of kernels share ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversion that walks a kernel itself is no mlir::Pass: it loads the
// dialects that it makes, and reports an unsupported operation of its target.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_LANES_KERNELCONVERSION_H
#define NEREID_CONVERSION_LANES_KERNELCONVERSION_H

#include "nereid/ABI/Status.h"

#include "mlir/IR/Operation.h"

namespace nereid::lanes {

/// Loads what `registerDialects` registers. Contexts that are used by several
/// threads have had it done before.
void loadDialects(mlir::MLIRContext *context,
                  void (*registerDialects)(mlir::DialectRegistry &));

/// "the cpu target cannot run this kernel: `why` at ...".
Failure cannotRun(llvm::StringRef target, mlir::Operation *op,
                  const llvm::Twine &why);

} // namespace nereid::lanes

#endif // NEREID_CONVERSION_LANES_KERNELCONVERSION_H
