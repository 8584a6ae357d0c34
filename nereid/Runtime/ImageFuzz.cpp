//===- ImageFuzz.cpp - Any bytes as a kernel image ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the disk cache and libraries hold. Bytes are an image or none; those of
// an image are what encoding it gives, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/Encoding.h"

#include <cstdlib>

using namespace nereid;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  std::optional<KernelImage> image = decodeImage(bytes);
  if (!image) {
    return 0;
  }
  std::string encoded = encodeImage(*image);
  std::optional<KernelImage> again = decodeImage(encoded);
  if (!again || encodeImage(*again) != encoded) {
    std::abort();
  }
  return 0;
}

/// Starts from an image, which no mutation of nothing would become.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed) {
  KernelImage image;
  image.kernel = image.entry = "k";
  image.target = "cpu";
  image.stageTimes = {{"irgen", 1.5}};
  image.warnings.push_back({Severity::Warning,
                            {"k.py", 1, 2, 1, 3},
                            "message",
                            "source",
                            "hint",
                            {{}}});
  image.code.resize(seed % 40);
  std::string good = encodeImage(image);
  if (seed % 16 == 0 && good.size() <= maxSize) {
    std::memcpy(data, good.data(), good.size());
    size = good.size();
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}
