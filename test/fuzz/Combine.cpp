//===- Combine.cpp - Combine regions of the generator ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every one is associative, those for reductions commutative as well, in the
// integers exactly and in the floats up to rounding.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

using namespace mlir;
using Values = SmallVector<Value>;

Generator::Combine Generator::combine(bool forScan) {
  switch (random.below(forScan ? 10 : 9)) {
  case 0:
  case 1:
  case 2:
    return simpleInt();
  case 3:
  case 4:
    return simpleFloat();
  case 5:
    return argBest();
  case 6:
    return forScan ? recurrence() : welford();
  case 7:
    return logSumExp();
  case 8:
    return pair(simpleInt(), simpleFloat());
  default:
    return lastNonZero();
  }
}

Generator::Combine Generator::simpleInt() {
  Combine c;
  c.elements = {intType(/*withBool=*/true)};
  int64_t choice = random.below(c.elements[0].isInteger(1) ? 3 : 9);
  c.build = [this, choice](ValueRange v) -> Values {
    Value x = v[0], y = v[1];
    switch (choice) {
    case 0:
      return {create<arith::AndIOp>(x, y)};
    case 1:
      return {create<arith::OrIOp>(x, y)};
    case 2:
      return {create<arith::XOrIOp>(x, y)};
    case 3:
      return {create<arith::MaxSIOp>(x, y)};
    case 4:
      return {create<arith::MinSIOp>(x, y)};
    case 5:
      return {create<arith::MaxUIOp>(x, y)};
    case 6:
      return {create<arith::MulIOp>(x, y)};
    default:
      return {create<arith::AddIOp>(x, y)};
    }
  };
  return c;
}

Generator::Combine Generator::simpleFloat() {
  Combine c;
  c.elements = {floatType()};
  int64_t choice = random.below(8);
  c.isExact = choice >= 4;
  c.growth = choice < 3 ? 1 : 0;
  c.limit = choice == 3 ? 1 : 64; // a product
  c.build = [this, choice](ValueRange v) -> Values {
    Value x = v[0], y = v[1];
    switch (choice) {
    case 3:
      return {create<arith::MulFOp>(x, y)};
    case 4:
      return {create<arith::MaximumFOp>(x, y)};
    case 5:
      return {create<arith::MinimumFOp>(x, y)};
    case 6:
      return {create<arith::MaxNumFOp>(x, y)};
    case 7:
      return {create<arith::MinNumFOp>(x, y)};
    default:
      return {create<arith::AddFOp>(x, y)};
    }
  };
  return c;
}

/// (value, index) of the largest, the first of equal ones; by select or by
/// branches.
Generator::Combine Generator::argBest() {
  Combine c;
  bool isFloat = random.chance(50), branches = random.chance(25);
  c.elements = {isFloat ? floatType() : intType(), b.getI32Type()};
  c.growth = 0;
  c.build = [this, isFloat, branches](ValueRange v) -> Values {
    auto compare = [&](bool strictly) -> Value {
      if (isFloat) {
        return create<arith::CmpFOp>(strictly ? arith::CmpFPredicate::OGT
                                              : arith::CmpFPredicate::OEQ,
                                     v[2], v[0]);
      }
      return create<arith::CmpIOp>(strictly ? arith::CmpIPredicate::sgt
                                            : arith::CmpIPredicate::eq,
                                   v[2], v[0]);
    };
    Value sooner = create<arith::CmpIOp>(arith::CmpIPredicate::slt, v[3], v[1]);
    Value tie = create<arith::AndIOp>(compare(false), sooner);
    Value take = create<arith::OrIOp>(compare(true), tie);
    if (!branches) {
      return {create<arith::SelectOp>(take, v[2], v[0]),
              create<arith::SelectOp>(take, v[3], v[1])};
    }
    auto chosen = create<scf::IfOp>(TypeRange{v[0].getType(), v[1].getType()},
                                    take, /*withElse=*/true);
    auto yield = [&](Block *block, Value best, Value index) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(block);
      create<scf::YieldOp>(ValueRange{best, index});
    };
    yield(chosen.thenBlock(), v[2], v[3]);
    yield(chosen.elseBlock(), v[0], v[1]);
    return {chosen.getResult(0), chosen.getResult(1)};
  };
  return c;
}

