//===- GenerateProducts.cpp - Loops of matrix products --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the matrix units are fed with: operands loaded in the loop that sums
// their products, of every type and orientation, and products of products.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/TileLoop.h"

namespace nereid::fuzz {

using namespace mlir;

//===----------------------------------------------------------------------===//
// Types and sizes
//===----------------------------------------------------------------------===//

/// A row of the table of tile.dot, and what its operands are in memory.
Generator::ProductTypes Generator::productTypes() {
  MLIRContext *context = b.getContext();
  Type f16 = b.getF16Type(), bf16 = b.getBF16Type(), f32 = b.getF32Type(),
       i8 = b.getI8Type(), i32 = b.getI32Type();
  Type fp8 = random.chance(50) ? Type(Float8E5M2Type::get(context))
                               : Type(Float8E4M3FNType::get(context));
  switch (random.below(25)) {
  case 0:
  case 1:
  case 2: { // converted in the loop
    Type narrow = random.chance(50) ? i8 : fp8;
    bool isLeft = random.chance(50);
    return {isLeft ? narrow : f16, isLeft ? f16 : narrow, f16, f16, f32};
  }
  case 3:
    return {bf16, f32, f32, f32, f32};
  case 4:
    return {fp8, fp8, fp8, fp8, f32};
  case 5:
  case 6:
    return {i8, i8, i8, i8, i32};
  case 7:
  case 8:
  case 9:
    return {f32, f32, f32, f32, f32};
  case 10:
    return {f16, f16, f16, f16, f16};
  case 11:
    return {f32, f16, f16, f16, f32};
  case 12:
  case 13:
  case 14:
  case 15:
  case 16:
    return {bf16, bf16, bf16, bf16, f32};
  case 17: {
    Type f64 = b.getF64Type();
    return {f64, f64, f64, f64, f64};
  }
  default:
    return {f16, f16, f16, f16, f32};
  }
}

/// Sizes of a product, powers of two mostly.
Dims Generator::productSizes() {
  Dims mnk = {random.pick<int64_t>({16, 16, 32, 32, 64, 64, 64, 64, 128, 128}),
              random.pick<int64_t>({8, 8, 16, 32, 32, 64, 64, 64, 128}),
              random.pick<int64_t>({16, 32, 32, 64, 64, 128})};
  if (random.chance(12)) {
    for (int64_t &size : mnk) {
      if (random.chance(60)) {
        size = random.pick<int64_t>(
            {1, 2, 3, 5, 8, 13, 17, 24, 33, 48, 63, 80, 96, 100});
      }
    }
  }
  if (random.chance(8)) { // as wide as one instruction
    mnk = {random.pick<int64_t>({16, 64, 64, 128}),
           random.pick<int64_t>({128, 256}), 16};
  }
  int64_t limit = tileLimit(), volume = 16 * limit;
  while (mnk[0] * mnk[1] > limit || mnk[0] * mnk[2] > limit ||
         mnk[1] * mnk[2] > limit || mnk[0] * mnk[1] * mnk[2] > volume) {
    int64_t &largest = *llvm::max_element(mnk);
    largest = (largest + 1) / 2;
  }
  return mnk;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// What a product takes from a loop.
struct Generator::Operand {
  TileLoop::Walk walk;
  Type used;
  bool isTransposed = false;
  bool isWritten = false; ///< back, changed
};

/// A walk over tiles that become operands of a shape, perhaps transposed.
Generator::Operand Generator::walkOperand(TileLoop &loop, Type memory,
                                          Type used, Dims shape, size_t dim,
                                          bool isWritten) {
  Operand operand{{}, used, random.chance(30), isWritten};
  if (operand.isTransposed) {
    std::swap(shape[0], shape[1]);
    dim = 1 - dim;
  }
  operand.walk = loop.walk(memory, shape, dim, isWritten);
  return operand;
}

/// One operation of an operand on its own; most of them leave it as it is.
Item Generator::image(const Item &item) {
  Type type = item.type();
  if (!isa<FloatType>(tile::getElement(type)) ||
      tile::getElement(type).getIntOrFloatBitWidth() == 8) {
    return item;
  }
  switch (random.below(16)) {
  case 0:
    return {create<arith::NegFOp>(item.value), item.isExact, item.magnitude};
  case 1:
    return {create<math::AbsFOp>(item.value), item.isExact, item.magnitude};
  case 2:
    return {create<arith::MulFOp>(item.value, number(type, 0.5)), item.isExact,
            item.magnitude};
  default:
    return item;
  }
}

/// The operand of an iteration: loaded, converted and transposed in either
/// order.
Item Generator::loadOperand(TileLoop &loop, const Operand &operand) {
  TileLoop::Place place = loop.at(operand.walk);
  Item item = operand.isWritten ? loop.replace(operand.walk, place)
                                : loop.load(operand.walk, place);
  return prepareOperand(item, operand.used, operand.isTransposed);
}

Item Generator::transposed(const Item &item) {
  ArrayRef<int64_t> shape = tile::getShape(item.type());
  auto type = RankedTensorType::get({shape[1], shape[0]},
                                    tile::getElement(item.type()));
  return {create<tile::TransposeOp>(type, item.value,
                                    b.getDenseI32ArrayAttr({1, 0})),
          item.isExact, item.magnitude};
}

Item Generator::prepareOperand(Item item, Type used, bool isTransposed) {
  auto convert = [&] {
    item = image(item);
    bool isInt = isa<IntegerType>(tile::getElement(item.type()));
    if (isInt && isa<FloatType>(used) && random.chance(70)) {
      item.value = create<arith::SIToFPOp>(tile::withElement(item.type(), used),
                                           item.value);
    } else {
      item = bounded(castTo(item, used), 16);
    }
  };
  bool convertsFirst = random.chance(50);
  if (convertsFirst) {
    convert();
  }
  if (isTransposed) {
    item = transposed(item);
  }
  if (!convertsFirst) {
    convert();
  }
  return item;
}

Value Generator::zeros(Type type) {
  return isa<FloatType>(tile::getElement(type)) ? number(type, 0.0)
                                                : number(type, int64_t{0});
}

Value Generator::sum(Value x, Value y) {
  if (isa<FloatType>(tile::getElement(x.getType()))) {
    return create<arith::AddFOp>(x, y);
  }
  return create<arith::AddIOp>(x, y);
}

/// sum + lhs * rhs, by the product or after it.
Value Generator::product(const Item &lhs, const Item &rhs, Value onto,
                         tile::InputPrecision precision, bool isUnsigned) {
  bool isFused = random.chance(80);
  auto dot = create<tile::DotOp>(onto.getType(), lhs.value, rhs.value,
                                 isFused ? onto : zeros(onto.getType()));
  dot.setPrecision(precision);
  dot.setIsUnsigned(isUnsigned);
  return isFused ? dot.getResult() : sum(onto, dot);
}

/// What `then` makes, or `otherwise`.
Value Generator::onlyIf(Value condition, Value otherwise,
                        function_ref<Value()> then) {
  auto branch =
      create<scf::IfOp>(TypeRange(otherwise.getType()), condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  create<scf::YieldOp>(then());
  b.setInsertionPointToStart(branch.elseBlock());
  create<scf::YieldOp>(otherwise);
  return branch.getResult(0);
}

//===----------------------------------------------------------------------===//
// What else a loop does
//===----------------------------------------------------------------------===//

/// A store to a place of this iteration in another array.
void Generator::storeTile(Value value) {
  ArrayRef<int64_t> shape = tile::getShape(value.getType());
  Placement place = placement(shape, /*disjoint=*/true);
  if (random.chance(70)) {
    place = {};
    place.strides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) {
      place.strides[d - 1] = place.strides[d] * shape[d];
    }
    place.extent = place.strides[0] * shape[0];
  }
  int64_t count;
  Value shift = exclusiveShift(place.extent, count);
  if (count > 1 << 19) {
    return;
  }
  Value base = arrayParameter(tile::getElement(value.getType()), count, "",
                              /*isOutput=*/true, /*alignedPercent=*/80);
  Value active = random.chance(25) ? mask(shape) : Value();
  create<tile::StoreOp>(address(base, shift, shape, place), value, active);
}

/// The sums of a loop: stored as they are or narrower, or kept for later.
void Generator::finishTile(Value value, double magnitude) {
  Type element = tile::getElement(value.getType());
  Item item{value, false, magnitude};
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() > 16 &&
      random.chance(40)) {
    item = castTo(bounded(item, 1e3),
                  random.chance(50) ? b.getF16Type() : b.getBF16Type());
  }
  if (random.chance(80)) {
    storeTile(item.value);
  } else {
    add(item.value, false, item.magnitude);
  }
}

/// Anything the body of a loop may do besides its products.
void Generator::growBesides(ArrayRef<Item> items) {
  if (random.chance(12)) {
    storeTile(random.pickFrom(items).value);
  }
  if (random.chance(20)) {
    for (const Item &item : items) {
      add(item.value, false, item.magnitude);
    }
    growBlock(int(random.between(1, 3)), /*depth=*/random.chance(10));
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Generator::growTileLoop() {
  --tileLoops;
  int64_t choice = random.below(10);
  choice < 2   ? growLoadLoop()
  : choice < 5 ? growChainedLoop()
               : growProductLoop();
}

static tile::InputPrecision anyPrecision(Random &random) {
  return random.chance(70) ? tile::InputPrecision::TF32
                           : tile::InputPrecision::IEEE;
}

/// for k: c += a[:, k] * b[k, :]
void Generator::growProductLoop() {
  ProductTypes types = productTypes();
  Dims mnk = productSizes();
  int64_t m = mnk[0], n = mnk[1], k = mnk[2];
  auto precision = anyPrecision(random);
  bool isUnsigned = types.lhs.isInteger(8) && random.chance(30);
  TileLoop loop(*this, m * n * k, k);
  if (random.chance(35)) {
    loop.setStages(random.pick({0, 1, 2, 2, 3, 3, 4, 5, 8}));
  }
  bool isWritten = random.chance(6);
  Operand a =
      walkOperand(loop, types.lhsMemory, types.lhs, {m, k}, 1, isWritten);
  Operand b = walkOperand(loop, types.rhsMemory, types.rhs, {k, n}, 0);
  bool isTwo = random.chance(12); // products that share an operand
  Operand other;
  if (isTwo) {
    other = walkOperand(loop, types.rhsMemory, types.rhs, {k, n}, 0);
  }
  // An operand that stays, or the one that was loaded an iteration before.
  std::optional<Item> still;
  std::optional<unsigned> previous;
  auto lhsType = RankedTensorType::get({m, k}, types.lhs);
  if (random.chance(6)) {
    still = bounded(operand(lhsType), 16);
  } else if (random.chance(6) && isa<FloatType>(types.lhs)) {
    previous = loop.carry(number(lhsType, 1.0));
  }
  bool isSquare = m == n && types.lhs == types.rhs && random.chance(30);
  auto type = RankedTensorType::get({m, n}, types.sum);
  Value init =
      random.chance(85) ? zeros(type) : bounded(operand(type), 64).value;
  unsigned sums = loop.carry(init);
  unsigned others = isTwo ? loop.carry(zeros(type)) : 0;
  auto lineType = RankedTensorType::get({m}, this->b.getF32Type());
  bool isReduced = isa<FloatType>(types.lhs) && random.chance(12);
  unsigned lines = isReduced ? loop.carry(zeros(lineType)) : 0;

  loop.begin();
  Item lhs = still ? *still : loadOperand(loop, a);
  Item rhs = isSquare ? transposed(lhs) : loadOperand(loop, b);
  if (previous) {
    loop.next(*previous, lhs.value);
    lhs.value = loop.carried(*previous);
  }
  Value before = loop.carried(sums);
  if (isa<FloatType>(types.sum) && random.chance(10)) {
    before = create<arith::MulFOp>(before, number(type, 0.5));
  }
  auto multiply = [&] {
    return product(lhs, rhs, before, precision, isUnsigned);
  };
  Value after =
      random.chance(6) ? onlyIf(loop.isOdd(), before, multiply) : multiply();
  loop.next(sums, after);
  if (isTwo) {
    loop.next(others, product(lhs, loadOperand(loop, other),
                              loop.carried(others), precision, isUnsigned));
  }
  if (isReduced) {
    Item wide = castTo(lhs, this->b.getF32Type());
    loop.next(lines, sum(loop.carried(lines), reduceRows(wide.value, false)));
  }
  double step = lhs.magnitude * rhs.magnitude * double(k);
  growBesides({lhs, rhs, {after, false, step}});
  loop.end();

  double magnitude = 64 + step * double(std::max<int64_t>(1, loop.tripCount()));
  finishTile(loop.result(sums), magnitude);
  if (isTwo) {
    finishTile(loop.result(others), magnitude);
  }
  if (isReduced && random.chance(80)) {
    storeTile(loop.result(lines));
  }
}

/// The sum or the largest of each row.
Value Generator::reduceRows(Value value, bool isMaximum) {
  ArrayRef<int64_t> shape = tile::getShape(value.getType());
  Combine how;
  how.elements = {tile::getElement(value.getType())};
  how.build = [&](ValueRange v) -> SmallVector<Value> {
    return {isMaximum ? create<arith::MaximumFOp>(v[0], v[1]).getResult()
                      : create<arith::AddFOp>(v[0], v[1]).getResult()};
  };
  auto type = RankedTensorType::get({shape[0]}, how.elements[0]);
  auto reduce = create<tile::ReduceOp>(TypeRange(type), ValueRange(value), 1);
  fillRegion(reduce.getCombine(), how);
  return reduce.getResult(0);
}

/// for n: c += f(q * k[:, n]) * v[n, :], f element by element: with a running
/// maximum it is attention.
void Generator::growChainedLoop() {
  ProductTypes types = productTypes();
  while (types.lhs != types.rhs || types.sum.isF16() || types.sum.isF64()) {
    types = productTypes();
  }
  Dims sizes = productSizes();
  int64_t m = sizes[0], n = sizes[1], d = sizes[2];
  int64_t e = random.chance(70) ? d : productSizes()[1];
  while (m * e > tileLimit() || n * e > tileLimit()) {
    e = (e + 1) / 2;
  }
  auto precision = anyPrecision(random);
  Type f32 = this->b.getF32Type();
  bool isFloat = isa<FloatType>(types.sum);
  bool isSoftmax = isFloat && random.chance(50);
  TileLoop loop(*this, m * n * (d + e), n);
  if (random.chance(35)) {
    loop.setStages(random.pick({0, 1, 2, 2, 3, 3, 4, 5, 8}));
  }
  Operand right = walkOperand(loop, types.rhsMemory, types.rhs, {d, n}, 1);
  Operand values = walkOperand(loop, types.rhsMemory, types.rhs, {n, e}, 0);
  // The first operand stays, mostly: it is loaded before the loop.
  auto lhsType = RankedTensorType::get({m, d}, types.lhs);
  std::optional<Operand> walked;
  Item lhs;
  if (random.chance(80)) {
    lhs = bounded(load(lhsType), 16);
  } else {
    walked = walkOperand(loop, types.lhsMemory, types.lhs, {m, d}, 1);
  }
  auto scoreType = RankedTensorType::get({m, n}, types.sum);
  auto type = RankedTensorType::get({m, e}, types.sum);
  auto lineType = RankedTensorType::get({m}, f32);
  unsigned sums = loop.carry(zeros(type));
  unsigned largest = 0, weights = 0;
  if (isSoftmax) {
    largest = loop.carry(
        number(lineType, random.pick({-1e4, -1e30, -double(INFINITY)})));
    weights = loop.carry(zeros(lineType));
  }

  loop.begin();
  if (walked) {
    lhs = loadOperand(loop, *walked);
  }
  Item rhs = loadOperand(loop, right);
  bool isUnsigned = types.lhs.isInteger(8) && random.chance(30);
  double magnitude = lhs.magnitude * rhs.magnitude * double(d);
  Item scores{product(lhs, rhs, zeros(scoreType), precision, isUnsigned), false,
              magnitude};
  if (isFloat && random.chance(30)) { // a branch between the products
    scores.value = onlyIf(loop.isOdd(), scores.value, [&] {
      return create<arith::MulFOp>(scores.value, number(scoreType, 0.5))
          .getResult();
    });
  }
  Value before = loop.carried(sums);
  Item weight = scores;
  if (isSoftmax) {
    auto spread = [&](Value line, ArrayRef<int64_t> shape) {
      return alongDim(line, shape, 0);
    };
    scores = bounded(scores, 8);
    if (random.chance(30)) { // what lies beyond the diagonal
      scores.value = create<arith::SelectOp>(
          loop.reaches({m, n}, 0, 1), scores.value, number(scoreType, -1e6));
    }
    Value old = loop.carried(largest);
    Value now = create<arith::MaximumFOp>(old, reduceRows(scores.value, true));
    Value shrink =
        create<math::ExpOp>(create<arith::SubFOp>(old, now), approximation());
    Value difference = create<arith::SubFOp>(scores.value, spread(now, {m, n}));
    weight = {create<math::ExpOp>(difference, approximation()), false, 1};
    Value total = create<arith::MulFOp>(loop.carried(weights), shrink);
    loop.next(weights, sum(total, reduceRows(weight.value, false)));
    loop.next(largest, now);
    before = create<arith::MulFOp>(before, spread(shrink, {m, e}));
  } else if (isFloat) {
    weight = image(bounded(weight, 16));
  }
  weight = castTo(weight, types.lhs);
  Item value = loadOperand(loop, values);
  Value after = product(weight, value, before, precision, isUnsigned);
  loop.next(sums, after);
  double step = weight.magnitude * value.magnitude * double(n);
  growBesides({lhs, rhs, scores, value, {after, false, step}});
  loop.end();

  step *= double(std::max<int64_t>(1, loop.tripCount()));
  finishTile(loop.result(sums), 64 + step);
  if (isSoftmax && random.chance(80)) {
    storeTile(loop.result(weights));
  }
}

} // namespace nereid::fuzz
