//===- TileLoop.cpp - Loops that walk over arrays -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/TileLoop.h"

namespace nereid::fuzz {

using namespace mlir;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Generator::TileLoop::TileLoop(Generator &g, int64_t work, int64_t tile)
    : g(g), random(g.random), isRegular(random.chance(65)), delta(tile) {
  g.isPlain = isRegular;
  constexpr int64_t budget = 6'000'000;
  int64_t programs = int64_t{g.grid[0]} * g.grid[1] * g.grid[2];
  int64_t affordable = budget / (work * programs * g.iterations);
  trips = random.pick<int64_t>({0, 1, 2, 3, 3, 4, 4, 5, 6, 9});
  trips = std::min({trips, std::max<int64_t>(affordable, 1),
                    std::max<int64_t>(64 / g.iterations, 1)});
  if (random.chance(isRegular ? 5
                              : 25)) { // windows that overlap, or leave gaps
    delta = random.pick<int64_t>({1, 8, 16, 24, tile / 2 + 1, 2 * tile});
  }
  chooseCounter();
}

/// A constant, or a scalar that is known at run time only.
Value Generator::TileLoop::scalar(int64_t value, int percentRuntime) {
  Type i32 = g.b.getI32Type();
  if (!random.chance(percentRuntime)) {
    return g.number(counterType, value);
  }
  Value parameter = g.scalarParameter(value, value).value;
  return counterType == i32 ? parameter
                            : g.create<arith::ExtSIOp>(counterType, parameter);
}

void Generator::TileLoop::chooseCounter() {
  counterType = random.chance(80) ? g.b.getI32Type() : g.b.getI64Type();
  switch (random.below(5)) {
  case 0: // the position itself
  case 1:
    step = delta;
    lower = first = random.chance(70) ? 0 : 16 * random.between(0, 2);
    break;
  case 2: // counted from elsewhere
    step = delta;
    lower = isRegular ? 16 * random.between(-1, 1) : random.between(-9, 9);
    fromCounter = -lower;
    break;
  case 3: // numbers of tiles
    lower = random.chance(70) ? 0 : random.between(0, 3);
    perCount = delta;
    first = lower * delta;
    break;
  default: // carried
    lower = random.between(-5, 9);
    step = random.between(1, 17);
    first = random.chance(70) ? 0
            : isRegular       ? 16 * random.between(1, 3)
                              : random.between(1, 40);
    Type type = random.chance(70) ? g.b.getI32Type() : g.b.getI64Type();
    carriedPosition = carry(g.number(type, first));
    advances.push_back({*carriedPosition, delta});
  }
  int64_t slack = trips == 0 ? 0 : random.below(step);
  int64_t end = lower + trips * step - slack;
  if (trips == 0 && random.chance(30)) {
    end -= random.between(0, 20);
  }
  lowerValue = scalar(lower, 15);
  upperValue = scalar(end, 65);
  stepValue = scalar(step, 10);
}

/// position * stride, in the type of the position.
Value Generator::TileLoop::scaled(Value value, int64_t stride) {
  if (stride == 1) {
    return value;
  }
  Value factor = g.number(value.getType(), stride);
  if (value.getType().isInteger(32) && random.chance(20)) {
    factor = g.scalarParameter(stride, stride).value;
  }
  return g.create<arith::MulIOp>(value, factor);
}

Value Generator::TileLoop::narrow(Value value) {
  Type i32 = g.b.getI32Type();
  return value.getType() == i32 ? value : g.create<arith::TruncIOp>(i32, value);
}

//===----------------------------------------------------------------------===//
// What a loop walks over
//===----------------------------------------------------------------------===//

static int64_t roundUp(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

Generator::TileLoop::Walk Generator::TileLoop::walk(Type element,
                                                    ArrayRef<int64_t> shape,
                                                    size_t dim, bool isOutput) {
  Walk walk;
  walk.type = RankedTensorType::get(shape, element);
  walk.dim = dim;
  int64_t even = isRegular || random.chance(50) ? 16 : 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    bool isMasked = random.chance(d == dim ? 45 : 30);
    int64_t begin = d == dim ? last() : 0, end = begin + shape[d];
    if (isMasked) {
      end = std::min(end, roundUp(begin + random.between(0, shape[d]), even));
    }
    walk.valid.push_back(end);
    walk.isMasked.push_back(isMasked);
  }
  // The last dimension, mostly, is dense; rows begin at multiples of 16, or
  // wherever the last one ended.
  size_t inner = random.chance(75) ? shape.size() - 1 : 0;
  auto size = [&](size_t d) { return std::max<int64_t>(walk.valid[d], 1); };
  walk.place.strides.assign(shape.size(), 1);
  if (shape.size() == 2) {
    int64_t pitch = size(inner);
    pitch = isRegular || random.chance(50)
                ? roundUp(pitch, 16)
                : pitch + random.pick<int64_t>({0, 0, 1, 3, 8});
    walk.place.strides[1 - inner] = pitch;
  } else if (random.chance(8)) {
    walk.place.strides[0] = 2;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    walk.place.extent += (size(d) - 1) * walk.place.strides[d];
  }
  int64_t count = walk.place.extent;
  if (isOutput || random.chance(40)) {
    int64_t share = roundUp(count, isRegular ? 16 : 1);
    walk.shift = g.exclusiveShift(share, count);
    if (count > 1 << 18 && !isOutput) {
      walk.shift = nullptr;
      count = walk.place.extent;
    }
  }
  // Sums of whole numbers are exact, so that each of their bits counts.
  StringRef fill = random.pick<StringRef>(
      {"whole", "whole", "whole", "whole", "normal", "normal", "positive"});
  if (random.chance(3)) {
    fill = "special";
  } else if (isa<IntegerType>(element) && random.chance(50)) {
    fill = "any";
  }
  walk.magnitude = fill == "whole" ? 8 : fill == "positive" ? 2 : 4;
  if (isa<IntegerType>(element) && fill != "whole") {
    walk.magnitude = 128;
  }
  walk.base =
      g.arrayParameter(element, count, fill, isOutput, isRegular ? 100 : 60);
  walk.form = random.pick({Form::Whole, Form::Whole, Form::Offset, Form::Offset,
                           Form::Pointers, Form::Pointers, Form::Base});
  if (!isOutput && random.chance(6)) {
    walk.form = Form::Indirect;
  }
  int64_t stride = walk.place.strides[dim];
  if (walk.form == Form::Offset) {
    bool gathers = shape.size() == 2 && !isOutput && random.chance(12);
    walk.pointers = gathers
                        ? gatheredRows(walk)
                        : g.address(walk.base, walk.shift, shape, walk.place);
  }
  if (walk.form == Form::Pointers || walk.form == Form::Base) {
    Value begin = g.number(g.b.getI32Type(), first * stride);
    begin = walk.shift && first ? g.create<arith::AddIOp>(walk.shift, begin)
            : walk.shift        ? walk.shift
                                : begin;
    Value init =
        walk.form == Form::Base
            ? g.create<tile::AddPtrOp>(walk.base.getType(), walk.base, begin)
            : g.address(walk.base, begin, shape, walk.place);
    walk.carried = carry(init);
    advances.push_back({walk.carried, delta * stride});
  }
  return walk;
}

/// Rows, or columns, in an order that is loaded before the loop.
Value Generator::TileLoop::gatheredRows(const Walk &walk) {
  Type i32 = g.b.getI32Type();
  ArrayRef<int64_t> shape = walk.type.getShape();
  size_t row = 1 - walk.dim;
  auto line = [&](size_t d) -> Value {
    auto type = RankedTensorType::get({shape[d]}, i32);
    return g.create<tile::RangeOp>(type, 0, int32_t(shape[d]));
  };
  Value table = g.arrayParameter(i32, shape[row], "positive",
                                 /*isOutput=*/false);
  Value entries = g.create<tile::SplatOp>(
      RankedTensorType::get({shape[row]}, table.getType()), table);
  entries = g.create<tile::AddPtrOp>(entries.getType(), entries, line(row));
  auto lineType = RankedTensorType::get({shape[row]}, i32);
  Value rows = g.create<tile::LoadOp>(lineType, entries, Value(), Value());
  rows = g.create<arith::RemUIOp>(
      rows, g.number(lineType, std::max<int64_t>(walk.valid[row], 1)));
  rows = g.create<arith::MulIOp>(rows,
                                 g.number(lineType, walk.place.strides[row]));
  Value columns = line(walk.dim);
  columns = g.create<arith::MulIOp>(
      columns, g.number(columns.getType(), walk.place.strides[walk.dim]));
  Value offsets = g.create<arith::AddIOp>(g.alongDim(rows, shape, row),
                                          g.alongDim(columns, shape, walk.dim));
  Value base = walk.base;
  if (walk.shift) {
    base = g.create<tile::AddPtrOp>(base.getType(), base, walk.shift);
  }
  auto type = RankedTensorType::get(shape, base.getType());
  return g.create<tile::AddPtrOp>(type, g.create<tile::SplatOp>(type, base),
                                  offsets);
}

unsigned Generator::TileLoop::carry(Value init) {
  inits.push_back(init);
  yields.push_back({});
  return unsigned(inits.size() - 1);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void Generator::TileLoop::setStages(int64_t number) { stages = number; }

void Generator::TileLoop::begin() {
  loop = g.create<scf::ForOp>(lowerValue, upperValue, stepValue, inits);
  if (stages) {
    loop->setAttr("tile.num_stages", g.b.getI32IntegerAttr(int32_t(*stages)));
  }
  body.emplace(g, loop, trips);
  if (carriedPosition) {
    position = carried(*carriedPosition);
    return;
  }
  position = loop.getInductionVar();
  if (fromCounter) {
    position = g.create<arith::SubIOp>(position, lowerValue);
  }
  position = scaled(position, perCount);
}

Value Generator::TileLoop::carried(unsigned number) {
  return loop.getRegionIterArg(number);
}

/// Where an iteration is; for an indirect walk, anywhere it may be.
Value Generator::TileLoop::positionOf(const Walk &walk) {
  if (walk.form != Form::Indirect) {
    return position;
  }
  Type i32 = g.b.getI32Type();
  Value table =
      g.arrayParameter(i32, g.iterations, "positive", /*isOutput=*/false);
  Value entry = g.create<tile::LoadOp>(
      i32, g.create<tile::AddPtrOp>(table.getType(), table, g.iteration),
      Value(), Value());
  Value chosen =
      g.create<arith::RemUIOp>(entry, g.number(i32, last() / 16 + 1));
  return g.create<arith::MulIOp>(chosen, g.number(i32, int64_t{16}));
}

/// Which elements lie in the array, as far as a mask is wanted.
Value Generator::TileLoop::mask(const Walk &walk, Value at) {
  ArrayRef<int64_t> shape = walk.type.getShape();
  Value all;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!walk.isMasked[d]) {
      continue;
    }
    Type type = d == walk.dim ? at.getType() : Type(g.b.getI32Type());
    auto lineType = RankedTensorType::get({shape[d]}, g.b.getI32Type());
    Value line = g.create<tile::RangeOp>(lineType, 0, int32_t(shape[d]));
    if (!type.isInteger(32)) {
      lineType = RankedTensorType::get({shape[d]}, type);
      line = g.create<arith::ExtSIOp>(lineType, line);
    }
    Value end = g.number(type, walk.valid[d]);
    if (type.isInteger(32) && random.chance(60)) {
      end = g.scalarParameter(walk.valid[d], walk.valid[d]).value;
    }
    if (d == walk.dim && random.chance(50)) {
      end = g.create<arith::SubIOp>(end, at);
    } else if (d == walk.dim) {
      line =
          g.create<arith::AddIOp>(line, g.create<tile::SplatOp>(lineType, at));
    }
    Value inside =
        g.create<arith::CmpIOp>(arith::CmpIPredicate::slt, line,
                                g.create<tile::SplatOp>(lineType, end));
    Value block = g.alongDim(inside, shape, d);
    all = all ? g.create<arith::AndIOp>(all, block).getResult() : block;
  }
  return all;
}

