//===- KernelLibrary.h - Kernels compiled ahead of time --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `nereid compile --emit header` leaves in an object file, and what a
// program that links it hands to the runtime. The object has one symbol for
// other files, a KernelLibrary; it holds no code that runs by itself. Code for
// the CPU is ordinary code of the program, reached by its address, so that
// nothing has to be mapped or linked at run time.
//
// Field offsets are written by the compiler: a change of anything here changes
// `kernelLibraryVersion`.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_KERNELLIBRARY_H
#define NEREID_ABI_KERNELLIBRARY_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/LaunchABI.h"

namespace nereid {

inline constexpr uint32_t kernelLibraryVersion = 3;

/// What a runtime must agree with to use a library.
inline constexpr uint32_t kernelLibraryAbi =
    kernelLibraryVersion << 16 | kernelImageVersion << 8 | launchAbiVersion;

/// One kernel for one target.
struct LibraryImage {
  /// A KernelImage (ABI/Encoding.h), without `code` where there is an
  /// `entry`.
  const std::byte *bytes;
  uint64_t size;
  HostEntry entry; ///< null for a GPU
};

struct KernelLibrary {
  uint32_t abi; ///< kernelLibraryAbi of the compiler that made it
  uint32_t imageCount;
  const LibraryImage *images;
  /// A LibraryIndex (ABI/LibraryIndex.h).
  const std::byte *index;
  uint64_t indexSize;
};

static_assert(sizeof(LibraryImage) == 24);
static_assert(offsetof(LibraryImage, entry) == 16);
static_assert(sizeof(KernelLibrary) == 32);
static_assert(offsetof(KernelLibrary, images) == 8);
static_assert(offsetof(KernelLibrary, index) == 16);

} // namespace nereid

#endif // NEREID_ABI_KERNELLIBRARY_H
