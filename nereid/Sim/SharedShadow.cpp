//===- SharedShadow.cpp - Who touched shared memory -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/SharedShadow.h"

#include <algorithm>

namespace nereid::sim {

void SharedShadow::begin() {
  std::fill(bytes.begin(), bytes.end(), Byte());
  phase = 1;
  clock = 1;
}

static std::string race(const char *what, uint32_t at, unsigned warp,
                        const char *other, unsigned otherWarp) {
  return std::string("warp ") + std::to_string(warp) + " " + what + " byte " +
         std::to_string(at) + " of shared memory, which warp " +
         std::to_string(otherWarp) + " " + other + " without a barrier between";
}

static unsigned firstWarp(uint32_t mask) {
  return unsigned(__builtin_ctz(mask));
}

std::optional<std::string> SharedShadow::read(uint32_t at, uint32_t count,
                                              unsigned warp, bool isAtomic) {
  for (uint32_t i = at; i < at + count; ++i) {
    Byte &byte = bytes[i];
    if (byte.writePhase == phase && byte.writer != warp &&
        !(isAtomic && byte.isAtomic)) {
      return race("reads", i, warp, "has written", byte.writer);
    }
    if (byte.readPhase != phase) {
      byte.readPhase = phase;
      byte.readers = 0;
    }
    byte.readers |= 1u << warp;
  }
  return std::nullopt;
}

std::optional<std::string> SharedShadow::write(uint32_t at, uint32_t count,
                                               unsigned warp, bool isAtomic) {
  tick();
  for (uint32_t i = at; i < at + count; ++i) {
    Byte &byte = bytes[i];
    if (byte.writePhase == phase && byte.writer != warp &&
        !(isAtomic && byte.isAtomic)) {
      return race("writes", i, warp, "has written", byte.writer);
    }
    uint32_t others = byte.readers & ~(1u << warp);
    if (byte.readPhase == phase && others && !(isAtomic && byte.isAtomic)) {
      return race("writes", i, warp, "has read", firstWarp(others));
    }
    byte.writePhase = phase;
    byte.writer = uint8_t(warp);
    byte.writtenAt = clock;
    byte.isAtomic = isAtomic;
  }
  return std::nullopt;
}

std::optional<std::string>
SharedShadow::readAsync(uint32_t at, uint32_t count, unsigned warp,
                        const std::vector<uint64_t> &fences) {
  for (uint32_t i = at; i < at + count; ++i) {
    const Byte &byte = bytes[i];
    if (byte.writtenAt && fences[byte.writer] < byte.writtenAt) {
      return "a product of warp " + std::to_string(warp) + " reads byte " +
             std::to_string(i) + " of shared memory, which warp " +
             std::to_string(byte.writer) +
             " has written without fence.proxy.async behind";
    }
  }
  return read(at, count, warp);
}

} // namespace nereid::sim
