//===- ExpandMathEmitter.h - Formulas as expressions ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets the formulas of ExpandMath*.cpp be written as C++ expressions over SSA
// values: `fma(r * r, q, r)` creates a multiplication and an FMA.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHEMITTER_H
#define NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHEMITTER_H

#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace nereid::tile::expand {

class Emitter;

/// A value and the emitter that extends expressions with it.
struct Float {
  mlir::Value value;
  Emitter *emitter;
};
struct Int {
  mlir::Value value;
  Emitter *emitter;
};
struct Mask {
  mlir::Value value;
  Emitter *emitter;
};

/// Constants of one function, each made once, at its start.
class ConstantPool {
public:
  explicit ConstantPool(mlir::Block *entry) : entry(entry) {}
  mlir::Value get(mlir::TypedAttr attribute, mlir::Location location);

private:
  mlir::Block *entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> values;
};

/// Creates operations on floats of one format (f32 or f64) and integers of the
/// same width, all scalars or all vectors of one shape.
class Emitter {
public:
  /// `like` gives the shape, `element` the format.
  Emitter(mlir::OpBuilder &builder, mlir::Location location, ConstantPool &pool,
          const ExpandMathOptions &options, mlir::Type like,
          mlir::FloatType element);

  /// Constants, of the float and of the integer type.
  Float f(double value);
  Int i(int64_t value);
  Float inf();
  Float nan();

  bool isDouble() const { return element.isF64(); }
  /// `single` or `twice`, by the format.
  template <typename T>
  T pick(T single, T twice) const {
    return isDouble() ? twice : single;
  }
  bool hasFma() const { return options.hasFma; }
  /// Bits of the significand after the leading one: 23 or 52.
  int mantissaBits() const { return pick(23, 52); }
  int exponentBias() const { return pick(127, 1023); }
  /// The bits of `value` in this format.
  int64_t bitsOf(double value) const;

  /// An emitter of another format in the same shape.
  Emitter withElement(mlir::FloatType type);

  Float wrap(mlir::Value value) { return {value, this}; }
  Int wrapInt(mlir::Value value) { return {value, this}; }
  Mask wrapMask(mlir::Value value) { return {value, this}; }

  mlir::OpBuilder &builder;
  mlir::Location location;
  ConstantPool &pool;
  const ExpandMathOptions &options;
  mlir::FloatType element;
  mlir::Type floatType, intType;
};

Float operator+(Float a, Float b);
Float operator-(Float a, Float b);
Float operator*(Float a, Float b);
Float operator/(Float a, Float b);
Float operator-(Float a);
Float operator+(Float a, double b);
Float operator-(Float a, double b);
Float operator-(double a, Float b);
Float operator*(Float a, double b);
Float operator/(double a, Float b);

/// a * b + c in one rounding where the target has it, else in two.
Float fma(Float a, Float b, Float c);
Float fma(Float a, double b, Float c);
Float fma(Float a, Float b, double c);
Float fma(Float a, double b, double c);
/// a * b - product, exactly, for product = a * b rounded (f32), or nearly
/// exactly (f64 without FMA: by halves of the significands, error 2^-106).
Float productError(Float a, Float b, Float product);

Float sqrt(Float a);
Float abs(Float a);
Float copysign(Float magnitude, Float sign);
/// The smaller and the larger with a constant; a NaN stays.
Float clampAbove(Float a, double limit);
Float clampBelow(Float a, double limit);

/// Ordered comparisons: false for NaN.
Mask operator<(Float a, Float b);
Mask operator<=(Float a, Float b);
Mask operator==(Float a, Float b);
Mask operator<(Float a, double b);
Mask operator>(Float a, double b);
Mask operator<=(Float a, double b);
Mask operator>=(Float a, double b);
Mask operator==(Float a, double b);
Mask isNan(Float a);

Mask operator&(Mask a, Mask b);
Mask operator|(Mask a, Mask b);
Mask operator^(Mask a, Mask b);
Mask operator!(Mask a);

Float select(Mask mask, Float yes, Float no);
Int select(Mask mask, Int yes, Int no);

Int operator+(Int a, Int b);
Int operator-(Int a, Int b);
Int operator*(Int a, Int b);
Int operator&(Int a, Int b);
Int operator|(Int a, Int b);
Int operator^(Int a, Int b);
Int operator+(Int a, int64_t b);
Int operator-(Int a, int64_t b);
Int operator&(Int a, int64_t b);
Int operator<<(Int a, int64_t count);
/// Arithmetic and logical shifts to the right.
Int operator>>(Int a, int64_t count);
Int shiftRightLogical(Int a, int64_t count);
Mask operator==(Int a, int64_t b);
Mask operator<(Int a, int64_t b);
Mask unsignedLess(Int a, int64_t b);
/// Is bit `bit` set?
Mask testBit(Int a, int bit);

Int bits(Float a);
Float fromBits(Int a);
Float toFloat(Int a);
/// Truncates; the value must fit.
Int toInt(Float a);

/// The same number in the other emitter's format, rounded if it is narrower.
Float convert(Float a, Emitter &to);

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Float polynomial(Float x, llvm::ArrayRef<double> c);
/// tail + x-multiple: polynomial whose lowest coefficient is a value.
Float polynomial(Float x, Float lowest, llvm::ArrayRef<double> higher);

/// x rounded to an integer: as a float, and in the low bits of an integer
/// (two's complement, other bits arbitrary). |x| < 2^21 (f32) or 2^50.
struct Rounded {
  Float value;
  Int lowBits;
};
/// Rounds a * factor.
Rounded roundProduct(Float a, double factor);

/// a * 2^n for the whole range of the format, rounded once.
Float scale(Float a, const Rounded &n);
/// 2^n for -bias < n <= bias.
Float powerOfTwo(const Rounded &n);

/// An unevaluated sum.
struct Pair {
  Float hi, lo;
};
Pair select(Mask mask, Pair yes, Pair no);
/// hi + lo = a + b exactly, for |a| >= |b| or a == 0.
Pair fastSum(Float a, Float b);
/// hi + lo = a + b exactly.
Pair sum(Float a, Float b);
/// hi + lo = a * b.
Pair product(Float a, Float b);
/// a / b rounded once, nearly.
Float quotient(Pair a, Pair b);

} // namespace nereid::tile::expand

#endif // NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHEMITTER_H
