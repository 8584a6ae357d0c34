//===- HostDevicesTest.cpp - These tests are about host devices -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a machine with a GPU the default device of tensors would be that GPU. The
// cuda devices have tests of their own, in the folder cuda.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>

/// Runs before main, and so before the environment is read.
[[maybe_unused]] static const int hostDevicesOnly =
    ::setenv("NEREID_CUDA_DRIVER", "none", 1);
