//===- GenerateLoadLoops.cpp - Loops of loads without products ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/TileLoop.h"

namespace nereid::fuzz {

using namespace mlir;

/// for i: sum += x[i] op y[i], with copies ahead where they are asked for; what
/// is computed may go to another array or to the one that is read.
void Generator::growLoadLoop() {
  Dims shape = {random.pick<int64_t>({32, 64, 128, 256, 512, 1024, 100})};
  if (random.chance(50)) {
    shape = {random.pick<int64_t>({1, 2, 8, 16, 32, 48}),
             random.pick<int64_t>({4, 16, 32, 64, 64, 20})};
  }
  while (shape[0] > options.maxElements ||
         shape[0] * shape.back() > tileLimit()) {
    shape[0] = (shape[0] + 1) / 2;
  }
  Type element =
      random.pick<Type>({b.getF32Type(), b.getF32Type(), b.getF16Type(),
                         b.getBF16Type(), b.getI8Type(), b.getI32Type(),
                         b.getI32Type(), b.getI64Type(), b.getF64Type()});
  auto type = RankedTensorType::get(shape, element);
  size_t dim = size_t(random.below(int64_t(shape.size())));
  TileLoop loop(*this, type.getNumElements() * 8, shape[dim]);
  if (random.chance(80)) {
    loop.setStages(random.pick({0, 1, 2, 2, 3, 3, 4, 5, 8}));
  }
  SmallVector<TileLoop::Walk> walks;
  bool isWritten = random.chance(30);
  for (int64_t n = random.between(1, 3); n > 0; --n) {
    walks.push_back(loop.walk(element, shape, dim, isWritten && n == 1));
  }
  unsigned sums = loop.carry(zeros(type));
  loop.begin();
  Value total = loop.carried(sums);
  if (isa<FloatType>(element)) {
    total = create<arith::MulFOp>(total, number(type, 0.5));
  }
  SmallVector<Item> items;
  for (const TileLoop::Walk &walk : walks) {
    TileLoop::Place place = loop.at(walk);
    Item item = isWritten && &walk == &walks.back() ? loop.replace(walk, place)
                                                    : loop.load(walk, place);
    items.push_back(item);
    total = sum(total, item.value);
  }
  loop.next(sums, total);
  items.push_back({total, false, 64});
  if (random.chance(35)) {
    storeTile(total);
  }
  growBesides(items);
  loop.end();
  finishTile(loop.result(sums), 64);
}

} // namespace nereid::fuzz
