//===- PackImages.h - Images of a library, packed ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine code of one kernel for one target differs little between
// signatures: packed as one frame, it takes a tenth and less of its size.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_PACKIMAGES_H
#define NEREID_PIPELINE_PACKIMAGES_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"

namespace nereid {

struct PackedImages {
  struct Image {
    std::string bytes; ///< encoded, without its code where that is in a block
    uint32_t block = 0;
    uint64_t begin = 0, codeSize = 0;
  };
  std::vector<Image> images;
  std::vector<std::string> blocks; ///< LibraryBlock (ABI/KernelLibrary.h)
};

/// Blocks are of one kernel and target, and end at the image with which they
/// reach 1 MiB, so that the first launch of one is not delayed by more than a
/// millisecond.
Expected<PackedImages> packImages(const std::vector<KernelImage> &images);

} // namespace nereid

#endif // NEREID_PIPELINE_PACKIMAGES_H
