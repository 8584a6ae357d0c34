//===- Forms.h - Structured operations on the CPU ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of how the CPU computes structured operations: the plan asks it
// what must be in memory before, the nests call it. A row stands in the file of
// the operation's family. Reductions, scans, products, joins and cat, which
// shape the nests themselves, have no row.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_FORMS_H
#define NEREID_CONVERSION_TILETOCPU_FORMS_H

#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

namespace nereid::tocpu {

/// Where computing an element of a result reads an operand.
enum class Reads {
  InPlace,   ///< at the element's own position
  Elsewhere, ///< at another, which `evaluate` asks for
  Memory     ///< at positions found at run time, so from a buffer
};

struct StructuredForm {
  /// The elements of a result at `coords`, evaluated wherever they are wanted.
  /// Null: the operation takes a nest of its own.
  Lane (*evaluate)(ElementEmitter &evaluator, mlir::OpResult result,
                   unsigned coords) = nullptr;
  int cost = 1;                      ///< of `evaluate`, in cheap operations
  llvm::SmallVector<Reads, 2> reads; ///< by operand; InPlace after the last

  /// The nest over the positions of operand 0, which writes the result's
  /// buffer: what is emitted in front of it, and in it.
  void (*begin)(LoopEmitter &kernel, mlir::Operation *op,
                const Buffer &result) = nullptr;
  void (*lanes)(ElementEmitter &evaluator, mlir::Operation *op, unsigned coords,
                const Buffer &result) = nullptr;

  Reads readsOf(unsigned operand) const {
    return operand < reads.size() ? reads[operand] : Reads::InPlace;
  }
  bool readsMemory() const { return llvm::is_contained(reads, Reads::Memory); }
};

class FormTable {
public:
  template <typename Op>
  void add(StructuredForm form) {
    rows[mlir::TypeID::get<Op>()] = std::move(form);
  }
  const StructuredForm *find(mlir::Operation *op) const {
    auto found = rows.find(op->getName().getTypeID());
    return found == rows.end() ? nullptr : &found->second;
  }

private:
  llvm::DenseMap<mlir::TypeID, StructuredForm> rows;
};

// By family.
void addShapeForms(FormTable &table);     // Shape.cpp
void addHistogramForms(FormTable &table); // Histogram.cpp

/// Null for operations without a row.
const StructuredForm *structuredForm(mlir::Operation *op);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_FORMS_H
