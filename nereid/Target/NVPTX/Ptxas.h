//===- Ptxas.h - NVIDIA's assembler as a program ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not needed to run kernels, since the driver assembles PTX. Ahead of time it
// makes machine code for GPUs that are elsewhere, and tells what a kernel
// takes of them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_PTXAS_H
#define NEREID_TARGET_NVPTX_PTXAS_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"

#include <string>
#include <string_view>

namespace nereid::nvptx {

/// The program's path: NEREID_PTXAS, or ptxas in PATH or /usr/local/cuda/bin.
/// NotFound, saying what to do, when there is none.
Expected<std::string> findPtxas();

/// Turns a GpuAssembly image into a GpuBinary one, with its registers, spills
/// and local memory. Unsupported when the program does not know the
/// architecture; Internal, with what it says, when it finds an error.
Status assemble(const std::string &ptxas, KernelImage &image,
                uint32_t maxRegisters = 0);

/// PTX that names no source lines: a kernel that is shipped names no file of
/// the machine that compiled it, and its machine code, into which ptxas copies
/// the PTX where it has lines, is half as long.
std::string removeSourceLines(std::string_view ptx);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_PTXAS_H
