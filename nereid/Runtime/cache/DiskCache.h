//===- DiskCache.h - Compiled kernels, kept between processes ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file an image, named by its key. A file is written under a temporary
// name and renamed, so that readers, who take no lock, see all of it or
// nothing; two writers of one key write equal files and the later rename wins.
// Layout (little endian):
//
//   0   8   "NEREIDK1"
//   8   32  the key, again: a renamed or copied file is foreign
//   40  8   payload bytes
//   48  32  BLAKE2b-256 of the payload
//   80  n   payload: encodeImage
//
// Beside them lies CacheTally's file. What does not verify counts as absent and
// is replaced by the next store. Files are not flushed: after a power failure
// one may be torn, which the checksum finds. A folder that cannot be used or
// written gives one warning and no cache.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CACHE_DISKCACHE_H
#define NEREID_RUNTIME_CACHE_DISKCACHE_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/Support/Hash.h"
#include "nereid/Support/Knobs.h"

#include <mutex>
#include <optional>

namespace nereid {

class DiskCache {
public:
  /// Nothing is touched before the first use. capBytes 0: no cache.
  DiskCache(std::string folder, uint64_t capBytes)
      : folder(std::move(folder)), capBytes(capBytes) {}

  std::optional<KernelImage> find(const Digest &key);
  void store(const Digest &key, const KernelImage &image);

  const std::string &path() const { return folder; }
  uint64_t cap() const { return capBytes; }
  struct Usage {
    uint64_t files = 0, bytes = 0;
  };
  Usage usage() const;
  /// Removes least recently used files until at most `targetBytes` remain, and
  /// temporary files that a killed process left behind over an hour ago. The
  /// bytes that remain.
  uint64_t evict(uint64_t targetBytes);

  /// NEREID_CACHE_DIR, $XDG_CACHE_HOME/nereid, ~/.cache/nereid, or a folder in
  /// the temporary directory when there is no home.
  static std::string defaultFolder(const Knobs &settings = knobs());

private:
  std::string fileOf(const Digest &key) const;
  bool ready();

  std::string folder;
  uint64_t capBytes;
  std::mutex mutex;
  enum class Phase { Unopened, Open, Off } phase = Phase::Unopened;
};

} // namespace nereid

#endif // NEREID_RUNTIME_CACHE_DISKCACHE_H
