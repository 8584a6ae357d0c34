//===- BulkOps.cpp - cp.async.bulk ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9.25.4 and .5: runs of bytes, and boxes of tensors. A block is a
// cluster of its own, so that shared::cluster is its own memory.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/BulkOps.h"
#include "nereid/Sim/Block.h"
#include "nereid/Sim/Lanes.h"

#include <cstring>

namespace nereid::sim {

static constexpr uint32_t accessBytes = 16, boxAlignment = 128,
                          mapAlignment = 64;

static uint64_t valueOf(Warp &warp, const Instruction &instruction,
                        size_t source, unsigned lane) {
  return warp.at(instruction.from[source])[lane];
}

static TensorMap mapAt(Warp &warp, unsigned lane, uint64_t address) {
  Block &block = warp.block;
  if (address % mapAlignment) {
    block.fault(warp, lane, Fault::Kind::Misaligned,
                "a map at " + hexadecimal(address) +
                    ", which is no multiple of 64");
  }
  TensorMap map;
  for (uint32_t at = 0; at < sizeof(map); at += mapAlignment) {
    std::memcpy(reinterpret_cast<unsigned char *>(&map) + at,
                block.resolve(warp, lane, address + at, mapAlignment,
                              Space::Generic, Access::Read),
                mapAlignment);
  }
  if (!map.isValid()) {
    block.fault(warp, lane, Fault::Kind::Illegal,
                "there is no map at " + hexadecimal(address) +
                    ": cuTensorMapEncodeTiled has made none");
  }
  return map;
}

/// What an H100 ends a kernel for (CUDA error 715): a box that begins within a
/// piece of 16 bytes, and one to be written that begins in front of the tensor
/// (test/gpu/pipelines.py).
static void checkStart(Warp &warp, unsigned lane, const TensorMap &map,
                       const int32_t *coordinates, bool isWritten) {
  constexpr int64_t pieceBytes = 16;
  int64_t at = int64_t{coordinates[0]} * map.elementBytes;
  if (at % pieceBytes) {
    warp.block.fault(warp, lane, Fault::Kind::Misaligned,
                     "a box that begins at byte " + std::to_string(at) +
                         " of its row, which is no multiple of 16");
  }
  for (unsigned i = 0; isWritten && i < map.rank; ++i) {
    if (coordinates[i] < 0) {
      warp.block.fault(warp, lane, Fault::Kind::Illegal,
                       "a box to be written that begins in front of the "
                       "tensor, at " +
                           std::to_string(coordinates[i]) + " of dimension " +
                           std::to_string(i));
    }
  }
}

/// from: shared address, map, coordinates ... detail[1]: their number.
static std::vector<CopyRun> boxOf(Warp &warp, const Instruction &instruction,
                                  unsigned lane, uint32_t shared,
                                  bool isWritten) {
  Block &block = warp.block;
  if (shared % boxAlignment) {
    block.fault(warp, lane, Fault::Kind::Misaligned,
                "a box at " + hexadecimal(shared) +
                    " of shared memory, which is no multiple of 128");
  }
  TensorMap map = mapAt(
      warp, lane, valueOf(warp, instruction, 1, lane) + instruction.detail[2]);
  auto count = unsigned(instruction.detail[1]);
  if (map.rank != count) {
    block.fault(warp, lane, Fault::Kind::Illegal,
                std::to_string(count) + " coordinates for a map of " +
                    std::to_string(map.rank) + " dimensions");
  }
  int32_t coordinates[mostDimensions] = {};
  for (unsigned i = 0; i < count; ++i) {
    coordinates[i] = int32_t(valueOf(warp, instruction, 2 + i, lane));
  }
  checkStart(warp, lane, map, coordinates, isWritten);
  return runsOf(map, coordinates, shared);
}

static std::vector<CopyRun> bytesOf(Warp &warp, const Instruction &instruction,
                                    unsigned lane, uint32_t shared) {
  uint64_t global = valueOf(warp, instruction, 1, lane) + instruction.detail[2];
  auto bytes = uint32_t(valueOf(warp, instruction, 2, lane));
  if ((shared | global | bytes) % accessBytes) {
    warp.block.fault(warp, lane, Fault::Kind::Misaligned,
                     "a copy of " + std::to_string(bytes) + " bytes between " +
                         hexadecimal(global) + " and " + hexadecimal(shared) +
                         " of shared memory; all three are multiples of 16");
  }
  return {{shared, global, bytes}};
}

static std::vector<CopyRun> runsOf(Warp &warp, const Instruction &instruction,
                                   unsigned lane, bool isWritten) {
  uint32_t shared = warp.block.sharedAddress(
      warp, lane,
      valueOf(warp, instruction, 0, lane) + uint64_t(instruction.offset));
  return instruction.detail[1]
             ? boxOf(warp, instruction, lane, shared, isWritten)
             : bytesOf(warp, instruction, lane, shared);
}

/// With a profile: the runs, as requests of 32 lanes.
static void count(Warp &warp, const std::vector<CopyRun> &runs, Access global) {
  if (warp.block.counts.empty()) {
    return;
  }
  WarpAccess access{0, {}, accessBytes};
  unsigned lane = 0;
  auto flush = [&] {
    if (access.mask) {
      warp.block.count(warp, access, Space::Global, global);
    }
    access.mask = 0;
    lane = 0;
  };
  for (const CopyRun &run : runs) {
    for (uint32_t at = 0; run.global && at < run.bytes; at += accessBytes) {
      access.addresses[lane] = run.global + at;
      access.mask |= 1u << lane;
      if (++lane == lanes) {
        flush();
      }
    }
  }
  flush();
}

/// After the box or the bytes: the barrier, and the mask of a multicast.
static void load(Warp &warp, const Instruction &instruction) {
  size_t next = instruction.detail[1] ? 2 + instruction.detail[1] : 3;
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t barrier = warp.block.sharedAddress(
        warp, lane,
        valueOf(warp, instruction, next, lane) + instruction.detail[3]);
    if (instruction.detail[0] &&
        uint16_t(valueOf(warp, instruction, next + 1, lane)) != 1) {
      warp.block.fault(warp, lane, Fault::Kind::Illegal,
                       "a multicast to blocks that the cluster has not");
    }
    std::vector<CopyRun> runs =
        runsOf(warp, instruction, lane, /*isWritten=*/false);
    count(warp, runs, Access::Read);
    warp.block.engine.load(warp, lane, std::move(runs), barrier);
  });
}

