//===- ProductLayouts.cpp - Instructions and layouts of products ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LayoutChoice's part about matrix products: by which instruction, shared among
// which warps, with operands and result in which layouts.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RegisterOperands.h"
#include "nereid/Conversion/TileToTileGPU/LayoutChoice.h"

#include <set>

using namespace mlir;
using nereid::tilegpu::shapeOf;

namespace nereid::totilegpu {

/// Issue cycles of a warp for the product on lanes: for each step along K every
/// element of the result that a thread holds is one multiplication and
/// addition, and each row and column of them an element read from shared
/// memory.
int64_t LayoutChoice::laneCycles(tile::DotOp op) const {
  Shape shape = shapeOf(op.getType());
  TileLayout layout = defaultLayout(op.getType());
  std::vector<bool> dead = deadRegisters(layout, shape);
  std::set<std::vector<uint32_t>> rows, columns;
  int64_t sums = 0;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    if (!dead[r]) {
      std::vector<uint32_t> index = splitIndex(layout.ofRegister(r), shape);
      ++sums;
      std::vector<uint32_t> column = index;
      column[shape.size() - 2] = 0;
      columns.insert(column);
      index.back() = 0;
      rows.insert(index);
    }
  }
  if (tile::getElement(op.getLhs().getType()).isF64()) {
    sums *= target.doubleCycles;
  }
  int64_t reads = target.schedulers * (rows.size() + columns.size());
  return op.getLhs().getType().getShape().back() * (sums + reads);
}

/// The same on matrix instructions, whose blocks are padded.
int64_t
LayoutChoice::matrixCycles(tile::DotOp op,
                           const tilegpu::MatrixInstruction &one) const {
  ArrayRef<int64_t> c = op.getType().getShape();
  std::vector<unsigned> along = dotWarps(op);
  size_t rank = c.size();
  int64_t batches = rank == 3 ? llvm::divideCeilSigned(c[0], along[0]) : 1;
  int64_t blocks =
      llvm::divideCeilSigned(llvm::divideCeilSigned(c[rank - 2], one.m),
                             along[rank - 2]) *
      llvm::divideCeilSigned(llvm::divideCeilSigned(c[rank - 1], one.n),
                             along[rank - 1]);
  int64_t steps =
      llvm::divideCeilSigned(op.getLhs().getType().getShape().back(), one.k);
  return batches * blocks * steps * one.cycles;
}

MatrixLimit LayoutChoice::matrixLimit(tile::DotOp op) const {
  if (!policies.usesMatrix) {
    return MatrixLimit::Disabled;
  }
  Type element = tile::getElement(op.getLhs().getType());
  const tilegpu::MatrixInstruction *one =
      tilegpu::matrixInstruction(target, op);
  if (!one) {
    bool isRounded = tilegpu::operandKind(op) == tilegpu::OperandKind::F32 &&
                     target.findMatrix(tilegpu::OperandKind::TF32, 1);
    return isRounded ? MatrixLimit::Precision : MatrixLimit::Type;
  }
  int64_t depth = op.getLhs().getType().getShape().back();
  // A register of an operand holds neighbours along K.
  if (depth * element.getIntOrFloatBitWidth() < 32) {
    return MatrixLimit::Register;
  }
  return matrixCycles(op, *one) < laneCycles(op) ? MatrixLimit::None
                                                 : MatrixLimit::Work;
}

/// Is the left operand the result of another product, element by element?
static bool takesProduct(tile::DotOp op) {
  DenseSet<Value> seen;
  SmallVector<Value> work = {op.getLhs()};
  while (!work.empty()) {
    Operation *from = work.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<tile::DotOp>(from)) {
      return true;
    }
    if (from && tile::isElementwise(from) &&
        seen.insert(from->getResult(0)).second) {
      work.append(from->operand_begin(), from->operand_end());
    }
  }
  return false;
}