Generator::TileLoop::Place Generator::TileLoop::at(const Walk &walk) {
  ArrayRef<int64_t> shape = walk.type.getShape();
  Value where = positionOf(walk);
  int64_t stride = walk.place.strides[walk.dim];
  Place place;
  switch (walk.form) {
  case Form::Whole:
  case Form::Indirect: {
    Value shift = scaled(narrow(where), stride);
    if (walk.shift) {
      shift = g.create<arith::AddIOp>(shift, walk.shift);
    }
    place.pointers = g.address(walk.base, shift, shape, walk.place);
    break;
  }
  case Form::Offset: {
    Value shift = scaled(where, stride);
    Value wide = g.create<tile::SplatOp>(
        RankedTensorType::get(shape, shift.getType()), shift);
    place.pointers =
        g.create<tile::AddPtrOp>(walk.pointers.getType(), walk.pointers, wide);
    break;
  }
  case Form::Pointers:
    place.pointers = carried(walk.carried);
    break;
  case Form::Base:
    place.pointers =
        g.address(carried(walk.carried), Value(), shape, walk.place);
    break;
  }
  place.mask = mask(walk, where);
  return place;
}

Item Generator::TileLoop::load(const Walk &walk, const Place &place) {
  Type element = walk.type.getElementType();
  Value other;
  if (place.mask && random.chance(50)) {
    bool isFloat = isa<FloatType>(element);
    bool isZero = random.chance(80);
    other = isFloat
                ? g.number(walk.type, isZero ? 0.0 : random.pick({-0.0, 1.5}))
                : g.number(walk.type, int64_t{isZero ? 0 : 3});
  }
  auto loaded =
      g.create<tile::LoadOp>(walk.type, place.pointers, place.mask, other);
  if (random.chance(10)) {
    loaded.setEvict(tile::EvictionPolicy::First);
  }
  loaded.setIsVolatile(random.chance(2));
  return {loaded, true, walk.magnitude};
}