static void store(Warp &warp, const Instruction &instruction) {
  forLanes(warp.active, [&](unsigned lane) {
    std::vector<CopyRun> runs =
        runsOf(warp, instruction, lane, /*isWritten=*/true);
    count(warp, runs, Access::Write);
    warp.block.engine.store(warp, lane, std::move(runs));
  });
}

static void commit(Warp &warp, const Instruction &) {
  forLanes(warp.active,
           [&](unsigned lane) { warp.block.engine.commit(warp, lane); });
}

static void wait(Warp &warp, const Instruction &instruction) {
  forLanes(warp.active, [&](unsigned lane) {
    warp.block.engine.wait(warp, lane, instruction.detail[0],
                           instruction.detail[1]);
  });
}

/// A mark that is no address of this operand: [map, {x, y}].
static void pushBox(Decoder &d, const Operand &box, unsigned dimensions) {
  if (box.elements.size() != dimensions || !box.hasBase) {
    d.refuse();
  }
  for (const Operand &coordinate : box.elements) {
    d.made->from.push_back(d.source(coordinate));
  }
  d.made->detail[1] = dimensions;
}

static uint64_t offsetOf(const Operand &address) {
  return address.hasBase ? address.bits : 0;
}

/// detail: [0] whether a multicast's mask is there, [1] coordinates, or 0, [2]
/// and [3] what is added to the global address and the barrier's. `offset` is
/// of the shared one.
static void decodeCopy(Decoder &d, unsigned dimensions) {
  bool isLoad = d.has("mbarrier::complete_tx::bytes");
  size_t shared = isLoad ? 0 : 1, global = isLoad ? 1 : 0;
  d.address(global);
  d.address(shared);
  std::swap(d.made->from[0], d.made->from[1]);
  d.made->offset = int64_t(offsetOf(d.operand(shared)));
  d.made->detail[2] = offsetOf(d.operand(global));
  size_t next = 2;
  if (dimensions) {
    pushBox(d, d.operand(global), dimensions);
  } else {
    d.made->from.push_back(d.source(next++));
  }
  if (isLoad) {
    d.address(next);
    d.made->offset = int64_t(offsetOf(d.operand(shared)));
    d.made->detail[3] = offsetOf(d.operand(next++));
  }
  if (d.has("multicast::cluster")) {
    d.made->detail[0] = 1;
    d.made->from.push_back(d.source(next));
  }
  d.made->execute = isLoad ? load : store;
}

void decodeBulk(Decoder &d) {
  bool isTensor = d.word(3) == "tensor";
  unsigned dimensions = 0;
  for (size_t i = 3; i < d.statement->words.size(); ++i) {
    std::string_view word = d.word(i);
    bool isDimensions = isTensor && i == 4 && word.size() == 2 &&
                        word[0] >= '1' && word[0] <= '5' && word[1] == 'd';
    if (isDimensions) {
      dimensions = unsigned(word[0] - '0');
    }
    bool isKnown =
        isDimensions || word == "tensor" || word == "global" ||
        word == "shared::cluster" || word == "shared::cta" || word == "tile" ||
        word == "bulk_group" || word == "mbarrier::complete_tx::bytes" ||
        word == "multicast::cluster" || word == "L2::cache_hint" ||
        word == "commit_group" || word == "wait_group" || word == "read";
    if (!isKnown) {
      d.refuse();
    }
  }
  if (d.word(3) == "commit_group") {
    d.made->execute = commit;
  } else if (d.word(3) == "wait_group") {
    d.made->execute = wait;
    d.made->detail[0] = d.operand(0).bits;
    d.made->detail[1] = d.has("read");
  } else if (isTensor == (dimensions != 0) &&
             d.has("mbarrier::complete_tx::bytes") != d.has("bulk_group") &&
             d.has("global")) {
    decodeCopy(d, dimensions);
  } else {
    d.refuse();
  }
}

} // namespace nereid::sim
