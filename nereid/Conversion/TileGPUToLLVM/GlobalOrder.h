//===- GlobalOrder.h - Accesses of one program in their order ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's accesses to one array happen in program order, also where another
// thread wrote what a thread reads: then a barrier must lie between. Arrays are
// told apart by the kernel's pointer arguments (rootPointer).
//
// No barrier is needed between accesses through the same pointers where every
// element has one thread: it makes both.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_GLOBALORDER_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_GLOBALORDER_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace nereid::togpu {

class GlobalOrder {
public:
  struct Access {
    mlir::Value root;     ///< null: any array
    mlir::Value pointers; ///< null: not one thread an element
    bool writes = false;
  };
  /// The pointers of some accesses: none, the same for all, or several.
  class Pointers {
  public:
    void add(mlir::Value pointers);
    void add(const Pointers &others);
    /// Is there an access that another thread may have made than the one that
    /// makes an access through `pointers`?
    bool mayBeOfOtherThan(mlir::Value pointers) const;

  private:
    bool any = false, several = false;
    mlir::Value same;
  };
  /// What is known of the accesses to one array: as much as the next one has to
  /// know, so that a program's length does not matter.
  struct Array {
    mlir::Value root;
    Pointers read, written;
  };
  using State = llvm::SmallVector<Array>;

  static bool isAccess(mlir::Operation *op);
  static Access accessOf(mlir::Operation *op);

  /// Does the access need a barrier after those since the last one?
  bool needsBarrier(const Access &access) const;
  void record(const Access &access);
  void wasBarrier() { pending.clear(); }
  /// Accesses of earlier iterations: those of the whole body, through pointers
  /// that were others then.
  void enterLoop(mlir::Operation *loop);

  /// What has been accessed on one way or the other.
  static void join(State &state, const State &other);

  const State &state() const { return pending; }
  void restore(State state) { pending = std::move(state); }

private:
  static Array &arrayOf(State &state, mlir::Value root);

  State pending;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_GLOBALORDER_H
