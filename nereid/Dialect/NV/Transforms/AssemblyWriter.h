//===- AssemblyWriter.h - One piece of inline assembly ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_TRANSFORMS_ASSEMBLYWRITER_H
#define NEREID_DIALECT_NV_TRANSFORMS_ASSEMBLYWRITER_H

#include "nereid/Dialect/NV/IR/NV.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <string>

namespace nereid::nv {

/// Replaces one operation by assembly. Its results are $0, $1, ...; operands
/// take the numbers after them, in the order in which they are asked for.
class AssemblyWriter {
public:
  explicit AssemblyWriter(mlir::Operation *op);

  /// "$0" of the first result.
  std::string result(unsigned number) const;
  /// "{$0, $1}": all results.
  std::string results() const;
  /// A new operand.
  std::string use(mlir::Value value);
  /// "{$4, $5}"
  std::string use(mlir::ValueRange values);
  /// "@$4 ", or nothing without a predicate.
  std::string when(mlir::Value predicate);
  /// "[$4+16]"
  std::string place(mlir::Value address, int32_t offset);
  /// Values that come in the registers in which all results leave, in order.
  void tie(mlir::ValueRange values);
  /// Operands of a text that numbers them itself.
  void useAsTheyAre(mlir::ValueRange values) {
    llvm::append_range(operands, values);
  }
  /// Results are written while operands are still to be read.
  void clobberEarly() { isEarly = true; }
  /// An attribute of the assembly, for later stages.
  void mark(llvm::StringRef name, mlir::Attribute value);

  void write(const std::string &text, bool hasSideEffects);
  /// The same, under other constraints.
  void write(mlir::StringAttr text, mlir::StringAttr constraints,
             bool hasSideEffects);

private:
  mlir::Operation *op;
  mlir::OpBuilder b;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::NamedAttribute> marks;
  std::string inputs; ///< constraints of the operands, each after a comma
  bool isEarly = false;
};

// By family; false where the operation is of another.
bool printMemory(mlir::Operation *op);
bool printMatrix(mlir::Operation *op);
bool printAsync(mlir::Operation *op);
bool printArithmetic(mlir::Operation *op);

} // namespace nereid::nv

#endif // NEREID_DIALECT_NV_TRANSFORMS_ASSEMBLYWRITER_H
