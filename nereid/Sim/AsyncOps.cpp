//===- AsyncOps.cpp - Copies to shared memory, fences ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.9.25, cp.async. A copy that is waited for too late or not at all
// is found by making it as late as it may be: at the wait. One that starts too
// early, into memory that others still read, by making it at once.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AccessWords.h"
#include "nereid/Sim/Block.h"
#include "nereid/Sim/BulkOps.h"
#include "nereid/Sim/Lanes.h"

#include <cstring>

namespace nereid::sim {

static void finishCopy(Warp &warp, const PendingCopy &copy) {
  Block &block = warp.block;
  unsigned char *to = block.resolve(warp, copy.lane, copy.to, copy.bytes,
                                    Space::Shared, Access::Write);
  if (copy.readBytes) {
    std::memcpy(to,
                block.resolve(warp, copy.lane, copy.from, copy.bytes,
                              Space::Global, Access::Read),
                copy.readBytes);
  }
  std::memset(to + copy.readBytes, 0, copy.bytes - copy.readBytes);
}

/// With a profile: what is read, and what is written to shared memory. Lanes
/// that read nothing write zeros.
static void countCopy(Warp &warp, const Instruction &instruction) {
  auto bytes = uint32_t(instruction.detail[0]);
  WarpAccess read{0, {}, bytes}, write{warp.active, {}, bytes};
  forLanes(warp.active, [&](unsigned lane) {
    write.addresses[lane] =
        warp.at(instruction.from[0])[lane] + instruction.detail[1];
    read.addresses[lane] =
        warp.at(instruction.from[1])[lane] + instruction.detail[2];
    bool reads = instruction.from.size() < 3 ||
                 uint32_t(warp.at(instruction.from[2])[lane]);
    read.mask |= uint32_t(reads) << lane;
  });
  uint64_t counted = warp.block.counts[warp.current].bytes;
  warp.block.count(warp, write, Space::Shared, Access::Write);
  warp.block.counts[warp.current].bytes = counted; // the read's count
  if (read.mask) {
    warp.block.count(warp, read, Space::Global, Access::Read);
  }
}

static void startCopy(Warp &warp, const Instruction &instruction) {
  auto bytes = uint32_t(instruction.detail[0]);
  auto toOffset = uint32_t(instruction.detail[1]);
  auto fromOffset = instruction.detail[2];
  bool isEarly = warp.block.launch.asyncOrder == AsyncOrder::Early;
  const LaneVector &to = warp.at(instruction.from[0]);
  const LaneVector &from = warp.at(instruction.from[1]);
  if (!warp.block.counts.empty()) {
    countCopy(warp, instruction);
  }
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t readBytes = bytes;
    if (instruction.from.size() > 2) {
      readBytes = uint32_t(warp.at(instruction.from[2])[lane]);
      if (readBytes > bytes) {
        warp.block.fault(warp, lane, Fault::Kind::Illegal,
                         "more bytes are read than copied");
      }
    }
    PendingCopy copy{lane,
                     warp.copyGroups[lane],
                     uint32_t(to[lane]) + toOffset,
                     from[lane] + fromOffset,
                     bytes,
                     readBytes};
    // What is copied into is written from now on, and read until the wait.
    warp.block.resolve(warp, lane, copy.to, bytes, Space::Shared,
                       Access::Write);
    if (isEarly) {
      finishCopy(warp, copy);
    } else {
      warp.copies.push_back(copy);
    }
  });
}

static void commitCopies(Warp &warp, const Instruction &) {
  forLanes(warp.active, [&](unsigned lane) { ++warp.copyGroups[lane]; });
}

/// All groups of a lane but the `detail[0]` youngest; everything with ~0.
static void waitCopies(Warp &warp, const Instruction &instruction) {
  uint64_t youngest = instruction.detail[0];
  for (size_t i = 0; i < warp.copies.size();) {
    PendingCopy copy = warp.copies[i];
    bool isAll = youngest == ~uint64_t{0};
    bool isDue = isAll || copy.group + youngest < warp.copyGroups[copy.lane];
    if (((warp.active >> copy.lane) & 1) && isDue) {
      finishCopy(warp, copy);
      warp.copies.erase(warp.copies.begin() + long(i));
    } else {
      ++i;
    }
  }
}

static uint64_t offsetOf(const Operand &address) {
  return address.hasBase ? address.bits : 0;
}

static void decodeCpAsync(Decoder &d) {
  std::string_view third = d.word(2);
  if (third == "commit_group") {
    d.made->execute = commitCopies;
  } else if (third == "wait_group" || third == "wait_all") {
    d.made->execute = waitCopies;
    d.made->detail[0] = third == "wait_all" ? ~uint64_t{0} : d.operand(0).bits;
  } else if (third == "bulk" && d.has("prefetch")) {
    d.made->execute = doNothing; // changes no result
  } else if (third == "bulk") {
    decodeBulk(d);
  } else if (third == "ca" || third == "cg") {
    d.address(0);
    d.address(1);
    d.made->detail[0] = d.operand(2).bits;
    d.made->detail[1] = offsetOf(d.operand(0));
    d.made->detail[2] = offsetOf(d.operand(1));
    uint64_t bytes = d.made->detail[0];
    if (bytes != 4 && bytes != 8 && bytes != 16) {
      d.refuse();
    }
    if (d.operandCount() > 3) {
      if (d.operand(3).kind == Operand::Kind::Predicate) {
        d.refuse();
      }
      d.made->from.push_back(d.source(3));
    }
    d.made->execute = startCopy;
  } else {
    d.refuse();
  }
}

static void decodeCp(Decoder &d) {
  if (d.word(1) != "async") {
    d.refuse();
  }
  decodeCpAsync(d);
}

static void fenceProxy(Warp &warp, const Instruction &) {
  if (warp.block.shadow) {
    warp.block.shadow->fence(warp.index);
  }
}

static void fence(Warp &, const Instruction &) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void fenceBarriers(Warp &warp, const Instruction &) {
  warp.block.barriers.fenceInit(warp.index);
}

static void decodeFence(Decoder &d) {
  d.made->execute = d.word(1) == "proxy"           ? fenceProxy
                    : d.word(1) == "mbarrier_init" ? fenceBarriers
                                                   : fence;
}

void addAsyncOps(DecodeTable &table) {
  table["cp"] = decodeCp;
  table["fence"] = decodeFence;
  table["membar"] = decodeFence;
}

} // namespace nereid::sim
