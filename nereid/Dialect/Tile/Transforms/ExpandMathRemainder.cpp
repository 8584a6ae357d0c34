//===- ExpandMathRemainder.cpp - x - trunc(x / y) * y, exactly ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The remainder is exact in the format of its operands, whatever the quotient:
// with x = mx 2^ex and y = my 2^ey in integers it is (mx 2^(ex-ey) mod my)
// 2^ey, by a few bits of the exponent's difference at a time. Targets with a
// library call fmod; the formula x - trunc(x / y) y, which LLVM has for GPUs,
// is wrong from quotients of 2^24 on and for infinite operands.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathRemainder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using P = mlir::arith::CmpIPredicate;

namespace {
/// f32 or f64 scalars as integers of their width.
struct Format {
  Format(OpBuilder &b, Location loc, Type type)
      : b(b), loc(loc), type(type), width(type.getIntOrFloatBitWidth()),
        mantissa(width == 32 ? 23 : 52), bits(b.getIntegerType(width)) {}

  Value integer(uint64_t value) {
    return arith::ConstantOp::create(
        b, loc, IntegerAttr::get(bits, APInt(width, value)));
  }
  Value compare(P predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value toBits(Value x) { return arith::BitcastOp::create(b, loc, bits, x); }
  Value toFloat(Value x) { return arith::BitcastOp::create(b, loc, type, x); }

  OpBuilder &b;
  Location loc;
  Type type;
  unsigned width, mantissa;
  Type bits;
};

/// Of a finite magnitude: the exponent field, 1 for denormals, and the
/// mantissa as an integer.
struct Parts {
  Parts(Format &f, Value magnitude) {
    Value shift = f.integer(f.mantissa), one = f.integer(1);
    Value field = arith::ShRUIOp::create(f.b, f.loc, magnitude, shift);
    Value low = arith::AndIOp::create(
        f.b, f.loc, magnitude, f.integer((uint64_t{1} << f.mantissa) - 1));
    Value isNormal = f.compare(P::ne, field, f.integer(0));
    Value whole = arith::OrIOp::create(f.b, f.loc, low,
                                       f.integer(uint64_t{1} << f.mantissa));
    exponent = f.select(isNormal, field, one);
    mantissa = f.select(isNormal, whole, low);
  }
  Value exponent, mantissa;
};
} // namespace

/// (mantissa 2^distance) mod divisor.
static Value reduce(Format &f, Value mantissa, Value distance, Value divisor) {
  Value start = arith::RemUIOp::create(f.b, f.loc, mantissa, divisor);
  Value step = f.integer(f.width - f.mantissa - 1);
  auto loop = scf::WhileOp::create(
      f.b, f.loc, TypeRange{f.bits, f.bits}, ValueRange{start, distance},
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Value more =
            arith::CmpIOp::create(b, loc, P::ne, state[1], f.integer(0));
        scf::ConditionOp::create(b, loc, more, state);
      },
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Value by = arith::MinUIOp::create(b, loc, state[1], step);
        Value shifted = arith::ShLIOp::create(b, loc, state[0], by);
        scf::YieldOp::create(
            b, loc,
            ValueRange{arith::RemUIOp::create(b, loc, shifted, divisor),
                       arith::SubIOp::create(b, loc, state[1], by)});
      });
  return loop.getResult(0);
}

Value nereid::tile::expandRemainder(OpBuilder &b, Location loc, Value x,
                                    Value y) {
  Format f(b, loc, x.getType());
  uint64_t signBit = uint64_t{1} << (f.width - 1);
  Value magnitudeMask = f.integer(signBit - 1);
  Value infinity = f.integer(f.width == 32 ? 0x7f800000 : 0x7ff0000000000000);
  Value xBits = f.toBits(x);
  Value xMagnitude = arith::AndIOp::create(b, loc, xBits, magnitudeMask);
  Value yMagnitude = arith::AndIOp::create(b, loc, f.toBits(y), magnitudeMask);
  Value isSmaller = f.compare(P::ult, xMagnitude, yMagnitude);
  Value isBad = arith::OrIOp::create(
      b, loc, f.compare(P::uge, xMagnitude, infinity),
      arith::OrIOp::create(b, loc, f.compare(P::ugt, yMagnitude, infinity),
                           f.compare(P::eq, yMagnitude, f.integer(0))));
  // Harmless numbers where the answer is another.
  Value skips = arith::OrIOp::create(b, loc, isSmaller, isBad);
  Value one = f.integer(f.width == 32 ? 0x3f800000 : 0x3ff0000000000000);
  Parts xParts(f, f.select(skips, one, xMagnitude));
  Parts yParts(f, f.select(skips, one, yMagnitude));
  Value rest =
      reduce(f, xParts.mantissa,
             arith::SubIOp::create(b, loc, xParts.exponent, yParts.exponent),
             yParts.mantissa);
  // rest * 2^(exponent - bias - mantissa); that power may be a denormal.
  Value bits = f.integer(f.mantissa);
  Value isNormal = f.compare(P::ugt, yParts.exponent, bits);
  Value normal = arith::ShLIOp::create(
      b, loc, arith::SubIOp::create(b, loc, yParts.exponent, bits), bits);
  Value denormal = arith::ShLIOp::create(
      b, loc, f.integer(1),
      arith::SubIOp::create(b, loc,
                            f.select(isNormal, f.integer(1), yParts.exponent),
                            f.integer(1)));
  Value power = f.toFloat(f.select(isNormal, normal, denormal));
  Value magnitude = arith::MulFOp::create(
      b, loc, arith::UIToFPOp::create(b, loc, f.type, rest), power);
  Value sign = arith::AndIOp::create(b, loc, xBits, f.integer(signBit));
  Value result =
      f.toFloat(arith::OrIOp::create(b, loc, f.toBits(magnitude), sign));
  Value nan =
      f.toFloat(f.integer(f.width == 32 ? 0x7fc00000 : 0x7ff8000000000000));
  return f.select(isBad, nan, f.select(isSmaller, x, result));
}
