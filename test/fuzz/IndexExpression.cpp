//===- IndexExpression.cpp - Random expressions of indices ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/IndexExpression.h"

#include "test/fuzz/Random.h"

#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace nereid::fuzz {

func::FuncOp IndexExpression::function() const {
  return *module.get().getOps<func::FuncOp>().begin();
}

namespace {
using Dims = SmallVector<int64_t, 4>;

class Maker {
public:
  Maker(MLIRContext &context, uint64_t seed)
      : random(seed), b(&context), loc(b.getUnknownLoc()) {}
  IndexExpression run();

private:
  template <typename Op, typename... Args>
  auto create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value add(Value value) {
    pool.push_back(value);
    return value;
  }
  static Type withElement(Type type, Type element) {
    ArrayRef<int64_t> shape = tile::getShape(type);
    return shape.empty() ? element
                         : Type(RankedTensorType::get(shape, element));
  }
  static bool isInteger(Value value) {
    return isa<IntegerType>(tile::getElement(value.getType()));
  }
  static unsigned widthOf(Value value) {
    return tile::getElement(value.getType()).getIntOrFloatBitWidth();
  }

  void beginFunction();
  void parameter(Type type, uint64_t value, int64_t divisibility);
  void growOnce(int depth);
  void growArithmetic();
  void growDivision();
  void growShift();
  void growChoice();
  void growCast();
  void growShape();
  void growPointer();
  void growLoop();
  void probe();

  Type intType() {
    return b.getIntegerType(random.pick({8, 16, 32, 32, 32, 64}));
  }
  int64_t number(unsigned width);
  Value constant(Type type, int64_t value);
  Value range(int64_t size);
  Value integer(); ///< any in scope
  Value sameAs(Value like, bool isDivisor = false);
  Value fitted(Value value, Type type);

  Random random;
  OpBuilder b;
  Location loc;
  IndexExpression result;
  SmallVector<DictionaryAttr> attributes;
  func::FuncOp function;
  std::vector<Value> pool;
  SmallVector<Value> scalars; ///< parameters, program ids
  SmallVector<Value> bases;   ///< pointers among the parameters
};
} // namespace

/// Mostly what kernels have; also what lies at the ends of a type.
int64_t Maker::number(unsigned width) {
  int64_t power = int64_t{1} << random.below(std::min(width, 34u));
  switch (random.below(8)) {
  case 0:
    return random.between(-3, 3);
  case 1:
    return random.between(-200, 200);
  case 2:
    return -power;
  case 3:
    return power + random.between(-2, 2);
  case 4:
    return (int64_t{1} << (width - 1)) - 1 - random.between(0, 100);
  default:
    return random.pick({16, 32, -16, -32, 64, 8, 4, -64, 2, 128});
  }
}

Value Maker::constant(Type type, int64_t value) {
  Type element = tile::getElement(type);
  unsigned width = element.getIntOrFloatBitWidth();
  APInt bits(width, static_cast<uint64_t>(value), true, true);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return create<arith::ConstantOp>(DenseElementsAttr::get(tensor, bits));
  }
  return create<arith::ConstantOp>(b.getIntegerAttr(element, bits));
}

Value Maker::range(int64_t size) {
  int64_t start = random.pick<int64_t>({0, 0, 0, -64, -32, -16, 16, 3, -5, 96});
  if (random.chance(6)) {
    start = random.pick<int64_t>({2147483647 - size, -2147483647 - 1, 200});
  }
  return create<tile::RangeOp>(RankedTensorType::get({size}, b.getI32Type()),
                               int32_t(start), int32_t(start + size));
}

Value Maker::integer() {
  for (int tries = 0; tries < 20; ++tries) {
    Value value =
        pool[pool.size() - 1 - random.below(std::min<int64_t>(pool.size(), 6))];
    if (isInteger(value)) {
      return value;
    }
  }
  return add(range(16));
}

/// Of a scalar or block `value`, one of `type`: cast, and all elements equal
/// where it is a scalar.
Value Maker::fitted(Value value, Type type) {
  Type element = tile::getElement(type);
  Type own = withElement(value.getType(), element);
  unsigned from = widthOf(value), to = element.getIntOrFloatBitWidth();
  if (from < to) {
    value = random.chance(70) ? Value(create<arith::ExtSIOp>(own, value))
                              : create<arith::ExtUIOp>(own, value);
  } else if (from > to) {
    value = create<arith::TruncIOp>(own, value);
  }
  if (value.getType() != type) {
    value = create<tile::SplatOp>(type, value);
  }
  return value;
}

