//===- TileDialect.cpp - Types and registration ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "nereid/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "nereid/Dialect/Tile/IR/TileEnums.cpp.inc"
#include "nereid/Dialect/Tile/IR/TileInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "nereid/Dialect/Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/Tile/IR/TileOps.cpp.inc"

namespace nereid::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "nereid/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type pointee) {
  if (!isa<IntegerType, FloatType, PtrType>(pointee) || pointee.isInteger(1)) {
    return emitError() << "expected a pointee of a number type other than i1, "
                          "or a pointer, got "
                       << pointee;
  }
  return success();
}

llvm::ArrayRef<int64_t> getShape(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return tensor.getShape();
  }
  return {};
}

Type getElement(Type type) { return getElementTypeOrSelf(type); }

Type withElement(Type like, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(like)) {
    // With its encoding: a mask lies where the values lie.
    return RankedTensorType::get(tensor.getShape(), element,
                                 tensor.getEncoding());
  }
  return element;
}

Type getMaskType(Type like) {
  return withElement(like, IntegerType::get(like.getContext(), 1));
}

Type getPointeeLike(Type ptrLike) {
  auto ptr = dyn_cast<PtrType>(getElement(ptrLike));
  return ptr ? withElement(ptrLike, ptr.getPointee()) : Type();
}

unsigned getElementBytes(Type element) {
  if (isa<PtrType>(element) || isa<IndexType>(element)) {
    return 8;
  }
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t getBytes(Type type) {
  return ShapedType::getNumElements(getShape(type)) *
         getElementBytes(getElement(type));
}

bool isElementwise(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() == 0) {
    return false;
  }
  if (auto assembly = dyn_cast<InlineAsmOp>(op)) {
    return assembly.getPure();
  }
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<AddPtrOp, IntToPtrOp, PtrToIntOp, PtrCastOp, ConvertFloatOp,
             HintOp>(op);
}

Operation *recreate(OpBuilder &b, Operation *op, ValueRange operands,
                    TypeRange results) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned i = 0; i < op->getNumRegions(); ++i) {
    state.addRegion();
  }
  return b.create(state);
}

Value scalarOf(OpBuilder &b, Value block) {
  if (auto splat = block.getDefiningOp<SplatOp>()) {
    return splat.getSource();
  }
  SplatElementsAttr constant;
  if (matchPattern(block, m_Constant(&constant))) {
    return arith::ConstantOp::create(b, block.getLoc(),
                                     constant.getSplatValue<TypedAttr>());
  }
  return {};
}

} // namespace nereid::tile
