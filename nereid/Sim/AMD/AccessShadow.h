//===- AccessShadow.h - Which wave touched memory ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two waves race for a byte if one writes it, the other reads or writes it, and
// no barrier orders them. A barrier orders what the earlier wave had *waited
// for* when it arrived: an access that is on its way may come after it.
//
// So the time of an access is its number in the wave's wait counter, and the
// clock of a wave has, for each other, up to which number it is ordered.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_ACCESSSHADOW_H
#define NEREID_SIM_AMD_ACCESSSHADOW_H

#include "nereid/Sim/AMD/Simulator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace nereid::sim::amd {

class AccessShadow {
public:
  /// Of memory from address 0 on, or, without bytes, of any addresses, where
  /// a read of what another wave writes is found, and nothing else.
  AccessShadow(unsigned waves, uint32_t bytes)
      : clocks(waves), dense(bytes), isDense(bytes != 0) {}
  void begin();

  /// All waves are at a barrier; wave w's accesses up to number done[w] are
  /// done.
  void meet(const std::vector<uint32_t> &done);

  struct Conflict {
    unsigned wave;        ///< the other
    uint32_t instruction; ///< that it executed
    bool wrote;
  };
  /// An access with number `number` in its wave's counter.
  std::optional<Conflict> access(uint64_t at, uint32_t bytes, unsigned wave,
                                 uint32_t number, uint32_t instruction,
                                 Access access);

private:
  struct Touch {
    uint32_t number = 0, instruction = 0;
  };
  struct Byte {
    Touch write; ///< by a plain store
    uint16_t writer = 0;
    std::vector<Touch> reads, updates; ///< by wave, since the write
  };
  /// One of them by another wave that is not ordered before.
  std::optional<Conflict> unordered(const std::vector<Touch> &touches,
                                    unsigned wave, bool wrote) const;
  void remember(std::vector<Touch> &touches, unsigned wave,
                const Touch &touch) const;
  bool knows(unsigned wave, unsigned other, uint32_t number) const {
    return wave == other || number <= clocks[wave][other];
  }

  std::vector<std::vector<uint32_t>> clocks;
  std::vector<Byte> dense;
  std::unordered_map<uint64_t, Byte> sparse;
  bool isDense;
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_ACCESSSHADOW_H
