//===- TargetInfo.h - What passes ask of a GPU ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one description of a GPU. Every pass between Tile and machine
// instructions asks it, and no pass asks for a name. A vendor's folder below
// nereid/Target makes one for each architecture and puts it into the TileGPU
// dialect; a kernel says which one it is compiled for (`tilegpu.target`).
// docs/TargetInfo.md tells how to add a target.
//
// A *warp* is the threads that run in step, whatever the vendor calls them; a
// *processor* is what holds the threads of a block and their shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_IR_TARGETINFO_H
#define NEREID_DIALECT_TILEGPU_IR_TARGETINFO_H

#include "nereid/Layout/MatrixFragments.h"
#include "nereid/Layout/SharedMemoryShape.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace nereid::tilegpu {

/// Elements of a product's operands, as matrix instructions tell them apart.
/// F32 keeps every bit of a float32; TF32x3 is three products of tf32, which
/// keep 22.
enum class OperandKind { F16, BF16, TF32, TF32x3, F32, F64, I8, F8 };

/// A matrix instruction, or a few of them, as layouts see it: C[m, n] +=
/// A[m, k] * B[k, n] by `warps` warps together. A product of one warp may have
/// any size: it is padded to whole instructions. Products of several are made
/// of whole ones.
struct MatrixInstruction {
  OperandKind operand;
  unsigned warps; ///< 1: operands in registers; 4: in shared memory
  unsigned m, n, k;
  /// From one to the next of a warp, at the least, in the time that an
  /// instruction of one multiplication and addition a lane takes.
  unsigned cycles = 1;
  /// Of an instruction of one warp: which lane holds what.
  MatrixFragments fragments = {};
  bool takesUnsigned = true; ///< of I8: bytes without a sign, too
  /// Of F8: elements come as f16, which holds each of them.
  bool isWidened = false;
};

struct TargetInfo {
  std::string name; ///< as --target and `tilegpu.target` spell it
  /// Whose instructions its threads run: a name of the table in
  /// Conversion/TileGPUToLLVM/Instructions.cpp.
  std::string instructions;

  // A warp, and a thread of it.
  unsigned lanes = 0;           ///< threads of a warp, a power of two
  unsigned accessBytes = 0;     ///< of the widest load or store of a thread
  unsigned threadRegisters = 0; ///< of 32 bits, at most
  unsigned additionCycles = 4;  ///< until a sum can be added to
  unsigned offsetBits = 24; ///< signed, of what an access adds to an address

  // A block.
  unsigned mostWarps = 0;   ///< a power of two
  unsigned sharedLimit = 0; ///< bytes of shared memory, at most
  SharedMemoryShape shared;

  // A processor.
  unsigned processorWarps = 0, processorBlocks = 0; ///< resident at once
  unsigned processorShared = 0;                     ///< bytes
  unsigned processorRegisters = 0;                  ///< of 32 bits
  /// Bytes on their way from memory that keep it busy: bandwidth times latency,
  /// of each processor.
  unsigned bytesInFlight = 0;
  /// A multiplication and addition of f64, in the time that one of f32 takes.
  unsigned doubleCycles = 2;
  /// Of instructions; they share the way to shared memory.
  unsigned schedulers = 4;

  // What there are instructions for.
  std::vector<MatrixInstruction> matrix;
  bool hasAsyncCopies = false;  ///< from global to shared memory
  bool hasBulkPrefetch = false; ///< of a run of memory, to the last cache
  bool hasTensorMaps = false;   ///< boxes of tensors, to shared memory
  bool hasMatrixLoads = false;  ///< fragments of operands, of shared memory
  bool hasBf16Arithmetic = false;
  bool hasBf16Atomics = false;
  bool hasFloat8Conversions = false; ///< from f32 and to f16
  /// Consecutive floats of 16 or 32 bits that one atomic addition takes.
  unsigned atomicSumBytes = 4;
  bool hasPackedRounding = false;   ///< two f32 to one word of 16-bit floats
  bool hasPackedSaturation = false; ///< four i32 to one word of 8-bit integers
  bool hasGridDependency = false;   ///< a grid may wait for the one before it
  bool hasWarpReductions = false; ///< of an i32 of every lane, one instruction

  /// Bytes that one atomic operation updates; several elements where they are
  /// floats of at most 32 bits to add to.
  unsigned atomicBytes(bool isFloatSum, unsigned elementBytes) const {
    return isFloatSum && elementBytes <= 4
               ? std::max(atomicSumBytes, elementBytes)
               : elementBytes;
  }

  unsigned laneBits() const { return std::countr_zero(lanes); }

  /// The instruction for operands of one kind, by one warp or by several; null
  /// if there is none. Of several the one of `rows`, else the first; of those
  /// with as many rows the fastest for `depth` elements along K.
  const MatrixInstruction *findMatrix(OperandKind operand, unsigned warps,
                                      unsigned rows = 0,
                                      int64_t depth = 1) const {
    auto cycles = [&](const MatrixInstruction &one) {
      return (depth + one.k - 1) / one.k * one.cycles;
    };
    const MatrixInstruction *found = nullptr;
    for (const MatrixInstruction &one : matrix) {
      if (one.operand != operand || one.warps != warps) {
        continue;
      }
      bool isBetter = found && (one.m == found->m ? cycles(one) < cycles(*found)
                                                  : one.m == rows);
      if (!found || isBetter) {
        found = &one;
      }
    }
    return found;
  }
  /// Warps that multiply together what is in shared memory; 0: none do.
  unsigned warpsOfGroup() const {
    for (const MatrixInstruction &one : matrix) {
      if (one.warps > 1) {
        return one.warps;
      }
    }
    return 0;
  }
};

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_IR_TARGETINFO_H
