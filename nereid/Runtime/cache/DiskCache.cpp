//===- DiskCache.cpp - Compiled kernels, kept between processes -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cache/DiskCache.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/Runtime/cache/CacheTally.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid {

static constexpr std::string_view magic = "NEREIDK1";
static constexpr std::string_view suffix = ".nki";
static constexpr size_t headerBytes = 80;
static constexpr uint64_t mostEntryBytes = uint64_t{1} << 30;
static constexpr time_t staleSeconds = 3600;

std::string DiskCache::defaultFolder(const Knobs &settings) {
  if (!settings.cacheDir.empty()) {
    return settings.cacheDir;
  }
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/') {
    return std::string(base) + "/nereid";
  }
  if (const char *home = std::getenv("HOME"); home && *home == '/') {
    return std::string(home) + "/.cache/nereid";
  }
  return "/tmp/nereid-" + std::to_string(::geteuid());
}

std::string DiskCache::fileOf(const Digest &key) const {
  return folder + "/" + key.hex() + std::string(suffix);
}

bool DiskCache::ready() {
  std::lock_guard lock(mutex);
  if (phase == Phase::Unopened) {
    phase = Phase::Off;
    if (capBytes != 0) {
      Status status = makePrivateFolder(folder);
      if (status.ok()) {
        phase = Phase::Open;
      } else {
        warnOnce("compiled kernels are not kept: " + status.failure().message);
      }
    }
  }
  return phase == Phase::Open;
}

static std::string makeFile(const Digest &key, const std::string &payload) {
  Digest checksum = hashText(payload);
  auto text = [](const Digest &d) {
    return std::string_view(reinterpret_cast<const char *>(d.bytes.data()),
                            d.bytes.size());
  };
  uint64_t size = payload.size();
  std::string file(magic);
  file += text(key);
  file.append(reinterpret_cast<const char *>(&size), sizeof(size));
  file += text(checksum);
  return file + payload;
}

/// The image of a file that is whole and belongs to `key`. Its size is
/// compared before it is read: whatever lies there under an entry's name costs
/// no more than a header.
static Expected<KernelImage> readEntry(const std::string &path,
                                       const Digest &key) {
  auto foreign = [&] {
    return Status(ErrorCode::IoError, "ignored, damaged or foreign: " + path);
  };
  Expected<InputFile> file = InputFile::open(path);
  if (!file.ok()) {
    return file.failure().code == ErrorCode::NotFound ? file.status()
                                                      : foreign();
  }
  char header[headerBytes];
  if (!file->size() || *file->size() < headerBytes ||
      *file->size() > mostEntryBytes) {
    return foreign();
  }
  Expected<size_t> got = file->read(header, headerBytes);
  uint64_t size;
  std::memcpy(&size, header + 40, sizeof(size));
  if (!got.ok() || *got != headerBytes ||
      !std::string_view(header, headerBytes).starts_with(magic) ||
      std::memcmp(header + 8, key.bytes.data(), 32) != 0 ||
      size != *file->size() - headerBytes) {
    return foreign();
  }
  std::string payload(static_cast<size_t>(size), '\0');
  got = file->read(payload.data(), payload.size());
  if (!got.ok() || *got != payload.size() ||
      std::memcmp(hashText(payload).bytes.data(), header + 48, 32) != 0) {
    return foreign();
  }
  std::optional<KernelImage> image = decodeImage(payload);
  return image ? Expected<KernelImage>(std::move(*image)) : foreign();
}

/// The modification time is the time of last use. An hour's grain keeps hits
/// from writing to the disk.
static void touch(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 &&
      std::time(nullptr) - info.st_mtime > staleSeconds) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  }
}

std::optional<KernelImage> DiskCache::find(const Digest &key) {
  if (!ready()) {
    return std::nullopt;
  }
  std::string path = fileOf(key);
  Expected<KernelImage> image = readEntry(path, key);
  if (!image.ok()) {
    if (image.failure().code != ErrorCode::NotFound &&
        logEnabled(LogTopic::Cache)) {
      logLine(LogTopic::Cache, image.failure().message);
    }
    return std::nullopt;
  }
  touch(path);
  return std::move(*image);
}