/// Does a product take its left operand from the result of another, element by
/// element? Then a row should stay in one warp.
static bool isChained(tile::DotOp op) {
  SmallVector<Value> work = {op.getResult()};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tile::DotOp>(user) && use.getOperandNumber() == 0) {
        return true;
      }
      if (tile::isElementwise(user) && seen.insert(user->getResult(0)).second) {
        work.push_back(user->getResult(0));
      }
    }
  }
  return takesProduct(op);
}

/// Sums of one instruction along a side.
static unsigned blockOf(const tilegpu::MatrixInstruction &one,
                        MatrixSide side) {
  return 1u << fragmentBits(one.fragments.result, side);
}

std::vector<unsigned> LayoutChoice::dotWarps(tile::DotOp op) const {
  const tilegpu::MatrixInstruction *one =
      tilegpu::matrixInstruction(target, op);
  unsigned blockM = blockOf(*one, MatrixSide::M);
  unsigned blockN = blockOf(*one, MatrixSide::N);
  ArrayRef<int64_t> c = op.getType().getShape();
  size_t rank = c.size();
  // A batch is a product of its own.
  unsigned batches = 1, left = warps;
  while (rank == 3 && left > 1 && batches < c[0]) {
    batches *= 2;
    left /= 2;
  }
  // Near-square tiles a warp read the fewest operand elements.
  unsigned wm = 1, wn = 1;
  int64_t m = c[rank - 2], n = c[rank - 1];
  bool rows = isChained(op);
  while (wm * wn < left) {
    bool canM = llvm::divideCeilSigned(m, wm) > blockM,
         canN = llvm::divideCeilSigned(n, wn) > blockN;
    if (canM &&
        (rows ||
         llvm::divideCeilSigned(m, wm) >= llvm::divideCeilSigned(n, wn) ||
         !canN)) {
      wm *= 2;
    } else if (canN) {
      wn *= 2;
    } else {
      wm *= 2; // copies
    }
  }
  // Sizes that are no powers of two may leave warps without work that another
  // split gives them: 96 rows by 64 columns on 8 warps.
  auto work = [&](unsigned along) {
    return llvm::divideCeilSigned(llvm::divideCeilSigned(m, blockM), along) *
           llvm::divideCeilSigned(llvm::divideCeilSigned(n, blockN),
                                  left / along);
  };
  for (unsigned along = 1; along <= left && !rows; along *= 2) {
    if (work(along) < work(wm)) {
      wm = along;
      wn = left / along;
    }
  }
  return rank == 3 ? std::vector{batches, wm, wn} : std::vector{wm, wn};
}

const tilegpu::MatrixInstruction *
LayoutChoice::groupInstruction(tile::DotOp op) const {
  auto kind = tilegpu::operandKind(op);
  return kind ? target.findMatrix(*kind, target.warpsOfGroup()) : nullptr;
}

std::vector<unsigned> LayoutChoice::warpgroups(tile::DotOp op) const {
  const tilegpu::MatrixInstruction *one = groupInstruction(op);
  unsigned groups = warps / one->warps;
  auto m = static_cast<unsigned>(op.getType().getShape()[0]);
  unsigned along = std::min(groups, m / one->m);
  return {along, groups / along};
}

/// Do rows of operand `index` run along K in shared memory, whether they are
/// copied there or written from registers? Of loads, perhaps transposed, it is
/// known.
bool LayoutChoice::runsAlongK(tile::DotOp op, unsigned index) const {
  Value value = op->getOperand(index);
  unsigned k = 1 - index;
  while (auto transpose = value.getDefiningOp<tile::TransposeOp>()) {
    k = transpose.getOrder()[k];
    value = transpose.getSource();
  }
  auto load = value.getDefiningOp<tile::LoadAccess>();
  return load && axes.order(load.getPtr())[0] == k &&
         tilegpu::innerDimension(accessLayout(load), shapeOf(load.getType())) ==
             k;
}

