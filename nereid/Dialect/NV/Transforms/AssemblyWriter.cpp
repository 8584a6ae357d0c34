//===- AssemblyWriter.cpp - One piece of inline assembly ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/AssemblyWriter.h"

using namespace mlir;

namespace nereid::nv {

/// The constraint for a register of a type.
static char registerClass(Type type) {
  if (type.isF32()) {
    return 'f';
  }
  if (type.isF64()) {
    return 'd';
  }
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return 'b';
  case 16:
    return 'h';
  case 32:
    return 'r';
  default:
    return 'l';
  }
}

AssemblyWriter::AssemblyWriter(Operation *op) : op(op), b(op) {}

std::string AssemblyWriter::result(unsigned number) const {
  return "$" + std::to_string(number);
}

std::string AssemblyWriter::results() const {
  std::string text = "{";
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    text += (i ? ", $" : "$") + std::to_string(i);
  }
  return text + "}";
}

std::string AssemblyWriter::use(Value value) {
  operands.push_back(value);
  inputs += ',';
  inputs += registerClass(value.getType());
  return "$" + std::to_string(op->getNumResults() + operands.size() - 1);
}

std::string AssemblyWriter::use(ValueRange values) {
  std::string text = "{";
  for (Value value : values) {
    text += (text.size() > 1 ? ", " : "") + use(value);
  }
  return text + "}";
}

std::string AssemblyWriter::when(Value predicate) {
  return predicate ? "@" + use(predicate) + " " : std::string();
}

std::string AssemblyWriter::place(Value address, int32_t offset) {
  return "[" + use(address) + "+" + std::to_string(offset) + "]";
}

void AssemblyWriter::tie(ValueRange values) {
  for (auto [number, value] : llvm::enumerate(values)) {
    operands.push_back(value);
    inputs += "," + std::to_string(number);
  }
}

void AssemblyWriter::mark(StringRef name, Attribute value) {
  marks.push_back(b.getNamedAttr(name, value));
}

void AssemblyWriter::write(const std::string &text, bool hasSideEffects) {
  std::string constraints;
  for (Type type : op->getResultTypes()) {
    constraints += constraints.empty() ? "=" : ",=";
    constraints += isEarly ? "&" : "";
    constraints += registerClass(type);
  }
  constraints += inputs;
  StringRef list = constraints;
  list.consume_front(",");
  write(b.getStringAttr(text), b.getStringAttr(list), hasSideEffects);
}

/// Several results come as a struct.
void AssemblyWriter::write(StringAttr text, StringAttr constraints,
                           bool hasSideEffects) {
  SmallVector<Type> types(op->getResultTypes());
  MLIRContext *context = b.getContext();
  if (types.size() > 1) {
    types = {LLVM::LLVMStructType::getLiteral(context, types)};
  }
  auto made = LLVM::InlineAsmOp::create(
      b, op->getLoc(), types, operands, text, constraints, hasSideEffects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  made->setDiscardableAttrs(marks);
  if (op->getNumResults() == 1) {
    op->getResult(0).replaceAllUsesWith(made->getResult(0));
  } else {
    for (OpResult result : op->getResults()) {
      if (!result.use_empty()) {
        result.replaceAllUsesWith(LLVM::ExtractValueOp::create(
            b, op->getLoc(), made->getResult(0), result.getResultNumber()));
      }
    }
  }
  op->erase();
}

} // namespace nereid::nv
