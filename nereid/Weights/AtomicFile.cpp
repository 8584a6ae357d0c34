//===- AtomicFile.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Weights/AtomicFile.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/FileNames.h"
#include "nereid/Support/Files.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

using namespace nereid;

/// Of errno, with what to do about it.
[[noreturn]] static void fail(const std::string &action,
                              const std::string &path) {
  int reason = errno;
  Failure failure = ioFailure(action, path);
  switch (reason) {
  case ENOSPC:
  case EDQUOT:
    failure.message += "; make room on this disk, or choose another folder";
    break;
  case EFBIG:
    failure.message +=
        "; files may not be as large here (see ulimit -f, and the file system)";
    break;
  case EACCES:
  case EPERM:
  case EROFS:
    failure.message += "; choose a folder that this user may write to";
    break;
  default:
    break;
  }
  raise(std::move(failure));
}

AtomicFile::AtomicFile(const std::string &path, uint64_t mostBytes)
    : path(path), temporary(temporaryNameFor(path)) {
  throwIfFailed(checkName(path, "write"));
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // A rename would put a file in the place of a device or a pipe.
    raise({ErrorCode::IoError,
           "cannot write '" + path + "': expected a file, got " +
               (S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe"),
           {}});
  }
  struct statvfs disk;
  std::string folder = folderOf(path);
  if (::statvfs(folder.c_str(), &disk) == 0 && disk.f_blocks > 0 &&
      uint64_t{disk.f_bavail} * disk.f_frsize < mostBytes) {
    raise({ErrorCode::IoError,
           "cannot write '" + path + "': expected room for " +
               std::to_string(mostBytes) + " bytes on this disk, got " +
               std::to_string(uint64_t{disk.f_bavail} * disk.f_frsize) +
               "; make room, or choose another folder",
           {}});
  }
  fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) {
    fail("write", path);
  }
}

AtomicFile::~AtomicFile() {
  if (fd >= 0) {
    ::close(fd);
  }
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
  }
}

void AtomicFile::write(std::string_view content) {
  if (!writeDescriptor(fd, content, path).ok()) {
    fail("write", path);
  }
}

void AtomicFile::commit() {
  if (::fsync(fd) != 0) {
    fail("write", path);
  }
  if (::close(std::exchange(fd, -1)) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    fail("write", path);
  }
  temporary.clear();
  // Some file systems cannot flush a folder; the file itself is safe.
  int folder = ::open(folderOf(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void nereid::writeAtomically(const std::string &path,
                             std::string_view content) {
  AtomicFile file(path, content.size());
  file.write(content);
  file.commit();
}

void nereid::makeFolder(const std::string &path) {
  throwIfFailed(checkName(path, "make the folder"));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    if (error) {
      errno = error.value();
    }
    fail("make the folder", path);
  }
  if (!S_ISDIR(info.st_mode)) {
    raise({ErrorCode::IoError,
           "cannot use the folder '" + path + "': it is a file",
           {}});
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    fail("write to the folder", path);
  }
}
