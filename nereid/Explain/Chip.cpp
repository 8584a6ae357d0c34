//===- Chip.cpp - Rates of GPUs that are sold -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Chip.h"

namespace nereid::explain {

/// NVIDIA's data sheets of H200, H100 SXM, A100 80GB SXM, L40S and T4, and the
/// architecture whitepapers of GA102, AD102, GB202 and Blackwell (B200). An
/// H200 reads its memory by 64 bytes: rows of 64 bytes in every 128, which
/// begin 4 bytes later, take 1.33 times the sectors that they touch (ncu,
/// 2026-11). Others with stacked memory are taken to do the same, the rest to
/// read single sectors: neither was measured.
const std::vector<Chip> &chips() {
  static const std::vector<Chip> all = {
      {"h200", "sm_90a", 132, 1.98, 4800, 50, 64, 989, 495, 1979, 1979, 67},
      {"h100", "sm_90a", 132, 1.98, 3350, 50, 64, 989, 495, 1979, 1979, 67},
      {"a100", "sm_80", 108, 1.41, 2039, 40, 64, 312, 156, 0, 624, 19.5},
      {"l40s", "sm_89", 142, 2.52, 864, 96, 32, 362, 183, 733, 733, 0},
      {"rtx4090", "sm_89", 128, 2.52, 1008, 72, 32, 165, 83, 330, 661, 0},
      {"rtx3090", "sm_86", 82, 1.695, 936, 6, 32, 71, 36, 0, 284, 0},
      {"b200", "sm_100a", 148, 1.85, 8000, 126, 64, 2250, 1125, 4500, 4500, 37},
      {"rtx5090", "sm_120a", 170, 2.41, 1792, 96, 32, 210, 105, 419, 838, 0},
      {"t4", "sm_75", 40, 1.59, 320, 4, 32, 65, 0, 0, 130, 0},
  };
  return all;
}

std::string chipNames() {
  std::string list;
  for (const Chip &chip : chips()) {
    list += (list.empty() ? "" : ", ") + std::string(chip.name);
  }
  return list;
}

Expected<Chip> findChip(std::string_view name) {
  for (const Chip &chip : chips()) {
    if (chip.name == name) {
      return chip;
    }
  }
  return {ErrorCode::InvalidArgument, "no chip '" + std::string(name) +
                                          "'; expected one of " + chipNames()};
}

Expected<Chip> chipOfTarget(std::string_view target) {
  for (const Chip &chip : chips()) {
    if (chip.target == target) {
      return chip;
    }
  }
  return {ErrorCode::InvalidArgument, "no chip known for target '" +
                                          std::string(target) +
                                          "'; expected one of " + chipNames()};
}

} // namespace nereid::explain
