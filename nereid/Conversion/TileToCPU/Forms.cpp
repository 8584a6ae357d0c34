//===- Forms.cpp - The table of structured operations ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Forms.h"

using namespace mlir;

namespace nereid::tocpu {

const StructuredForm *structuredForm(Operation *op) {
  static const FormTable table = [] {
    FormTable table;
    addShapeForms(table);
    addHistogramForms(table);
    return table;
  }();
  return table.find(op);
}

} // namespace nereid::tocpu
