//===- KernelSet.h - Twenty kernels with known answers ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the processes of the cache test compile. Two implementations: one with
// the runtime's fake compiler (needs no LLVM), one with the real one.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_CACHE_KERNELSET_H
#define NEREID_TEST_CACHE_KERNELSET_H

#include "nereid/Runtime/Kernel.h"

namespace nereid {

inline constexpr int kernelSetSize = 20;

/// A fresh compiler, as a new process has.
std::unique_ptr<KernelCompiler> makeSetCompiler();

/// Kernel `index`: (out_ptr, x_ptr, n, BLOCK), out[i] = x[i] * (index + 2) + 1.
Kernel loadSetKernel(int index, Context &context);

} // namespace nereid

#endif // NEREID_TEST_CACHE_KERNELSET_H
