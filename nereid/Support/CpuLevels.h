//===- CpuLevels.h - The levels of x86-64 processors ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels for the CPU are compiled for, and which of it this machine runs.
// The one place that says what a processor has: the conversion, code
// generation, the choice of an image compiled ahead of time and the models of
// operators all read it here.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_CPULEVELS_H
#define NEREID_SUPPORT_CPULEVELS_H

#include "nereid/ABI/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::cpu {

/// An instruction set to compile for: the four x86-64 levels of the System V
/// ABI, the highest with dot products (AVX512-VNNI, AVX512-BF16: Cooper Lake,
/// Sapphire Rapids, Zen 4 and later), and that with tiles (AMX: Sapphire Rapids
/// and later). A cached object serves every machine of its level; other
/// features (AVX512-FP16) are not used.
struct CpuTarget {
  /// "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-bf16",
  /// "x86-64-v4-amx"
  std::string name;
  int level = 1;             ///< 1 to 6, in that order
  std::string cpu;           ///< LLVM's name of the level
  std::string features = {}; ///< beyond it, as LLVM writes them: "+a,+b"
  std::string tuneCpu; ///< whose scheduling model and preferences to assume
  unsigned vectorBytes = 16;     ///< 16, 32 or 64
  unsigned vectorRegisters = 16; ///< 16 or 32
  bool hasMaskRegisters = false; ///< AVX-512: any vector op under a mask
  bool hasMaskedMemory = false;  ///< masked load and store of 32/64-bit lanes
  bool hasGather = false;        ///< of 32/64-bit lanes
  bool hasFma = false;
  bool hasF16c = false; ///< f16 <-> f32 in one instruction
  /// Sums of two bf16 or four byte products a lane.
  bool hasDotProducts = false;
  /// AMX: products of 16 x 16 tiles of bf16 and of bytes.
  bool hasTiles = false;

  /// Lanes of a full vector of elements of `elementBytes`.
  unsigned lanes(unsigned elementBytes) const {
    return vectorBytes / elementBytes;
  }
};

/// How many times a product by vectors, and one by tiles, may read a row of its
/// left operand where it lies: once for each strip of columns. More reads cost
/// more than a copy (docs/decisions/ProductBlocks.md).
constexpr int readsInPlaceOfVectors = 4, readsInPlaceOfTiles = 16;

/// Bytes between rows with which tiles are read where the rows lie: a multiple
/// of a cache's line, or each row of a tile has two of them, and none of
/// `crowded`, or a tile's lines share one or two sets of a first-level cache.
struct RowsOfTiles {
  static constexpr int64_t line = 64, crowded = 2048;
  static constexpr bool areUsable(int64_t rowBytes) {
    return rowBytes % line == 0 && rowBytes % crowded != 0;
  }
};

/// All levels, in rising order: each has what those before it have.
const std::vector<CpuTarget> &levels();

/// The highest level that this machine runs, 1 to 6; 0: no x86-64 processor.
int machineLevel();
/// Can this machine run code of `target`?
bool runsHere(const CpuTarget &target);

/// What Device::cpu() compiles for: the level that NEREID_CPU names, or else
/// the machine's. InvalidArgument where NEREID_CPU names none, or one that the
/// machine cannot run; Unsupported where it runs none.
Expected<CpuTarget> deviceTarget();
/// Its level, for models of speed: the machine's where there is an error, which
/// the launch then reports.
int deviceLevel();

/// "cpu" is deviceTarget(); the names of levels() are themselves. Anything else
/// is InvalidArgument with the list of names.
Expected<CpuTarget> resolve(std::string_view name);

} // namespace nereid::cpu

#endif // NEREID_SUPPORT_CPULEVELS_H