Item Generator::TileLoop::replace(const Walk &walk, const Place &place) {
  // Others may have stored what is loaded here.
  if (delta < walk.type.getShape()[walk.dim]) {
    g.create<tile::BarrierOp>();
  }
  Item item = load(walk, place);
  Value changed;
  if (isa<FloatType>(walk.type.getElementType())) {
    bool hasArithmetic = walk.type.getElementType().getIntOrFloatBitWidth() > 8;
    changed = hasArithmetic ? g.create<arith::NegFOp>(item.value).getResult()
                            : g.number(walk.type, 2.0);
  } else {
    changed =
        g.create<arith::AddIOp>(item.value, g.number(walk.type, int64_t{1}));
  }
  g.create<tile::StoreOp>(place.pointers, changed, place.mask);
  return item;
}

Value Generator::TileLoop::reaches(ArrayRef<int64_t> shape, size_t still,
                                   size_t moving) {
  Type i32 = g.b.getI32Type();
  auto line = [&](size_t d) -> Value {
    auto type = RankedTensorType::get({shape[d]}, i32);
    return g.create<tile::RangeOp>(type, 0, int32_t(shape[d]));
  };
  Value at = narrow(position), columns = line(moving);
  columns = g.create<arith::AddIOp>(
      columns,
      g.create<tile::SplatOp>(cast<RankedTensorType>(columns.getType()), at));
  return g.create<arith::CmpIOp>(arith::CmpIPredicate::sle,
                                 g.alongDim(columns, shape, moving),
                                 g.alongDim(line(still), shape, still));
}

Value Generator::TileLoop::isOdd() {
  Type i32 = g.b.getI32Type();
  Value bit = g.create<arith::AndIOp>(g.iteration, g.number(i32, int64_t{1}));
  return g.create<arith::CmpIOp>(arith::CmpIPredicate::ne, bit,
                                 g.number(i32, int64_t{0}));
}

void Generator::TileLoop::end() {
  for (auto [number, by] : advances) {
    Value value = carried(number);
    Type i32 = g.b.getI32Type();
    if (isa<IntegerType>(value.getType())) {
      yields[number] =
          g.create<arith::AddIOp>(value, g.number(value.getType(), by));
      continue;
    }
    Value amount =
        random.chance(15) ? g.scalarParameter(by, by).value : g.number(i32, by);
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
      amount = g.create<tile::SplatOp>(
          RankedTensorType::get(tensor.getShape(), i32), amount);
    }
    yields[number] = g.create<tile::AddPtrOp>(value.getType(), value, amount);
  }
  g.create<scf::YieldOp>(yields);
  body.reset();
  g.isPlain = false;
}

} // namespace nereid::fuzz
