//===- SharedShadow.cpp - Which warp touched shared memory ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/SharedShadow.h"

#include <algorithm>
#include <bit>

namespace nereid::sim {

SharedShadow::SharedShadow(uint32_t bytes, unsigned warps)
    : warps(warps), bytes(bytes), reads(warps), asyncReads(warps) {
  begin();
}

void SharedShadow::begin() {
  std::fill(bytes.begin(), bytes.end(), Byte());
  agents.assign(warps, Agent());
  for (unsigned warp = 0; warp < warps; ++warp) {
    agents[warp].known.assign(warps, 0);
    agents[warp].known[warp] = 1;
  }
  barrierAgents.clear();
  copies.clear();
  lastCopy = 0;
}

void SharedShadow::join(Clock &to, const Clock &from) {
  to.resize(std::max(to.size(), from.size()));
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = std::max(to[i], from[i]);
  }
}

void SharedShadow::meet(const std::vector<unsigned> &met) {
  Clock known, fenced;
  for (unsigned warp : met) {
    join(known, agents[warp].known);
    join(fenced, agents[warp].fenced);
  }
  for (unsigned warp : met) {
    agents[warp].known = known;
    agents[warp].fenced = fenced;
    endEpoch(warp);
  }
}

void SharedShadow::fence(unsigned warp) {
  join(agents[warp].fenced, agents[warp].known);
  endEpoch(warp);
}

SharedShadow::Stamp SharedShadow::stamp(unsigned warp) const {
  return {warp, agents[warp].known[warp]};
}

bool SharedShadow::knows(unsigned warp, Stamp stamp) const {
  return entry(agents[warp].known, stamp.agent) >= stamp.epoch;
}

bool SharedShadow::knowsFenced(unsigned warp, Stamp stamp) const {
  return entry(agents[warp].fenced, stamp.agent) >= stamp.epoch;
}

//===----------------------------------------------------------------------===//
// Barriers in memory
//===----------------------------------------------------------------------===//

unsigned SharedShadow::agentOf(uint32_t barrier) {
  auto [found, isNew] =
      barrierAgents.try_emplace(barrier, unsigned(agents.size()));
  if (isNew) {
    agents.emplace_back();
    agents.back().known.assign(found->second + 1, 0);
    agents.back().barrier = barrier;
  }
  return found->second;
}

void SharedShadow::arrive(uint32_t barrier, unsigned warp) {
  Agent &agent = agents[agentOf(barrier)];
  join(agent.arrived, agents[warp].known);
  join(agent.arrivedFenced, agents[warp].fenced);
  endEpoch(warp);
}

void SharedShadow::complete(uint32_t barrier) {
  unsigned index = agentOf(barrier);
  Agent &agent = agents[index];
  join(agent.known, agent.arrived);
  join(agent.fenced, agent.arrivedFenced);
  ++agent.known[index];
}

void SharedShadow::observe(uint32_t barrier, unsigned warp) {
  const Agent &agent = agents[agentOf(barrier)];
  join(agents[warp].known, agent.known);
  join(agents[warp].fenced, agent.fenced);
}

//===----------------------------------------------------------------------===//
// Accesses of warps
//===----------------------------------------------------------------------===//

static std::string byteText(uint32_t at) {
  return " byte " + std::to_string(at) + " of shared memory, ";
}

static std::string hexadecimal(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%x", value);
  return text;
}

static unsigned firstWarp(uint32_t mask) {
  return unsigned(std::countr_zero(mask));
}

uint32_t *SharedShadow::readsOf(std::vector<std::vector<uint32_t>> &all,
                                unsigned warp) {
  if (all[warp].empty()) {
    all[warp].resize(bytes.size());
  }
  return all[warp].data();
}

/// `isKnown`: only a fence is missing.
std::string SharedShadow::writerOf(const Byte &byte, bool isKnown) const {
  if (byte.writer >= warps) {
    return "which a copy has written: the barrier at " +
           hexadecimal(agents[byte.writer].barrier) +
           " has not been waited for";
  }
  return "which warp " + std::to_string(byte.writer) + " has written without " +
         (isKnown ? "fence.proxy.async afterwards" : "a barrier between");
}

