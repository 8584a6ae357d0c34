//===- FileNames.cpp - What a path leads to -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/FileNames.h"

#include "nereid/Support/Files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <unistd.h>

namespace nereid {

Failure ioFailure(const std::string &action, const std::string &path) {
  int reason = errno;
  return {reason == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError,
          "cannot " + action + " '" + path + "': " + std::strerror(reason),
          {}};
}

Status checkName(const std::string &path, const std::string &action) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return {ErrorCode::InvalidArgument,
            "cannot " + action + " '" + path + "': expected the name of a " +
                "file, got " + (path.empty() ? "nothing" : "a zero byte")};
  }
  return Status::success();
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "."
         : slash == 0               ? "/"
                                    : path.substr(0, slash);
}

/// N when the path is /proc/self/fd/N under any name.
static int descriptorOf(const std::string &path) {
  std::string name = path.substr(path.rfind('/') + 1);
  bool isNumber = !name.empty() && name.size() < 7 &&
                  std::all_of(
                      name.begin(), name.end(),
                      [](char c) { return c >= '0' && c <= '9'; });
  struct stat folder, own;
  if (!isNumber || ::stat(folderOf(path).c_str(), &folder) != 0 ||
      ::stat("/proc/self/fd", &own) != 0 || folder.st_dev != own.st_dev ||
      folder.st_ino != own.st_ino) {
    return -1;
  }
  return std::atoi(name.c_str());
}

Expected<FileTarget> followLinks(const std::string &path) {
  FileTarget target;
  target.path = path;
  for (int depth = 0; depth < 40; ++depth) {
    struct stat info;
    if (::lstat(target.path.c_str(), &info) != 0) {
      if (errno == ENOENT) {
        return target;
      }
      return ioFailure("write", path);
    }
    if (!S_ISLNK(info.st_mode)) {
      target.info = info;
      return target;
    }
    if (int fd = descriptorOf(target.path); fd >= 0) {
      target.descriptor = fd;
      if (::fstat(fd, &info) == 0) {
        target.info = info;
      }
      return target;
    }
    char text[PATH_MAX];
    ssize_t length = ::readlink(target.path.c_str(), text, sizeof(text));
    if (length < 0) {
      return ioFailure("write", path);
    }
    std::string next(text, static_cast<size_t>(length));
    target.path =
        next.starts_with('/') ? next : folderOf(target.path) + "/" + next;
  }
  errno = ELOOP;
  return ioFailure("write", path);
}

static std::string identityOf(const struct stat &info) {
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

std::string FileTarget::identity() const {
  if (info) {
    return identityOf(*info);
  }
  struct stat folder;
  std::string place = ::stat(folderOf(path).c_str(), &folder) == 0
                          ? identityOf(folder)
                          : folderOf(path);
  return place + "/" + path.substr(path.rfind('/') + 1);
}

namespace {
struct Inputs {
  std::atomic<bool> isOn = false;
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> files;
};
} // namespace

static Inputs &inputs() {
  static Inputs *instance = new Inputs; // files are read until the very end
  return *instance;
}

void protectInputs() { inputs().isOn = true; }

void noteInput(const struct stat &info) {
  if (inputs().isOn) {
    std::lock_guard lock(inputs().mutex);
    inputs().files.emplace(info.st_dev, info.st_ino);
  }
}

bool isInput(const struct stat &info) {
  std::lock_guard lock(inputs().mutex);
  return inputs().files.count({info.st_dev, info.st_ino});
}

void protectInput(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
    noteInput(info);
  }
}

bool isProtectedInput(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         isInput(info);
}

} // namespace nereid
