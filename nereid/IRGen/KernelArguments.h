//===- KernelArguments.h - From a request to parameters' values -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter is a value that is passed at run time, a constant, or made of
// such: then the function has an argument for each leaf that is passed, and
// the body sees a tuple, a named tuple or a tensor descriptor of them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_KERNELARGUMENTS_H
#define NEREID_IRGEN_KERNELARGUMENTS_H

#include "nereid/IRGen/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::irgen {

/// func.func of the kernel, with the attributes that the Tile dialect describes
/// and an empty entry block.
mlir::func::FuncOp
makeKernelFunction(Emitter &emitter, const CompileRequest &request,
                   llvm::ArrayRef<const ast::Arg *> parameters);

/// What the body sees of its parameters.
FailureOr<std::vector<Value>>
kernelArguments(Session &session, llvm::ArrayRef<ArgumentSpec> arguments,
                mlir::func::FuncOp function, const Function &kernel);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_KERNELARGUMENTS_H