MatrixLimit LayoutChoice::groupLimit(tile::DotOp op) const {
  ArrayRef<int64_t> c = op.getType().getShape();
  Type lhs = tile::getElement(op.getLhs().getType());
  Type rhs = tile::getElement(op.getRhs().getType());
  if (!policies.usesMatrix) {
    return MatrixLimit::Disabled;
  }
  if (!target.warpsOfGroup()) {
    return MatrixLimit::Target;
  }
  const tilegpu::MatrixInstruction *one = groupInstruction(op);
  if (!one) {
    return MatrixLimit::Type;
  }
  if (warps % one->warps != 0) {
    return MatrixLimit::Warps;
  }
  if (c.size() != 2) {
    return MatrixLimit::Batches;
  }
  Shape left = shapeOf(op.getLhs().getType());
  if (!isPowerOfTwo(shapeOf(op.getType())) || !isPowerOfTwo(left)) {
    return MatrixLimit::NoPower;
  }
  bool isFloat8 = one->operand == tilegpu::OperandKind::F8;
  if (lhs != rhs && !isFloat8) {
    return MatrixLimit::MixedTypes;
  }
  if (isFloat8 && tilegpu::partsOfShortSums(op, one->k) == 0) {
    return MatrixLimit::ShortSums;
  }
  if (c[0] < one->m) {
    return MatrixLimit::Rows;
  }
  if (c[1] < one->n) {
    return MatrixLimit::Columns;
  }
  if (left[1] < one->k) {
    return MatrixLimit::Depth;
  }
  // Elements of 16 bits may lie along M and N, too.
  if (lhs.getIntOrFloatBitWidth() != 16 &&
      !(runsAlongK(op, 0) && runsAlongK(op, 1))) {
    return MatrixLimit::Orientation;
  }
  // A group's columns begin at a panel of 128 bytes.
  std::vector<unsigned> groups = warpgroups(op);
  return groups[1] == 1 || c[1] / groups[1] >= 64 ? MatrixLimit::None
                                                  : MatrixLimit::PanelColumns;
}

/// Is the value a tile as it was loaded in the block of `op`, or its transpose?
static bool isLoadedBeside(Value value, Operation *op) {
  Operation *from = value.getDefiningOp();
  while (isa_and_nonnull<tile::TransposeOp>(from)) {
    from = from->getOperand(0).getDefiningOp();
  }
  return isa_and_nonnull<tile::LoadAccess>(from) &&
         from->getBlock() == op->getBlock();
}

MatrixFragments LayoutChoice::fragmentsOf(tile::DotOp op) const {
  const MatrixFragments &own =
      tilegpu::matrixInstruction(target, op)->fragments;
  return takesProduct(op) ? meetingResult(own) : own;
}

TileLayout LayoutChoice::dotResult(tile::DotOp op) {
  if (usesWarpgroupMma(op)) {
    return flatten(warpgroupAccumulator(shapeOf(op.getType()), warpgroups(op)));
  }
  if (!usesMma(op)) {
    return defaultLayout(op.getType());
  }
  return flatten(
      fragmentResult(shapeOf(op.getType()), fragmentsOf(op), dotWarps(op)));
}

TileLayout LayoutChoice::dotOperand(tile::DotOp op, unsigned index) {
  Type type = op->getOperand(index).getType();
  if (usesWarpgroupMma(op)) {
    Value operand = op->getOperand(index);
    if (index == 1 || isLoadedBeside(operand, op) ||
        !fromRegisters.contains(op) ||
        tile::getElement(type).getIntOrFloatBitWidth() != 16) {
      return anchorOrDefault(operand);
    }
    return flatten(warpgroupOperand(shapeOf(type), 2, warpgroups(op)));
  }
  if (usesMma(op)) {
    return flatten(
        fragmentOperand(shapeOf(type), index, fragmentsOf(op), dotWarps(op)));
  }
  return defaultLayout(type); // read from shared memory
}

} // namespace nereid::totilegpu
