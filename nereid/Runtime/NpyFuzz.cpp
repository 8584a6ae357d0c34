//===- NpyFuzz.cpp - Any array file at all --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file gives a tensor whose elements can all be looked at, and which is the
// same when it is saved and loaded again, or an error with a message. Input
// whose first byte is even stands for a whole file; after an odd one comes the
// text of a header, which gets the magic, a version and the right length, so
// that most of what is tried reaches the parser.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Npy.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;

static void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// A file without a name in the file system.
class MemoryFile {
public:
  explicit MemoryFile(const std::string &content)
      : fd(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(::write(fd, content.data(), content.size()) ==
            static_cast<ssize_t>(content.size()));
  }
  ~MemoryFile() { ::close(fd); }
  MemoryFile(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

static std::string fileOf(const uint8_t *data, size_t size) {
  if (size == 0) {
    return "";
  }
  std::string rest(reinterpret_cast<const char *>(data + 1), size - 1);
  if (data[0] % 2 == 0) {
    return rest;
  }
  // The header ends with its brace; elements follow.
  size_t end = rest.rfind('}');
  size_t length = end == std::string::npos ? rest.size() : end + 1;
  int version = 1 + data[0] / 2 % 3;
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), '\0', static_cast<char>(length & 255),
           static_cast<char>(length >> 8 & 255)};
  if (version > 1) {
    file += {static_cast<char>(length >> 16 & 255), '\0'};
  }
  return file + rest;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryFile file(fileOf(data, size));
  try {
    Tensor tensor = loadNpy(file.path(), std::nullopt, Device::cpu());
    require(tensor.defined() && tensor.isContiguous());
    require(static_cast<size_t>(tensor.bytes()) <= size + 8);
    MemoryFile copy("");
    saveNpy(copy.path(), tensor);
    Tensor again = loadNpy(copy.path(), std::nullopt, Device::cpu());
    require(again.shape() == tensor.shape());
    require(again.dtype() == tensor.dtype());
    require(!std::memcmp(again.data(), tensor.data(),
                         static_cast<size_t>(tensor.bytes())));
  } catch (const Error &error) {
    require(error.code() != ErrorCode::Internal && *error.what());
  }
  return 0;
}