Value Maker::sameAs(Value like, bool isDivisor) {
  Type type = like.getType();
  unsigned width = widthOf(like);
  if (!isDivisor && random.chance(35)) {
    for (int tries = 0; tries < 8; ++tries) {
      Value other = random.pickFrom(pool);
      if (isInteger(other) &&
          tile::getShape(other.getType()) == tile::getShape(type)) {
        return fitted(other, type);
      }
    }
  }
  if (random.chance(30)) {
    return fitted(random.pickFrom(scalars), type);
  }
  int64_t value = number(width);
  if (isDivisor && random.chance(60)) {
    value = random.pick<int64_t>({16, 32, 64, 2, 4, 8, -32, -16, 3, 7});
  }
  APInt bits(width, static_cast<uint64_t>(value), true, true);
  return constant(type, isDivisor && bits.isZero() ? 1 : value);
}

void Maker::growArithmetic() {
  Value x = integer(), y = sameAs(x);
  switch (random.below(12)) {
  case 0:
  case 1:
  case 2:
    add(create<arith::AddIOp>(x, y));
    return;
  case 3:
  case 4:
    add(create<arith::SubIOp>(x, y));
    return;
  case 5:
    add(create<arith::SubIOp>(y, x));
    return;
  case 6:
  case 7:
    add(create<arith::MulIOp>(x, y));
    return;
  case 8:
    add(create<arith::AndIOp>(x, y));
    return;
  case 9:
    add(create<arith::OrIOp>(x, y));
    return;
  case 10:
    add(create<arith::XOrIOp>(x, y));
    return;
  default:
    if (widthOf(x) > 1) {
      add(create<math::AbsIOp>(x));
    }
  }
}

void Maker::growDivision() {
  Value x = integer();
  if (widthOf(x) == 1) {
    return;
  }
  Value y = sameAs(x, /*isDivisor=*/true);
  switch (random.below(6)) {
  case 0:
  case 1:
    add(create<arith::DivSIOp>(x, y));
    return;
  case 2:
  case 3:
    add(create<arith::RemSIOp>(x, y));
    return;
  case 4:
    add(create<arith::DivUIOp>(x, y));
    return;
  default:
    add(create<arith::RemUIOp>(x, y));
  }
}

void Maker::growShift() {
  Value x = integer();
  if (widthOf(x) == 1) {
    return;
  }
  Value y =
      constant(x.getType(), random.below(random.chance(80) ? 6 : widthOf(x)));
  switch (random.below(4)) {
  case 0:
  case 1:
    add(create<arith::ShLIOp>(x, y));
    return;
  case 2:
    add(create<arith::ShRSIOp>(x, y));
    return;
  default:
    add(create<arith::ShRUIOp>(x, y));
  }
}

void Maker::growChoice() {
  Value x = integer(), y = sameAs(x);
  switch (random.below(8)) {
  case 0:
    add(create<arith::MinSIOp>(x, y));
    return;
  case 1:
    add(create<arith::MaxSIOp>(x, y));
    return;
  case 2:
    add(create<arith::MinUIOp>(x, y));
    return;
  case 3:
    add(create<arith::MaxUIOp>(x, y));
    return;
  case 4:
  case 5:
    add(create<arith::CmpIOp>(
        static_cast<arith::CmpIPredicate>(random.below(10)), x, y));
    return;
  default:
    break;
  }
  Value condition;
  for (Value value : llvm::reverse(pool)) {
    if (isInteger(value) && widthOf(value) == 1 &&
        (tile::getShape(value.getType()).empty() ||
         tile::getShape(value.getType()) == tile::getShape(x.getType()))) {
      condition = value;
      break;
    }
  }
  if (!condition) {
    Value z = random.chance(50) ? x
                                : fitted(random.pickFrom(scalars),
                                         tile::getElement(x.getType()));
    condition = add(create<arith::CmpIOp>(
        static_cast<arith::CmpIPredicate>(random.below(10)), z, sameAs(z)));
  }
  add(create<arith::SelectOp>(condition, x, y));
}

void Maker::growCast() {
  Value x = integer();
  Type element = intType();
  if (widthOf(x) != element.getIntOrFloatBitWidth()) {
    add(fitted(x, withElement(x.getType(), element)));
  }
}

