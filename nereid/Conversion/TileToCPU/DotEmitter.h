//===- DotEmitter.h - One matrix product -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dot.cpp chooses the instructions and lays the operands out for them,
// DotRows.cpp reads the left one where it lies, DotBlocks.cpp goes over the
// result, DotTiles.cpp is the part of AMX.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_DOTEMITTER_H
#define NEREID_CONVERSION_TILETOCPU_DOTEMITTER_H

#include "nereid/Conversion/TileToCPU/Nest.h"

namespace nereid::tocpu {

/// What multiplies: elements in the type of the sum, or words of narrow
/// neighbours along k, by vectors or by tiles.
enum class Product {
  Elements,
  Bf16Pairs,
  Int16Pairs,
  Int8Quads,
  Bf16Tiles,
  Int8Tiles
};

/// One dot operation.
class DotEmitter {
public:
  DotEmitter(LoopEmitter &kernel, tile::DotOp op) : kernel(kernel), op(op) {}
  void emit();

private:
  void chooseProduct();
  Buffer operand(mlir::Value value, bool isRhs);
  Buffer packed(mlir::Value value, bool isRhs);
  std::optional<Buffer> inPlace(mlir::Value value, bool isRhs);
  Buffer allocateWords(llvm::ArrayRef<int64_t> shape, int inner,
                       bool wholeRows = false);
  void chooseBlock();
  void emitColumns(int64_t first, int64_t last, int64_t vectors);
  void emitBlock(ElementEmitter &evaluator, const Coord &row,
                 const Coord &column, int64_t rows, int64_t vectors,
                 int64_t inside);
  llvm::SmallVector<mlir::Value> multiply(ElementEmitter &evaluator,
                                          const Coord &row, const Coord &column,
                                          int64_t rows, int64_t vectors,
                                          llvm::SmallVector<mlir::Value> sums);
  mlir::Value word(const Buffer &buffer, mlir::Value x, int64_t dx,
                   mlir::Value y, int64_t dy, int64_t lanes);
  mlir::Value word(mlir::Value address, int64_t lanes);
  mlir::Value multiplyAdd(LaneOps ops, mlir::Value left, mlir::Value right,
                          mlir::Value total);
  void sumColumns(const Coord &column, int64_t vectors);
  mlir::Value address(const Buffer &buffer, mlir::Type element, mlir::Value x,
                      int64_t dx, mlir::Value y, int64_t dy);

  // DotFetch.cpp
  /// A block in memory whose lines are asked for ahead of their use.
  struct Ahead {
    mlir::Value address;  ///< of its first element
    mlir::Value rowBytes; ///< i64, from row to row
    int64_t rows, lines;  ///< lines of a row
  };
  std::optional<Ahead> nextBlock(mlir::Value value);
  /// Where a block of the result is with its lines, within one row of an
  /// operand: all i64 but the address.
  struct Fetching {
    mlir::Value address, left; ///< lines of the row from `address` on
    mlir::Value lines, next, nextRow;
  };
  void planFetches();
  Fetching startFetching(LaneOps ops, const Coord &row, const Coord &column);
  void fetchLine(LaneOps ops, Fetching &fetching);

  // DotRows.cpp
  /// Rows of the left operand in memory, as the products read them.
  struct Rows {
    mlir::Value address;  ///< of the first word
    mlir::Value rowBytes; ///< i64
    /// i1: no element is masked out, and the distance suits tiles; null: true.
    mlir::Value isUsable;
  };
  std::optional<Rows> rowsInMemory(mlir::Value value);
  Buffer rowsOrPacked(mlir::Value value, const Rows &found);
  mlir::Value ofRow(const Coord &row, int64_t r);
  mlir::Value alongRow(mlir::Value row, mlir::Value k, int64_t step);

  // DotTiles.cpp
  bool usesTiles() const {
    return product == Product::Bf16Tiles || product == Product::Int8Tiles;
  }
  bool fillsTiles();
  void chooseTiles();
  void configureTiles();
  void releaseTiles();
  bool addsInPlace();
  llvm::SmallVector<mlir::Value> multiplyTiles(ElementEmitter &evaluator,
                                               const Coord &row,
                                               const Coord &column,
                                               int64_t rows, int64_t vectors);

  LoopEmitter &kernel;
  tile::DotOp op;
  Buffer lhs, rhs, result;
  mlir::Value lhsRowBytes; ///< i64, where rows of lhs may lie in memory
  Product product = Product::Elements;
  mlir::Type sum;
  mlir::Type part;   ///< of the elements in a word
  int64_t group = 1; ///< elements a word
  int64_t M, N, K, batches = 1;
  bool batched = false;
  int64_t lanes = 1, rows = 1, columns = 1;
  mlir::Value batchIndex;
  llvm::SmallVector<mlir::OpBuilder::InsertPoint> anchors;
  /// Of quads, what is taken off each vector of columns.
  llvm::SmallVector<mlir::Value> excess;
  llvm::SmallVector<Ahead, 2> ahead;
  /// Every `fetchSteps` steps along k, `fetchLines` lines are asked for.
  int64_t fetchSteps = 1, fetchLines = 0;
  bool fetches = false; ///< in the block that is being emitted
  Buffer tileConfig;
  Buffer tileSums; ///< of one block, where they are not added in place
};

/// Does an address or a mask depend on memory? Its computation would be a load
/// more.
bool readsMemory(mlir::Value value);

/// The buffer that `value` names, through views; a base of null if none.
Buffer viewOf(LoopEmitter &kernel, mlir::Value value);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_DOTEMITTER_H
