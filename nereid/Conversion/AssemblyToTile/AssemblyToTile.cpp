//===- AssemblyToTile.cpp - Assembly by its meaning -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/AssemblyToTile/AssemblyToTile.h"

#include "nereid/Conversion/AssemblyToTile/PtxTranslator.h"

using namespace mlir;

namespace nereid {

namespace {

class Expansion {
public:
  explicit Expansion(tile::InlineAsmOp op)
      : op(op), b(op), loc(op.getLoc()), like(op.getOutputs()[0].getType()) {}

  LogicalResult run();

private:
  LogicalResult fail(const Twine &message) {
    return op.emitError("tl.inline_asm_elementwise: ") << message;
  }
  mlir::Type ofBits(unsigned bits) {
    return tile::withElement(like, b.getIntegerType(bits));
  }
  Value bitsOf(Value value);
  Value fromBits(Value bits, mlir::Type type);
  Value inSlots(Value bits, unsigned slots, unsigned registerBits);

  tile::InlineAsmOp op;
  OpBuilder b;
  Location loc;
  mlir::Type like;
};

unsigned widthOf(mlir::Type type) {
  mlir::Type element = tile::getElement(type);
  return isa<tile::PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

/// Registers that `pack` elements of `width` bits take.
unsigned registerCount(unsigned width, unsigned pack, unsigned registerBits) {
  return width >= registerBits ? pack
                               : llvm::divideCeil(width * pack, registerBits);
}

} // namespace

Value Expansion::bitsOf(Value value) {
  mlir::Type element = tile::getElement(value.getType());
  if (isa<tile::PtrType>(element)) {
    return tile::PtrToIntOp::create(b, loc, ofBits(64), value);
  }
  if (isa<FloatType>(element)) {
    return arith::BitcastOp::create(b, loc, ofBits(widthOf(element)), value);
  }
  return value;
}

Value Expansion::fromBits(Value bits, mlir::Type type) {
  unsigned width = widthOf(type);
  if (width < widthOf(bits.getType())) {
    bits = arith::TruncIOp::create(b, loc, ofBits(width), bits);
  }
  mlir::Type element = tile::getElement(type);
  if (isa<tile::PtrType>(element)) {
    return tile::IntToPtrOp::create(b, loc, type, bits);
  }
  return isa<FloatType>(element)
             ? Value(arith::BitcastOp::create(b, loc, type, bits))
             : bits;
}

/// The element in the first `slots` parts of a register.
Value Expansion::inSlots(Value bits, unsigned slots, unsigned registerBits) {
  unsigned width = widthOf(bits.getType());
  if (width >= registerBits) {
    return width > registerBits ? Value(arith::TruncIOp::create(
                                      b, loc, ofBits(registerBits), bits))
                                : bits;
  }
  Value word = arith::ExtUIOp::create(b, loc, ofBits(registerBits), bits);
  if (slots == 1) {
    return word;
  }
  llvm::APInt ones(registerBits, 0);
  for (unsigned i = 0; i < slots; ++i) {
    ones.setBit(i * width);
  }
  auto element = b.getIntegerType(registerBits);
  TypedAttr factor = IntegerAttr::get(element, ones);
  if (auto shaped = dyn_cast<RankedTensorType>(ofBits(registerBits))) {
    factor = DenseElementsAttr::get(shaped, Attribute(factor));
  }
  return arith::MulIOp::create(b, loc, word,
                               arith::ConstantOp::create(b, loc, factor));
}

LogicalResult Expansion::run() {
  std::string error;
  auto constraints = ptx::parseConstraints(op.getConstraints(), error);
  if (!constraints) {
    return fail("argument 'constraints': " + error);
  }
  auto statements = ptx::parseText(op.getText(), error);
  if (!statements) {
    return fail("argument 'asm': " + error);
  }
  ptx::Translator translator(b, loc, like, *constraints);
  unsigned pack = op.getPack(), next = 0;
  // Outputs come first: note where each begins.
  SmallVector<unsigned> firsts;
  for (mlir::Type type : op.getOutputs().getTypes()) {
    firsts.push_back(next);
    if (next >= constraints->size() || !(*constraints)[next].isOutput) {
      return fail("argument 'constraints': too few outputs");
    }
    next += registerCount(widthOf(type), pack, (*constraints)[next].bits);
  }
  for (Value input : op.getInputs()) {
    if (next >= constraints->size() || (*constraints)[next].isOutput) {
      return fail("argument 'constraints': too few inputs");
    }
    Value bits = bitsOf(input);
    unsigned width = widthOf(input.getType());
    unsigned registerBits = (*constraints)[next].bits;
    unsigned count = registerCount(width, pack, registerBits);
    for (unsigned i = 0; i < count && next < constraints->size(); ++i, ++next) {
      unsigned each = std::max(1u, registerBits / width);
      unsigned slots = std::min(each, pack - i * each);
      Value word = inSlots(bits, slots, (*constraints)[next].bits);
      translator.set(next, word);
    }
  }
  if (next != constraints->size()) {
    return fail("argument 'constraints': " + Twine(next) +
                " registers are needed, " + Twine(constraints->size()) +
                " are named");
  }
  if (!translator.run(*statements)) {
    return fail(translator.error);
  }
  SmallVector<Value> results;
  for (auto [first, type] : llvm::zip(firsts, op.getOutputs().getTypes())) {
    Value bits = translator.get(first);
    if (widthOf(bits.getType()) < widthOf(type)) {
      return fail("argument 'constraints': output " + Twine(first) +
                  " is narrower than its element");
    }
    results.push_back(fromBits(bits, type));
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

LogicalResult convertAssemblyToTile(Operation *root) {
  SmallVector<tile::InlineAsmOp> found;
  root->walk([&](tile::InlineAsmOp op) { found.push_back(op); });
  for (tile::InlineAsmOp op : found) {
    if (failed(Expansion(op).run())) {
      return failure();
    }
  }
  return success();
}

} // namespace nereid
