//===- LayoutChoice.h - The layout each value wants -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value has one anchor layout, or is flexible. The anchor of a memory access
// is its coalesced layout, that of a matrix product the instruction's layout,
// that of a reduction what is left of its source's; element-wise operations
// follow their operands. Ranges, splats and what is computed from them alone
// are flexible: they are computed in each layout that a user needs.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOTILEGPU_LAYOUTCHOICE_H
#define NEREID_CONVERSION_TILETOTILEGPU_LAYOUTCHOICE_H

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include <map>
#include <set>

namespace nereid::totilegpu {

/// Why a product is not made of the target's matrix instructions.
enum class MatrixLimit {
  None,
  Disabled,  ///< by NEREID_DISABLE
  Precision, ///< float32, and not asked for tf32
  Type,      ///< no instruction takes the operands
  // Of those of one warp, which pad.
  Register, ///< K does not fill a register of an operand
  Work,     ///< padded blocks take longer than lanes do
  // Of those of groups of warps.
  Target,     ///< the target has none
  Warps,      ///< too few
  Batches,    ///< more than two dimensions
  NoPower,    ///< a size is no power of two
  MixedTypes, ///< the operands differ
  ShortSums,  ///< the instruction would add up more than max_num_imprecise_acc
  Rows,       ///< fewer than an instruction has
  Columns,    ///< the same
  Depth,      ///< the same
  PanelColumns, ///< too few for each group
  Orientation   ///< operands of 8 bits that do not run along K
};

/// What NEREID_DISABLE may leave out.
struct LayoutPolicies {
  bool usesMatrix;  ///< products may use matrix instructions
  bool sharesRows;  ///< splitRowsAcrossWarps
  bool adoptsTiles; ///< reuseConsumerLayouts
};

class LayoutChoice {
public:
  /// For a program of `warps`.
  LayoutChoice(mlir::func::FuncOp kernel, const tilegpu::TargetInfo &target,
               unsigned warps, const AxisInfoAnalysis &axes,
               LayoutPolicies policies);

  /// Absent for a flexible value.
  std::optional<TileLayout> anchorLayout(mlir::Value value);
  /// The anchor, or the default layout of the type.
  TileLayout anchorOrDefault(mlir::Value value);
  /// Row-major, coalesced.
  TileLayout defaultLayout(mlir::Type type) const;
  /// Of a load, store or atomic operation with tensor operands.
  TileLayout accessLayout(tile::MemoryAccess access) const;
  /// Of operand `index` (0: lhs, 1: rhs) of a product whose result has
  /// `accumulator`.
  TileLayout dotOperand(tile::DotOp op, unsigned index);
  TileLayout dotResult(tile::DotOp op);
  /// By the target's matrix instruction?
  bool usesMma(tile::DotOp op) const {
    return matrixLimit(op) == MatrixLimit::None;
  }
  /// By four warps together, operands in shared memory?
  bool usesWarpgroupMma(tile::DotOp op) const {
    return groupLimit(op) == MatrixLimit::None;
  }
  /// How a product is computed, in words.
  Decision decisionOf(tile::DotOp op) const;
  /// Of a result of a structured operation, where the operand that the result's
  /// placement names has the layout `named`.
  TileLayout resultOf(tile::StructuredOp op, unsigned result,
                      const TileLayout &named) const;
  /// `axis` in order over registers, lanes and warps.
  TileLayout alongAxis(mlir::Type type, unsigned axis) const;

private:
  std::optional<TileLayout> computeAnchor(mlir::Value value);
  std::optional<TileLayout> layoutIfDecided(mlir::Value value);
  bool isAnswered(mlir::Value value) const;
  std::optional<TileLayout> anchorOfArgument(mlir::BlockArgument argument);
  std::optional<TileLayout> anchorOfResult(mlir::Operation *op,
                                           unsigned result);
  std::optional<TileLayout> whereOperandsMeet(mlir::Operation *op);
  std::optional<TileLayout> anchorOfStructured(tile::StructuredOp op,
                                               unsigned result);
  std::optional<TileLayout> operandIfDecided(tile::StructuredOp op,
                                             unsigned index);
  std::optional<TileLayout> anchorFromAccess(mlir::Value value);
  void splitRowsAcrossWarps();
  void reuseConsumerLayouts();
  void storeFromOwnWarp();
  /// Is a load or store of a one-dimensional tile a few instructions there?
  bool isCheapIn(const TileLayout &layout, tile::MemoryAccess access);
  /// What a walk from a one-dimensional tile to its broadcasts has found.
  struct Spread {
    llvm::DenseMap<mlir::Value, std::optional<TileLayout>> known;
    std::set<Shape> tiles; ///< that it is broadcast to
  };
  std::optional<TileLayout> layoutWhereSpread(mlir::Value value,
                                              Spread &spread);
  /// Elements that one instruction of a load or store may take at most.
  unsigned ownWidth(tile::MemoryAccess access) const;
  unsigned ownWidth(tile::AtomicRMWOp op) const;
  int64_t laneCycles(tile::DotOp op) const;
  int64_t matrixCycles(tile::DotOp op,
                       const tilegpu::MatrixInstruction &one) const;
  std::vector<unsigned> dotWarps(tile::DotOp op) const;
  /// Groups of warps that multiply together, along rows and columns.
  std::vector<unsigned> warpgroups(tile::DotOp op) const;
  bool runsAlongK(tile::DotOp op, unsigned index) const;
  const tilegpu::MatrixInstruction *groupInstruction(tile::DotOp op) const;
  /// Of the instruction of one warp, as the product's operands come.
  MatrixFragments fragmentsOf(tile::DotOp op) const;
  MatrixLimit matrixLimit(tile::DotOp op) const;
  MatrixLimit groupLimit(tile::DotOp op) const;
  /// Elements of a tile that each thread gets, if all get as many.
  int64_t shareOf(const Shape &shape) const;

  mlir::func::FuncOp kernel;
  const tilegpu::TargetInfo &target;
  const AxisInfoAnalysis &axes;
  unsigned warps;
  LayoutPolicies policies;
  ThreadBits threadBits;
  llvm::DenseMap<mlir::Value, std::optional<TileLayout>> anchors;
  /// Arguments of loops whose anchor is being looked for.
  llvm::DenseSet<mlir::Value> visiting;
  /// Values without an anchor as long as no argument leaves `visiting`.
  llvm::DenseSet<mlir::Value> unanchored;
  /// Products whose left operand may be registers.
  llvm::DenseSet<mlir::Operation *> fromRegisters;
  /// Vector width of all accesses of one shape and order, so that loads and
  /// stores of a tile agree.
  std::map<std::pair<Shape, std::vector<unsigned>>, unsigned> widths;
  /// Shapes that are reduced, and along which dimension.
  std::set<std::pair<Shape, unsigned>> reductions;
  /// Accesses of small tiles in the layout of what they are used with.
  llvm::DenseMap<mlir::Operation *, TileLayout> adopted;
};

} // namespace nereid::totilegpu

#endif // NEREID_CONVERSION_TILETOTILEGPU_LAYOUTCHOICE_H
