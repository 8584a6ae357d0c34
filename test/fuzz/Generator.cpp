//===- Generator.cpp - Random Tile programs -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

#include "test/fuzz/Launch.h"

namespace nereid::fuzz {

mlir::OwningOpRef<mlir::ModuleOp> generate(mlir::MLIRContext &context,
                                           uint64_t seed,
                                           const GeneratorOptions &options) {
  return Generator(context, seed, options).run();
}

Generator::Generator(mlir::MLIRContext &context, uint64_t seed,
                     const GeneratorOptions &options)
    : options(options), seed(seed), random(seed), b(&context),
      loc(b.getUnknownLoc()) {}

mlir::OwningOpRef<mlir::ModuleOp> Generator::run() {
  beginFunction();
  // A choice of its own: what other programs are does not depend on it.
  Random choice(~seed);
  if (choice.chance(options.products)) {
    tileLoops = int(choice.between(2, 4));
  }
  bool decides = choice.chance(options.masks);
  growBlock(options.operations, options.depth);
  if (decides) {
    growMaskedDecision();
  }
  while (tileLoops > 0) {
    growTileLoop();
  }
  storeResults(4);
  endFunction();
  return std::move(module);
}

void Generator::beginFunction() {
  module = mlir::ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  function = create<mlir::func::FuncOp>("k", b.getFunctionType({}, {}));
  function->setAttr(tile::kernelAttr, b.getUnitAttr());
  function->setAttr(seedAttr, b.getI64IntegerAttr(int64_t(seed)));
  grid = random.chance(50)
             ? llvm::SmallVector<int32_t>{1, 1, 1}
             : llvm::SmallVector<int32_t>{int32_t(random.between(1, 3)),
                                          int32_t(random.between(1, 2)),
                                          int32_t(random.between(1, 2))};
  function->setAttr(gridAttr, b.getDenseI32ArrayAttr(grid));
  b.setInsertionPointToStart(function.addEntryBlock());

  mlir::Value x = create<tile::ProgramIdOp>(0),
              y = create<tile::ProgramIdOp>(1),
              z = create<tile::ProgramIdOp>(2);
  mlir::Value gx = random.chance(50)
                       ? create<tile::NumProgramsOp>(0).getResult()
                       : number(b.getI32Type(), int64_t{grid[0]});
  mlir::Value gy = number(b.getI32Type(), int64_t{grid[1]});
  mlir::Value zy =
      create<mlir::arith::AddIOp>(create<mlir::arith::MulIOp>(z, gy), y);
  programIndex =
      create<mlir::arith::AddIOp>(create<mlir::arith::MulIOp>(zy, gx), x);
  add(programIndex);
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    shapes.push_back({});
    Dims shape = anyShape();
    shapes.back() = shape;
  }
}

void Generator::endFunction() {
  create<mlir::func::ReturnOp>();
  mlir::Block &entry = function.getBody().front();
  function.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  function.setAllArgAttrs(parameterAttrs);
}

void Generator::growBlock(int operations, int depth) {
  for (int i = 0; i < operations; ++i) {
    growOnce(depth);
  }
}

/// One operation of a family, the families in the proportion of their weights.
void Generator::growOnce(int depth) {
  struct Family {
    int weight;
    std::function<void()> grow;
  };
  const Family families[] = {
      {14, [&] { growIntBinary(); }},
      {4, [&] { growIntUnary(); }},
      {7, [&] { growCompare(); }},
      {6, [&] { growSelect(); }},
      {14, [&] { growFloatBinary(); }},
      {5, [&] { growFloatUnary(); }},
      {5, [&] { growMath(); }},
      {7, [&] { growCast(); }},
      {2, [&] { growBitcast(); }},
      {12, [&] { growShape(); }},
      {8, [&] { growReduce(); }},
      {4, [&] { growScan(); }},
      {4, [&] { growDot(); }},
      {1, [&] { growHistogram(); }},
      {2, [&] { growMap(); }},
      {6, [&] { fresh(typeOf(anyShape(), anyElement())); }},
      {2, [&] { gatherLoad(typeOf(anyShape(), anyElement())); }},
      {2, [&] { storeResults(1); }},
      {2, [&] { growAtomic(); }},
      {1, [&] { growCompareAndSwap(); }},
      {2, [&] { growMemoryChain(); }},
      {depth > 0 ? 3 : 0, [&] { growIf(depth - 1); }},
      {depth > 0 ? 3 : 0, [&] { growFor(depth - 1); }},
      {depth > 0 ? 2 : 0, [&] { growWhile(depth - 1); }},
      {depth > 0 ? 2 : 0, [&] { growPointerLoop(); }},
      {tileLoops > 0 && depth > 0 ? 10 : 0, [&] { growTileLoop(); }}};
  int total = 0;
  for (const Family &family : families) {
    total += family.weight;
  }
  int64_t choice = random.below(total);
  for (const Family &family : families) {
    choice -= family.weight;
    if (choice < 0) {
      family.grow();
      return;
    }
  }
}

/// Stores values, those that nothing uses first.
void Generator::storeResults(int count) {
  std::vector<Item> unused;
  for (const Item &item : pool) {
    if (item.value.use_empty()) {
      unused.push_back(item);
    }
  }
  for (int i = 0; i < count && !pool.empty(); ++i) {
    const Item item =
        unused.empty() ? random.pickFrom(pool) : random.pickFrom(unused);
    store(item, /*reread=*/random.chance(15));
  }
}

} // namespace nereid::fuzz
