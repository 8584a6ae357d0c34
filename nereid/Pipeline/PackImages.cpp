//===- PackImages.cpp - Images of a library, packed --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/PackImages.h"

#include "nereid/ABI/Encoding.h"

#include <map>
#include <tuple>
#include <zstd.h>

namespace nereid {

static Expected<std::string> pack(const std::string &raw) {
  constexpr int level = 19;
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  size_t size = ZSTD_compress(packed.data(), packed.size(), raw.data(),
                              raw.size(), level);
  if (ZSTD_isError(size)) {
    return {ErrorCode::Internal,
            std::string("packing machine code: ") + ZSTD_getErrorName(size)};
  }
  packed.resize(size);
  return packed;
}

Expected<PackedImages> packImages(const std::vector<KernelImage> &images) {
  constexpr size_t mostBytes = size_t{1} << 20;
  using Like = std::tuple<std::string, std::string, ImageFormat>;
  std::map<Like, uint32_t> open;
  std::vector<std::string> raw;
  PackedImages result;
  for (const KernelImage &image : images) {
    PackedImages::Image &one = result.images.emplace_back();
    if (image.code.empty()) {
      one.bytes = encodeImage(image);
      continue;
    }
    KernelImage header = image;
    header.code.clear();
    one.bytes = encodeImage(header);
    auto [block, isNew] =
        open.try_emplace(Like(image.kernel, image.target, image.format));
    if (isNew || raw[block->second].size() >= mostBytes) {
      block->second = static_cast<uint32_t>(raw.size());
      raw.emplace_back();
    }
    one.block = block->second;
    one.begin = raw[one.block].size();
    one.codeSize = image.code.size();
    raw[one.block].append(reinterpret_cast<const char *>(image.code.data()),
                          image.code.size());
  }
  for (const std::string &bytes : raw) {
    Expected<std::string> packed = pack(bytes);
    if (!packed.ok()) {
      return packed.failure();
    }
    result.blocks.push_back(std::move(*packed));
  }
  return result;
}

} // namespace nereid
