//===- ShardWriter.cpp - Writing files of tokens --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Checksum.h"
#include "apps/gpt2/data/Shard.h"
#include "apps/gpt2/data/ShardHeader.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nereid::gpt2 {

struct ShardWriter::State {
  std::string path, temporary;
  int fd = -1;
  ShardHeader header;
  std::string block; ///< bytes of the block that is not full yet
  std::vector<uint64_t> table;

  ~State() {
    if (fd >= 0) {
      ::close(fd);
    }
    if (!temporary.empty()) {
      ::unlink(temporary.c_str());
    }
  }
  [[noreturn]] void fail(const char *what) const {
    raise({ErrorCode::IoError,
           std::string("cannot ") + what + " " + path + ": " +
               std::strerror(errno),
           {}});
  }
  void write(std::string_view bytes) const {
    throwIfFailed(writeDescriptor(fd, bytes, path));
  }
  void endBlock() {
    table.push_back(checksum(block.data(), block.size()));
    write(block);
    block.clear();
  }
};

ShardWriter::ShardWriter(const std::string &path, int32_t vocabulary,
                         const Digest &tokenizerHash)
    : state(std::make_unique<State>()) {
  ShardHeader &header = state->header;
  header.bits = vocabulary <= 65536 ? 16 : 32;
  header.vocabulary = static_cast<uint32_t>(vocabulary);
  std::copy(tokenizerHash.bytes.begin(), tokenizerHash.bytes.end(),
            header.tokenizer);
  state->path = path;
  std::string temporary = path + ".partial";
  state->fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (state->fd < 0) {
    state->fail("write");
  }
  state->temporary = temporary;
  state->block.reserve(header.blockBytes);
  state->write(std::string(ShardHeader::dataOffset, '\0'));
}

ShardWriter::ShardWriter(ShardWriter &&) noexcept = default;
ShardWriter::~ShardWriter() = default;

uint64_t ShardWriter::size() const { return state->header.tokens; }

void ShardWriter::append(std::span<const int32_t> tokens) {
  ShardHeader &header = state->header;
  size_t width = header.bits / 8;
  while (!tokens.empty()) {
    size_t used = state->block.size();
    size_t count = std::min(tokens.size(), (header.blockBytes - used) / width);
    state->block.resize(used + count * width);
    if (width == 4) {
      std::memcpy(&state->block[used], tokens.data(), 4 * count);
    } else {
      for (size_t i = 0; i < count; ++i) {
        uint16_t token = static_cast<uint16_t>(tokens[i]);
        std::memcpy(&state->block[used + 2 * i], &token, 2);
      }
    }
    header.tokens += count;
    tokens = tokens.subspan(count);
    if (state->block.size() == header.blockBytes) {
      state->endBlock();
    }
  }
}

void ShardWriter::finish() {
  ShardHeader &header = state->header;
  size_t gap =
      header.tableOffset() - ShardHeader::dataOffset - header.tokenBytes();
  if (!state->block.empty()) {
    state->endBlock();
  }
  state->write(std::string(gap, '\0'));
  std::string_view table(reinterpret_cast<const char *>(state->table.data()),
                         8 * state->table.size());
  state->write(table);
  header.tableChecksum = checksum(table.data(), table.size());
  header.headerChecksum = checksum(&header, ShardHeader::checkedBytes);
  if (::lseek(state->fd, 0, SEEK_SET) != 0) {
    state->fail("write");
  }
  state->write({reinterpret_cast<const char *>(&header), sizeof(header)});
  if (::fsync(state->fd) != 0) {
    state->fail("write");
  }
  if (::close(std::exchange(state->fd, -1)) != 0) {
    state->fail("write");
  }
}

void ShardWriter::commit() {
  if (::rename(state->temporary.c_str(), state->path.c_str()) != 0) {
    state->fail("write");
  }
  state->temporary.clear();
}

} // namespace nereid::gpt2
