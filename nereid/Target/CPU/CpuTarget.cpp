//===- CpuTarget.cpp - The instruction sets and the host's ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/CpuTarget.h"

#include "nereid/Support/Host.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <array>

using namespace nereid;
using namespace nereid::cpu;

namespace {

struct Level {
  CpuTarget target;
  /// What a host must report, beyond the level before.
  std::vector<llvm::StringRef> features;
};

} // namespace

/// In rising order. Levels 3 and 4 are tuned for Skylake and Skylake-X: by
/// default LLVM would replace gathers by a branch a lane (it counts Haswell's
/// as slow), and prefer 256-bit vectors on level 4.
static const std::vector<Level> &levels() {
  static const std::vector<Level> table = [] {
    std::vector<Level> rising;
    CpuTarget target = {
        .name = "x86-64", .cpu = "x86-64", .tuneCpu = "generic"};
    rising.push_back({target, {"sse2", "cx8", "fxsr"}});

    target.name = target.cpu = "x86-64-v2";
    target.hasSse41 = true;
    rising.push_back(
        {target,
         {"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}});

    target.name = target.cpu = "x86-64-v3";
    target.tuneCpu = "skylake";
    target.vectorBytes = 32;
    target.hasMaskedMemory = target.hasGather = true;
    target.hasFma = target.hasF16c = true;
    rising.push_back({target,
                      {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
                       "movbe", "xsave"}});

    target.name = target.cpu = "x86-64-v4";
    target.tuneCpu = "skylake-avx512";
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
    target.hasMaskRegisters = true;
    rising.push_back(
        {target, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}});

    target.name = "x86-64-v4-bf16";
    target.features = "+avx512vnni,+avx512bf16";
    target.hasDotProducts = true;
    rising.push_back({target, {"avx512vnni", "avx512bf16"}});

    target.name = "x86-64-v4-amx";
    target.features += ",+amx-tile,+amx-bf16,+amx-int8";
    target.hasTiles = true;
    rising.push_back({target, {"amx-tile", "amx-bf16", "amx-int8"}});
    return rising;
  }();
  return table;
}

/// The number of levels this machine can run; 0 where it is no x86-64.
static size_t hostLevels() {
  static const size_t count = [] {
#if defined(__x86_64__)
    llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
    size_t level = 0;
    for (; level < levels().size(); ++level) {
      if (!llvm::all_of(levels()[level].features,
                        [&](llvm::StringRef f) { return host.lookup(f); }) ||
          (levels()[level].target.hasTiles && !mayUseTiles())) {
        break;
      }
    }
    return level;
#else
    return size_t(0);
#endif
  }();
  return count;
}

Expected<CpuTarget> cpu::resolve(std::string_view name) {
  if (name == "cpu") {
    if (hostLevels() == 0) {
      return {ErrorCode::Unsupported,
              "target 'cpu': only x86-64 machines are supported; use the "
              "target 'interp' here"};
    }
    return levels()[hostLevels() - 1].target;
  }
  std::string known = "'cpu'";
  for (const Level &level : levels()) {
    if (level.target.name == name) {
      return level.target;
    }
    known += ", '" + level.target.name + "'";
  }
  return {ErrorCode::InvalidArgument, "unknown CPU target '" +
                                          std::string(name) +
                                          "'; expected one of " + known};
}

bool cpu::runsHere(const CpuTarget &target) {
  for (size_t i = 0; i < hostLevels(); ++i) {
    if (levels()[i].target.name == target.name) {
      return true;
    }
  }
  return false;
}
