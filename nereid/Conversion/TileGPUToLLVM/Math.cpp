//===- Math.cpp - Functions that the processor computes -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the special-function unit does well enough; everything else is left to
// tile::expandMath. Divisions that may be approximate (`/`) have 2 ulps, rsqrt
// 2.2 (a relative error of 2^-22.9): exact ones are subroutines, and
// their latency is all that a layer norm waits for between its sums and its
// stores.
//
// exp(x) = 2^t with t = x log2 e, two instructions. That t and log2 e are
// rounded costs up to 1.2 |x| ulps, as much as if x were off by its last bit:
// good enough for the language's `exp` (fastmath<afn>), as it is upstream, but
// not for libdevice's, where what was lost comes back as r = x - t ln 2:
//
//   exp(x) = 2^t + 2^t r
//
// 7 instructions where the polynomial takes 18, and 3 ulps. With these a
// softmax took longer (docs/decisions/Tiles.md); attention has no time to give
// away either.
//
// Results below 2^-126 are zero. The form that keeps them scales its argument
// and its result under a predicate, which all exponentials of a thread take in
// turn (docs/decisions/Tiles.md). (Two factors of half the exponent keep them
// too, but square the unit's error: 5.3 ulps.)
//
// erf in magnitude is x + x P(x^2) up to 0.97 and 1 - 2^p(x) from there on, as
// in ExpandMathErf.cpp, with the unit's power of two and a p of degree 5, which
// falls for all x: neither reduction nor clamp. 17 instructions where the
// other takes 29, and 1.9 ulps. Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include "mlir/IR/Matchers.h"

#include <cmath>
#include <tuple>

using namespace mlir;

namespace nereid::togpu {

// erf x / x - 1 in x^2, x <= 0.97, and log2(erfc x), 0.97 <= x <= 4
static constexpr double smallErf[] = {0x1.06eba4p-3, -0x1.8126aap-2,
                                      0x1.ce10fap-4, -0x1.b606bep-6,
                                      0x1.444c6cp-8, -0x1.2e8f16p-11};
static constexpr double largeErf[] = {-0x1.be1da0p-9, -0x1.9d191ap+0,
                                      -0x1.e26354p-1, -0x1.08a66ep-3,
                                      0x1.6465bap-6,  -0x1.c13f28p-10};

Value KernelEmitter::errorFunction(Value x) {
  auto constant = [&](double value) {
    return ops().real(b.getF32Type(), value);
  };
  auto polynomial = [&](Value t, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back())) {
      sum = math::FmaOp::create(b, loc, sum, t, constant(c));
    }
    return sum;
  };
  Value square = arith::MulFOp::create(b, loc, x, x);
  Value small = math::FmaOp::create(b, loc, x, polynomial(square, smallErf), x);
  Value magnitude = math::AbsFOp::create(b, loc, x);
  Value power = machine->exp2(polynomial(magnitude, largeErf));
  Value large = math::CopySignOp::create(
      b, loc, arith::SubFOp::create(b, loc, constant(1), power), x);
  Value isSmall = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                        magnitude, constant(0.97));
  return arith::SelectOp::create(b, loc, isSmall, small, large);
}

