//===- WordPerThread.h - Around what a test computes ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a test puts around its instructions: each thread loads its word of
// WaveRun::memory in front of them, and stores v2 there after them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_TESTING_WORDPERTHREAD_H
#define NEREID_SIM_AMD_TESTING_WORDPERTHREAD_H

#include "nereid/Sim/AMD/testing/WaveRun.h"

namespace nereid::sim::amd {

/// Cdna: v1 is the thread's offset, s[2:3] the memory, v2 this thread's word.
inline Words loadCdna() {
  return {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
      0xbf8c0f70,             // s_waitcnt vmcnt(0)
  };
}
/// This thread's word of memory becomes v2.
inline Words storeCdna() {
  return {
      0xbf800004, // s_nop 4
      0xdc708000,
      0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000, // s_endpgm
  };
}

/// Rdna3: v1 is the thread's offset, s[2:3] the memory, v2 this thread's word.
inline Words loadRdna3() {
  return {
      0xf4040080, 0xf8000000, // s_load_b64 s[2:3], s[0:1], null
      0x30020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf89fc07,             // s_waitcnt lgkmcnt(0)
      0xdc520000, 0x02020001, // global_load_b32 v2, v1, s[2:3]
      0xbf8903f7,             // s_waitcnt vmcnt(0)
  };
}
/// This thread's word of memory becomes v2.
inline Words storeRdna3() {
  return {
      0xdc6a0000,
      0x00020201, // global_store_b32 v1, v2, s[2:3]
      0xbfb00000, // s_endpgm
  };
}

/// Rdna4: v1 is the thread's offset, s[2:3] the memory, v2 this thread's word.
inline Words loadRdna4() {
  return {
      0xf4002080, 0xf8000000,             // s_load_b64 s[2:3], s[0:1], 0x0
      0x30020082,                         // v_lshlrev_b32_e32 v1, 2, v0
      0xbfc70000,                         // s_wait_kmcnt 0x0
      0xee050002, 0x00000002, 0x00000001, // global_load_b32 v2, v1, s[2:3]
      0xbfc00000,                         // s_wait_loadcnt 0x0
  };
}
/// This thread's word of memory becomes v2.
inline Words storeRdna4() {
  return {
      0xee068002,
      0x01000000,
      0x00000001, // global_store_b32 v1, v2, s[2:3]
      0xbfb00000, // s_endpgm
  };
}

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_TESTING_WORDPERTHREAD_H