const SharedShadow::Copy &SharedShadow::leavingFrom(uint32_t at) const {
  for (const auto &[id, copy] : copies) {
    for (auto [begin, count] : copy.places) {
      if (at >= begin && at < begin + count) {
        return copy;
      }
    }
  }
  static const Copy none;
  return none;
}

/// A copy on its way, which the access must not meet.
std::optional<std::string> SharedShadow::meetsCopies(const Byte &byte,
                                                     bool writes) const {
  if (byte.landing) {
    return "into which a copy still writes (" + copies.at(byte.landing).text +
           "): its barrier has not been waited for";
  }
  if (writes && byte.leaving) {
    return "which a copy still reads (" +
           leavingFrom(uint32_t(&byte - bytes.data())).text +
           "): cp.async.bulk.wait_group has not waited for it";
  }
  return std::nullopt;
}

std::optional<std::string> SharedShadow::read(uint32_t at, uint32_t count,
                                              unsigned warp) {
  const Clock &known = agents[warp].known;
  uint32_t *epochs = readsOf(reads, warp);
  auto who = [&] { return "warp " + std::to_string(warp) + " reads"; };
  for (uint32_t i = at; i < at + count; ++i) {
    Byte &byte = bytes[i];
    if (auto copy = meetsCopies(byte, false)) {
      return who() + byteText(i) + *copy;
    }
    if (byte.writer != warp && entry(known, byte.writer) < byte.epoch) {
      return who() + byteText(i) + writerOf(byte, false);
    }
    byte.readers |= 1u << warp;
    epochs[i] = known[warp];
  }
  return std::nullopt;
}

std::optional<std::string> SharedShadow::write(uint32_t at, uint32_t count,
                                               unsigned warp, bool isAtomic) {
  const Clock &known = agents[warp].known;
  auto who = [&] { return "warp " + std::to_string(warp) + " writes"; };
  for (uint32_t i = at; i < at + count; ++i) {
    Byte &byte = bytes[i];
    if (auto copy = meetsCopies(byte, true)) {
      return who() + byteText(i) + *copy;
    }
    if (!(isAtomic && byte.isAtomic)) {
      if (byte.writer != warp && entry(known, byte.writer) < byte.epoch) {
        return who() + byteText(i) + writerOf(byte, false);
      }
      for (uint32_t left = (byte.readers | byte.asyncReaders) & ~(1u << warp);
           left; left &= left - 1) {
        unsigned other = firstWarp(left);
        bool isRead = (byte.readers >> other) & 1;
        bool isAsync = (byte.asyncReaders >> other) & 1;
        if ((isRead && known[other] < reads[other][i]) ||
            (isAsync && known[other] < asyncReads[other][i])) {
          return who() + byteText(i) + "which warp " + std::to_string(other) +
                 " has read without a barrier between";
        }
      }
    }
    byte.writer = uint16_t(warp);
    byte.epoch = known[warp];
    byte.readers = byte.asyncReaders = 0;
    byte.isAtomic = isAtomic;
  }
  return std::nullopt;
}

