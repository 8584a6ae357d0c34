//===- SharedShadow.h - Which warp touched shared memory --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two warps race for a byte if one writes it, the other reads or writes it, and
// nothing orders them: no barrier that both were at, no arrival of the one at
// a barrier in memory whose phase the other waited for. A warp is one thread
// here: its lanes do not race with each other.
//
// Each warp counts its epochs; one ends where others may learn of what it did.
// Its clock has the last epoch of every other that came before what it does
// now. Copies of the copy engine have no epochs of their own: what they did is
// known to who has waited for their barrier, whose epochs are its phases.
//
// wgmma and the copy engine reach shared memory through the async proxy. What
// threads did to a byte is ordered before what the proxy does to it if a
// fence.proxy.async lies between, of any thread (PTX ISA, "Causality
// order"). So a warp has a second clock: what such fences cover. The end of a
// copy is such a fence itself.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_SHAREDSHADOW_H
#define NEREID_SIM_SHAREDSHADOW_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nereid::sim {

class SharedShadow {
  using Clock = std::vector<uint32_t>;

public:
  SharedShadow(uint32_t bytes, unsigned warps);

  void begin();

  /// What a warp knows at some time.
  struct View {
    Clock known, fenced;
  };
  View view(unsigned warp) const {
    return {agents[warp].known, agents[warp].fenced};
  }

  /// These warps were at one barrier.
  void meet(const std::vector<unsigned> &warps);
  /// fence.proxy.async
  void fence(unsigned warp);

  /// Something that a warp did, which others may have to know.
  struct Stamp {
    unsigned agent = 0;
    uint32_t epoch = 0;
  };
  Stamp stamp(unsigned warp) const;
  bool knows(unsigned warp, Stamp stamp) const;
  /// Through a fence.proxy.async, too.
  bool knowsFenced(unsigned warp, Stamp stamp) const;

  //===--------------------------------------------------------------------===//
  // Barriers in memory, by their address
  //===--------------------------------------------------------------------===//

  void arrive(uint32_t barrier, unsigned warp);
  /// Its phase: what arrived is known to those that observe it.
  void complete(uint32_t barrier);
  void observe(uint32_t barrier, unsigned warp);

  //===--------------------------------------------------------------------===//
  // Accesses: what is wrong with one, if anything
  //===--------------------------------------------------------------------===//

  std::optional<std::string> read(uint32_t at, uint32_t count, unsigned warp);
  std::optional<std::string> write(uint32_t at, uint32_t count, unsigned warp,
                                   bool isAtomic = false);
  /// Of a product, which reads from when its warp had this view on.
  std::optional<std::string> readAsync(uint32_t at, uint32_t count,
                                       unsigned warp, const View &since);

  /// A copy that `warp` starts; `text` says which.
  uint32_t beginCopy(unsigned warp, std::string text);
  std::optional<std::string> copyWrites(uint32_t copy, uint32_t at,
                                        uint32_t count);
  std::optional<std::string> copyReads(uint32_t copy, uint32_t at,
                                       uint32_t count);
  /// It has landed; who observes this phase of the barrier knows.
  void endWrites(uint32_t copy, uint32_t barrier);
  /// It has read, and `warp` knows.
  void endReads(uint32_t copy, unsigned warp);

private:
  struct Agent { ///< a warp, or a barrier in memory
    Clock known, fenced;
    uint32_t barrier = 0;
    Clock arrived, arrivedFenced; ///< of the phase that is not complete
  };
  struct Byte {
    uint32_t epoch = 0;                     ///< of the last write
    uint32_t readers = 0, asyncReaders = 0; ///< since then, by warp
    uint32_t landing = 0;                   ///< the copy that writes it
    uint16_t leaving = 0;                   ///< copies that read it
    uint16_t writer = 0;
    bool isAtomic = false;
  };
  struct Copy {
    std::string text;
    unsigned warp = 0;
    Clock known, fenced; ///< when it started
    std::vector<std::pair<uint32_t, uint32_t>> places;
  };

  static uint32_t entry(const Clock &clock, unsigned agent) {
    return agent < clock.size() ? clock[agent] : 0;
  }
  static void join(Clock &to, const Clock &from);
  void endEpoch(unsigned warp) { ++agents[warp].known[warp]; }
  unsigned agentOf(uint32_t barrier);
  uint32_t *readsOf(std::vector<std::vector<uint32_t>> &reads, unsigned warp);
  /// "which warp 3 has written", "which a copy has written".
  std::string writerOf(const Byte &byte, bool isKnown) const;
  std::optional<std::string> meetsCopies(const Byte &byte, bool writes) const;
  std::optional<std::string> checkCopy(const Copy &copy, const Byte &byte,
                                       uint32_t at, bool writes) const;
  const Copy &leavingFrom(uint32_t at) const;

  const unsigned warps;
  std::vector<Byte> bytes;
  std::vector<Agent> agents;
  std::map<uint32_t, unsigned> barrierAgents;
  /// The epoch of a warp's last read, by warp and byte; of warps that read.
  std::vector<std::vector<uint32_t>> reads, asyncReads;
  std::map<uint32_t, Copy> copies; ///< on their way
  uint32_t lastCopy = 0;
};

} // namespace nereid::sim

#endif // NEREID_SIM_SHAREDSHADOW_H
