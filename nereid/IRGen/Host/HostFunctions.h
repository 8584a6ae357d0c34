//===- HostFunctions.h - Families of host built-ins -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_HOST_HOSTFUNCTIONS_H
#define NEREID_IRGEN_HOST_HOSTFUNCTIONS_H

#include "nereid/IRGen/Builtins/Builtins.h"

namespace nereid::irgen {

void registerDecorators(BuiltinTable &table); // triton.jit, autotune, Config
void registerIterationFunctions(BuiltinTable &table); // enumerate, zip, sorted
void registerMathModule(BuiltinTable &table);         // import math
void registerConversions(BuiltinTable &table);        // int(x), tuple(x)

/// "len: expected X, got Y", at the argument.
LogicalResult wrongArgument(CallContext &ctx, const BoundArguments &args,
                            llvm::StringRef parameter,
                            llvm::StringRef expected);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_HOST_HOSTFUNCTIONS_H
