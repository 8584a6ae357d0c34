//===- LaneOps.h - Scalar meaning, on scalars and short vectors -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise operations on lanes, for every target: the one place that says
// what an operation does to an element. A lane value is a scalar (on the CPU
// the same in all lanes; on a GPU one register) or a vector<L x T>. Formats
// that processors do not compute in are carried by their bits and computed in
// f32:
//
//   language   lane         computed in
//   bf16       i16          f32
//   f16        f16          f32
//   f8...      i8           f32
//   !tile.ptr  !llvm.ptr, or i64 in a vector
//   others     themselves
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_LANES_LANEOPS_H
#define NEREID_CONVERSION_LANES_LANEOPS_H

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

namespace nereid::lanes {

/// What decides between forms of one meaning.
struct LaneTarget {
  bool hasF16c = false;       ///< f16 <-> f32 in one instruction
  bool hasF16Extrema = false; ///< the smaller number of two f16s likewise
  bool hasBf16 = false; ///< f32 -> bf16 in one instruction, denormals kept
  /// a * b + c may be rounded once (the language's enable_fp_fusion).
  bool fpFusion = true;
};

/// The type that carries one element of a Tile type.
mlir::Type laneType(mlir::Type element);
/// `element` as a vector if `like` is one, and as wide.
mlir::Type typeLike(mlir::Type element, mlir::Value like);
inline bool isVector(mlir::Value value) {
  return llvm::isa<mlir::VectorType>(value.getType());
}
/// The attribute is read unsigned; a range may start below zero.
inline int64_t startOf(tile::RangeOp range) {
  return static_cast<int32_t>(range.getStart());
}
/// Is `op` one that `LaneOps::elementwise` understands?
bool hasLaneForm(mlir::Operation *op);
/// Costs more than a trip through the first-level cache: divisions, square
/// roots, transcendental functions.
bool isExpensive(mlir::Operation *op);
bool isShift(mlir::Operation *op);

/// Emits at the builder's insertion point.
class LaneOps {
public:
  LaneOps(mlir::OpBuilder &b, mlir::Location loc, const LaneTarget &target)
      : b(b), loc(loc), target(target) {}
  LaneOps(const LaneOps &) = default;
  /// A handle on one builder: assignment says that the builder has moved.
  LaneOps &operator=(const LaneOps &other) {
    assert(&b == &other.b && "two builders");
    return *this;
  }

  mlir::Value splat(mlir::Value value, unsigned lanes);
  /// An integer constant of `type`, which may be a vector.
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value real(mlir::Type type, double value);
  mlir::Value i64(int64_t value) { return integer(b.getI64Type(), value); }
  mlir::Value i32(int64_t value) { return integer(b.getI32Type(), value); }
  /// A constant of a Tile element type, in its lane type.
  mlir::Value constant(mlir::TypedAttr scalar);
  /// Distinct integers, one a lane.
  mlir::Value lanesOf(mlir::Type element, llvm::ArrayRef<int64_t> values);

  /// The result of `op` for these operands, which are lanes of op's operands:
  /// all scalars, or scalars mixed with vectors of one width.
  mlir::Value elementwise(mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> operands);

  /// A shift that clamps: by the width or more 0, or the sign.
  mlir::Value shift(mlir::Operation *op, mlir::Value x, mlir::Value amount);
  /// `op` itself, on other operands, with a result of `element`.
  mlir::Value elementwiseLike(mlir::Operation *op,
                              llvm::ArrayRef<mlir::Value> operands,
                              mlir::Type element) {
    return clone(op, operands, element);
  }

  /// Half `result` (0 low, 1 high) of the product in double width.
  mlir::Value multiplyExtended(mlir::Operation *op, mlir::Value x,
                               mlir::Value y, unsigned result);

  /// Conversions between float formats. `element` is the Tile type.
  mlir::Value toF32(mlir::Value value, mlir::Type element);
  mlir::Value fromF32(mlir::Value value, mlir::Type element,
                      bool towardZero = false);
  mlir::Value convertFloat(mlir::Value value, mlir::Type from, mlir::Type to,
                           bool towardZero);

  /// arith.fptosi or fptoui of x, an f32 or f64, defined for every x: toward
  /// zero, then the nearest end of the type's range; NaN gives 0.
  mlir::Value toInteger(mlir::Operation *op, mlir::Value x);

  /// Floats by value, integers by extension or truncation.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to,
                      bool isUnsigned);

  mlir::Value add(mlir::Value x, mlir::Value y);
  /// The address `bytes` past another.
  mlir::Value byteOffset(mlir::Value address, int64_t bytes);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value shuffle(mlir::Value vector, llvm::ArrayRef<int64_t> lanes);
  mlir::Value extract(mlir::Value vector, int64_t lane);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const LaneTarget &target;

private:
  mlir::Value clone(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                    mlir::Type element);
  mlir::Value classify(mlir::Operation *op, mlir::Value x);
  mlir::Value halfExtremum(mlir::Operation *op, mlir::Value x, mlir::Value y);
  mlir::Value divide(mlir::Operation *op, mlir::Value x, mlir::Value y);
  mlir::Value divideByFloat(mlir::Operation *op, mlir::Value x, mlir::Value y);
  mlir::Value halfToFloat(mlir::Value bits);
  mlir::Value smallFloat(mlir::Value value, unsigned mantissa, int bias,
                         uint32_t largest, uint32_t nan, bool towardZero,
                         bool saturate);
  mlir::Value stepTowardZero(mlir::Value rounded, mlir::Value back,
                             mlir::Value source, mlir::Type bits);
};

} // namespace nereid::lanes

#endif // NEREID_CONVERSION_LANES_LANEOPS_H
