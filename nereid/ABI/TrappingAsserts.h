//===- TrappingAsserts.h - device_assert as CUDA's assert -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With CheckAsserts a failed device_assert of a GPU's kernel is written to the
// launch's DeviceFault, and the launch waits for it. With this flag as well the
// kernel has no such parameter: it calls the driver's `__assertfail`, which
// writes the message to standard error and stops everything of the process on
// the device. Launches stay asynchronous, may be part of a graph, and may be
// made by other programs that know nothing but the entry and its parameters.
//
// It has an effect where the driver has such a function: on NVIDIA's GPUs.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_TRAPPINGASSERTS_H
#define NEREID_ABI_TRAPPINGASSERTS_H

#include <cstdint>

namespace nereid {

/// Of CompileOptions::checks, beside CheckFlags (KernelCompiler.h).
inline constexpr uint32_t AssertsTrap = 8;

/// A unit attribute, on tile.assert: it traps.
inline constexpr char trapsAttr[] = "tile.traps";

} // namespace nereid

#endif // NEREID_ABI_TRAPPINGASSERTS_H
