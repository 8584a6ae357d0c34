//===- CacheTally.cpp - How full a cache's folder is ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cache/CacheTally.h"

#include "nereid/Support/Files.h"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid {

static constexpr uint64_t unit = 256;
static constexpr int64_t staleSeconds = 24 * 3600;

namespace {

struct Header {
  uint64_t bytes;
  int64_t countedAt;
};

/// The file, or -1; nothing else that may have its name.
class TallyFile {
public:
  explicit TallyFile(const std::string &path)
      : fd(::open(path.c_str(),
                  O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
    struct stat info;
    if (fd >= 0 && (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
                    uint64_t(info.st_size) < sizeof(Header))) {
      ::close(fd);
      fd = -1;
    }
    size = fd >= 0 ? uint64_t(info.st_size) : 0;
  }
  TallyFile(const TallyFile &) = delete;
  TallyFile &operator=(const TallyFile &) = delete;
  ~TallyFile() {
    if (fd >= 0) {
      ::close(fd);
    }
  }

  int fd;
  uint64_t size;
};

} // namespace

std::optional<uint64_t> CacheTally::total() const {
  TallyFile file(path);
  Header header;
  if (file.fd < 0 ||
      ::pread(file.fd, &header, sizeof(header), 0) != sizeof(header)) {
    return std::nullopt;
  }
  int64_t age = int64_t(std::time(nullptr)) - header.countedAt;
  if (age < 0 || age > staleSeconds) {
    return std::nullopt;
  }
  return header.bytes + (file.size - sizeof(header)) * unit;
}

void CacheTally::add(uint64_t bytes) const {
  TallyFile file(path);
  if (file.fd >= 0) {
    (void)writeDescriptor(file.fd, std::string((bytes + unit - 1) / unit, '+'),
                          path);
  }
}

void CacheTally::reset(uint64_t bytes) const {
  Header header = {bytes, int64_t(std::time(nullptr))};
  (void)replaceFile(path, std::string_view(reinterpret_cast<char *>(&header),
                                           sizeof(header)));
}

} // namespace nereid
