//===- NvptxTarget.cpp - NVIDIA architectures -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/NvptxTarget.h"

namespace nereid::nvptx {

namespace {
struct Row {
  const char *name;
  unsigned computeCapability;
  const char *ptxVersion;
  unsigned sharedKiB; ///< CUDA programming guide, table of technical limits
};
} // namespace

static constexpr Row rows[] = {
    {"sm_70", 70, "63", 96},     {"sm_75", 75, "65", 64},
    {"sm_80", 80, "71", 163},    {"sm_86", 86, "71", 99},
    {"sm_87", 87, "74", 163},    {"sm_89", 89, "78", 99},
    {"sm_90", 90, "78", 227},    {"sm_90a", 90, "80", 227},
    {"sm_100", 100, "86", 227},  {"sm_100a", 100, "86", 227},
    {"sm_103a", 103, "88", 227}, {"sm_120", 120, "87", 99},
    {"sm_120a", 120, "87", 99},
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
      return NvptxTarget{row.name, row.computeCapability, row.ptxVersion,
                         row.sharedKiB * 1024};
    }
    list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  return {ErrorCode::InvalidArgument, "no GPU architecture '" +
                                          std::string(name) +
                                          "'; expected one of " + list};
}

} // namespace nereid::nvptx
