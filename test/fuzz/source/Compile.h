//===- Compile.h - Generated kernels as Tile IR -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_COMPILE_H
#define NEREID_TEST_FUZZ_SOURCE_COMPILE_H

#include "nereid/ABI/Status.h"
#include "test/fuzz/source/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::fuzz::source {

/// The kernel by IRGen, specialized as a launch would, with the launch in the
/// attributes of fuzz/Launch.h. Fails where IRGen refuses the text.
Expected<mlir::OwningOpRef<mlir::ModuleOp>> compile(mlir::MLIRContext &context,
                                                    const Program &program);

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_COMPILE_H
