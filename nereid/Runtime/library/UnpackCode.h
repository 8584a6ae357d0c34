//===- UnpackCode.h - Machine code of a library ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LIBRARY_UNPACKCODE_H
#define NEREID_RUNTIME_LIBRARY_UNPACKCODE_H

#include "nereid/ABI/KernelLibrary.h"

#include <optional>

namespace nereid {

/// The code of `image`, which stands in a block of the library. Nothing where
/// the block is damaged.
std::optional<std::vector<std::byte>> unpackCode(const KernelLibrary &library,
                                                 const LibraryImage &image);

} // namespace nereid

#endif // NEREID_RUNTIME_LIBRARY_UNPACKCODE_H
