//===- Host.cpp - What this machine's processor is ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Host.h"

#include "nereid/Support/Files.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <thread>
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

int hostX86Level() {
  __builtin_cpu_init(); // asks CPUID once, and the system through XCR0
  bool hasDotProducts = __builtin_cpu_supports("avx512vnni") &&
                        __builtin_cpu_supports("avx512bf16");
  bool hasTiles = hasDotProducts && mayUseTiles();
  return __builtin_cpu_supports("x86-64-v4")   ? 4 + hasDotProducts + hasTiles
         : __builtin_cpu_supports("x86-64-v3") ? 3
         : __builtin_cpu_supports("x86-64-v2") ? 2
                                               : 1;
}

std::string hostProcessorName() {
  unsigned words[12] = {};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned *w = words + 4 * i;
    if (!__get_cpuid(0x80000002 + i, &w[0], &w[1], &w[2], &w[3])) {
      return "unknown";
    }
  }
  char text[49] = {};
  std::memcpy(text, words, 48);
  std::string name = text;
  name.erase(0, name.find_first_not_of(' '));
  return name.empty() ? "unknown" : name;
}
#else
static std::string readFeatureWords() {
  Expected<std::string> info = readFile("/proc/cpuinfo");
  return info.ok() ? *info : "unknown";
}

int hostX86Level() { return 0; }

bool mayUseTiles() { return false; }

std::string hostProcessorName() { return "unknown"; }
#endif

const std::string &hostFeatureWords() {
  static const std::string words = readFeatureWords();
  return words;
}

/// Of the first core's cache number `index`, in the order of the system; 0
/// behind the last one.
static uint64_t cacheBytes(int index, int *level = nullptr) {
  std::string folder =
      "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
  Expected<std::string> text = readFile(folder + "/size"),
                        ofLevel = readFile(folder + "/level");
  if (!text.ok()) {
    return 0;
  }
  uint64_t value = 0;
  auto end =
      std::from_chars(text->data(), text->data() + text->size(), value).ptr;
  if (level && ofLevel.ok()) {
    *level = std::atoi(ofLevel->c_str());
  }
  return value << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

static uint64_t readCacheBytes() {
  uint64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    largest = std::max(largest, cacheBytes(index));
  }
  if (!largest) {
    largest = std::max({0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE),
                        ::sysconf(_SC_LEVEL3_CACHE_SIZE)});
  }
  return largest ? largest : uint64_t{32} << 20;
}

uint64_t lastLevelCacheBytes() {
  static const uint64_t bytes = readCacheBytes();
  return bytes;
}

static uint64_t readSecondLevelBytes() {
  for (int index = 0; index < 8; ++index) {
    int level = 0;
    uint64_t bytes = cacheBytes(index, &level);
    if (bytes && level == 2) {
      return bytes;
    }
  }
  long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : uint64_t{1} << 20;
}

uint64_t secondLevelCacheBytes() {
  static const uint64_t bytes = readSecondLevelBytes();
  return bytes;
}

/// CPU quota of the cgroup (v2), in whole cores, rounded up; a big number when
/// there is none.
static int quotaCores() {
  Expected<std::string> text = readFile("/sys/fs/cgroup/cpu.max");
  if (!text.ok() || text->starts_with("max")) {
    return 1 << 20;
  }
  long quota = 0, period = 0;
  if (std::sscanf(text->c_str(), "%ld %ld", &quota, &period) != 2 ||
      period <= 0) {
    return 1 << 20;
  }
  return static_cast<int>(std::max(1L, (quota + period - 1) / period));
}

int availableCores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    cores = CPU_COUNT(&set);
  }
  return std::max(1, std::min(cores, quotaCores()));
}

} // namespace nereid
