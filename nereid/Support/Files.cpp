//===- Files.cpp - Reading whole files, and folders -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Files.h"

#include "nereid/Support/FileNames.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace nereid {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

InputFile::InputFile(InputFile &&other) noexcept
    : path(std::move(other.path)), fd(std::exchange(other.fd, -1)),
      isPipe(other.isPipe), begun(other.begun), size_(other.size_) {}

InputFile::~InputFile() {
  if (fd >= 0) {
    ::close(fd);
  }
}

Expected<InputFile> InputFile::open(const std::string &path) {
  if (Status status = checkName(path, "read"); !status.ok()) {
    return status;
  }
  // Opening a pipe that no process writes to would wait for a writer.
  InputFile file(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
    return ioFailure("read", path);
  }
  file.isPipe = S_ISFIFO(info.st_mode);
  if (!S_ISREG(info.st_mode) && !file.isPipe) {
    return {ErrorCode::IoError,
            "cannot read '" + path + "': expected a file, " + "got a " +
                (S_ISDIR(info.st_mode) ? "folder" : "device")};
  }
  for (int own : {STDOUT_FILENO, STDERR_FILENO}) {
    // No other user may write to it, and then reading would wait for ourselves.
    struct stat output;
    if (file.isPipe && ::fstat(own, &output) == 0 &&
        output.st_dev == info.st_dev && output.st_ino == info.st_ino) {
      return {ErrorCode::IoError,
              "cannot read '" + path +
                  "': expected a file, got this program's own output"};
    }
  }
  if (S_ISREG(info.st_mode)) {
    noteInput(info);
    if (info.st_size > 0) {
      file.size_ = static_cast<uint64_t>(info.st_size);
    }
  }
  return file;
}

Expected<size_t> InputFile::read(void *to, size_t bytes) {
  size_t used = 0;
  while (used < bytes) {
    ssize_t got = ::read(fd, static_cast<char *>(to) + used, bytes - used);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd waiting{fd, POLLIN, 0};
      ::poll(&waiting, 1, -1);
      continue;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return ioFailure("read", path);
    }
    if (got == 0) {
      if (isPipe && !begun) {
        return {ErrorCode::IoError,
                "cannot read '" + path + "': nothing is written to this pipe"};
      }
      break;
    }
    begun = true;
    used += static_cast<size_t>(got);
  }
  return used;
}

static Failure tooLarge(const std::string &path, const std::string &size,
                        uint64_t mostBytes) {
  return {ErrorCode::IoError,
          "cannot read '" + path + "': expected at most " +
              std::to_string(mostBytes) + " bytes, got " + size,
          {}};
}

Expected<std::string> readFile(const std::string &path, uint64_t mostBytes) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  uint64_t known = file->size().value_or(0);
  if (known > mostBytes) {
    return tooLarge(path, std::to_string(known), mostBytes);
  }
  std::string content;
  size_t used = 0;
  // One byte more than the size says, so that the usual file ends with the
  // first read.
  size_t room = static_cast<size_t>(known) + 1;
  while (true) {
    content.resize(room);
    Expected<size_t> got = file->read(content.data() + used, room - used);
    if (!got.ok()) {
      return got.status();
    }
    used += *got;
    if (used < room) {
      break;
    }
    if (used > mostBytes) {
      return tooLarge(path, "more", mostBytes);
    }
    room = 2 * room + 4096;
  }
  content.resize(used);
  return content;
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

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
