//===- ExpandMathEmitter.cpp - Formulas as expressions --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace nereid::tile;
using namespace nereid::tile::expand;

Value ConstantPool::get(TypedAttr attribute, Location location) {
  Value &value = values[attribute];
  if (!value) {
    OpBuilder builder = OpBuilder::atBlockBegin(entry);
    value = arith::ConstantOp::create(builder, location, attribute);
  }
  return value;
}

/// `element` in the shape of `like`.
static Type inShapeOf(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like)) {
    return VectorType::get(vector.getShape(), element,
                           vector.getScalableDims());
  }
  return element;
}

Emitter::Emitter(OpBuilder &builder, Location location, ConstantPool &pool,
                 const ExpandMathOptions &options, Type like, FloatType element)
    : builder(builder), location(location), pool(pool), options(options),
      element(element), floatType(inShapeOf(like, element)),
      intType(inShapeOf(like, builder.getIntegerType(element.getWidth()))) {}

Emitter Emitter::withElement(FloatType type) {
  return Emitter(builder, location, pool, options, floatType, type);
}

/// A splat, or the scalar itself.
static TypedAttr splat(Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    return DenseElementsAttr::get(vector, scalar);
  }
  return scalar;
}

Float Emitter::f(double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(element.getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return wrap(
      pool.get(splat(floatType, FloatAttr::get(element, number)), location));
}

Int Emitter::i(int64_t value) {
  auto type = builder.getIntegerType(element.getWidth());
  return wrapInt(pool.get(
      splat(intType,
            IntegerAttr::get(type, llvm::APInt(type.getWidth(),
                                               static_cast<uint64_t>(value),
                                               /*isSigned=*/true,
                                               /*implicitTrunc=*/true))),
      location));
}

Float Emitter::inf() { return f(std::numeric_limits<double>::infinity()); }
Float Emitter::nan() { return f(std::numeric_limits<double>::quiet_NaN()); }

int64_t Emitter::bitsOf(double value) const {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(element.getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getSExtValue();
}

template <typename Op, typename T>
static T binary(T a, T b) {
  Emitter &e = *a.emitter;
  return {Op::create(e.builder, e.location, a.value, b.value), &e};
}

template <typename Op>
static Float unary(Float a) {
  Emitter &e = *a.emitter;
  return e.wrap(Op::create(e.builder, e.location, a.value));
}

namespace nereid::tile::expand {

Float operator+(Float a, Float b) { return binary<arith::AddFOp>(a, b); }
Float operator-(Float a, Float b) { return binary<arith::SubFOp>(a, b); }
Float operator*(Float a, Float b) { return binary<arith::MulFOp>(a, b); }
Float operator/(Float a, Float b) { return binary<arith::DivFOp>(a, b); }
Float operator-(Float a) { return unary<arith::NegFOp>(a); }
Float operator+(Float a, double b) { return a + a.emitter->f(b); }
Float operator-(Float a, double b) { return a - a.emitter->f(b); }
Float operator-(double a, Float b) { return b.emitter->f(a) - b; }
Float operator*(Float a, double b) { return a * a.emitter->f(b); }
Float operator/(double a, Float b) { return b.emitter->f(a) / b; }

Float fma(Float a, Float b, Float c) {
  Emitter &e = *a.emitter;
  if (!e.hasFma()) {
    return a * b + c;
  }
  return e.wrap(
      math::FmaOp::create(e.builder, e.location, a.value, b.value, c.value));
}
Float fma(Float a, double b, Float c) { return fma(a, a.emitter->f(b), c); }
Float fma(Float a, Float b, double c) { return fma(a, b, a.emitter->f(c)); }
Float fma(Float a, double b, double c) {
  return fma(a, a.emitter->f(b), a.emitter->f(c));
}

/// `a` less the lower 27 bits of its significand.
static Float upperHalf(Float a) { return fromBits(bits(a) & ~0x7ffffffLL); }

Float productError(Float a, Float b, Float product) {
  Emitter &e = *a.emitter;
  if (e.hasFma()) {
    return fma(a, b, -product);
  }
  if (!e.isDouble()) {
    Emitter wide = e.withElement(e.builder.getF64Type());
    Float error = convert(a, wide) * convert(b, wide) - convert(product, wide);
    return convert(error, e);
  }
  Float ah = upperHalf(a), bh = upperHalf(b);
  Float al = a - ah, bl = b - bh;
  return ((ah * bh - product) + ah * bl + al * bh) + al * bl;
}

Float sqrt(Float a) { return unary<math::SqrtOp>(a); }
Float abs(Float a) { return unary<math::AbsFOp>(a); }
Float copysign(Float magnitude, Float sign) {
  return binary<math::CopySignOp>(magnitude, sign);
}

static Mask compare(arith::CmpFPredicate predicate, Float a, Float b) {
  Emitter &e = *a.emitter;
  return e.wrapMask(arith::CmpFOp::create(e.builder, e.location, predicate,
                                          a.value, b.value));
}

// `limit < a ? limit : a` is one x86 min: it returns its second operand, here
// a, when one of them is a NaN.
Float clampAbove(Float a, double limit) {
  Float bound = a.emitter->f(limit);
  return select(bound < a, bound, a);
}
Float clampBelow(Float a, double limit) {
  Float bound = a.emitter->f(limit);
  return select(compare(arith::CmpFPredicate::OGT, bound, a), bound, a);
}

Mask operator<(Float a, Float b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Mask operator<=(Float a, Float b) {
  return compare(arith::CmpFPredicate::OLE, a, b);
}
Mask operator==(Float a, Float b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Mask operator<(Float a, double b) { return a < a.emitter->f(b); }
Mask operator>(Float a, double b) {
  return compare(arith::CmpFPredicate::OGT, a, a.emitter->f(b));
}
Mask operator<=(Float a, double b) { return a <= a.emitter->f(b); }
Mask operator>=(Float a, double b) {
  return compare(arith::CmpFPredicate::OGE, a, a.emitter->f(b));
}
Mask operator==(Float a, double b) { return a == a.emitter->f(b); }
Mask isNan(Float a) { return compare(arith::CmpFPredicate::UNO, a, a); }

Mask operator&(Mask a, Mask b) { return binary<arith::AndIOp>(a, b); }
Mask operator|(Mask a, Mask b) { return binary<arith::OrIOp>(a, b); }
Mask operator^(Mask a, Mask b) { return binary<arith::XOrIOp>(a, b); }
Mask operator!(Mask a) {
  Emitter &e = *a.emitter;
  Value ones = e.pool.get(splat(a.value.getType(), e.builder.getBoolAttr(true)),
                          e.location);
  return a ^ e.wrapMask(ones);
}

Float select(Mask mask, Float yes, Float no) {
  Emitter &e = *yes.emitter;
  return e.wrap(arith::SelectOp::create(e.builder, e.location, mask.value,
                                        yes.value, no.value));
}
Int select(Mask mask, Int yes, Int no) {
  Emitter &e = *yes.emitter;
  return e.wrapInt(arith::SelectOp::create(e.builder, e.location, mask.value,
                                           yes.value, no.value));
}

Int operator+(Int a, Int b) { return binary<arith::AddIOp>(a, b); }
Int operator-(Int a, Int b) { return binary<arith::SubIOp>(a, b); }
Int operator*(Int a, Int b) { return binary<arith::MulIOp>(a, b); }
Int operator&(Int a, Int b) { return binary<arith::AndIOp>(a, b); }
Int operator|(Int a, Int b) { return binary<arith::OrIOp>(a, b); }
Int operator^(Int a, Int b) { return binary<arith::XOrIOp>(a, b); }
Int operator+(Int a, int64_t b) { return a + a.emitter->i(b); }
Int operator-(Int a, int64_t b) { return a - a.emitter->i(b); }
Int operator&(Int a, int64_t b) { return a & a.emitter->i(b); }
Int operator<<(Int a, int64_t count) {
  return binary<arith::ShLIOp>(a, a.emitter->i(count));
}
Int operator>>(Int a, int64_t count) {
  return binary<arith::ShRSIOp>(a, a.emitter->i(count));
}
Int shiftRightLogical(Int a, int64_t count) {
  return binary<arith::ShRUIOp>(a, a.emitter->i(count));
}

static Mask compare(arith::CmpIPredicate predicate, Int a, int64_t b) {
  Emitter &e = *a.emitter;
  return e.wrapMask(arith::CmpIOp::create(e.builder, e.location, predicate,
                                          a.value, e.i(b).value));
}
Mask operator==(Int a, int64_t b) {
  return compare(arith::CmpIPredicate::eq, a, b);
}
Mask operator<(Int a, int64_t b) {
  return compare(arith::CmpIPredicate::slt, a, b);
}
Mask unsignedLess(Int a, int64_t b) {
  return compare(arith::CmpIPredicate::ult, a, b);
}
Mask testBit(Int a, int bit) {
  return compare(arith::CmpIPredicate::ne, a & (int64_t(1) << bit), 0);
}

Int bits(Float a) {
  Emitter &e = *a.emitter;
  return e.wrapInt(
      arith::BitcastOp::create(e.builder, e.location, e.intType, a.value));
}
Float fromBits(Int a) {
  Emitter &e = *a.emitter;
  return e.wrap(
      arith::BitcastOp::create(e.builder, e.location, e.floatType, a.value));
}
Float toFloat(Int a) {
  Emitter &e = *a.emitter;
  return e.wrap(
      arith::SIToFPOp::create(e.builder, e.location, e.floatType, a.value));
}
Int toInt(Float a) {
  Emitter &e = *a.emitter;
  return e.wrapInt(
      arith::FPToSIOp::create(e.builder, e.location, e.intType, a.value));
}

Float convert(Float a, Emitter &to) {
  unsigned from = a.emitter->element.getWidth();
  unsigned width = to.element.getWidth();
  if (from == width) {
    return to.wrap(a.value);
  }
  if (from < width) {
    return to.wrap(
        arith::ExtFOp::create(to.builder, to.location, to.floatType, a.value));
  }
  return to.wrap(
      arith::TruncFOp::create(to.builder, to.location, to.floatType, a.value));
}

Float polynomial(Float x, ArrayRef<double> c) {
  Float result = x.emitter->f(c.back());
  for (double coefficient : llvm::reverse(c.drop_back())) {
    result = fma(result, x, coefficient);
  }
  return result;
}

Float polynomial(Float x, Float lowest, ArrayRef<double> higher) {
  return fma(polynomial(x, higher), x, lowest);
}

/// Adding 1.5 * 2^mantissaBits leaves the rounded integer in the low bits of
/// the sum; subtracting it again gives it as a float. Two instructions, where
/// a rounding instruction and a conversion take three to four.
Rounded roundProduct(Float a, double factor) {
  Emitter &e = *a.emitter;
  double magic = e.pick(0x1.8p23, 0x1.8p52);
  Float shifted = factor == 1.0 ? a + magic : fma(a, factor, magic);
  return {shifted - magic, bits(shifted)};
}

/// Lanes that one vscalef takes of a vector of this type: all, or those of 512
/// bits of a longer one; 0 where the intrinsics have no such shape.
static int64_t scalefLanes(Emitter &e) {
  auto vector = dyn_cast<VectorType>(e.floatType);
  if (!e.options.hasScalef || !vector || vector.getRank() != 1) {
    return 0;
  }
  int64_t lanes = vector.getNumElements(), width = e.element.getWidth();
  int64_t bits = lanes * width;
  if (bits == 128 || bits == 256) {
    return lanes;
  }
  return bits % 512 == 0 ? 512 / width : 0;
}

static Value scalef(Emitter &e, Value a, Value n) {
  auto type = cast<VectorType>(a.getType());
  int64_t bits = type.getNumElements() * e.element.getWidth();
  std::string name = "llvm.x86.avx512.mask.scalef.";
  name += (e.isDouble() ? "pd." : "ps.") + std::to_string(bits);
  auto constant = [&](unsigned width, int64_t value) {
    return e.pool.get(
        e.builder.getIntegerAttr(e.builder.getIntegerType(width), value),
        e.location);
  };
  Value allLanes = constant(type.getNumElements() == 16 ? 16 : 8, -1);
  SmallVector<Value> operands = {a, n, a, allLanes};
  if (bits == 512) { // rounding: the current direction, which is to nearest
    operands.push_back(constant(32, 4));
  }
  return LLVM::CallIntrinsicOp::create(e.builder, e.location, type,
                                       e.builder.getStringAttr(name), operands)
      .getResult(0);
}

/// a and b one after the other.
static Value concatenate(Emitter &e, Value a, Value b) {
  int64_t lanes = cast<VectorType>(a.getType()).getNumElements() +
                  cast<VectorType>(b.getType()).getNumElements();
  return vector::ShuffleOp::create(e.builder, e.location, a, b,
                                   llvm::to_vector(llvm::seq(lanes)));
}

static Float scaleByIntrinsic(Float a, Float n, int64_t lanes) {
  Emitter &e = *a.emitter;
  int64_t all = cast<VectorType>(e.floatType).getNumElements();
  auto slice = [&](Value value, int64_t first) -> Value {
    return lanes == all ? value
                        : vector::ShuffleOp::create(
                              e.builder, e.location, value, value,
                              llvm::to_vector(llvm::seq(first, first + lanes)));
  };
  Value result;
  for (int64_t first = 0; first < all; first += lanes) {
    Value part = scalef(e, slice(a.value, first), slice(n.value, first));
    result = result ? concatenate(e, result, part) : part;
  }
  return e.wrap(result);
}

/// Without the instruction in two steps, each by a normal power of two: the
/// first is exact, so the result is rounded once. Half of n comes out of one
/// FMA with the bias already in its low bits; shifting drops the rest of them.
Float scale(Float a, const Rounded &n) {
  Emitter &e = *a.emitter;
  if (int64_t lanes = scalefLanes(e)) {
    return scaleByIntrinsic(a, n.value, lanes);
  }
  int bias = e.exponentBias();
  Int half = bits(fma(n.value, 0.5, e.pick(0x1.8p23, 0x1.8p52) + bias));
  Int rest = n.lowBits - half + 2 * bias;
  return a * fromBits(half << e.mantissaBits()) *
         fromBits(rest << e.mantissaBits());
}

Float powerOfTwo(const Rounded &n) {
  Emitter &e = *n.value.emitter;
  return fromBits((n.lowBits + e.exponentBias()) << e.mantissaBits());
}

Pair select(Mask mask, Pair yes, Pair no) {
  return {select(mask, yes.hi, no.hi), select(mask, yes.lo, no.lo)};
}

Pair fastSum(Float a, Float b) {
  Float hi = a + b;
  return {hi, b - (hi - a)};
}

Pair sum(Float a, Float b) {
  Float hi = a + b;
  Float partner = hi - a;
  return {hi, (a - (hi - partner)) + (b - partner)};
}

Pair product(Float a, Float b) {
  Float hi = a * b;
  return {hi, productError(a, b, hi)};
}

/// An approximate quotient and one correction by the residual.
Float quotient(Pair a, Pair b) {
  Float inverse = 1.0 / b.hi;
  Float q = a.hi * inverse;
  Pair back = product(q, b.hi);
  Float rest = (a.hi - back.hi) - back.lo + a.lo;
  rest = fma(-q, b.lo, rest);
  return fma(rest, inverse, q);
}

} // namespace nereid::tile::expand
