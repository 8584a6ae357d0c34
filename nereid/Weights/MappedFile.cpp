//===- MappedFile.cpp - A file as memory ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Weights/MappedFile.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/FileNames.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nereid;

MappedFile::~MappedFile() {
  if (bytes) {
    ::munmap(data, bytes);
  }
}

std::shared_ptr<MappedFile> MappedFile::open(const std::string &path) {
  throwIfFailed(checkName(path, "read"));
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct Closed {
    int fd;
    ~Closed() { fd >= 0 ? ::close(fd) : 0; }
  } closed{fd};
  struct stat info;
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    raise(ioFailure("read", path));
  }
  if (!S_ISREG(info.st_mode)) {
    raise({ErrorCode::IoError,
           "cannot read '" + path + "': expected a file, got a " +
               (S_ISDIR(info.st_mode) ? "folder" : "device or pipe"),
           {}});
  }
  auto mapping = std::make_shared<MappedFile>();
  if (info.st_size > 0) {
    void *data = ::mmap(nullptr, size_t(info.st_size), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (data == MAP_FAILED) {
      raise(ioFailure("map", path));
    }
    mapping->data = data;
    mapping->bytes = uint64_t(info.st_size);
  }
  return mapping;
}
