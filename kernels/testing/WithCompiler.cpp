//===- WithCompiler.cpp - Tests whose kernels are compiled as they run ----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests of operators link this, or nereid_kernels: then they call kernels
// that were compiled ahead of time.
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h" // connects the compiler
