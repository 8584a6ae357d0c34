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

inline constexpr uint32_t kernelLibraryVersion = 4;

/// What a runtime must agree with to use a library.
inline constexpr uint32_t kernelLibraryAbi =
    kernelLibraryVersion << 16 | kernelImageVersion << 8 | launchAbiVersion;

/// One kernel for one target.
struct LibraryImage {
  /// A KernelImage (ABI/Encoding.h), without `code` where there is an
  /// `entry`, or where it stands in a block.
  const std::byte *bytes;
  uint64_t size;
  HostEntry entry; ///< null for a GPU
  /// Where `codeSize` is not 0, the code is bytes [begin, begin + codeSize) of
  /// what block `block` unpacks to.
  uint32_t block = 0;
  uint32_t reserved = 0;
  uint64_t begin = 0, codeSize = 0;
};

/// Code of several images that are like each other, as one frame of Zstandard.
/// An image is unpacked with what stands in front of it.
struct LibraryBlock {
  const std::byte *bytes;
  uint64_t size;
};

struct KernelLibrary {
  uint32_t abi; ///< kernelLibraryAbi of the compiler that made it
  uint32_t imageCount;
  const LibraryImage *images;
  /// A LibraryIndex (ABI/LibraryIndex.h).
  const std::byte *index;
  uint64_t indexSize;
  const LibraryBlock *blocks = nullptr;
  uint64_t blockCount = 0;
};

static_assert(sizeof(LibraryImage) == 48);
static_assert(offsetof(LibraryImage, entry) == 16);
static_assert(offsetof(LibraryImage, block) == 24);
static_assert(offsetof(LibraryImage, begin) == 32);
static_assert(sizeof(LibraryBlock) == 16);
static_assert(sizeof(KernelLibrary) == 48);
static_assert(offsetof(KernelLibrary, images) == 8);
static_assert(offsetof(KernelLibrary, index) == 16);
static_assert(offsetof(KernelLibrary, blocks) == 32);

} // namespace nereid

#endif // NEREID_ABI_KERNELLIBRARY_H
