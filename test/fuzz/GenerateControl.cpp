//===- GenerateControl.cpp - Control flow of the generator ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

using namespace mlir;

Generator::LoopBody::LoopBody(Generator &g, scf::ForOp loop, int64_t trips)
    : g(g), guard(g.b), scope(g.pool), outer(g.iteration),
      count(std::max<int64_t>(1, trips)) {
  Type i32 = g.b.getI32Type();
  g.b.setInsertionPointToStart(loop.getBody());
  Value index = g.create<arith::DivSIOp>(
      g.create<arith::SubIOp>(loop.getInductionVar(), loop.getLowerBound()),
      loop.getStep());
  if (index.getType() != i32) {
    index = g.create<arith::TruncIOp>(i32, index);
  }
  g.iteration = index;
  if (outer) {
    Value before = g.create<arith::MulIOp>(outer, g.number(i32, count));
    g.iteration = g.create<arith::AddIOp>(before, index);
  }
  g.iterations *= count;
}

Generator::LoopBody::~LoopBody() {
  g.iteration = outer;
  g.iterations /= count;
}

/// A scalar that is the same on every executor.
Value Generator::condition() {
  auto item = find([&](const Item &i) { return i.type() == b.getI1Type(); });
  if (item && random.chance(60)) {
    return item->value;
  }
  Value x = operand(b.getI32Type()).value;
  auto predicate = static_cast<arith::CmpIPredicate>(random.below(10));
  return create<arith::CmpIOp>(predicate, x, operand(b.getI32Type()).value);
}

/// One to three values in scope that a loop carries.
SmallVector<Item> Generator::carriedItems() {
  SmallVector<Item> items;
  for (int64_t n = random.between(1, 3); n > 0; --n) {
    auto item = find([&](const Item &i) {
      return !isa<tile::PtrType>(tile::getElement(i.type()));
    });
    items.push_back(item ? *item : fresh(typeOf(anyShape(), anyElement())));
  }
  return items;
}

/// What takes the place of a carried value: of its type, and no larger.
Item Generator::yieldFor(const Item &carried) {
  Item item = operand(carried.type());
  if (isa<FloatType>(tile::getElement(carried.type()))) {
    return bounded(item, 64);
  }
  return item;
}

void Generator::growIf(int depth) {
  Value chosen = condition();
  SmallVector<Item> model;
  SmallVector<Type> types;
  for (int64_t n = random.between(0, 2); n > 0; --n) {
    model.push_back(operand(typeOf(anyShape(), anyElement())));
    types.push_back(model.back().type());
  }
  bool withElse = !types.empty() || random.chance(50);
  auto branch = create<scf::IfOp>(TypeRange(types), chosen, withElse);
  bool isExact = true;
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    if (!block) {
      continue;
    }
    OpBuilder::InsertionGuard guard(b);
    Scope scope(pool);
    b.setInsertionPointToStart(block);
    growBlock(int(random.between(1, 4)), depth);
    if (types.empty() || random.chance(30)) {
      storeResults(1);
    }
    SmallVector<Value> yields;
    for (const Item &item : model) {
      Item out = yieldFor(item);
      isExact &= out.isExact;
      yields.push_back(out.value);
    }
    if (block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>()) {
      create<scf::YieldOp>(yields);
    }
  }
  for (Value result : branch.getResults()) {
    add(result, isExact, 64);
  }
}

void Generator::growFor(int depth) {
  int64_t trips = random.pick<int64_t>({0, 1, 2, 3, 3, 5});
  if (iterations * std::max<int64_t>(1, trips) > 64) {
    return;
  }
  Type type = random.chance(75) ? b.getI32Type() : b.getI64Type();
  int64_t from = random.chance(60) ? 0 : random.between(-7, 9);
  int64_t step = random.chance(60) ? 1 : random.between(1, 16);
  int64_t slack = trips == 0 ? 0 : random.below(step);
  Value lower = number(type, from), by = number(type, step);
  int64_t end = from + trips * step - slack;
  Value upper = type.isInteger(32) && random.chance(60)
                    ? scalarParameter(end, end).value
                    : number(type, end);
  SmallVector<Item> carried = carriedItems();
  SmallVector<Value> inits;
  for (const Item &item : carried) {
    inits.push_back(bounded(item, 64).value);
  }
  auto loop = create<scf::ForOp>(lower, upper, by, inits);
  {
    LoopBody body(*this, loop, trips);
    add(loop.getInductionVar());
    for (Value argument : loop.getRegionIterArgs()) {
      add(argument, false, 64);
    }
    growBlock(int(random.between(2, 5)), depth);
    if (random.chance(30)) {
      storeResults(1);
    }
    SmallVector<Value> yields;
    for (auto [item, argument] :
         llvm::zip_equal(carried, loop.getRegionIterArgs())) {
      Type element = tile::getElement(item.type());
      if (isa<IntegerType>(element) && random.chance(25)) { // an induction
        Value by = element.isInteger(1)
                       ? operand(item.type()).value
                       : number(item.type(), random.between(-3, 40));
        yields.push_back(create<arith::AddIOp>(argument, by));
      } else {
        yields.push_back(yieldFor(item).value);
      }
    }
    create<scf::YieldOp>(yields);
  }
  for (Value result : loop.getResults()) {
    add(result, false, 64);
  }
}

