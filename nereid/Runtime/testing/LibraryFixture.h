//===- LibraryFixture.h - Libraries of kernels for tests --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler would write into an object file, made in memory: a kernel
// `add`, as in LaunchFixture, whose host code is a C++ function.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TESTING_LIBRARYFIXTURE_H
#define NEREID_RUNTIME_TESTING_LIBRARYFIXTURE_H

#include "nereid/ABI/Encoding.h"
#include "nereid/ABI/KernelLibrary.h"
#include "nereid/ABI/LibraryIndex.h"

#include <deque>

namespace nereid {

class TestLibrary {
public:
  TestLibrary() {
    LibraryKernel add;
    add.name = "add";
    add.path = "add.py";
    add.location = {"add.py", 2, 5, 2, 8};
    for (const char *name : {"x_ptr", "y_ptr", "out_ptr", "n", "BLOCK_SIZE"}) {
      add.parameters.push_back({name, false, {"add.py", 2, 9, 2, 14}});
    }
    add.parameters.back().isStatic = true;
    index.push_back(add);
  }

  static RuntimeArgument pointer(DType dtype, bool isDivisible = false) {
    return {dtype, true, false, isDivisible};
  }
  static RuntimeArgument number(DType dtype, bool isDivisible = false) {
    return {dtype, false, false, isDivisible};
  }

  /// A signature of `add`, without images.
  LibrarySignature &signature(std::vector<ArgumentSpec> arguments) {
    auto &signatures = index[0].signatures;
    signatures.push_back({std::move(arguments), {}, {}});
    return signatures.back();
  }
  /// The usual one.
  LibrarySignature &plain() {
    auto p = pointer(DType::Float32);
    return signature({p, p, p, number(DType::Int32), StaticValue(64)});
  }

  KernelImage imageOf(const LibrarySignature &signature,
                      const std::string &target) const {
    KernelImage image;
    image.kernel = image.entry = "add";
    image.target = target;
    image.threadsPerBlock = 32 * image.numWarps;
    for (size_t i = 0; i < signature.arguments.size(); ++i) {
      if (auto *a = std::get_if<RuntimeArgument>(&signature.arguments[i])) {
        image.parameters.push_back({index[0].parameters[i].name, a->dtype,
                                    a->isPointer, a->isConst, true});
      }
    }
    return image;
  }
  void add(LibrarySignature &signature, const KernelImage &image,
           HostEntry entry) {
    signature.images.push_back(static_cast<uint32_t>(images.size()));
    const std::string &bytes = texts.emplace_back(encodeImage(image));
    images.push_back({reinterpret_cast<const std::byte *>(bytes.data()),
                      bytes.size(), entry});
  }
  void addHost(LibrarySignature &signature, HostEntry entry,
               const std::string &target = "x86-64") {
    add(signature, imageOf(signature, target), entry);
  }
  void addGpu(LibrarySignature &signature, const std::string &target,
              ImageFormat format) {
    KernelImage image = imageOf(signature, target);
    image.format = format;
    std::string code = ".target " + target + "\n.entry add(\n";
    if (target.starts_with("gfx")) {
      code = "\x7f"
             "ELF " +
             code + '\0'; // what the fake HIP library takes
    } else if (format == ImageFormat::GpuBinary) {
      code = "CUBIN " + code + '\0'; // what the fake driver makes
    }
    auto *first = reinterpret_cast<const std::byte *>(code.data());
    image.code.assign(first, first + code.size());
    add(signature, image, nullptr);
  }

  /// Valid until the next change.
  const KernelLibrary &library() {
    encodedIndex = encodeLibraryIndex(index);
    table = {kernelLibraryAbi, static_cast<uint32_t>(images.size()),
             images.data(),
             reinterpret_cast<const std::byte *>(encodedIndex.data()),
             encodedIndex.size()};
    return table;
  }

  LibraryIndex index;
  std::vector<LibraryImage> images;
  KernelLibrary table = {};

private:
  std::deque<std::string> texts;
  std::string encodedIndex;
};

/// Adds, for signatures whose run-time parameters are x, y, out, n; adds
/// `bonus` so that a test sees which code ran.
template <int bonus, typename N = int32_t>
void addEntry(const void *, LaunchFrame *frame, int64_t begin, int64_t end) {
  const uint64_t *a = frame->arguments;
  auto *x = reinterpret_cast<const float *>(a[0]);
  auto *y = reinterpret_cast<const float *>(a[1]);
  auto *out = reinterpret_cast<float *>(a[2]);
  int64_t n = static_cast<N>(a[3]);
  for (int64_t i = 64 * begin; i < std::min(64 * end, n); ++i) {
    out[i] = x[i] + y[i] + bonus;
  }
}

} // namespace nereid

#endif // NEREID_RUNTIME_TESTING_LIBRARYFIXTURE_H
