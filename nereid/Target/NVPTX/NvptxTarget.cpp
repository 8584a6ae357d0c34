//===- NvptxTarget.cpp - NVIDIA architectures -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/NvptxTarget.h"

namespace nereid::nvptx {

namespace {
/// CUDA programming guide, table of technical specifications.
struct Row {
  const char *name;
  unsigned computeCapability;
  const char *ptxVersion;
  unsigned sharedKiB;                   ///< of a block, asked for
  unsigned warps, blocks, allSharedKiB; ///< of a multiprocessor
};
} // namespace

static constexpr Row rows[] = {
    {"sm_70", 70, "74", 96, 64, 32, 96},
    {"sm_75", 75, "74", 64, 32, 16, 64},
    {"sm_80", 80, "74", 163, 64, 32, 164},
    {"sm_86", 86, "74", 99, 48, 16, 100},
    {"sm_87", 87, "74", 163, 48, 16, 164},
    {"sm_89", 89, "78", 99, 48, 24, 100},
    {"sm_90", 90, "80", 227, 64, 32, 228},
    {"sm_90a", 90, "80", 227, 64, 32, 228},
    {"sm_100", 100, "86", 227, 64, 32, 228},
    {"sm_100a", 100, "86", 227, 64, 32, 228},
    {"sm_103a", 103, "88", 227, 64, 32, 228},
    {"sm_120", 120, "87", 99, 48, 24, 100},
    {"sm_120a", 120, "87", 99, 48, 24, 100},
};

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const Row &row : rows) {
    names.push_back(row.name);
  }
  return names;
}

bool isArchitecture(std::string_view name) { return name.starts_with("sm_"); }

Expected<NvptxTarget> resolve(std::string_view name) {
  std::string list;
  for (const Row &row : rows) {
    if (name == row.name) {
      return NvptxTarget{row.name,
                         row.computeCapability,
                         row.ptxVersion,
                         row.sharedKiB * 1024,
                         row.warps,
                         row.blocks,
                         row.allSharedKiB * 1024};
    }
    list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  return {ErrorCode::InvalidArgument, "no GPU architecture '" +
                                          std::string(name) +
                                          "'; expected one of " + list};
}

} // namespace nereid::nvptx
