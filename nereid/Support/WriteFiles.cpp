//===- WriteFiles.cpp - Writing whole files, or nothing -------------------===//
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
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace nereid {
namespace {

/// A limit on file sizes and a reader that has gone end a process by a signal.
/// Both signals are held back from this thread while it writes, so that the
/// write fails instead; the program's own handlers see nothing of it.
class HeldSignals {
public:
  HeldSignals() {
    sigset_t before;
    ::sigpending(&before);
    ::sigemptyset(&held);
    for (int signal : {SIGXFSZ, SIGPIPE}) {
      if (!::sigismember(&before, signal)) {
        ::sigaddset(&held, signal);
      }
    }
    ::pthread_sigmask(SIG_BLOCK, &held, &mask);
  }
  ~HeldSignals() {
    int reason = errno;
    timespec now{};
    while (::sigtimedwait(&held, nullptr, &now) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    errno = reason;
  }
  HeldSignals(const HeldSignals &) = delete;

private:
  sigset_t held, mask;
};

/// Closed with the scope, or before it by `close`, which tells what a file
/// system found only then.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) {
      ::close(fd);
    }
  }
  bool close() { return ::close(std::exchange(fd, -1)) == 0; }
};

} // namespace

Status writeDescriptor(int fd, std::string_view content,
                       const std::string &name) {
  HeldSignals held;
  while (!content.empty()) {
    ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return ioFailure("write", name);
    }
    content.remove_prefix(static_cast<size_t>(put));
  }
  return Status::success();
}

static Status writePieces(int fd, std::span<const std::string_view> pieces,
                          const std::string &path) {
  for (std::string_view piece : pieces) {
    if (Status status = writeDescriptor(fd, piece, path); !status.ok()) {
      return status;
    }
  }
  return Status::success();
}

static constexpr std::string_view temporaryPrefix = ".tmp-";

bool isTemporaryName(std::string_view name) {
  // ".tmp-PROCESS-TIME-COUNT"
  return name.starts_with(temporaryPrefix) &&
         name.find_first_not_of("0123456789-", temporaryPrefix.size()) ==
             std::string_view::npos &&
         std::count(name.begin(), name.end(), '-') == 3;
}

std::string temporaryNameFor(const std::string &path) {
  static std::atomic<uint64_t> counter = 0;
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return folder + std::string(temporaryPrefix) + std::to_string(::getpid()) +
         "-" + std::to_string(now) + "-" + std::to_string(counter++);
}

static Failure refusal(const std::string &path, const std::string &why) {
  return {ErrorCode::IoError, "cannot write '" + path + "': " + why, {}};
}

/// Whether a file may be replaced, and its folder takes a new one.
static Status checkTarget(const std::string &path, const FileTarget &target) {
  std::string folder = folderOf(target.path);
  if (target.info && S_ISDIR(target.info->st_mode)) {
    return refusal(path, "expected a file, got a folder");
  }
  if (!target.isRegular()) {
    return Status::success();
  }
  if (target.info) {
    if (isInput(*target.info)) {
      return refusal(path, "this command reads it; expected another file");
    }
    // A superuser may write to everything, but somebody said that this file is
    // to stay as it is.
    if (!(target.info->st_mode & 0222) ||
        ::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) {
      return refusal(path, "the file is read-only");
    }
  }
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0) {
    return Failure{ErrorCode::NotFound,
                   "cannot write '" + path + "': there is no folder '" +
                       folder + "'",
                   {}};
  }
  if (!S_ISDIR(info.st_mode)) {
    return refusal(path, "'" + folder + "' is no folder");
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return refusal(path,
                   "in the folder '" + folder + "': " + std::strerror(errno));
  }
  return Status::success();
}

/// The temporary file of `target`, complete; with the mode and the owner of
/// `model`, which it will replace.
static Status writeBeside(const std::string &path, const std::string &temporary,
                          const std::optional<struct stat> &model,
                          std::span<const std::string_view> pieces) {
  Descriptor file{::open(temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                         model ? 0600 : 0666)};
  if (file.fd < 0) {
    return ioFailure("write", path);
  }
  Status status = Status::success();
  if (model) {
    // Only a superuser can give a file away; for others it is theirs already.
    bool isTheirs = ::fchown(file.fd, model->st_uid, model->st_gid) == 0;
    mode_t mode = model->st_mode & (isTheirs ? 07777 : 0777);
    if (::fchmod(file.fd, mode) != 0) {
      status = ioFailure("write", path);
    }
  }
  if (status.ok()) {
    status = writePieces(file.fd, pieces, path);
  }
  if (!file.close() && status.ok()) {
    status = ioFailure("write", path);
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
  }
  return status;
}

