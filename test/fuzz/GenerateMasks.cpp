//===- GenerateMasks.cpp - Masked loads that decide masks -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a masked-out lane holds shows where it decides something. The masks here
// are known in part while compiling: a vector has registers whose lanes are all
// off, and others that a number of the launch decides.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

using namespace mlir;

/// i < n along every dimension: of the outermost a number of the launch, of the
/// others constants, near the edge.
Value Generator::boxMask(ArrayRef<int64_t> shape) {
  Value all;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto type = RankedTensorType::get({shape[d]}, b.getI32Type());
    Value line = create<tile::RangeOp>(type, 0, int32_t(shape[d]));
    bool isOuter = d == 0 && shape.size() > 1;
    int64_t bound = random.between(0, random.chance(50) ? 1 : shape[d]);
    Value end = random.chance(isOuter ? 70 : 10)
                    ? scalarParameter(bound, bound).value
                    : number(b.getI32Type(), bound);
    auto predicate =
        random.pick({arith::CmpIPredicate::slt, arith::CmpIPredicate::slt,
                     arith::CmpIPredicate::sge, arith::CmpIPredicate::eq});
    Value inside = create<arith::CmpIOp>(predicate, line,
                                         create<tile::SplatOp>(type, end));
    Value block = alongDim(inside, shape, d);
    all = all ? create<arith::AndIOp>(all, block).getResult() : block;
  }
  return all;
}

/// A load under such a mask, without `other`, decides where narrow elements are
/// stored.
void Generator::growMaskedDecision() {
  Dims shape = random.pick<Dims>(
      {{2, 8, 8}, {2, 8, 8}, {4, 4, 8}, {3, 5, 7}, {16, 16}, {2, 64}, {128}});
  Type element =
      random.pick<Type>({b.getI32Type(), b.getI32Type(), b.getF32Type(),
                         b.getF32Type(), b.getI64Type(), b.getI16Type()});
  Type type = typeOf(shape, element);
  Placement from = placement(shape, /*disjoint=*/false);
  Value base =
      arrayParameter(element, from.extent, "normal", /*isOutput=*/false);
  Value loaded = create<tile::LoadOp>(type, address(base, nullptr, shape, from),
                                      boxMask(shape), Value());
  Value decision;
  if (isa<FloatType>(element)) {
    auto predicate =
        random.pick({arith::CmpFPredicate::OEQ, arith::CmpFPredicate::OLT,
                     arith::CmpFPredicate::OGE});
    decision = create<arith::CmpFOp>(predicate, loaded, number(type, 0.0));
  } else {
    auto predicate =
        random.pick({arith::CmpIPredicate::eq, arith::CmpIPredicate::slt,
                     arith::CmpIPredicate::sge});
    decision = create<arith::CmpIOp>(predicate, loaded,
                                     number(type, random.between(0, 10)));
  }
  Type stored = random.chance(70) ? b.getI8Type() : b.getI16Type();
  Placement to = placement(shape, /*disjoint=*/true);
  int64_t count;
  Value shift = exclusiveShift(to.extent, count);
  Value output = arrayParameter(stored, count, "", /*isOutput=*/true);
  create<tile::StoreOp>(address(output, shift, shape, to),
                        number(typeOf(shape, stored), int64_t{1}), decision);
}

} // namespace nereid::fuzz
