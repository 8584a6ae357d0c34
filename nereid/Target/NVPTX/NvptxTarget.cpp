//===- NvptxTarget.cpp - NVIDIA architectures -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

namespace nereid::nvptx {

namespace {
struct Row { ///< of GpuArchitectures.def
  const char *name;
  unsigned computeCapability;
  const char *ptxVersion;
  unsigned sharedKiB;                   ///< of a block, asked for
  unsigned warps, blocks, allSharedKiB; ///< of a multiprocessor
};
} // namespace

static constexpr Row rows[] = {
#define NEREID_GPU_ARCHITECTURE(...) {__VA_ARGS__},
#include "nereid/Support/GpuArchitectures.def"
};

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const Row &row : rows) {
    names.push_back(row.name);
  }
  return names;
}

bool isArchitecture(std::string_view name) { return name.starts_with("sm_"); }

/// Chips of the data centre have tensor cores and f64 units of another rate
/// than those of the desk ("Arithmetic instructions" of the CUDA C++
/// Programming Guide, and the whitepapers of A100, GA102 and H100).
static bool isOfTheDesk(unsigned capability) {
  return capability == 86 || capability == 89 || capability >= 120;
}

/// The tables of "Matrix fragments" and of wgmma's shapes (PTX ISA). f64 is
/// m8n8k4 before sm_90, in the layouts of m16n8. A quarter of a processor
/// multiplies 256 pairs of 16 bits a cycle by mma.sync, half as many on chips
/// of the desk, and 16 or 32 of f64.
static std::vector<tilegpu::MatrixInstruction>
matrixInstructions(const Row &row) {
  using tilegpu::OperandKind;
  std::vector<tilegpu::MatrixInstruction> all;
  bool isOfDesk = isOfTheDesk(row.computeCapability);
  unsigned cycles = isOfDesk ? 16 : 8;
  if (row.computeCapability >= 80) {
    bool isOld = row.computeCapability < 90;
    tilegpu::MatrixInstruction ofDoubles =
        isOld ? tilegpu::MatrixInstruction{OperandKind::F64, 1, 8, 8, 4, 16}
              : tilegpu::MatrixInstruction{OperandKind::F64, 1, 16, 8, 8, 32};
    if (isOfDesk) {
      ofDoubles.cycles *= isOld ? 32 : 64;
    }
    all = {{OperandKind::F16, 1, 16, 8, 16, cycles},
           {OperandKind::BF16, 1, 16, 8, 16, cycles},
           {OperandKind::TF32, 1, 16, 8, 8, cycles},
           {OperandKind::TF32x3, 1, 16, 8, 8, 3 * cycles},
           {OperandKind::I8, 1, 16, 8, 32, cycles},
           ofDoubles};
  }
  if (row.computeCapability >= 89) {
    all.push_back({OperandKind::F8, 1, 16, 8, 32, cycles});
  }
  for (tilegpu::MatrixInstruction &one : all) {
    bool isByte =
        one.operand == OperandKind::I8 || one.operand == OperandKind::F8;
    bool isHalf =
        one.operand == OperandKind::F16 || one.operand == OperandKind::BF16;
    one.fragments = mmaFragments(isByte ? 4 : isHalf ? 2 : 1);
  }
  // wgmma: of this chip alone, neither older nor newer ones have it.
  if (std::string_view(row.name) == "sm_90a") {
    all.push_back({OperandKind::F16, 4, 64, 16, 16});
    all.push_back({OperandKind::BF16, 4, 64, 16, 16});
    all.push_back({OperandKind::I8, 4, 64, 16, 32});
    all.push_back({OperandKind::F8, 4, 64, 16, 32});
  }
  return all;
}

static tilegpu::TargetInfo describe(const Row &row) {
  unsigned capability = row.computeCapability;
  tilegpu::TargetInfo info;
  info.name = row.name;
  info.instructions = "nv";
  info.lanes = 32;
  info.accessBytes = 16;
  info.threadRegisters = 255;
  info.mostWarps = 32;
  info.sharedLimit = row.sharedKiB * 1024;
  info.shared = {/*banks=*/32, /*bankBytes=*/4, /*accessBytes=*/16};
  info.processorWarps = row.warps;
  info.processorBlocks = row.blocks;
  info.processorShared = row.allSharedKiB * 1024;
  info.processorRegisters = 64 * 1024;
  // Of an H200, which has 132 of them: 4.8 TB/s with a latency of half a
  // microsecond. Not used where there is no bulk prefetch.
  info.bytesInFlight = 16 * 1024;
  info.doubleCycles = isOfTheDesk(capability) ? 64 : capability >= 90 ? 2 : 4;
  info.matrix = matrixInstructions(row);
  info.hasPackedSaturation = info.hasMatrixLoads = capability >= 75;
  info.hasAsyncCopies = info.hasBf16Arithmetic = info.hasPackedRounding =
      info.hasWarpReductions = capability >= 80;
  info.hasFloat8Conversions = capability >= 89;
  info.atomicSumBytes = capability >= 90 ? 16 : 4;
  info.hasBulkPrefetch = info.hasTensorMaps = info.hasBf16Atomics =
      info.hasGridDependency = capability >= 90;
  return info;
}

Expected<NvptxTarget> resolve(std::string_view name) {
  std::string list;
  for (const Row &row : rows) {
    if (name == row.name) {
      return NvptxTarget{row.name, row.computeCapability, row.ptxVersion,
                         describe(row)};
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

} // namespace nereid::nvptx
