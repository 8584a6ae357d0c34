//===- Shard.cpp - Files of tokens ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Shard.h"

#include "apps/gpt2/data/Checksum.h"
#include "apps/gpt2/data/ShardHeader.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace nereid::gpt2 {

static_assert(std::endian::native == std::endian::little);

struct Shard::Mapping {
  std::string path;
  int fd = -1;
  const uint8_t *bytes = nullptr;
  uint64_t size = 0;
  ShardHeader header;
  uint64_t dataOffset = ShardHeader::dataOffset;
  bool hasChecksums = true;
  Digest tokenizer;
  /// Whether a block's checksum was found right.
  std::unique_ptr<std::atomic<bool>[]> isChecked;

  Mapping() = default;
  Mapping(const Mapping &) = delete;
  ~Mapping() {
    if (bytes) {
      ::munmap(const_cast<uint8_t *>(bytes), size);
    }
    if (fd >= 0) {
      ::close(fd);
    }
  }

  [[noreturn]] void refuse(const std::string &what) const {
    raise({ErrorCode::IoError, path + ": " + what, {}});
  }
  [[noreturn]] void fail(const char *what) const {
    raise({errno == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError,
           std::string("cannot ") + what + " " + path + ": " +
               std::strerror(errno),
           {}});
  }
  uint64_t fileSize() const {
    struct stat status;
    if (::fstat(fd, &status) != 0) {
      fail("read");
    }
    if (!S_ISREG(status.st_mode)) {
      refuse("expected a file of tokens, got no regular file");
    }
    return static_cast<uint64_t>(status.st_size);
  }
  void openFile();
  void map();
  void checkBlock(uint64_t block) const;
  template <typename T>
  void checkTokens(const uint8_t *from, uint64_t count, uint64_t block) const;
};

template <typename T>
void Shard::Mapping::checkTokens(const uint8_t *from, uint64_t count,
                                 uint64_t block) const {
  T largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    T token;
    std::memcpy(&token, from + i * sizeof(T), sizeof(T));
    largest = std::max(largest, token);
  }
  if (largest >= header.vocabulary) {
    refuse("expected tokens below " + std::to_string(header.vocabulary) +
           ", got " + std::to_string(largest) + " in block " +
           std::to_string(block) +
           (hasChecksums ? "; prepare the data anew"
                         : "; the file is damaged, or of another tokenizer"));
  }
}

void Shard::Mapping::checkBlock(uint64_t block) const {
  if (isChecked[block].load(std::memory_order_relaxed)) {
    return;
  }
  uint64_t begin = block * header.blockBytes;
  uint64_t end = std::min(begin + header.blockBytes, header.tokenBytes());
  const uint8_t *from = bytes + dataOffset + begin;
  uint64_t expected = 0;
  if (hasChecksums) {
    std::memcpy(&expected, bytes + header.tableOffset() + 8 * block, 8);
  }
  if (hasChecksums && checksum(from, end - begin) != expected) {
    refuse("damaged: the checksum of bytes " +
           std::to_string(ShardHeader::dataOffset + begin) + " to " +
           std::to_string(ShardHeader::dataOffset + end) +
           " is not the one that was written; prepare the data anew");
  }
  if (header.bits == 16) {
    checkTokens<uint16_t>(from, (end - begin) / 2, block);
  } else {
    checkTokens<uint32_t>(from, (end - begin) / 4, block);
  }
  isChecked[block].store(true, std::memory_order_relaxed);
}

void Shard::Mapping::openFile() {
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    fail("open");
  }
  size = fileSize();
}

void Shard::Mapping::map() {
  if (size == 0) {
    return;
  }
  void *at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    fail("map");
  }
  bytes = static_cast<const uint8_t *>(at);
}

Shard Shard::openBare(const std::string &path, const BareTokens &tokens,
                      int32_t vocabulary) {
  auto mapping = std::make_shared<Mapping>();
  mapping->path = path;
  mapping->openFile();
  ShardHeader &header = mapping->header;
  header.bits = tokens.bits;
  header.tokens = tokens.count;
  header.vocabulary = static_cast<uint32_t>(vocabulary);
  uint64_t expected = tokens.offset + header.tokenBytes();
  if (tokens.count >= uint64_t{1} << 48 || mapping->size != expected) {
    mapping->refuse("cut off or damaged: expected " + std::to_string(expected) +
                    " bytes for " + std::to_string(tokens.count) +
                    " tokens, got " + std::to_string(mapping->size));
  }
  mapping->dataOffset = tokens.offset;
  mapping->hasChecksums = false;
  mapping->map();
  mapping->isChecked = std::make_unique<std::atomic<bool>[]>(header.blocks());
  return Shard(mapping);
}

