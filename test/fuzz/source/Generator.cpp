//===- Generator.cpp - Random kernels in the language ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

namespace nereid::fuzz::source {

Program generate(uint64_t seed, const GeneratorOptions &options,
                 FeatureCounts &features) {
  return Generator(seed, options, features).run();
}

Program Generator::run() {
  kernel.name = kernelName;
  here = &kernel.body;
  // Drawn in any case: programs are the same at every percentage but for this.
  products = random.chance(options.products) ? 1 : 0;
  packings = random.chance(options.packing) ? 1 : 0;
  // By a draw of its own: the programs without such a loop are what their
  // seeds gave before the generator had one.
  reducedCarries = Random(~program.seed).chance(options.reducedCarried) ? 1 : 0;
  if (options.anySizes) {
    count(Feature::notPowerOfTwo);
  }
  beginKernel();
  growBlock(options.statements, options.depth);
  while (products > 0) {
    growProducts();
  }
  while (packings > 0) {
    growPacking();
  }
  while (reducedCarries > 0) {
    growReducedCarry();
  }
  storeResults(int(random.between(1, 4)));
  program.functions.push_back(std::move(kernel));
  return std::move(program);
}

void Generator::beginKernel() {
  if (products == 0) {
    program.grid[0] = random.pick<int32_t>({1, 1, 2, 3});
    program.grid[1] = random.pick<int32_t>({1, 1, 1, 2});
  }
  serials = int64_t{program.grid[0]} * program.grid[1];
  Type i32{DType::Int32, {}};
  Item x = define("tl.program_id(0)", i32);
  here->back().isInline = false;
  serial = x.variable;
  if (program.grid[1] > 1) {
    Item linear =
        define(join("tl.program_id(1) * ",
                    random.chance(50) ? Expr("tl.num_programs(0)")
                                      : Expr(std::to_string(program.grid[0])),
                    " + ", x.variable),
               i32);
    here->back().isInline = false;
    serial = linear.variable;
  }
  for (int64_t i = random.between(1, 2); i > 0; --i) {
    Dims shape = anyShape();
    while (shape.empty() || shape == Dims{1}) {
      shape = anyShape();
    }
    shapes.push_back(shape);
  }
  for (int64_t i = random.below(3); i > 0; --i) {
    Argument argument;
    argument.kind = Argument::Kind::Static;
    argument.integer = random.pick<int64_t>({2, 3, 8, 16, 32, 33});
    VariableId id = parameter(argument, "K", "tl.constexpr");
    statics.push_back({id, argument.integer});
  }
  for (int64_t i = random.below(3); i > 0; --i) {
    Argument argument;
    bool isFloating = random.chance(30);
    argument.kind =
        isFloating ? Argument::Kind::Float : Argument::Kind::Integer;
    argument.element = isFloating ? DType::Float32 : DType::Int32;
    argument.number = double(random.between(-8, 8)) / 2;
    argument.integer = random.pick<int64_t>({0, 2, 7, 16, 33, -5, 1000});
    if (!isFloating && random.chance(15)) {
      argument.integer = 0x123456789a;
      argument.element = DType::Int64;
    }
    VariableId id = parameter(argument, isFloating ? "f" : "n");
    pool.push_back({id, {argument.element, {}}, true, false, 4});
  }
}

void Generator::growBlock(int statements, int depth) {
  for (int i = 0; i < statements; ++i) {
    growOnce(depth);
  }
}

/// A statement of a family, the families in the proportion of their weights.
void Generator::growOnce(int depth) {
  struct Family {
    int weight;
    std::function<void()> grow;
  };
  bool memory = !inHelper;
  const Family families[] = {
      {12, [&] { growIntBinary(); }},
      {3, [&] { growIntDivision(); }},
      {5, [&] { growShift(); }},
      {3, [&] { growIntUnary(); }},
      {4, [&] { growMinMax(); }},
      {11, [&] { growFloatBinary(); }},
      {4, [&] { growFloatDivision(); }},
      {4, [&] { growFloatUnary(); }},
      {4, [&] { growMath(); }},
      {5, [&] { growCompare(); }},
      {5, [&] { growWhere(); }},
      {2, [&] { growLogic(); }},
      {2, [&] { growTernary(); }},
      {9, [&] { growCast(); }},
      {2, [&] { growBitcast(); }},
      {3, [&] { growStaticAssert(); }},
      {9, [&] { growShape(); }},
      {6, [&] { growReduce(); }},
      {4, [&] { growScan(); }},
      {1, [&] { growOrder(); }},
      {1, [&] { growHistogram(); }},
      {memory ? 5 : 2, [&] { fresh({anyElement(), anyShape()}); }},
      {memory ? 2 : 0, [&] { growGatherLoad(); }},
      {memory ? 2 : 0, [&] { storeResults(1); }},
      {memory ? 2 : 0, [&] { growAtomic(); }},
      {memory ? 2 : 0, [&] { growBlockPointer(); }},
      {memory ? 2 : 0, [&] { growDescriptor(); }},
      {3, [&] { growStatic(); }},
      {2, [&] { growNumberVariable(); }},
      {3, [&] { growTuple(); }},
      {memory ? 5 : 0, [&] { growHelper(depth > 0 ? 1 : 0); }},
      {memory ? 3 : 0, [&] { reuseHelper(); }},
      {memory && nesting == 0 ? 2 : 0, [&] { growEarlyReturn(0); }},
      {depth > 0 ? 5 : 0, [&] { growIf(depth - 1); }},
      {depth > 0 ? 5 : 0, [&] { growFor(depth - 1); }},
      {depth > 0 ? 2 : 0, [&] { growWhile(depth - 1); }},
      {depth > 0 ? 2 : 0, [&] { growConstexprIf(depth - 1); }},
      {memory && products > 0 && nesting < 2 ? 15 : 0, [&] { growProducts(); }},
      {memory && packings > 0 && nesting < 2 ? 15 : 0, [&] { growPacking(); }},
      {memory && reducedCarries > 0 && nesting == 0 ? 15 : 0,
       [&] { growReducedCarry(); }}};
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

/// Stores values, late ones first.
void Generator::storeResults(int count) {
  for (int i = 0; i < count; ++i) {
    auto item = find([](const Item &) { return true; });
    if (item) {
      store(*item);
    }
  }
}

} // namespace nereid::fuzz::source