void Maker::growShape() {
  Value x = random.chance(85) ? integer() : random.pickFrom(pool);
  ArrayRef<int64_t> shape = tile::getShape(x.getType());
  Type element = tile::getElement(x.getType());
  auto typed = [&](ArrayRef<int64_t> dims) {
    return RankedTensorType::get(dims, element);
  };
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  if (shape.empty()) {
    int64_t size = random.pick({4, 16, 32});
    add(create<tile::SplatOp>(typed({size}), x));
    return;
  }
  switch (random.below(7)) {
  case 0:
  case 1:
    if (shape.size() < 3) {
      auto axis = int32_t(random.below(shape.size() + 1));
      Dims dims(shape.begin(), shape.end());
      dims.insert(dims.begin() + axis, 1);
      Value expanded = create<tile::ExpandDimsOp>(typed(dims), x, axis);
      if (count <= 64 && random.chance(80)) {
        dims[axis] = random.pick({2, 4, 8});
        expanded = create<tile::BroadcastOp>(typed(dims), expanded);
      }
      add(expanded);
    }
    return;
  case 2:
    if (shape.size() == 2) {
      add(create<tile::TransposeOp>(typed({shape[1], shape[0]}), x,
                                    ArrayRef<int32_t>{1, 0}));
    }
    return;
  case 3:
    add(create<tile::ReshapeOp>(shape.size() > 1 ? typed({count})
                                : count % 4 == 0 ? typed({count / 4, 4})
                                                 : typed({count, 1}),
                                x, /*reorder=*/false));
    return;
  case 4:
    if (count <= 64 && isInteger(x)) {
      Dims dims(shape.begin(), shape.end());
      dims.push_back(2);
      add(create<tile::JoinOp>(typed(dims), x, sameAs(x)));
    }
    return;
  case 5:
    if (count <= 64 && isInteger(x)) {
      Dims dims(shape.begin(), shape.end());
      dims[0] *= 2;
      add(create<tile::CatOp>(typed(dims), x, sameAs(x), 0));
    }
    return;
  default:
    if (shape[0] % 2 == 0) {
      Dims dims(shape.begin(), shape.end()), offsets(shape.size(), 0);
      dims[0] /= 2;
      offsets[0] = random.chance(50) ? 0 : dims[0];
      SmallVector<int32_t> starts(offsets.begin(), offsets.end()),
          strides(shape.size(), 1);
      add(create<tile::SliceOp>(typed(dims), x, starts, strides));
    }
  }
}

void Maker::growPointer() {
  Value offset = integer();
  if (widthOf(offset) == 1) {
    return;
  }
  Value base = random.pickFrom(bases);
  for (Value value : pool) {
    if (!isInteger(value) && random.chance(30) &&
        tile::getShape(value.getType()) == tile::getShape(offset.getType())) {
      base = value;
    }
  }
  if (base.getType() !=
      withElement(offset.getType(), tile::getElement(base.getType()))) {
    base = create<tile::SplatOp>(withElement(offset.getType(), base.getType()),
                                 base);
  }
  Value pointer = add(create<tile::AddPtrOp>(base, offset));
  Type other =
      withElement(pointer.getType(),
                  tile::PtrType::get(b.getContext(), random.chance(50)
                                                         ? Type(b.getF16Type())
                                                         : b.getI32Type()));
  switch (random.below(6)) {
  case 0:
    add(create<tile::PtrCastOp>(other, pointer));
    return;
  case 1:
    add(create<tile::PtrToIntOp>(withElement(pointer.getType(), b.getI64Type()),
                                 pointer));
    return;
  case 2:
    if (widthOf(offset) == 64) {
      add(create<tile::IntToPtrOp>(other, offset));
    }
    return;
  default:
    return;
  }
}

/// Two numbers or blocks, moved by what is known outside.
void Maker::growLoop() {
  Value x = integer(), by = sameAs(x);
  Value lower = constant(b.getI32Type(), random.pick({0, 0, 16, -16, -3})),
        step = constant(b.getI32Type(), random.pick({1, 16, 3}));
  Value upper = create<arith::AddIOp>(
      lower, constant(b.getI32Type(), random.pick({0, 2, 33})));
  auto loop = create<scf::ForOp>(lower, upper, step, ValueRange{x});
  size_t outside = pool.size();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value carried = loop.getRegionIterArgs()[0];
    pool.push_back(carried);
    if (random.chance(50)) {
      add(create<arith::AddIOp>(carried,
                                fitted(loop.getInductionVar(), x.getType())));
    }
    growOnce(0);
    Value next;
    switch (random.below(4)) {
    case 0:
      next = create<arith::AddIOp>(carried, by);
      break;
    case 1:
      next = create<arith::SubIOp>(carried, by);
      break;
    case 2:
      next = create<arith::MulIOp>(carried, by);
      break;
    default:
      next = create<arith::MaxSIOp>(carried, by);
    }
    create<scf::YieldOp>(next);
  }
  pool.resize(outside);
  add(loop.getResult(0));
}

