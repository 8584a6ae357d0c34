//===- CopyEngine.cpp - Copies of boxes on their way ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/CopyEngine.h"

#include "nereid/Sim/Block.h"

#include <cstring>

namespace nereid::sim {

void CopyEngine::begin() {
  loads.clear();
  stores.clear();
  groups.assign(block.warpCount(), {});
}

/// The memory is there, and no other thread is at it.
void CopyEngine::check(Warp &warp, unsigned lane, const Copy &copy,
                       bool writes) {
  for (const CopyRun &run : copy.runs) {
    if (!block.sharedBytes(run.shared, run.bytes)) {
      block.fault(warp, lane, Fault::Kind::IllegalAddress,
                  "a copy of " + std::to_string(run.bytes) +
                      " bytes past the end of shared memory");
    }
    if (block.barriers.overlap(run.shared, run.bytes)) {
      block.fault(warp, lane, Fault::Kind::Barrier,
                  "a copy touches a barrier's bytes");
    }
    if (run.global && !block.isGlobal(run.global, run.bytes)) {
      block.fault(warp, lane, Fault::Kind::IllegalAddress,
                  "a copy of " + std::to_string(run.bytes) + " bytes at " +
                      hexadecimal(run.global) +
                      ", where no memory is allocated");
    }
    if (!block.shadow || (!writes && !run.global)) {
      continue;
    }
    auto wrong =
        writes ? block.shadow->copyWrites(copy.shadow, run.shared, run.bytes)
               : block.shadow->copyReads(copy.shadow, run.shared, run.bytes);
    if (wrong) {
      block.fault(warp, lane, Fault::Kind::Race, *wrong);
    }
  }
}

void CopyEngine::load(Warp &warp, unsigned lane, std::vector<CopyRun> runs,
                      uint32_t barrier) {
  block.barriers.checkSeenByEngine(warp, lane, barrier);
  Copy copy{warp.index, lane, warp.current, std::move(runs), barrier};
  if (block.shadow) {
    copy.shadow = block.shadow->beginCopy(
        warp.index, block.launch.program.describe(warp.current));
  }
  if (warp.clock) {
    copy.time = warp.clock->copyEnd();
  }
  check(warp, lane, copy, true);
  if (block.launch.asyncOrder == AsyncOrder::Early) {
    land(copy);
  } else {
    loads.push_back(std::move(copy));
  }
}

void CopyEngine::land(const Copy &copy) {
  uint32_t bytes = 0;
  for (const CopyRun &run : copy.runs) {
    unsigned char *to = block.sharedBytes(run.shared, run.bytes);
    if (run.global) {
      std::memcpy(to, reinterpret_cast<const void *>(run.global), run.bytes);
    } else {
      std::memset(to, 0, run.bytes);
    }
    bytes += run.bytes;
  }
  if (block.shadow) {
    block.shadow->endWrites(copy.shadow, copy.barrier);
  }
  block.barriers.land(copy.barrier, bytes, copy.time);
}

bool CopyEngine::landOne(std::mt19937_64 *random) {
  if (loads.empty()) {
    return false;
  }
  auto which = loads.begin() + long(random ? (*random)() % loads.size() : 0);
  Copy copy = std::move(*which);
  loads.erase(which);
  land(copy);
  return true;
}

void CopyEngine::landFor(uint32_t barrier) {
  for (auto which = loads.begin(); which != loads.end(); ++which) {
    if (which->barrier == barrier) {
      Copy copy = std::move(*which);
      loads.erase(which);
      land(copy);
      return;
    }
  }
}

void CopyEngine::store(Warp &warp, unsigned lane, std::vector<CopyRun> runs) {
  Copy copy{warp.index,      lane, warp.current,
            std::move(runs), 0,    groups[warp.index][lane]};
  if (block.shadow) {
    copy.shadow = block.shadow->beginCopy(
        warp.index, block.launch.program.describe(warp.current));
  }
  check(warp, lane, copy, false);
  if (block.launch.asyncOrder == AsyncOrder::Early) {
    readShared(copy);
    writeGlobal(copy);
  }
  stores.push_back(std::move(copy));
}

void CopyEngine::commit(Warp &warp, unsigned lane) {
  ++groups[warp.index][lane];
}

void CopyEngine::readShared(Copy &copy) {
  for (const CopyRun &run : copy.runs) {
    const unsigned char *from = block.sharedBytes(run.shared, run.bytes);
    copy.data.insert(copy.data.end(), from, from + run.bytes);
  }
  copy.hasRead = true;
}

void CopyEngine::writeGlobal(const Copy &copy) {
  const unsigned char *from = copy.data.data();
  for (const CopyRun &run : copy.runs) {
    if (run.global) {
      std::memcpy(reinterpret_cast<void *>(run.global), from, run.bytes);
    }
    from += run.bytes;
  }
}

/// Of a store that has been early, only others that wait for it are to know.
void CopyEngine::wait(Warp &warp, unsigned lane, uint64_t youngest,
                      bool onlyReads) {
  bool isEarly = block.launch.asyncOrder == AsyncOrder::Early;
  for (size_t i = 0; i < stores.size();) {
    Copy &copy = stores[i];
    if (copy.warp != warp.index || copy.lane != lane ||
        copy.group + youngest >= groups[warp.index][lane]) {
      ++i;
      continue;
    }
    if (!copy.hasRead) {
      readShared(copy);
    }
    if (copy.shadow) {
      block.shadow->endReads(copy.shadow, warp.index);
      copy.shadow = 0;
    }
    copy.isWaitedFor = true;
    if (onlyReads) {
      ++i;
      continue;
    }
    if (!isEarly) {
      writeGlobal(copy);
    }
    stores.erase(stores.begin() + long(i));
  }
}

void CopyEngine::reportUnfinished(const Copy &copy, const char *what) const {
  throw Fault{Fault::Kind::Race,
              block.launch.program.describe(copy.instruction) + ": " + what +
                  " when its block ends, thread " +
                  std::to_string(copy.warp * lanes + copy.lane)};
}

void CopyEngine::finish() {
  if (!loads.empty()) {
    reportUnfinished(loads.front(),
                     "the copy has not been waited for, and may still write");
  }
  for (const Copy &copy : stores) {
    if (!copy.isWaitedFor) {
      reportUnfinished(copy, "cp.async.bulk.wait_group has not waited for the "
                             "copy, which may still read");
    }
    if (block.launch.asyncOrder == AsyncOrder::Late) {
      writeGlobal(copy);
    }
  }
  stores.clear();
}

} // namespace nereid::sim
