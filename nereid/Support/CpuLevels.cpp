//===- CpuLevels.cpp - The levels of x86-64 processors --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/CpuLevels.h"

#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Host.h"
#include "nereid/Support/Knobs.h"

namespace nereid::cpu {

/// Levels 3 and 4 are tuned for Skylake and Skylake-X: by default LLVM would
/// replace gathers by a branch a lane (it counts Haswell's as slow), and prefer
/// 256-bit vectors on level 4.
static std::vector<CpuTarget> makeLevels() {
  std::vector<CpuTarget> rising;
  CpuTarget target = {.name = "x86-64", .cpu = "x86-64", .tuneCpu = "generic"};
  auto add = [&](const char *name) {
    target.name = name;
    target.level = static_cast<int>(rising.size()) + 1;
    rising.push_back(target);
  };
  add("x86-64");
  target.cpu = "x86-64-v2";
  add("x86-64-v2");
  target.cpu = "x86-64-v3";
  target.tuneCpu = "skylake";
  target.vectorBytes = 32;
  target.hasMaskedMemory = target.hasGather = true;
  target.hasFma = target.hasF16c = true;
  add("x86-64-v3");
  target.cpu = "x86-64-v4";
  target.tuneCpu = "skylake-avx512";
  target.vectorBytes = 64;
  target.vectorRegisters = 32;
  target.hasMaskRegisters = true;
  add("x86-64-v4");
  target.features = "+avx512vnni,+avx512bf16";
  target.hasDotProducts = true;
  add("x86-64-v4-bf16");
  target.features += ",+amx-tile,+amx-bf16,+amx-int8";
  target.hasTiles = true;
  add("x86-64-v4-amx");
  return rising;
}

const std::vector<CpuTarget> &levels() {
  static const std::vector<CpuTarget> table = makeLevels();
  return table;
}

int machineLevel() {
#if defined(__x86_64__)
  static const int level = [] {
    __builtin_cpu_init(); // asks CPUID once, and the system through XCR0
    bool hasDotProducts = __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("avx512bf16");
    bool hasTiles = hasDotProducts && mayUseTiles();
    return __builtin_cpu_supports("x86-64-v4")   ? 4 + hasDotProducts + hasTiles
           : __builtin_cpu_supports("x86-64-v3") ? 3
           : __builtin_cpu_supports("x86-64-v2") ? 2
                                                 : 1;
  }();
  return level;
#else
  return 0;
#endif
}

bool runsHere(const CpuTarget &target) {
  return target.level <= machineLevel();
}

/// "'x86-64', 'x86-64-v2'": the first `count`.
static std::string nameList(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += (i ? ", '" : "'") + levels()[i].name + "'";
  }
  return list;
}

static const CpuTarget *find(std::string_view name) {
  for (const CpuTarget &target : levels()) {
    if (target.name == name) {
      return &target;
    }
  }
  return nullptr;
}

Expected<CpuTarget> deviceTarget() {
  int machine = machineLevel();
  if (machine == 0) {
    return {ErrorCode::Unsupported,
            "target 'cpu': only x86-64 machines are supported; use the target "
            "'interp' here"};
  }
  const std::string &pinned = knobs().cpu;
  if (pinned.empty()) {
    return levels()[machine - 1];
  }
  const CpuTarget *target = find(pinned);
  if (target && runsHere(*target)) {
    return *target;
  }
  std::string hint;
  if (!target) {
    std::vector<std::string> names;
    for (const CpuTarget &known : levels()) {
      names.push_back(known.name);
    }
    hint = didYouMean(pinned, names);
  }
  return {ErrorCode::InvalidArgument,
          "NEREID_CPU=" + pinned +
              ": expected a level that this machine can "
              "run, one of " +
              nameList(machine) + ", got " +
              (target ? "a higher one" : "an unknown word") + hint};
}

int deviceLevel() {
  const std::string &pinned = knobs().cpu;
  const CpuTarget *target = pinned.empty() ? nullptr : find(pinned);
  return target && runsHere(*target) ? target->level : machineLevel();
}

Expected<CpuTarget> resolve(std::string_view name) {
  if (name == "cpu") {
    return deviceTarget();
  }
  if (const CpuTarget *target = find(name)) {
    return *target;
  }
  return {ErrorCode::InvalidArgument,
          "unknown CPU target '" + std::string(name) +
              "'; expected one of 'cpu', " +
              nameList(static_cast<int>(levels().size()))};
}

} // namespace nereid::cpu
