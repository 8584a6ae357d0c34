//===- TileLoop.h - Loops that walk over arrays -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How kernels read matrices: a loop with a tile or two of an array for each
// iteration. Iteration t is at position first + t * delta, an integer that
// comes from the induction variable or is carried; tiles begin there along one
// of their dimensions. Of the ways to write the same addresses and masks each
// loop takes other ones.
//
//   TileLoop loop(g, work, delta);
//   Walk a = loop.walk(f16, {64, 32}, 1);
//   unsigned sum = loop.carry(zeros);
//   loop.begin();
//   ... loop.load(a) ... loop.carried(sum) ... loop.next(sum, value)
//   loop.end();
//   ... loop.result(sum)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_TILELOOP_H
#define NEREID_TEST_FUZZ_TILELOOP_H

#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

class Generator::TileLoop {
public:
  /// Where the address of an iteration's tile comes from.
  enum class Form {
    Whole,    ///< computed in the loop from the position
    Offset,   ///< a tile of pointers before the loop, plus the position
    Pointers, ///< a carried tile of pointers
    Base,     ///< a carried pointer
    Indirect, ///< a position that is itself loaded
  };

  /// A tile of an array that moves along `dim`.
  struct Walk {
    mlir::RankedTensorType type; ///< as it is in memory
    size_t dim = 0;
    Placement place;
    mlir::Value base, shift;
    Dims valid; ///< of each dimension of the whole array; a mask keeps them
    llvm::SmallVector<bool> isMasked;
    Form form = Form::Whole;
    mlir::Value pointers; ///< Form::Offset
    unsigned carried = 0; ///< Form::Pointers and Base
    double magnitude = 8;
  };

  /// The addresses and mask of one iteration.
  struct Place {
    mlir::Value pointers, mask;
  };

  /// `work` bounds the number of iterations: about what one of them costs.
  TileLoop(Generator &g, int64_t work, int64_t delta);

  Walk walk(mlir::Type element, llvm::ArrayRef<int64_t> shape, size_t dim,
            bool isOutput = false);
  unsigned carry(mlir::Value init);

  void begin();
  Place at(const Walk &walk);
  Item load(const Walk &walk, const Place &place);
  /// Loads a tile and stores another in its place.
  Item replace(const Walk &walk, const Place &place);
  /// position + index along `moving` <= index along `still`
  mlir::Value reaches(llvm::ArrayRef<int64_t> shape, size_t still,
                      size_t moving);
  mlir::Value carried(unsigned number);
  void next(unsigned number, mlir::Value value) { yields[number] = value; }
  void end();
  mlir::Value result(unsigned number) { return loop.getResult(number); }

  /// All loads of the loop may be copied ahead, in so many stages.
  void setStages(int64_t stages);
  /// An i1: every second iteration.
  mlir::Value isOdd();
  int64_t tripCount() const { return trips; }

private:
  void chooseCounter();
  mlir::Value scalar(int64_t value, int percentRuntime);
  mlir::Value scaled(mlir::Value position, int64_t stride);
  mlir::Value narrow(mlir::Value position);
  mlir::Value gatheredRows(const Walk &walk);
  mlir::Value positionOf(const Walk &walk);
  mlir::Value mask(const Walk &walk, mlir::Value position);
  int64_t last() const {
    return first + std::max<int64_t>(trips - 1, 0) * delta;
  }

  Generator &g;
  Random &random;
  /// Everything begins at multiples of 16, and says so: then tiles are read in
  /// pieces of 16 bytes.
  bool isRegular;
  int64_t first = 0, delta, trips;
  /// The loop counts lower, lower + step, ...
  mlir::Type counterType;
  int64_t lower = 0, step = 1;
  mlir::Value lowerValue, upperValue, stepValue;
  /// The position is the induction variable plus `fromCounter`, times
  /// `perCount`; or it is carried.
  int64_t fromCounter = 0, perCount = 1;
  std::optional<unsigned> carriedPosition;

  llvm::SmallVector<mlir::Value> inits, yields;
  llvm::SmallVector<std::pair<unsigned, int64_t>> advances; ///< by how much
  mlir::scf::ForOp loop;
  std::optional<LoopBody> body;
  mlir::Value position;
  std::optional<int64_t> stages;
};

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_TILELOOP_H