/// (mean, sum of squared deviations, weight), after Chan, Golub, LeVeque.
Generator::Combine Generator::welford() {
  Combine c;
  Type f32 = b.getF32Type();
  c.elements = {f32, f32, f32};
  c.isExact = false;
  c.growth = 16;
  c.limit = 8;
  c.build = [this](ValueRange v) -> Values {
    Value delta = create<arith::SubFOp>(v[3], v[0]);
    Value weight = create<arith::AddFOp>(v[2], v[5]);
    Value share = create<arith::DivFOp>(v[5], weight);
    Value mean =
        create<arith::AddFOp>(v[0], create<arith::MulFOp>(delta, share));
    Value squares = create<arith::MulFOp>(create<arith::MulFOp>(delta, delta),
                                          create<arith::MulFOp>(v[2], share));
    Value m2 =
        create<arith::AddFOp>(create<arith::AddFOp>(v[1], v[4]), squares);
    return {mean, m2, weight};
  };
  return c;
}

/// (m, s) stands for s * exp(m): the online normaliser of softmax.
Generator::Combine Generator::logSumExp() {
  Combine c;
  Type f32 = b.getF32Type();
  c.elements = {f32, f32};
  c.isExact = false;
  c.build = [this](ValueRange v) -> Values {
    Value m = create<arith::MaximumFOp>(v[0], v[2]);
    auto scaled = [&](Value from, Value sum) -> Value {
      Value scale = create<math::ExpOp>(create<arith::SubFOp>(from, m));
      return create<arith::MulFOp>(sum, scale);
    };
    Value s = create<arith::AddFOp>(scaled(v[0], v[1]), scaled(v[2], v[3]));
    return {m, s};
  };
  return c;
}

/// x -> a x + b, composed: associative, not commutative.
Generator::Combine Generator::recurrence() {
  Combine c;
  bool isFloat = random.chance(50);
  Type element = isFloat ? Type(b.getF32Type()) : intType();
  c.elements = {element, element};
  c.isExact = false;
  c.limit = 1;
  c.build = [this, isFloat](ValueRange v) -> Values {
    auto mul = [&](Value x, Value y) -> Value {
      return isFloat ? create<arith::MulFOp>(x, y).getResult()
                     : create<arith::MulIOp>(x, y);
    };
    auto sum = [&](Value x, Value y) -> Value {
      return isFloat ? create<arith::AddFOp>(x, y).getResult()
                     : create<arith::AddIOp>(x, y);
    };
    return {mul(v[0], v[2]), sum(mul(v[1], v[2]), v[3])};
  };
  return c;
}

/// The later one unless it is zero.
Generator::Combine Generator::lastNonZero() {
  Combine c;
  c.elements = {intType()};
  c.build = [this](ValueRange v) -> Values {
    Value zero = number(v[0].getType(), int64_t{0});
    Value isZero = create<arith::CmpIOp>(arith::CmpIPredicate::eq, v[1], zero);
    return {create<arith::SelectOp>(isZero, v[0], v[1])};
  };
  return c;
}

/// Two at once, neither knowing of the other.
Generator::Combine Generator::pair(Combine first, Combine second) {
  Combine c;
  c.elements = {first.elements[0], second.elements[0]};
  c.isExact = second.isExact;
  c.growth = second.growth;
  c.limit = std::min(first.limit, second.limit);
  c.build = [first, second](ValueRange v) -> Values {
    return {first.build({v[0], v[2]})[0], second.build({v[1], v[3]})[0]};
  };
  return c;
}

} // namespace nereid::fuzz
