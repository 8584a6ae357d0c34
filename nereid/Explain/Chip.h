//===- Chip.h - Rates of GPUs that are sold ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_CHIP_H
#define NEREID_EXPLAIN_CHIP_H

#include "nereid/ABI/Status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::explain {

/// Lanes that a multiprocessor serves a cycle, by the kind of instruction (CUDA
/// C++ Programming Guide, "Throughput of Native Arithmetic Instructions"; AMD's
/// architecture papers of CDNA 2 to 4, RDNA 3 and RDNA 4).
struct Pipes {
  double f32, f16x2, f64, special;
};

/// Peak rates of the data sheets, dense, sums of products in f32.
struct Chip {
  std::string_view name;   ///< "h200"
  std::string_view target; ///< that kernels for it are compiled for
  /// Of AMD compute units (CDNA), or pairs of them that share LDS (RDNA).
  unsigned multiprocessors;
  double gigahertz;          ///< boost
  double gigabytesPerSecond; ///< of memory
  unsigned cacheMegabytes;   ///< the last level
  unsigned fetchBytes;       ///< that memory is read in
  // Multiplications and additions of matrix instructions, in 10^12 a second,
  // both counted; 0: none.
  double teraF16, teraTf32, teraF8, teraI8, teraF64;

  /// The rate of a matrix instruction for this type of operands ("f16", "tf32",
  /// "e4m3", "s8", "f64" ...), in 10^12 a second: `isGroup` where several warps
  /// give it together, else it is mma.sync. Types without a rate have that of
  /// f16.
  double productRate(std::string_view type, bool isGroup) const;
  Pipes pipes() const;
  /// Of the multiprocessor's own memory: words that different threads of a warp
  /// have in one pass.
  unsigned banks() const { return target == "gfx950" ? 64 : 32; }
  bool isAmd() const { return target.starts_with("gfx"); }
};

const std::vector<Chip> &chips();

/// "h200, h100, ...".
std::string chipNames();

/// By name. InvalidArgument with the list otherwise, and with the chip that was
/// meant where that can be guessed ("H100", "sm_90a").
Expected<Chip> findChip(std::string_view name);
/// The one that a driver calls so: "NVIDIA H100 80GB HBM3". None where it is
/// not in the table.
std::optional<Chip> chipOfGpu(std::string_view name);
/// The first one with this target: "sm_90a" is an H200.
Expected<Chip> chipOfTarget(std::string_view target);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_CHIP_H
