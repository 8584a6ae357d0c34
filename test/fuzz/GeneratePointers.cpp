//===- GeneratePointers.cpp - Unusual ways to memory ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

using namespace mlir;

/// The same pointer, by way of an integer, another type or a choice.
Value Generator::disguised(Value pointer) {
  Type type = pointer.getType();
  switch (isPlain ? 4 : random.below(24)) {
  case 0: {
    Value number = create<tile::PtrToIntOp>(b.getI64Type(), pointer);
    return create<tile::IntToPtrOp>(type, number);
  }
  case 1: {
    Type bytes = tile::PtrType::get(b.getI8Type());
    return create<tile::PtrCastOp>(
        type, create<tile::PtrCastOp>(bytes, pointer).getResult());
  }
  case 2: { // one element on, and back, on either branch
    Value one = number(b.getI32Type(), int64_t{1});
    Value minusOne = number(b.getI32Type(), int64_t{-1});
    auto branch = create<scf::IfOp>(TypeRange(type), condition(),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    Value on = create<tile::AddPtrOp>(type, pointer, one);
    create<scf::YieldOp>(
        create<tile::AddPtrOp>(type, on, minusOne).getResult());
    b.setInsertionPointToEnd(branch.elseBlock());
    create<scf::YieldOp>(pointer);
    return branch.getResult(0);
  }
  case 3:
    return create<arith::SelectOp>(condition(), pointer, pointer);
  default:
    return pointer;
  }
}

/// Now and then what is known of an index is said: its first value is a
/// multiple of `divisibility`, and the first `contiguity` are consecutive.
Value Generator::hinted(Value index, int64_t divisibility, int64_t contiguity) {
  if (random.chance(85)) {
    return index;
  }
  auto list = [&](int64_t value) -> DenseI64ArrayAttr {
    return random.chance(60) ? b.getDenseI64ArrayAttr({value})
                             : DenseI64ArrayAttr();
  };
  return create<tile::HintOp>(index.getType(), index, list(divisibility),
                              contiguity > 1 ? list(contiguity)
                                             : DenseI64ArrayAttr(),
                              DenseI64ArrayAttr());
}

/// Loads and stores of one array in turn: what is read must be what was
/// written, neither earlier nor later. The places belong to the program, and
/// to all iterations of the loops around. Other orders of the elements meet
/// across a barrier only.
void Generator::growMemoryChain() {
  Dims shape = anyShape();
  Type element = anyElement();
  Type type = typeOf(shape, element);
  Value outer = iteration;
  int64_t outerCount = iterations;
  if (random.chance(60)) {
    iteration = nullptr;
    iterations = 1;
  }
  Placement place = placement(shape, /*disjoint=*/true);
  int64_t count;
  Value shift = exclusiveShift(place.extent, count);
  iteration = outer;
  iterations = outerCount;
  if (count > 1 << 14) {
    return;
  }
  Value base = arrayParameter(element, count, "whole", /*isOutput=*/true);
  Value here = address(base, shift, shape, place);
  for (int64_t n = random.between(2, 4); n > 0; --n) {
    Value active = random.chance(30) ? mask(shape) : Value();
    switch (random.below(4)) {
    case 0:
    case 1: {
      Item item = bounded(operand(type), 64);
      create<tile::StoreOp>(here, item.value, active);
      break;
    }
    case 2: // back to front, through another block of addresses
      if (shape.size() == 1 && place.strides[0] != 0) {
        create<tile::BarrierOp>();
        Type i32 = b.getI32Type();
        Value last = number(i32, place.extent - 1);
        Value end = create<tile::AddPtrOp>(base.getType(), base,
                                           create<arith::AddIOp>(shift, last));
        Value forward = offsets(shape, place, i32);
        Value back = create<arith::SubIOp>(
            number(forward.getType(), int64_t{0}), forward);
        auto block = RankedTensorType::get(shape, base.getType());
        Value ends = create<tile::SplatOp>(block, end);
        Value pointer = create<tile::AddPtrOp>(block, ends, back);
        add(create<tile::LoadOp>(type, pointer, active, Value()), false, 64);
        create<tile::BarrierOp>();
        break;
      }
      [[fallthrough]];
    default:
      add(create<tile::LoadOp>(type, here, active, Value()), false, 64);
    }
  }
}

/// Bits that are equal now and then.
void Generator::growCompareAndSwap() {
  Dims shape = anyShape();
  Type element = b.getIntegerType(random.pick({32, 32, 64}));
  Type type = typeOf(shape, element);
  Placement place = placement(shape, /*disjoint=*/true);
  int64_t count;
  Value shift = exclusiveShift(place.extent, count);
  if (count > 1 << 14) {
    return;
  }
  Value base = arrayParameter(element, count, "whole", /*isOutput=*/true);
  Value expected = random.chance(70) ? number(type, random.between(-8, 8))
                                     : operand(type).value;
  Value value = operand(type).value;
  add(create<tile::AtomicCASOp>(
      type, tile::MemSemantic::AcqRel, tile::MemScope::Device,
      address(base, shift, shape, place), expected, value));
}

} // namespace nereid::fuzz