std::optional<std::string> SharedShadow::readAsync(uint32_t at, uint32_t count,
                                                   unsigned warp,
                                                   const View &since) {
  const Agent &agent = agents[warp];
  uint32_t *epochs = readsOf(asyncReads, warp);
  auto who = [&] { return "a product of warp " + std::to_string(warp); };
  for (uint32_t i = at; i < at + count; ++i) {
    Byte &byte = bytes[i];
    if (auto copy = meetsCopies(byte, false)) {
      return who() + " reads" + byteText(i) + *copy;
    }
    bool isKnown =
        byte.writer == warp || entry(since.known, byte.writer) >= byte.epoch;
    bool isThere = byte.writer < warps
                       ? entry(since.fenced, byte.writer) >= byte.epoch
                       : isKnown;
    if (!isKnown && entry(agent.known, byte.writer) >= byte.epoch) {
      return who() + " reads" + byteText(i) +
             "which was written over while the product was on its way: "
             "wgmma.wait_group has not waited for it";
    }
    if (!isThere) {
      return who() + " reads" + byteText(i) + writerOf(byte, isKnown);
    }
    byte.asyncReaders |= 1u << warp;
    epochs[i] = agent.known[warp];
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Copies of the engine
//===----------------------------------------------------------------------===//

uint32_t SharedShadow::beginCopy(unsigned warp, std::string text) {
  copies[++lastCopy] = {
      std::move(text), warp, agents[warp].known, agents[warp].fenced, {}};
  return lastCopy;
}

std::optional<std::string> SharedShadow::checkCopy(const Copy &copy,
                                                   const Byte &byte,
                                                   uint32_t at,
                                                   bool writes) const {
  auto who = [&] {
    return std::string("a copy ") + (writes ? "writes" : "reads") +
           byteText(at);
  };
  if (auto other = meetsCopies(byte, writes)) {
    return who() + *other;
  }
  bool isKnown =
      byte.writer == copy.warp || entry(copy.known, byte.writer) >= byte.epoch;
  bool isThere = byte.writer < warps
                     ? entry(copy.fenced, byte.writer) >= byte.epoch
                     : isKnown;
  if (!isThere) {
    return who() + writerOf(byte, isKnown);
  }
  for (uint32_t left = writes ? byte.readers | byte.asyncReaders : 0; left;
       left &= left - 1) {
    unsigned other = firstWarp(left);
    uint32_t epoch = (byte.readers >> other) & 1 ? reads[other][at] : 0;
    uint32_t asyncEpoch =
        (byte.asyncReaders >> other) & 1 ? asyncReads[other][at] : 0;
    if (other != copy.warp &&
        entry(copy.known, other) < std::max(epoch, asyncEpoch)) {
      return who() + "which warp " + std::to_string(other) +
             " has read without a barrier between";
    }
    if (entry(copy.fenced, other) < epoch) {
      return who() + "which warp " + std::to_string(other) +
             " has read without fence.proxy.async afterwards";
    }
  }
  return std::nullopt;
}

std::optional<std::string> SharedShadow::copyWrites(uint32_t id, uint32_t at,
                                                    uint32_t count) {
  Copy &copy = copies.at(id);
  for (uint32_t i = at; i < at + count; ++i) {
    if (auto wrong = checkCopy(copy, bytes[i], i, true)) {
      return wrong;
    }
    bytes[i].landing = id;
  }
  copy.places.push_back({at, count});
  return std::nullopt;
}

std::optional<std::string> SharedShadow::copyReads(uint32_t id, uint32_t at,
                                                   uint32_t count) {
  Copy &copy = copies.at(id);
  for (uint32_t i = at; i < at + count; ++i) {
    if (auto wrong = checkCopy(copy, bytes[i], i, false)) {
      return wrong;
    }
    ++bytes[i].leaving;
  }
  copy.places.push_back({at, count});
  return std::nullopt;
}

void SharedShadow::endWrites(uint32_t id, uint32_t barrier) {
  unsigned agent = agentOf(barrier);
  for (auto [at, count] : copies.at(id).places) {
    for (uint32_t i = at; i < at + count; ++i) {
      bytes[i] = Byte();
      bytes[i].writer = uint16_t(agent);
      bytes[i].epoch = agents[agent].known[agent] + 1;
    }
  }
  copies.erase(id);
}

void SharedShadow::endReads(uint32_t id, unsigned warp) {
  uint32_t *epochs = readsOf(asyncReads, warp);
  for (auto [at, count] : copies.at(id).places) {
    for (uint32_t i = at; i < at + count; ++i) {
      --bytes[i].leaving;
      bytes[i].asyncReaders |= 1u << warp;
      epochs[i] = agents[warp].known[warp];
    }
  }
  copies.erase(id);
}

} // namespace nereid::sim