/// Devices, pipes, descriptors.
static Status writeDirectly(const std::string &path, const FileTarget &target,
                            std::span<const std::string_view> pieces) {
  if (target.descriptor >= 0) {
    return writePieces(target.descriptor, pieces, path);
  }
  // Waiting for a reader could take for ever.
  Descriptor file{
      ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    return errno == ENXIO ? refusal(path, "no process reads from this pipe")
                          : ioFailure("write", path);
  }
  ::fcntl(file.fd, F_SETFL, ::fcntl(file.fd, F_GETFL) & ~O_NONBLOCK);
  return writePieces(file.fd, pieces, path);
}

StagedFile::StagedFile(StagedFile &&other) noexcept
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::exchange(other.temporary, {})),
      direct(std::move(other.direct)) {}

StagedFile::~StagedFile() {
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
  }
}

Expected<StagedFile>
StagedFile::stage(const std::string &path,
                  std::span<const std::string_view> pieces) {
  if (Status status = checkName(path, "write"); !status.ok()) {
    return status;
  }
  Expected<FileTarget> target = followLinks(path);
  if (!target.ok()) {
    return target.status();
  }
  if (Status status = checkTarget(path, *target); !status.ok()) {
    return status;
  }
  StagedFile file;
  file.path = path;
  file.target = target->path;
  if (!target->isRegular()) {
    for (std::string_view piece : pieces) {
      file.direct += piece;
    }
    return file;
  }
  std::string temporary = temporaryNameFor(target->path);
  Status status = writeBeside(path, temporary, target->info, pieces);
  if (!status.ok()) {
    return status;
  }
  file.temporary = std::move(temporary);
  return file;
}

Status StagedFile::commit() {
  if (temporary.empty()) {
    std::string_view pieces[] = {direct};
    Expected<FileTarget> where = followLinks(path);
    return where.ok() ? writeDirectly(path, *where, pieces) : where.status();
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    return ioFailure("write", path);
  }
  temporary.clear();
  return Status::success();
}

Status writeFileAtomically(const std::string &path,
                           std::span<const std::string_view> pieces) {
  Expected<FileTarget> target = followLinks(path);
  if (target.ok() && !target->isRegular()) {
    Status status = checkTarget(path, *target);
    return status.ok() ? writeDirectly(path, *target, pieces) : status;
  }
  Expected<StagedFile> file = StagedFile::stage(path, pieces);
  return file.ok() ? file->commit() : file.status();
}

Status writeFileAtomically(const std::string &path, std::string_view content) {
  return writeFileAtomically(path, std::span(&content, 1));
}

Status replaceFile(const std::string &path, std::string_view content) {
  std::string temporary = temporaryNameFor(path);
  Status status =
      writeBeside(path, temporary, std::nullopt, std::span(&content, 1));
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ioFailure("write", path);
    ::unlink(temporary.c_str());
  }
  return status;
}

Status OutputFiles::add(const std::string &option, const std::string &path) {
  auto refuse = [&](const Status &status) {
    Failure failure = status.failure();
    failure.message = option + ": " + failure.message;
    return failure;
  };
  if (Status status = checkName(path, "write"); !status.ok()) {
    return refuse(status);
  }
  Expected<FileTarget> target = followLinks(path);
  if (!target.ok()) {
    return refuse(target.status());
  }
  if (Status status = checkTarget(path, *target); !status.ok()) {
    return refuse(status);
  }
  if (target->isRegular()) {
    auto [other, isNew] = options.emplace(target->identity(), option);
    if (!isNew) {
      return {ErrorCode::InvalidArgument,
              option + ": expected a file of its own, got '" + path +
                  "', which is that of " + other->second + " too"};
    }
  }
  return Status::success();
}

} // namespace nereid
