//===- SharedShadow.h - Who touched shared memory ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two warps race for a byte if one writes it, the other reads or writes it, and
// no barrier stands between. Barriers of the whole block end a phase; those of
// some warps are not told apart from none.
//
// wgmma reads shared memory through the async proxy, which sees what a warp has
// written only behind that warp's fence.proxy.async (PTX ISA 8.6).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_SHAREDSHADOW_H
#define NEREID_SIM_SHAREDSHADOW_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::sim {

class SharedShadow {
public:
  explicit SharedShadow(uint32_t bytes) : bytes(bytes) {}

  void begin();
  void endPhase() { ++phase; }
  /// What is wrong with the access of a warp, if anything.
  std::optional<std::string> read(uint32_t at, uint32_t count, unsigned warp,
                                  bool isAtomic = false);
  std::optional<std::string> write(uint32_t at, uint32_t count, unsigned warp,
                                   bool isAtomic = false);
  /// A read of a product; `fences[w]` is warp w's last fence.
  std::optional<std::string> readAsync(uint32_t at, uint32_t count,
                                       unsigned warp,
                                       const std::vector<uint64_t> &fences);
  uint64_t now() const { return clock; }
  uint64_t tick() { return ++clock; }

private:
  struct Byte {
    uint32_t writePhase = 0, readPhase = 0;
    uint64_t writtenAt = 0; ///< of the clock
    uint32_t readers = 0;   ///< in readPhase, by warp
    uint8_t writer = 0;
    bool isAtomic = false; ///< the last write
  };
  std::vector<Byte> bytes;
  uint32_t phase = 1;
  uint64_t clock = 1;
};

} // namespace nereid::sim

#endif // NEREID_SIM_SHAREDSHADOW_H
