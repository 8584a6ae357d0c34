//===- GenerateMap.cpp - Functions of elements that branch and loop -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers decide where an element goes, so that every executor agrees. Loops
// end: a `for` of at most eight iterations, a `while` whose value is shifted
// until it is small.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace mlir;

namespace nereid::fuzz {

namespace {

/// Scalars of i32, at the builder.
struct Scalars {
  OpBuilder &b;
  Location loc;

  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  Value mix(Random &random, Value x, Value y) {
    switch (random.below(6)) {
    case 0:
      return arith::AddIOp::create(b, loc, x, y);
    case 1:
      return arith::SubIOp::create(b, loc, x, y);
    case 2:
      return arith::MulIOp::create(b, loc, x, y);
    case 3:
      return arith::XOrIOp::create(b, loc, x, y);
    case 4: {
      Value divisor = arith::OrIOp::create(b, loc, y, number(1));
      return arith::DivUIOp::create(b, loc, x, divisor);
    }
    default:
      return arith::AndIOp::create(b, loc, x, y);
    }
  }

  /// sum = mix(sum, i) for i below x & 7.
  Value forLoop(Random &random, Value x, Value y) {
    Value count = arith::AndIOp::create(b, loc, x, number(7));
    auto loop =
        scf::ForOp::create(b, loc, number(0), count, number(1), ValueRange{y});
    OpBuilder::InsertionGuard guard(b);
    Block *body = loop.getBody();
    if (!body->empty()) {
      body->clear();
    }
    b.setInsertionPointToEnd(body);
    Value next = mix(random, loop.getRegionIterArg(0), loop.getInductionVar());
    if (random.chance(40)) {
      next = branch(random, next, x, 0);
    }
    scf::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  }

  /// Halves x until it is below 4; how often, and what is left, mixed.
  Value whileLoop(Random &random, Value x, Value y) {
    mlir::Type type = b.getI32Type();
    auto loop =
        scf::WhileOp::create(b, loc, TypeRange{type, type}, ValueRange{x, y});
    OpBuilder::InsertionGuard guard(b);
    Block *before =
        b.createBlock(&loop.getBefore(), {}, {type, type}, {loc, loc});
    Value goesOn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt,
                                         before->getArgument(0), number(3));
    scf::ConditionOp::create(b, loc, goesOn, before->getArguments());
    Block *after =
        b.createBlock(&loop.getAfter(), {}, {type, type}, {loc, loc});
    Value half =
        arith::ShRUIOp::create(b, loc, after->getArgument(0), number(1));
    Value other = mix(random, after->getArgument(1), half);
    scf::YieldOp::create(b, loc, ValueRange{half, other});
    b.setInsertionPointAfter(loop);
    return mix(random, loop.getResult(0), loop.getResult(1));
  }

  Value branch(Random &random, Value x, Value y, int depth) {
    auto predicate =
        random.pick({arith::CmpIPredicate::slt, arith::CmpIPredicate::ugt,
                     arith::CmpIPredicate::ne});
    Value condition = arith::CmpIOp::create(b, loc, predicate, x, y);
    auto made = scf::IfOp::create(b, loc, TypeRange{b.getI32Type()}, condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    for (Block *side : {made.thenBlock(), made.elseBlock()}) {
      side->clear();
      b.setInsertionPointToEnd(side);
      scf::YieldOp::create(b, loc, grow(random, x, y, depth - 1));
    }
    return made.getResult(0);
  }

  Value grow(Random &random, Value x, Value y, int depth) {
    int64_t choice = depth > 0 ? random.below(5) : 4;
    switch (choice) {
    case 0:
    case 1:
      return branch(random, x, y, depth);
    case 2:
      return forLoop(random, x, y);
    case 3:
      return whileLoop(random, x, y);
    default:
      return mix(random, x, y);
    }
  }
};

} // namespace

void Generator::growMap() {
  Dims shape = anyShape();
  if (shape.empty()) {
    shape.push_back(37);
  }
  mlir::Type ints = typeOf(shape, b.getI32Type());
  mlir::Type element = floatType();
  Item x = operand(ints), y = operand(ints);
  Item real = bounded(operand(typeOf(shape, element)), 64);
  auto map = create<tile::MapOp>(TypeRange{ints, real.type()},
                                 ValueRange{x.value, y.value, real.value});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&map.getFunction(), {},
                                {b.getI32Type(), b.getI32Type(), element},
                                {loc, loc, loc});
    Scalars scalars{b, loc};
    Value first = body->getArgument(0), second = body->getArgument(1);
    Value third = body->getArgument(2);
    Value result = scalars.branch(random, first, second, 3);
    Value isOdd = create<arith::CmpIOp>(
        arith::CmpIPredicate::ne,
        create<arith::AndIOp>(result, scalars.number(1)), scalars.number(0));
    auto chosen = create<scf::IfOp>(TypeRange{element}, isOdd,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    for (bool isThen : {true, false}) {
      OpBuilder::InsertionGuard inner(b);
      Block *side = isThen ? chosen.thenBlock() : chosen.elseBlock();
      side->clear();
      b.setInsertionPointToEnd(side);
      Value value = isThen ? Value(create<arith::NegFOp>(third)) : third;
      create<scf::YieldOp>(value);
    }
    create<tile::YieldOp>(ValueRange{result, chosen.getResult(0)});
  }
  add(map.getResult(0));
  add(map.getResult(1), real.isExact, real.magnitude);
}

} // namespace nereid::fuzz
