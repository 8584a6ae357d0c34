//===- Tile.h - The Tile dialect --------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target-neutral meaning of a kernel. The .td files beside this one are
// the specification: one a family of operations.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILE_H
#define NEREID_DIALECT_TILE_IR_TILE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "nereid/Dialect/Tile/IR/TileDialect.h.inc"
#include "nereid/Dialect/Tile/IR/TileEnums.h.inc"

namespace nereid::tile {

/// Where a block of a structured operation lies among the threads of a
/// program, relative to the operation's other blocks.
struct Placement {
  enum Kind {
    Anywhere,    ///< where it already is
    Standard,    ///< row by row over all threads
    AlongAxis,   ///< neighbours along dimension `index` in one thread, then in
                 ///< neighbouring ones: for what goes through it in order
    LikeOperand, ///< as operand `index`
    LikeResult,  ///< as result `index`
    Reduced      ///< as operand 0, without dimension `index`
  };
  Kind kind = Anywhere;
  unsigned index = 0;

  /// Of a result's placement, where it names an operand.
  unsigned namedOperand() const { return kind == LikeOperand ? index : 0; }
};

} // namespace nereid::tile

#include "nereid/Dialect/Tile/IR/TileInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "nereid/Dialect/Tile/IR/TileTypes.h.inc"

namespace nereid::tile {

/// The shape of a block; empty for a scalar.
llvm::ArrayRef<int64_t> getShape(mlir::Type type);
/// The element type of a block, the type itself for a scalar.
mlir::Type getElement(mlir::Type type);
/// `element` in the shape of `like` (a scalar for a scalar).
mlir::Type withElement(mlir::Type like, mlir::Type element);
/// i1 in the shape of `like`: the type of a mask over it.
mlir::Type getMaskType(mlir::Type like);
/// What a load through `ptrLike` gives.
mlir::Type getPointeeLike(mlir::Type ptrLike);
/// Bytes of one element in memory: 8 for a pointer, 1 for an i1.
unsigned getElementBytes(mlir::Type element);
/// Bytes in memory of a block, or of a scalar.
int64_t getBytes(mlir::Type type);

/// An access that only reads: `dyn_cast<LoadAccess>(op)`.
class LoadAccess : public MemoryAccess {
public:
  LoadAccess(std::nullptr_t = nullptr) : MemoryAccess(nullptr) {}
  explicit LoadAccess(mlir::Operation *op) : MemoryAccess(op) {}
  static bool classof(mlir::Operation *op);

  mlir::Value getResult() { return getLoaded(); }
  mlir::Type getType() { return getLoaded().getType(); }
};

/// An access that only writes.
class StoreAccess : public MemoryAccess {
public:
  StoreAccess(std::nullptr_t = nullptr) : MemoryAccess(nullptr) {}
  explicit StoreAccess(mlir::Operation *op) : MemoryAccess(op) {}
  static bool classof(mlir::Operation *op);
};

/// Is it an access that writes, whether or not it reads?
bool isWriteAccess(mlir::Operation *op);

/// Is element i of every result a function of element i of the operands, with
/// no effect? Also of scalars.
bool isElementwise(mlir::Operation *op);

/// `op` once more at the insertion point, on other operands and with these
/// result types; of regions, as many empty ones.
mlir::Operation *recreate(mlir::OpBuilder &b, mlir::Operation *op,
                          mlir::ValueRange operands, mlir::TypeRange results);
/// The scalar that every element of `block` is: of a splat its source, of a
/// constant one created at the insertion point. Null if the elements are not
/// known to be equal.
mlir::Value scalarOf(mlir::OpBuilder &b, mlir::Value block);

/// Attribute names of kernels and their arguments.
inline constexpr llvm::StringLiteral kernelAttr = "tile.kernel";
inline constexpr llvm::StringLiteral nameAttr = "tile.name";
inline constexpr llvm::StringLiteral dtypeAttr = "tile.dtype";
inline constexpr llvm::StringLiteral divisibilityAttr = "tile.divisibility";
inline constexpr llvm::StringLiteral constAttr = "tile.const";
/// On operations that call the runtime: i32, the index in KernelImage::sites.
inline constexpr llvm::StringLiteral siteAttr = "tile.site";

} // namespace nereid::tile

#define GET_OP_CLASSES
#include "nereid/Dialect/Tile/IR/TileOps.h.inc"

#endif // NEREID_DIALECT_TILE_IR_TILE_H
