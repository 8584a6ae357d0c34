//===- Files.cpp - Reading and writing whole files ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Files.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid {
namespace {
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) {
      ::close(fd);
    }
  }
};
} // namespace

static Failure ioFailure(const std::string &action, const std::string &path) {
  int reason = errno;
  return {reason == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError,
          "cannot " + action + " '" + path + "': " + std::strerror(reason),
          {}};
}

Expected<std::string> readFile(const std::string &path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) {
    return ioFailure("read", path);
  }
  struct stat info;
  if (::fstat(file.fd, &info) != 0) {
    return ioFailure("read", path);
  }
  if (S_ISDIR(info.st_mode)) {
    return {ErrorCode::IoError, "cannot read '" + path + "': it is a folder"};
  }
  std::string content;
  size_t used = 0;
  // One byte more than the size says, so that the usual file ends with the
  // first read of 0 and pipes, whose size is 0, still work.
  content.resize(static_cast<size_t>(info.st_size) + 1);
  while (true) {
    if (used == content.size()) {
      content.resize(2 * content.size() + 4096);
    }
    ssize_t got = ::read(file.fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return ioFailure("read", path);
    }
    if (got == 0) {
      break;
    }
    used += static_cast<size_t>(got);
  }
  content.resize(used);
  return content;
}

static Status writeAll(int fd, std::string_view content,
                       const std::string &path) {
  while (!content.empty()) {
    ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return ioFailure("write", path);
    }
    content.remove_prefix(static_cast<size_t>(put));
  }
  return Status::success();
}

static std::string temporaryName(const std::string &path) {
  static std::atomic<uint64_t> counter = 0;
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return folder + std::string(temporaryPrefix) + std::to_string(::getpid()) +
         "-" + std::to_string(now) + "-" + std::to_string(counter++);
}

Status writeFileAtomically(const std::string &path, std::string_view content) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) {
      return {ErrorCode::IoError,
              "cannot write '" + path + "': it is a folder"};
    }
    Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    return file.fd < 0 ? Status(ioFailure("write", path))
                       : writeAll(file.fd, content, path);
  }
  std::string temporary = temporaryName(path);
  Status status;
  {
    Descriptor file{::open(temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (file.fd < 0) {
      return ioFailure("write", path);
    }
    status = writeAll(file.fd, content, path);
  }
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ioFailure("write", path);
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
  }
  return status;
}

Status makePrivateFolder(const std::string &path) {
  size_t slash = path.find_last_of('/');
  if (::mkdir(path.c_str(), 0700) == 0) {
    return Status::success();
  }
  if (errno == ENOENT && slash != std::string::npos && slash > 0) {
    // Parents are made the same way, but may belong to anybody: only the
    // folder itself is checked.
    std::string parent = path.substr(0, slash);
    struct stat info;
    if (::stat(parent.c_str(), &info) != 0) {
      Status made = makePrivateFolder(parent);
      if (!made.ok()) {
        return made;
      }
    }
    if (::mkdir(path.c_str(), 0700) == 0) {
      return Status::success();
    }
  }
  if (errno != EEXIST) {
    return ioFailure("make the folder", path);
  }
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    return ioFailure("use the folder", path);
  }
  std::string why = !S_ISDIR(info.st_mode)       ? "it is no folder"
                    : info.st_uid != ::geteuid() ? "it belongs to another user"
                    : info.st_mode & 0022
                        ? "others may write to it (chmod 700 it)"
                        : "";
  if (!why.empty()) {
    return {ErrorCode::IoError, "cannot use the folder '" + path + "': " + why};
  }
  return Status::success();
}

} // namespace nereid
