//===- LoweringTable.h - What emits each operation -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table: an operation, and the function that emits what a thread does for
// it. A row stands in the file of the operation's family. Control flow and
// element-wise operations, which are many, have no row.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_LOWERINGTABLE_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_LOWERINGTABLE_H

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

namespace nereid::togpu {

/// Of a thread's instruction.
inline constexpr unsigned accessBytes = 16;

/// So many registers, from each multiple of it on, hold neighbours of the last
/// dimension that begin at a multiple of it there: a power of two, at most what
/// one access has.
unsigned neighboursOf(const TileInfo &tile);

class LoweringTable {
public:
  using Lowering = void (*)(KernelEmitter &, mlir::Operation *);

  /// `emit`: a function of the emitter and the operation, or a member of the
  /// emitter.
  template <typename Op, auto emit>
  void add() {
    rows[mlir::TypeID::get<Op>()] = [](KernelEmitter &e, mlir::Operation *op) {
      std::invoke(emit, e, mlir::cast<Op>(op));
    };
  }
  /// For all operations with an interface that have no row.
  template <typename Interface, auto emit>
  void addAll() {
    kinds.push_back(
        {[](mlir::Operation *op) { return mlir::isa<Interface>(op); },
         [](KernelEmitter &e, mlir::Operation *op) {
           std::invoke(emit, e, mlir::cast<Interface>(op));
         }});
  }
  /// Null for operations without either.
  Lowering find(mlir::Operation *op) const {
    if (Lowering row = rows.lookup(op->getName().getTypeID())) {
      return row;
    }
    const auto *kind = llvm::find_if(
        kinds, [&](const Kind &kind) { return kind.includes(op); });
    return kind == kinds.end() ? nullptr : kind->lowering;
  }

private:
  struct Kind {
    bool (*includes)(mlir::Operation *);
    Lowering lowering;
  };
  llvm::SmallVector<Kind, 2> kinds;
  llvm::DenseMap<mlir::TypeID, Lowering> rows;
};

// By family.
void addAtomicLowerings(LoweringTable &table);
void addConversionLowerings(LoweringTable &table);
void addCopyLowerings(LoweringTable &table);
void addDebugLowerings(LoweringTable &table);
void addDotLowerings(LoweringTable &table);
void addHistogramLowerings(LoweringTable &table);
void addMemoryLowerings(LoweringTable &table);
void addPrefetchLowerings(LoweringTable &table);
void addProgramLowerings(LoweringTable &table);
void addReduceLowerings(LoweringTable &table);
void addRoleLowerings(LoweringTable &table);
void addScanLowerings(LoweringTable &table);
void addShapeLowerings(LoweringTable &table);
void addUserFunctionLowerings(LoweringTable &table);

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_LOWERINGTABLE_H