Value KernelEmitter::hardwareMath(Operation *op, ArrayRef<Value> operands) {
  Type f32Type = b.getF32Type();
  Value x = operands[0];
  if (x.getType() != f32Type) {
    return {};
  }
  if (auto division = dyn_cast<arith::DivFOp>(op)) {
    if (!arith::bitEnumContainsAny(division.getFastmath(),
                                   arith::FastMathFlags::afn)) {
      return {};
    }
    // By a constant: 1.5 ulps, and none by a power of two.
    FloatAttr divisor;
    if (matchPattern(operands[1], m_Constant(&divisor))) {
      double reciprocal = 1.0 / divisor.getValueAsDouble();
      if (std::fabs(reciprocal) > 1e-37 && std::fabs(reciprocal) < 1e37) {
        return arith::MulFOp::create(b, loc, x, ops().real(f32Type, reciprocal),
                                     laneTarget.fpFusion
                                         ? arith::FastMathFlags::contract
                                         : arith::FastMathFlags::none);
      }
    }
    return machine->divide(operands[0], operands[1]);
  }
  if (isa<math::RsqrtOp>(op)) {
    return machine->rsqrt(x);
  }
  auto constant = [&](double value) { return ops().real(f32Type, value); };
  if (isa<math::Exp2Op>(op)) {
    return machine->exp2(x);
  }
  if (isa<math::ErfOp>(op)) {
    return errorFunction(x);
  }
  auto exp = dyn_cast<math::ExpOp>(op);
  if (!exp) {
    return {};
  }
  constexpr double log2E = 1.44269504088896340736;
  if (arith::bitEnumContainsAny(exp.getFastmath(), arith::FastMathFlags::afn)) {
    return machine->exp2(arith::MulFOp::create(b, loc, x, constant(log2E)));
  }
  // Beyond these the result is infinite or zero; NaN stays. The upper one is
  // the least x whose t rounds to 128; its r is positive, so that the infinity
  // is not multiplied by a number that cancels it.
  x = arith::MaximumFOp::create(b, loc, x, constant(-104));
  x = arith::MinimumFOp::create(b, loc, x, constant(88.72283935546875));
  // ln 2 in two parts, the first with 11 bits to spare.
  constexpr double ln2High = 0.693145751953125;
  constexpr double ln2Low = 0.693147180559945309417 - ln2High;
  Value t = arith::MulFOp::create(b, loc, x, constant(log2E));
  Value r = math::FmaOp::create(b, loc, t, constant(-ln2High), x);
  r = math::FmaOp::create(b, loc, t, constant(-ln2Low), r);
  Value power = machine->exp2(t);
  return math::FmaOp::create(b, loc, power, r, power);
}

/// The rounding that a conversion does itself, and the argument without it.
static std::pair<IntegerRounding, Value> roundingOf(Value x) {
  using R = IntegerRounding;
  Operation *op = x.getDefiningOp();
  std::optional<R> mode;
  if (isa_and_nonnull<math::RoundEvenOp>(op)) {
    mode = R::Nearest;
  } else if (isa_and_nonnull<math::FloorOp>(op)) {
    mode = R::Down;
  } else if (isa_and_nonnull<math::CeilOp>(op)) {
    mode = R::Up;
  } else if (isa_and_nonnull<math::TruncOp>(op)) {
    mode = R::Zero;
  }
  return mode ? std::pair(*mode, op->getOperand(0)) : std::pair(R::Zero, x);
}

/// The processor's conversion goes to the nearest end of the range of every
/// width, 8 bits too, and takes an f32's NaN to 0 up to 32 bits. NaN beyond has
/// the top bit alone. A rounding in front of it the assembler puts into
/// conversions up to 32 bits.
Value KernelEmitter::toInteger(Operation *op, Value x) {
  if (!isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    return {};
  }
  Type element = tile::getElement(op->getOperand(0).getType());
  if (element.getIntOrFloatBitWidth() < 32) {
    x = ops().toF32(x, element);
  }
  Type type = tile::getElement(op->getResult(0).getType());
  unsigned width = type.getIntOrFloatBitWidth();
  auto zeroForNaN = [&](Value number, Value value) -> Value {
    Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD,
                                           number, number);
    Value zero = isa<FloatType>(value.getType())
                     ? ops().real(value.getType(), 0)
                     : ops().integer(value.getType(), 0);
    return arith::SelectOp::create(b, loc, isNumber, value, zero);
  };
  IntegerRounding mode = IntegerRounding::Zero;
  if (width == 64) {
    std::tie(mode, x) = roundingOf(x);
    x = zeroForNaN(x, x); // of an f32, one word instead of the result's two
  }
  Value result = machine->toInteger(x, mode, isa<arith::FPToSIOp>(op), width);
  if (result.getType() != type) {
    result = arith::TruncIOp::create(b, loc, type, result);
  }
  return width < 64 && x.getType().isF64() ? zeroForNaN(x, result) : result;
}

} // namespace nereid::togpu
