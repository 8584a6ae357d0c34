//===- SafetensorsFuzz.cpp - Any file of tensors at all -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file gives tensors whose elements can all be looked at, and which are the
// same when they are written and read again, or an error with a message. Input
// whose first byte is even stands for a whole file; after an odd one comes a
// header, which gets its length, so that most of what is tried reaches the
// parser.
//
//===----------------------------------------------------------------------===//

#include "nereid/Weights/Testing.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;

static void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

static std::string fileOf(const uint8_t *data, size_t size) {
  std::string rest(reinterpret_cast<const char *>(data), size);
  if (size == 0 || rest[0] % 2 == 0) {
    return rest.substr(size ? 1 : 0);
  }
  rest.erase(0, 1);
  // The header ends with its last brace; elements follow.
  size_t end = rest.rfind('}');
  size_t length = end == std::string::npos ? rest.size() : end + 1;
  std::string file;
  for (int i = 0; i < 8; ++i) {
    file += char(length >> 8 * i & 255);
  }
  return file + rest;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const TestFolder folder;
  std::string content = fileOf(data, size);
  int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  require(::write(fd, content.data(), content.size()) ==
          ssize_t(content.size()));
  try {
    SafetensorsFile file("/proc/self/fd/" + std::to_string(fd));
    std::string copy = folder / "copy.safetensors";
    writeSafetensors(copy, file.tensors(), file.metadata());
    SafetensorsFile again(copy);
    require(again.metadata() == file.metadata());
    require(again.tensors().size() == file.tensors().size());
    for (const NamedTensor &one : file.tensors()) {
      require(haveSameBits(one.tensor, again.find(one.name)));
    }
  } catch (const Error &error) {
    require(error.code() != ErrorCode::Internal && *error.what());
  }
  ::close(fd);
  return 0;
}