/// while (i < n && x != c): the limit makes it end.
void Generator::growWhile(int depth) {
  int64_t trips = random.between(1, 4);
  if (iterations * trips > 64) {
    return;
  }
  Type i32 = b.getI32Type();
  SmallVector<Item> carried = carriedItems();
  SmallVector<Value> inits = {number(i32, int64_t{0}), operand(i32).value};
  for (const Item &item : carried) {
    inits.push_back(bounded(item, 64).value);
  }
  SmallVector<Type> types;
  for (Value init : inits) {
    types.push_back(init.getType());
  }
  Value limit = random.chance(50) ? scalarParameter(trips, trips).value
                                  : number(i32, trips);
  Value stop = number(i32, random.between(-3, 3));
  auto loop = create<scf::WhileOp>(TypeRange(types), inits);
  SmallVector<Location> locations(types.size(), loc);
  std::optional<OpBuilder::InsertionGuard> guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value below = create<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                      before->getArgument(0), limit);
  Value runs = create<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                     before->getArgument(1), stop);
  create<scf::ConditionOp>(create<arith::AndIOp>(below, runs),
                           before->getArguments());

  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  {
    Scope scope(pool);
    Value outer = iteration;
    iteration = outer ? create<arith::AddIOp>(
                            create<arith::MulIOp>(outer, number(i32, trips)),
                            after->getArgument(0))
                            .getResult()
                      : Value(after->getArgument(0));
    iterations *= trips;
    for (Value argument : after->getArguments()) {
      add(argument, false, 64);
    }
    growBlock(int(random.between(1, 4)), depth);
    if (random.chance(40)) {
      storeResults(1);
    }
    SmallVector<Value> yields = {
        create<arith::AddIOp>(after->getArgument(0), number(i32, int64_t{1})),
        operand(i32).value};
    for (const Item &item : carried) {
      yields.push_back(yieldFor(item).value);
    }
    create<scf::YieldOp>(yields);
    iteration = outer;
    iterations /= trips;
  }
  guard.reset();
  for (Value result : loop.getResults()) {
    add(result, false, 64);
  }
}

/// for k: acc += load(p); p += splat(step) - how kernels walk along an axis.
void Generator::growPointerLoop() {
  int64_t trips = random.between(0, 5);
  Dims shape = anyShape();
  if (shape.empty()) {
    shape.push_back(19);
  }
  Type element = anyElement();
  auto type = RankedTensorType::get(shape, element);
  bool isFloat = isa<FloatType>(element);
  Placement place = placement(shape, /*disjoint=*/false);
  KnownScalar step = scalarParameter(0, 70);
  int64_t count = place.extent + step.number * std::max<int64_t>(trips, 1);
  Value base = arrayParameter(element, count, "whole", /*isOutput=*/false);
  Value pointer = address(base, Value(), shape, place);
  Type i32 = b.getI32Type();
  bool accumulates = !isFloat || element.isF32() || element.isF64();
  Value init = isFloat ? number(type, 0.0) : number(type, int64_t{0});
  Value active = random.chance(40) ? mask(shape) : Value();
  auto loop =
      create<scf::ForOp>(number(i32, int64_t{0}), number(i32, trips),
                         number(i32, int64_t{1}), ValueRange{pointer, init});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getRegionIterArg(0), sum = loop.getRegionIterArg(1);
    Value loaded = create<tile::LoadOp>(type, at, active, Value());
    if (isFloat && accumulates) {
      sum = create<arith::AddFOp>(sum, loaded);
    } else if (!isFloat) {
      sum = create<arith::AddIOp>(sum, loaded);
    } else {
      sum = loaded;
    }
    Value by =
        create<tile::SplatOp>(RankedTensorType::get(shape, i32), step.value);
    Value next = create<tile::AddPtrOp>(at.getType(), at, by);
    create<scf::YieldOp>(ValueRange{next, sum});
  }
  add(loop.getResult(1), !isFloat || !accumulates, 64);
}

} // namespace nereid::fuzz