void Maker::growOnce(int depth) {
  int64_t choice = random.below(20);
  if (choice < 6) {
    growArithmetic();
  } else if (choice < 9) {
    growDivision();
  } else if (choice < 10) {
    growShift();
  } else if (choice < 13) {
    growChoice();
  } else if (choice < 15) {
    growCast();
  } else if (choice < 17) {
    growShape();
  } else if (choice < 19 || depth == 0) {
    growPointer();
  } else {
    growLoop();
  }
}

/// Loads that are masked off: what an analysis of accesses says of the last
/// values.
void Maker::probe() {
  size_t first = pool.size() > 4 ? pool.size() - 4 : 0;
  for (Value value : ArrayRef(pool).drop_front(first)) {
    Value pointer = value;
    if (isInteger(value)) {
      if (widthOf(value) == 1) {
        Type wide = withElement(value.getType(), b.getI32Type());
        value = create<arith::ExtUIOp>(wide, value);
      }
      Value base = bases[0];
      if (!tile::getShape(value.getType()).empty()) {
        base = create<tile::SplatOp>(
            withElement(value.getType(), base.getType()), base);
      }
      pointer = create<tile::AddPtrOp>(base, value);
    }
    Value off = constant(withElement(pointer.getType(), b.getI1Type()), 0);
    create<tile::LoadOp>(pointer, off, Value());
  }
}

void Maker::parameter(Type type, uint64_t value, int64_t divisibility) {
  std::string name = "p" + std::to_string(result.arguments.size());
  function.insertArgument(
      function.getNumArguments(), type,
      b.getDictionaryAttr(
          {b.getNamedAttr(tile::nameAttr, b.getStringAttr(name)),
           b.getNamedAttr(tile::divisibilityAttr,
                          b.getI32IntegerAttr(int32_t(divisibility)))}),
      loc);
  result.arguments.push_back(value);
  ArgumentFact fact;
  fact.isPointer = isa<tile::PtrType>(type);
  fact.integer = static_cast<int64_t>(value);
  fact.bytesFrom = 1 << 20;
  result.launch.values[name] = fact;
  BlockArgument argument = function.getArguments().back();
  (fact.isPointer ? bases : scalars).push_back(argument);
}

void Maker::beginFunction() {
  result.module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(result.module->getBody());
  function = create<func::FuncOp>("index", b.getFunctionType({}, {}));
  function.addEntryBlock();
  b.setInsertionPointToStart(&function.getBody().front());
  for (Type element :
       {Type(b.getI8Type()), Type(b.getF16Type()), Type(b.getI64Type())}) {
    int64_t bytes = tile::getElementBytes(element);
    bool isAligned = random.chance(60);
    parameter(tile::PtrType::get(b.getContext(), element),
              (uint64_t{1} << 40) + uint64_t(isAligned
                                                 ? 16 * random.below(9)
                                                 : bytes * random.below(9)),
              isAligned ? 16 : bytes);
  }
  for (int i = 0; i < 3; ++i) {
    IntegerType type = b.getIntegerType(random.pick({32, 32, 64, 16}));
    bool divides = random.chance(50);
    int64_t value = random.between(random.chance(70) ? 0 : -40, 40);
    value = divides ? value * 16 : value;
    parameter(type, static_cast<uint64_t>(value), divides ? 16 : 1);
  }
  result.launch.grid = {3, 2, 1};
  scalars.push_back(create<tile::ProgramIdOp>(b.getI32Type(), 0));
  scalars.push_back(create<tile::ProgramIdOp>(b.getI32Type(), 1));
  scalars.push_back(create<tile::NumProgramsOp>(b.getI32Type(), 0));
}

IndexExpression Maker::run() {
  beginFunction();
  llvm::append_range(pool, scalars);
  Value first = add(range(random.pick({64, 32, 16, 128, 512, 12, 1})));
  if (random.chance(30)) { // what narrow types do is rare otherwise
    Type narrow = b.getIntegerType(random.pick({8, 8, 16}));
    add(fitted(first, withElement(first.getType(), narrow)));
  }
  if (random.chance(25)) {
    Type type = random.chance(50) ? intType() : pool.back().getType();
    add(constant(type, number(tile::getElement(type).getIntOrFloatBitWidth())));
  }
  for (int64_t i = random.between(2, 12); i > 0; --i) {
    growOnce(1);
  }
  probe();
  create<func::ReturnOp>();
  return std::move(result);
}

IndexExpression makeIndexExpression(MLIRContext &context, uint64_t seed) {
  return Maker(context, seed).run();
}

} // namespace nereid::fuzz
