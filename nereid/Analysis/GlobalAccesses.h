//===- GlobalAccesses.h - Which arrays a program touches --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's accesses to one array happen in program order, also where another
// thread wrote what a thread reads: then a barrier must lie between. Arrays are
// distinguished by the kernel's pointer arguments (rootPointer).
//
// No barrier is needed between accesses through the same pointers where every
// element has one thread: it makes both.
//
// What is kept of some accesses is as much as the next one has to know, and no
// less: it grows with the number of arrays, not with the program's length.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_GLOBALACCESSES_H
#define NEREID_ANALYSIS_GLOBALACCESSES_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace nereid {

class GlobalAccesses {
public:
  /// Those of `op` itself, without its regions.
  static GlobalAccesses of(mlir::Operation *op);

  bool empty() const { return arrays.empty(); }
  void clear() { arrays.clear(); }
  void add(const GlobalAccesses &others);
  /// May an access of `after` touch what another thread did before, one of them
  /// a write?
  bool conflictsWith(const GlobalAccesses &after) const;
  /// They were made in a loop, and are seen from outside or from another
  /// iteration: pointers that the loop computes are others then.
  void leave(mlir::Operation *loop);

private:
  /// The pointers of some accesses: none, the same for all, or several. Several
  /// too where an element has not one thread.
  class Pointers {
  public:
    void add(mlir::Value pointers);
    void add(const Pointers &others);
    void leave(mlir::Operation *loop);
    /// Are there accesses here and there that different threads may make?
    bool differFrom(const Pointers &others) const;

  private:
    bool any = false, several = false;
    mlir::Value same;
  };
  struct Array {
    mlir::Value root; ///< null: any array
    Pointers read, written;
  };
  Array &arrayOf(mlir::Value root);

  llvm::SmallVector<Array, 2> arrays;
};

/// Does a thread of a program, or of another one, touch global memory that this
/// one wrote? Then barriers must order it, and not shared memory alone. Atomic
/// operations and volatile accesses are made for that.
bool ordersGlobalMemory(mlir::Operation *kernel);

} // namespace nereid

#endif // NEREID_ANALYSIS_GLOBALACCESSES_H
