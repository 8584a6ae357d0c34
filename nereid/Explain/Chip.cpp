//===- Chip.cpp - Rates of GPUs that are sold -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Chip.h"

#include "nereid/Support/EditDistance.h"

#include <cctype>
#include <set>
#include <utility>

namespace nereid::explain {

/// NVIDIA's data sheets of the chips of servers (H200 SXM, H100 SXM and PCIe,
/// GH200 with 96 GB, A100 of 80 and 40 GB SXM, L40S, L4, A10, T4;
/// HGX B200 and HGX B300 by eight), and the architecture whitepapers of GA102,
/// AD102 and GB202. Clocks are those of the boost. Chips with stacked memory
/// read it by 64 bytes, the rest single sectors (docs/Explain.md, "Constants").
/// AMD's data sheets of the Instinct MI210, MI300X and MI350X (accelerators of
/// a server, at the peak engine clock), and its pages of the Radeon RX 7900 XTX
/// and RX 9070 XT (boost clock). Their caches have lines of 128 bytes, and ask
/// memory for 64 or 128. tf32 is xf32, which gfx942 alone has.
const std::vector<Chip> &chips() {
  static const std::vector<Chip> all = {
      {"h200", "sm_90a", 132, 1.98, 4800, 50, 64, 989, 495, 1979, 1979, 67},
      {"h100", "sm_90a", 132, 1.98, 3350, 50, 64, 989, 495, 1979, 1979, 67},
      {"h100-pcie", "sm_90a", 114, 1.755, 2000, 50, 64, 756, 378, 1513, 1513,
       51},
      {"gh200", "sm_90a", 132, 1.98, 4000, 50, 64, 989, 495, 1979, 1979, 67},
      {"a100", "sm_80", 108, 1.41, 2039, 40, 64, 312, 156, 0, 624, 19.5},
      {"a100-40", "sm_80", 108, 1.41, 1555, 40, 64, 312, 156, 0, 624, 19.5},
      {"l40s", "sm_89", 142, 2.52, 864, 96, 32, 362, 183, 733, 733, 0},
      {"l4", "sm_89", 58, 2.04, 300, 48, 32, 121, 60, 242, 242, 0},
      {"rtx4090", "sm_89", 128, 2.52, 1008, 72, 32, 165, 83, 330, 661, 0},
      {"a10", "sm_86", 72, 1.695, 600, 6, 32, 125, 62.5, 0, 250, 0},
      {"rtx3090", "sm_86", 82, 1.695, 936, 6, 32, 71, 36, 0, 284, 0},
      {"b200", "sm_100a", 148, 1.85, 8000, 126, 64, 2250, 1125, 4500, 4500, 37},
      {"b300", "sm_103a", 148, 1.92, 8000, 126, 64, 2250, 1125, 4500, 165, 1.2},
      {"rtx5090", "sm_120a", 170, 2.41, 1792, 96, 32, 210, 105, 419, 838, 0},
      {"t4", "sm_75", 40, 1.59, 320, 4, 32, 65, 0, 0, 130, 0},
      {"mi210", "gfx90a", 104, 1.7, 1638, 8, 64, 181, 0, 0, 181, 45.3},
      {"mi300x", "gfx942", 304, 2.1, 5325, 256, 64, 1307, 654, 2615, 2615,
       163.4},
      {"mi350x", "gfx950", 256, 2.2, 8000, 256, 64, 2307, 0, 4614, 4614, 72.1},
      {"rx7900xtx", "gfx1100", 48, 2.5, 960, 96, 64, 123, 0, 0, 123, 0},
      {"rx9070xt", "gfx1201", 32, 2.97, 640, 64, 64, 195, 0, 389, 389, 0},
  };
  return all;
}

/// What mma.sync does on chips whose peak takes other instructions. Hopper's:
/// 0.63 of the peak (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper
/// GPU Architecture", 2024), floats of 8 bits at the rate of f16, as which they
/// are multiplied. Blackwell's multiprocessors are taken to do what Hopper's do
/// a cycle (docs/Explain.md, "Constants").
static double shareOfMma(const Chip &chip, bool isF8) {
  constexpr double hopper = 0.63;
  if (chip.target == "sm_90a") {
    return isF8 ? hopper / 2 : hopper;
  }
  if (chip.target == "sm_100a" || chip.target == "sm_103a") {
    constexpr double teraOfHopper = 989, cyclesOfHopper = 132 * 1.98;
    double cycles = chip.multiprocessors * chip.gigahertz;
    double tera = hopper * teraOfHopper / cyclesOfHopper * cycles;
    return tera / chip.teraF16 / (isF8 ? 2 : 1);
  }
  return 1;
}

double Chip::productRate(std::string_view type, bool isGroup) const {
  bool isF8 = type == "e4m3" || type == "e5m2";
  double rate = type == "tf32"                 ? teraTf32
                : type == "f64"                ? teraF64
                : isF8                         ? teraF8
                : type == "s8" || type == "u8" ? teraI8
                                               : teraF16;
  rate = rate ? rate : teraF16;
  return isGroup || type == "f64" ? rate : rate * shareOfMma(*this, isF8);
}

Pipes Chip::pipes() const {
  static constexpr std::pair<std::string_view, Pipes> all[] = {
      {"sm_75", {64, 64, 2, 16}},     {"sm_80", {64, 128, 32, 16}},
      {"sm_86", {128, 64, 2, 16}},    {"sm_89", {128, 64, 2, 16}},
      {"sm_90a", {128, 128, 64, 16}}, {"sm_100a", {128, 128, 64, 16}},
      {"sm_103a", {128, 128, 2, 16}}, {"sm_120a", {128, 64, 2, 16}},
      {"gfx90a", {128, 64, 64, 16}},  {"gfx942", {128, 64, 64, 16}},
      {"gfx950", {128, 64, 64, 16}},  {"gfx1100", {256, 256, 8, 32}},
      {"gfx1201", {256, 256, 4, 32}}};
  for (const auto &[name, pipes] : all) {
    if (name == target) {
      return pipes;
    }
  }
  return {128, 128, 64, 16};
}

std::string chipNames() {
  std::string list;
  for (const Chip &chip : chips()) {
    list += (list.empty() ? "" : ", ") + std::string(chip.name);
  }
  return list;
}

/// "NVIDIA A100-SXM4-40GB" as "nvidiaa100sxm440gb".
static std::string lettersOf(std::string_view name) {
  std::string letters;
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += char(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

/// "; did you mean 'h100'?", by case, by the architecture, and by letters.
static std::string meantBy(std::string_view name) {
  std::string letters = lettersOf(name), list;
  std::vector<std::string> names;
  size_t longest = 0;
  std::string inside;
  for (const Chip &chip : chips()) {
    std::string own = lettersOf(chip.name), arch = lettersOf(chip.target);
    names.push_back(std::string(chip.name));
    if (own == letters) {
      return "; did you mean '" + names.back() + "'?";
    }
    bool isOfTarget =
        letters == arch || (letters.starts_with("sm") && letters + "a" == arch);
    if (isOfTarget) {
      list += (list.empty() ? "" : ", ") + names.back();
    }
    if (letters.find(own) != std::string::npos && own.size() > longest) {
      longest = own.size();
      inside = names.back();
    }
  }
  if (!list.empty()) {
    return "; of that architecture: " + list;
  }
  return inside.empty() ? didYouMean(name, names)
                        : "; did you mean '" + inside + "'?";
}

Expected<Chip> findChip(std::string_view name) {
  for (const Chip &chip : chips()) {
    if (chip.name == name) {
      return chip;
    }
  }
  return {ErrorCode::InvalidArgument, "no chip '" + std::string(name) +
                                          "'; expected one of " + chipNames() +
                                          meantBy(name)};
}

std::optional<Chip> chipOfGpu(std::string_view name) {
  // "NVIDIA GeForce RTX 4090", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 PCIe".
  std::set<std::string> words;
  std::string word, before;
  for (char c : std::string(name) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += char(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    words.insert(word);
    words.insert(before + word);
    if (word.ends_with("gb")) {
      words.insert(word.substr(0, word.size() - 2));
    }
    before = std::exchange(word, "");
  }
  std::optional<Chip> best;
  for (const Chip &chip : chips()) {
    std::string_view rest = chip.name;
    bool hasAll = true;
    while (hasAll && !rest.empty()) {
      std::string_view part = rest.substr(0, rest.find('-'));
      hasAll = words.contains(std::string(part));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    if (hasAll && (!best || chip.name.size() > best->name.size())) {
      best = chip;
    }
  }
  return best;
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