Shard Shard::open(const std::string &path) {
  auto mapping = std::make_shared<Mapping>();
  mapping->path = path;
  mapping->openFile();
  ShardHeader &header = mapping->header;
  const ShardHeader model;
  if (mapping->size < sizeof(header) ||
      ::pread(mapping->fd, &header, sizeof(header), 0) !=
          static_cast<ssize_t>(sizeof(header)) ||
      std::memcmp(header.magic, model.magic, sizeof(model.magic)) != 0) {
    mapping->refuse(
        "expected a file of tokens (its first bytes are NRDTOKEN), got another "
        "one; nereid-gpt2 prepare makes such files from text");
  }
  if (header.version != model.version) {
    mapping->refuse("expected a file of version 1, got version " +
                    std::to_string(header.version) + "; prepare the data anew");
  }
  bool isKnown = (header.bits == 16 || header.bits == 32) &&
                 header.blockBytes == model.blockBytes &&
                 header.tokens < uint64_t{1} << 48;
  if (checksum(&header, ShardHeader::checkedBytes) != header.headerChecksum ||
      !isKnown) {
    mapping->refuse("damaged: the checksum of its header is wrong; prepare the "
                    "data anew");
  }
  if (mapping->size != header.fileBytes()) {
    mapping->refuse("cut off or damaged: expected " +
                    std::to_string(header.fileBytes()) + " bytes for " +
                    std::to_string(header.tokens) + " tokens, got " +
                    std::to_string(mapping->size) + "; prepare the data anew");
  }
  mapping->map();
  if (checksum(mapping->bytes + header.tableOffset(), 8 * header.blocks()) !=
      header.tableChecksum) {
    mapping->refuse("damaged: the checksum of its table is wrong; prepare the "
                    "data anew");
  }
  std::copy(std::begin(header.tokenizer), std::end(header.tokenizer),
            mapping->tokenizer.bytes.begin());
  mapping->isChecked = std::make_unique<std::atomic<bool>[]>(header.blocks());
  return Shard(mapping);
}

const std::string &Shard::path() const { return mapping->path; }
uint64_t Shard::size() const { return mapping->header.tokens; }
int32_t Shard::vocabulary() const {
  return static_cast<int32_t>(mapping->header.vocabulary);
}
const Digest &Shard::tokenizerHash() const { return mapping->tokenizer; }
uint64_t Shard::tokensChecksum() const {
  const ShardHeader &header = mapping->header;
  if (mapping->hasChecksums || header.tokens == 0) {
    return header.tableChecksum;
  }
  constexpr uint64_t most = uint64_t{1} << 20;
  uint64_t size = std::min(header.tokenBytes(), most);
  const uint8_t *first = mapping->bytes + mapping->dataOffset;
  std::vector<uint64_t> sums = {
      checksum(first, size),
      checksum(first + header.tokenBytes() - size, size)};
  // Between the ends, samples: the whole may have terabytes.
  constexpr uint64_t parts = 32, sample = 2 * most / parts;
  for (uint64_t i = 1; i < parts && header.tokenBytes() > 2 * most; ++i) {
    sums.push_back(checksum(first + header.tokenBytes() / parts * i, sample));
  }
  return checksum(sums.data(), sums.size() * sizeof(uint64_t));
}

void Shard::read(uint64_t first, size_t count, int32_t *to) const {
  const ShardHeader &header = mapping->header;
  if (first > header.tokens || count > header.tokens - first) {
    raise({ErrorCode::InvalidArgument,
           path() + ": expected tokens 0 to " + std::to_string(header.tokens) +
               ", got " + std::to_string(first) + " to " +
               std::to_string(first + count),
           {}});
  }
  if (count == 0) {
    return;
  }
  // To touch what a file has no more would end the process with a signal.
  if (mapping->fileSize() != mapping->size) {
    mapping->refuse("expected " + std::to_string(mapping->size) +
                    " bytes, as when it was opened, got " +
                    std::to_string(mapping->fileSize()) +
                    ": somebody has changed it");
  }
  uint64_t width = header.bits / 8;
  for (uint64_t block = first * width / header.blockBytes;
       block <= ((first + count) * width - 1) / header.blockBytes; ++block) {
    mapping->checkBlock(block);
  }
  const uint8_t *from = mapping->bytes + mapping->dataOffset + first * width;
  if (width == 4) {
    std::memcpy(to, from, count * 4);
    return;
  }
  const uint16_t *tokens = reinterpret_cast<const uint16_t *>(from);
  std::copy(tokens, tokens + count, to);
}

void Shard::verify() const {
  for (uint64_t block = 0; block < mapping->header.blocks(); ++block) {
    mapping->checkBlock(block);
  }
}

} // namespace nereid::gpt2
