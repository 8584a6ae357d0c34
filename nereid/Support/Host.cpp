//===- Host.cpp - What this machine's processor is ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Host.h"

#include "nereid/Support/Files.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#endif

namespace nereid {

#if defined(__x86_64__)
static void appendCpuid(std::string &out, unsigned leaf, unsigned subleaf) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid_count(leaf, subleaf, &a, &b, &c, &d);
  if (leaf == 1) {
    b = 0;            // the APIC id: differs from core to core
    c &= ~(1u << 27); // OSXSAVE is repeated by XCR0
  }
  char text[48];
  std::snprintf(text, sizeof(text), "%08x%08x%08x%08x ", a, b, c, d);
  out += text;
}

static std::string readFeatureWords() {
  std::string out = "x86-64 ";
  appendCpuid(out, 1, 0);
  appendCpuid(out, 7, 0);
  appendCpuid(out, 7, 1);
  appendCpuid(out, 0x80000001, 0);
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  if (c & (1u << 27)) {
    // xgetbv, spelled out because the intrinsic wants -mxsave.
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    out += std::to_string((uint64_t{high} << 32) | low);
  }
  out += mayUseTiles() ? " tiles" : "";
  return out;
}

bool mayUseTiles() {
#if defined(__linux__)
  static const bool may = [] {
    // Of the system's headers only newer ones have these.
    constexpr long requestPermission = 0x1023, tileData = 18;
    // CPUID 7: bf16, tiles, int8.
    constexpr unsigned wanted = 1u << 22 | 1u << 24 | 1u << 25;
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    return (d & wanted) == wanted &&
           ::syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  }();
  return may;
#else
  return false;
#endif
}

#else
static std::string readFeatureWords() {
  Expected<std::string> info = readFile("/proc/cpuinfo");
  return info.ok() ? *info : "unknown";
}

bool mayUseTiles() { return false; }
#endif

const std::string &hostFeatureWords() {
  static const std::string words = readFeatureWords();
  return words;
}

} // namespace nereid
