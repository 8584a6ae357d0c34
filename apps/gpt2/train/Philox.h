//===- Philox.h - Numbers from counters -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_PHILOX_H
#define NEREID_APPS_GPT2_TRAIN_PHILOX_H

#include <cstdint>

namespace nereid::gpt2 {

/// 64 random bits of a key and two counters: Philox 4x32 with ten rounds
/// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
inline uint64_t philox(uint64_t key, uint64_t high, uint64_t low) {
  auto k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  uint32_t c[4] = {uint32_t(low), uint32_t(low >> 32), uint32_t(high),
                   uint32_t(high >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b),
                        uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
    for (int i = 0; i < 4; ++i) {
      c[i] = next[i];
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return uint64_t(c[1]) << 32 | c[0];
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_PHILOX_H
