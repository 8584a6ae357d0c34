//===- Regions.h - What regions capture and do to memory -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every level of nested branches and loops asks what lies below it. One walk
// over the kernel answers for all levels: a walk at each level would make a
// chain of `elif`, which nests, cost the square of its length.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_REGIONS_H
#define NEREID_CONVERSION_TILETOCPU_REGIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::tocpu {

class Regions {
public:
  explicit Regions(mlir::func::FuncOp kernel);

  /// Values from outside of `op` that something inside reads, but constants.
  llvm::ArrayRef<mlir::Value> captured(mlir::Operation *op) const;
  /// Does anything inside of `op` read or write memory?
  bool touchesMemory(mlir::Operation *op) const;
  /// The writes inside of `op`, one for each array and shape.
  llvm::ArrayRef<mlir::Operation *> writes(mlir::Operation *op) const;

private:
  struct Facts {
    llvm::SetVector<mlir::Value> captured;
    llvm::SmallVector<mlir::Operation *> writes;
    bool touchesMemory = false;
  };
  void capture(mlir::Operation *reader, mlir::Value value);
  void addWrite(mlir::Operation *write);

  mlir::func::FuncOp kernel;
  llvm::DenseMap<mlir::Operation *, Facts> facts;
};

/// Does `op`, which has no region, change memory that loads can see?
bool isWrite(mlir::Operation *op);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_REGIONS_H
