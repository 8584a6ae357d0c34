//===- AmdgpuTarget.cpp - AMD architectures -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/AmdgpuTarget.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"
#include "nereid/Target/AMDGPU/MatrixTable.h"

namespace nereid::amdgpu {

namespace {
struct Row {
  const char *name;
  unsigned lanes;
  unsigned sharedKiB;    ///< LDS of a workgroup, at most
  unsigned allSharedKiB; ///< of a processor
  unsigned banks;        ///< of LDS that one wave reaches at once
  unsigned waves;        ///< resident on a processor
  unsigned registers;    ///< of 32 bits, of a processor's lanes together
  unsigned offsetBits;   ///< of GLOBAL_LOAD, signed
  unsigned doubleCycles;
  bool hasBf16Atomics; ///< GLOBAL_ATOMIC_PK_ADD_BF16
};
} // namespace

/// A processor is a compute unit (CDNA) or a pair of them that shares its LDS
/// (RDNA's workgroup processor): four SIMD units. ISA documents "AMD Instinct
/// MI200", "MI300" and "CDNA 4", "RDNA 3" and "RDNA 4", chapters on wave state,
/// LDS and memory instructions; LLVM's AMDGPUUsage and GCNSubtarget. A SIMD
/// unit has 512 registers of 64 lanes for 8 waves (CDNA), or 1,536 of 32 lanes
/// for 16 waves (RDNA).
static constexpr Row rows[] = {
    {"gfx90a", 64, 64, 64, 32, 32, 128 * 1024, 13, 1, false},
    {"gfx942", 64, 64, 64, 32, 32, 128 * 1024, 13, 1, true},
    {"gfx950", 64, 160, 160, 64, 32, 128 * 1024, 13, 1, true},
    {"gfx1100", 32, 64, 128, 32, 64, 192 * 1024, 13, 32, false},
    {"gfx1201", 32, 64, 128, 32, 64, 192 * 1024, 24, 32, true},
};

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const Row &row : rows) {
    names.push_back(row.name);
  }
  return names;
}

bool isArchitecture(std::string_view name) { return name.starts_with("gfx"); }

static tilegpu::TargetInfo describe(const Row &row) {
  constexpr unsigned mostThreads = 1024; // of a workgroup
  tilegpu::TargetInfo info;
  info.name = row.name;
  info.instructions = "amd";
  info.lanes = row.lanes;
  info.accessBytes = 16;
  info.threadRegisters = 256;
  info.offsetBits = row.offsetBits;
  info.mostWarps = mostThreads / row.lanes;
  info.sharedLimit = row.sharedKiB * 1024;
  info.shared = {row.banks, /*bankBytes=*/4, /*accessBytes=*/16};
  info.processorWarps = row.waves;
  info.processorBlocks = 32;
  info.processorShared = row.allSharedKiB * 1024;
  info.processorRegisters = row.registers;
  info.doubleCycles = row.doubleCycles;
  info.hasBf16Atomics = row.hasBf16Atomics;
  info.matrix = matrixInstructions(row.name);
  return info;
}

Expected<AmdgpuTarget> resolve(std::string_view name) {
  std::string list;
  for (const Row &row : rows) {
    if (name == row.name) {
      return AmdgpuTarget{row.name, describe(row)};
    }
    list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  return {ErrorCode::InvalidArgument, "no GPU architecture '" +
                                          std::string(name) +
                                          "'; expected one of " + list};
}

void registerTargets(mlir::DialectRegistry &registry) {
  registry.addExtension(
      +[](mlir::MLIRContext *, tilegpu::TileGPUDialect *dialect) {
        for (const Row &row : rows) {
          dialect->addTarget(describe(row));
        }
      });
}

} // namespace nereid::amdgpu
