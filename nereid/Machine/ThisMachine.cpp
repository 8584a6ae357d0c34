//===- ThisMachine.cpp - What the system says of this machine -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/Machine.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sched.h>
#include <thread>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nereid {

static std::optional<std::string> textOf(const std::string &path) {
  std::ifstream in(path);
  if (!in) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

#if defined(__x86_64__)
static std::string readProcessor() {
  unsigned words[12] = {};
  for (unsigned i = 0; i < 3; ++i) {
    if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1],
                     &words[4 * i + 2], &words[4 * i + 3])) {
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
static std::string readProcessor() { return "unknown"; }
#endif

/// Of the first core's cache number `index`, in the order of the system; 0
/// past the last one.
static uint64_t cacheBytes(int index, int *level = nullptr) {
  std::string folder =
      "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
  std::optional<std::string> text = textOf(folder + "/size"),
                             ofLevel = textOf(folder + "/level");
  if (!text) {
    return 0;
  }
  uint64_t value = 0;
  auto end =
      std::from_chars(text->data(), text->data() + text->size(), value).ptr;
  if (level && ofLevel) {
    *level = std::atoi(ofLevel->c_str());
  }
  return value << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

static uint64_t readLastLevelBytes(uint64_t otherwise) {
  uint64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    largest = std::max(largest, cacheBytes(index));
  }
  if (!largest) {
    largest = std::max({0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE),
                        ::sysconf(_SC_LEVEL3_CACHE_SIZE)});
  }
  return largest ? largest : otherwise;
}

static uint64_t readSecondLevelBytes(uint64_t otherwise) {
  for (int index = 0; index < 8; ++index) {
    int level = 0;
    uint64_t bytes = cacheBytes(index, &level);
    if (bytes && level == 2) {
      return bytes;
    }
  }
  long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : otherwise;
}

/// CPU quota of the cgroup (v2), in whole cores, rounded up; a big number when
/// there is none.
static int quotaCores() {
  constexpr int unlimited = 1 << 20;
  std::optional<std::string> text = textOf("/sys/fs/cgroup/cpu.max");
  if (!text || text->starts_with("max")) {
    return unlimited;
  }
  long quota = 0, period = 0;
  if (std::sscanf(text->c_str(), "%ld %ld", &quota, &period) != 2 ||
      period <= 0) {
    return unlimited;
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

static uint64_t readMemoryBytes() {
  long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0
             ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes)
             : 0;
}

const Machine &thisMachine() {
  // Never destroyed: tensors of static objects may outlive it.
  static const Machine *machine = [] {
    const Machine usual;
    return new Machine{readProcessor(), availableCores(),
                       readLastLevelBytes(usual.lastLevelCacheBytes),
                       readSecondLevelBytes(usual.secondLevelCacheBytes),
                       readMemoryBytes()};
  }();
  return *machine;
}

} // namespace nereid