void DiskCache::store(const Digest &key, const KernelImage &image) {
  if (!ready()) {
    return;
  }
  std::string file = makeFile(key, encodeImage(image));
  if (file.size() > std::min(capBytes, mostEntryBytes)) {
    return;
  }
  // A sixteenth more goes than has to, so that the folder is looked through
  // that seldom.
  CacheTally tally(folder);
  std::optional<uint64_t> counted = tally.total(), remaining;
  if (!counted || *counted + file.size() > capBytes) {
    uint64_t room = file.size();
    room += counted ? capBytes / 16 : 0;
    remaining = evict(capBytes - std::min(capBytes, room));
  }
  Status status = replaceFile(fileOf(key), file);
  if (!status.ok()) {
    // The folder rather than the file: one text, and so one warning, however
    // many kernels there are.
    const std::string &message = status.failure().message;
    size_t reason = message.rfind(": ");
    warnOnce("compiled kernels are not kept: cannot write to '" + folder + "'" +
             (reason == std::string::npos ? "" : message.substr(reason)));
    std::lock_guard lock(mutex);
    phase = Phase::Off;
    return;
  }
  remaining ? tally.reset(*remaining + file.size()) : tally.add(file.size());
  if (logEnabled(LogTopic::Cache)) {
    logLine(LogTopic::Cache, "stored " + image.kernel + ", " +
                                 std::to_string(file.size()) +
                                 " bytes: " + fileOf(key));
  }
}

namespace {
struct CacheFile {
  std::string path;
  uint64_t bytes;
  timespec used;
};
} // namespace

/// A key's 64 digits and the suffix.
static bool isEntryName(std::string_view name) {
  constexpr size_t digits = 2 * sizeof(Digest::bytes);
  return name.size() == digits + suffix.size() && name.ends_with(suffix) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

/// Lists our files. Foreign names are left alone; temporary files of ours that
/// are old enough to be orphans are removed when `sweep` is set.
static std::vector<CacheFile> listFiles(const std::string &folder, bool sweep) {
  std::vector<CacheFile> files;
  DIR *directory = ::opendir(folder.c_str());
  if (!directory) {
    return files;
  }
  time_t now = std::time(nullptr);
  while (dirent *entry = ::readdir(directory)) {
    std::string_view name = entry->d_name;
    bool image = isEntryName(name);
    bool temporary = isTemporaryName(name);
    std::string path = folder + "/" + std::string(name);
    struct stat info;
    if ((!image && !temporary) || ::lstat(path.c_str(), &info) != 0 ||
        !S_ISREG(info.st_mode)) {
      continue;
    }
    if (image) {
      files.push_back(
          {path, static_cast<uint64_t>(info.st_size), info.st_mtim});
    } else if (sweep && now - info.st_mtime > staleSeconds) {
      ::unlink(path.c_str());
    }
  }
  ::closedir(directory);
  return files;
}

DiskCache::Usage DiskCache::usage() const {
  Usage usage;
  for (const CacheFile &file : listFiles(folder, false)) {
    ++usage.files;
    usage.bytes += file.bytes;
  }
  return usage;
}

uint64_t DiskCache::evict(uint64_t targetBytes) {
  std::vector<CacheFile> files = listFiles(folder, true);
  uint64_t total = 0;
  for (const CacheFile &file : files) {
    total += file.bytes;
  }
  if (total <= targetBytes) {
    return total;
  }
  std::sort(files.begin(), files.end(),
            [](const CacheFile &a, const CacheFile &b) {
              return std::pair(a.used.tv_sec, a.used.tv_nsec) <
                     std::pair(b.used.tv_sec, b.used.tv_nsec);
            });
  for (const CacheFile &file : files) {
    if (total <= targetBytes) {
      break;
    }
    ::unlink(file.path.c_str());
    total -= file.bytes;
    if (logEnabled(LogTopic::Cache)) {
      logLine(LogTopic::Cache, "evicted " + file.path);
    }
  }
  return total;
}

} // namespace nereid
