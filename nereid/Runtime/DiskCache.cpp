//===- DiskCache.cpp - Compiled kernels, kept between processes -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/DiskCache.h"

#include "nereid/Runtime/Encoding.h"
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
static constexpr time_t staleSeconds = 3600;

std::string DiskCache::defaultFolder() {
  if (!knobs().cacheDir.empty()) {
    return knobs().cacheDir;
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

/// The payload of a file that is whole and belongs to `key`.
static std::optional<std::string_view> verify(std::string_view file,
                                              const Digest &key) {
  if (file.size() < headerBytes || !file.starts_with(magic) ||
      std::memcmp(file.data() + 8, key.bytes.data(), 32) != 0) {
    return std::nullopt;
  }
  uint64_t size;
  std::memcpy(&size, file.data() + 40, sizeof(size));
  std::string_view payload = file.substr(headerBytes);
  if (size != payload.size() ||
      std::memcmp(hashText(payload).bytes.data(), file.data() + 48, 32) != 0) {
    return std::nullopt;
  }
  return payload;
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
  Expected<std::string> file = readFile(path);
  if (!file.ok()) {
    return std::nullopt;
  }
  std::optional<std::string_view> payload = verify(*file, key);
  std::optional<KernelImage> image;
  if (payload) {
    image = decodeImage(*payload);
  }
  if (!image) {
    if (logEnabled(LogTopic::Cache)) {
      logLine(LogTopic::Cache, "ignored, damaged or foreign: " + path);
    }
    return std::nullopt;
  }
  touch(path);
  return image;
}

void DiskCache::store(const Digest &key, const KernelImage &image) {
  if (!ready()) {
    return;
  }
  std::string file = makeFile(key, encodeImage(image));
  if (file.size() > capBytes) {
    return;
  }
  bool scan;
  {
    // The folder is looked through once a process, and again whenever a
    // sixteenth of the cap has been added: stores stay O(1) on average and the
    // cap is overrun by that share at most.
    std::lock_guard lock(mutex);
    storedSinceScan += file.size();
    scan = !scanned || storedSinceScan > capBytes / 16;
    if (scan) {
      scanned = true;
      storedSinceScan = 0;
    }
  }
  if (scan) {
    evict(capBytes - std::min<uint64_t>(capBytes, file.size()));
  }
  Status status = writeFileAtomically(fileOf(key), file);
  if (!status.ok()) {
    // The folder rather than the file: one text, and so one warning, however
    // many kernels there are.
    const std::string &message = status.failure().message;
    size_t reason = message.rfind(": ");
    warnOnce("compiled kernels are not kept: cannot write to '" + folder + "'" +
             (reason == std::string::npos ? "" : message.substr(reason)));
    std::lock_guard lock(mutex);
    phase = Phase::Off;
  } else if (logEnabled(LogTopic::Cache)) {
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
    bool image = name.ends_with(suffix);
    bool temporary = name.starts_with(temporaryPrefix);
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

void DiskCache::evict(uint64_t targetBytes) {
  std::vector<CacheFile> files = listFiles(folder, true);
  uint64_t total = 0;
  for (const CacheFile &file : files) {
    total += file.bytes;
  }
  if (total <= targetBytes) {
    return;
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
}

} // namespace nereid
