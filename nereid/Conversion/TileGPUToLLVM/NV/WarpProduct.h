//===- WarpProduct.h - A product of one warp --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_NV_WARPPRODUCT_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_NV_WARPPRODUCT_H

#include "nereid/Conversion/TileGPUToLLVM/NV/Fragment.h"

#include <set>

namespace nereid::togpu {

/// An operand of a product, in registers or in a buffer. `outer` and `k` are
/// its dimensions.
struct MmaOperand {
  const TileInfo *tile;
  unsigned outer, k;
  const Registers *registers = nullptr;
  std::map<uint32_t, unsigned> at;
  std::map<uint32_t, mlir::Value> words;

  std::optional<uint32_t> flat(uint32_t batch, uint32_t row,
                               uint32_t step) const;
};

class KernelEmitter::WarpProduct {
public:
  WarpProduct(KernelEmitter &e, tile::DotOp op);

  void emit();
  /// m8n8k4 in the layouts of m16n8, of f64 before sm_90: half the rows of the
  /// accumulator, and a quarter of an operand's block, at a time.
  void emitOfEightRows();
  /// f32 by three products of tf32 (SplitMma.cpp).
  void emitSplit();

private:
  MmaOperand open(mlir::Value value, unsigned index);
  std::optional<Fragment> &fragmentOf(const MmaOperand &operand) {
    return &operand == &a ? aFragment : bFragment;
  }
  mlir::Value element(const MmaOperand &operand, uint32_t batch, uint32_t row,
                      uint32_t step);
  mlir::Value word(MmaOperand &operand, uint32_t batch, uint32_t row,
                   uint32_t step);
  mlir::Value keptWithin(mlir::Value value, uint32_t step);
  mlir::Value wordWithin(mlir::Value word, uint32_t step);
  mlir::Value zero(mlir::Type type) {
    return e.ops().constant(mlir::cast<mlir::TypedAttr>(b.getZeroAttr(type)));
  }
  /// Register of the result, or -1.
  int sumAt(uint32_t batch, uint32_t m, uint32_t n) const;
  mlir::Value sum(int at) { return at < 0 ? zero(sumType) : c[at]; }
  void findBlocks(unsigned blockRows);
  /// Narrow sums are f32 within a product.
  void widenSums();
  void narrowSums();

  // SplitMma.cpp
  struct Part;
  /// Words of an operand's rows, or columns, for one instruction each.
  using Words = std::vector<Registers>;
  std::vector<Part> parts() const;
  std::pair<Words, Words> wordsOf(const Part &part, uint32_t step);
  void addStep(const Words &left, const Words &top, Registers &sums);
  std::pair<Registers, Registers> sumsOf(const Part &part, uint32_t step,
                                         mlir::Value mask);
  mlir::Value hasSpecial(const Registers &sums, llvm::ArrayRef<int> at);
  void readFrom(llvm::ArrayRef<mlir::Value> slots);
  void addPart(const Part &part, uint32_t step);
  Registers chosen(const Registers &large, const Registers &all,
                   mlir::Value areWhole);

  KernelEmitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::DotOp op;
  const TileInfo &cTile;
  std::optional<Fragment> aFragment, bFragment;
  MmaOperand a, right;
  std::map<uint32_t, unsigned> cAt;
  Registers c;
  mlir::Type operandElement, sumType;
  unsigned kWidth; ///< elements of an operand's register
  uint32_t depth;
  bool roundsWords = true; ///< f32 to tf32
  mlir::Value laneStep;    ///< of a lane's first element along K
  std::set<uint32_t> batches, rows, columns;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_NV_WARPPRODUCT_H
