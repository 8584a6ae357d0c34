//===- UnpackCode.cpp - Machine code of a library -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/library/UnpackCode.h"

#include <memory>
#include <zstd.h>

namespace nereid {

std::optional<std::vector<std::byte>> unpackCode(const KernelLibrary &library,
                                                 const LibraryImage &image) {
  // Blocks end a little after 1 MiB; more than this no image has.
  constexpr uint64_t most = uint64_t{1} << 30;
  if (image.block >= library.blockCount || image.begin > most ||
      image.codeSize > most) {
    return std::nullopt;
  }
  const LibraryBlock &block = library.blocks[image.block];
  std::vector<std::byte> code(image.begin + image.codeSize);
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx *)> context(ZSTD_createDCtx(),
                                                              ZSTD_freeDCtx);
  if (!context) {
    return std::nullopt;
  }
  ZSTD_inBuffer in{block.bytes, block.size, 0};
  ZSTD_outBuffer out{code.data(), code.size(), 0};
  // What follows the image stays packed.
  while (out.pos < out.size) {
    size_t before = out.pos, read = in.pos;
    size_t status = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(status) || (out.pos == before && in.pos == read)) {
      return std::nullopt;
    }
  }
  code.erase(code.begin(),
             code.begin() + static_cast<std::ptrdiff_t>(image.begin));
  return code;
}

} // namespace nereid
