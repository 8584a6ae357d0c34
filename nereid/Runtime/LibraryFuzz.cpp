//===- LibraryFuzz.cpp - Any bytes as an index of a library ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index of kernels compiled ahead of time. Bytes are an index or none;
// with an index, every kernel can be asked for and launched as far as its
// arguments, which gives an error: there are no images.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/testing/LibraryFixture.h"

#include <cstdlib>

using namespace nereid;

static void tryKernel(const KernelLibrary &library, const std::string &name,
                      Context &context) {
  try {
    Kernel kernel = Kernel::fromLibrary(library, name, context);
    static Tensor array = zeros({16}, f32, Device::cpu());
    kernel.launch(Grid(1), {});
    const LaunchArgument arguments[] = {array, array, array, 16, 64};
    kernel.launch(Grid(1), arguments);
  } catch (const Error &error) {
    if (error.message().empty()) {
      std::abort();
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  static Context context(nullptr, ContextOptions{"/nonexistent", 0});
  LibraryImage images[4] = {};
  KernelLibrary library{kernelLibraryAbi, 4, images,
                        reinterpret_cast<const std::byte *>(bytes.data()),
                        bytes.size()};
  tryKernel(library, "", context);
  std::optional<LibraryIndex> index = decodeLibraryIndex(bytes);
  if (!index) {
    return 0;
  }
  std::string encoded = encodeLibraryIndex(*index);
  auto again = decodeLibraryIndex(encoded);
  if (!again || encodeLibraryIndex(*again) != encoded) {
    std::abort();
  }
  for (size_t i = 0; i < std::min<size_t>(index->size(), 4); ++i) {
    tryKernel(library, (*index)[i].name, context);
  }
  return 0;
}

/// Starts from an index, which no mutation of nothing would become.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed) {
  TestLibrary library;
  library.plain().images = {0, 1};
  std::string good = encodeLibraryIndex(library.index);
  if (seed % 16 == 0 && good.size() <= maxSize) {
    std::memcpy(data, good.data(), good.size());
    size = good.size();
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}
