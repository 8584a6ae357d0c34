//===- CompositeTest.cpp - Tuples and descriptors as arguments ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/testing/LaunchFixture.h"

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// `pair(t, out, C: constexpr)` and `block(d, out)`, which note their slots.
class Composites : public LaunchFixture {
protected:
  Composites() {
    FakeKernel k;
    k.description.name = "pair";
    k.description.parameters = {parameter("t"), parameter("out"),
                                constexprParameter("C", StaticValue())};
    k.program = [this](const FakeCall &call) { program(call); };
    world->kernels["pair"] = k;
  }
  std::function<void(const FakeCall &)> program = [](const FakeCall &) {};
  CompositeArgument composite(size_t parameter) {
    return std::get<CompositeArgument>(lastSpecs()[parameter]);
  }
  Tensor x = arange({16}, f32), out = zeros({16}, f32);
};
} // namespace

TEST_F(Composites, EveryItemHasItsOwnForm) {
  program = [&](const FakeCall &call) {
    EXPECT_EQ(call.pointer<float>("t.0"), x.data<float>());
    EXPECT_EQ(call.integer("t.1"), 48);
    EXPECT_EQ(call.integer("t.4.0"), -5);
    call.pointer<float>("out")[0] = 7;
  };
  kernel("pair")[1](Tuple{x, 48, 1, nullptr, Tuple{-5, 2.5}}, out);
  EXPECT_EQ(out.at({0}), 7);
  std::vector<ArgumentSpec> inner = {RuntimeArgument{i32, false, false, false},
                                     RuntimeArgument{f32, false, false, false}};
  CompositeArgument nested;
  nested.items = inner;
  std::vector<ArgumentSpec> expected = {
      RuntimeArgument{f32, true, false, true},
      RuntimeArgument{i32, false, false, true}, StaticValue(1), StaticValue(),
      nested};
  EXPECT_EQ(composite(0).items, expected);
}

TEST_F(Composites, FormsAreToldApart) {
  Kernel k = kernel("pair");
  auto compiles = [&](const Argument &t) {
    int before = world->compiles;
    k[1](t, out);
    return world->compiles - before;
  };
  EXPECT_EQ(compiles(Tuple{2, 3}), 1);
  EXPECT_EQ(compiles(Tuple{5, 7}), 0);
  EXPECT_EQ(compiles(Tuple{5, 16}), 1); // divisible
  EXPECT_EQ(compiles(Tuple{5, 1}), 1);  // compiled in
  EXPECT_EQ(compiles(Tuple{5}), 1);     // fewer
  EXPECT_EQ(compiles(Tuple(std::vector<Argument>{Tuple{2, 3}})), 1); // deeper
  EXPECT_EQ(compiles(Tuple{Tuple{2}, 3}), 1); // grouped otherwise
  EXPECT_EQ(compiles(Tuple{2, Tuple{3}}), 1);
  EXPECT_EQ(compiles(Tuple::named("P", {"a", "b"}, {2, 3})), 1);
  EXPECT_EQ(compiles(Tuple::named("P", {"a", "c"}, {2, 3})), 1);
  EXPECT_EQ(compiles(Tuple::named("Q", {"a", "c"}, {2, 3})), 1);
  EXPECT_EQ(compiles(Tuple::named("Q", {"a", "c"}, {4, 5})), 0);
}

TEST_F(Composites, ConstexprItemsAreCompiledIn) {
  Kernel k = kernel("pair");
  auto compiles = [&](int64_t size) {
    Argument fixed = size;
    fixed.isConstexpr = true;
    int before = world->compiles;
    k[1](Tuple{fixed, 5}, out);
    return world->compiles - before;
  };
  EXPECT_EQ(compiles(48), 1);
  EXPECT_EQ(composite(0).items[0], ArgumentSpec(StaticValue(48)));
  EXPECT_EQ(compiles(49), 1);
  EXPECT_EQ(compiles(48), 0);
}

/// A tuple of plain values is passed, as each of them alone would be.
TEST_F(Composites, PlainTuplesArePassed) {
  program = [&](const FakeCall &call) {
    EXPECT_EQ(call.integer("t.1"), 12345);
  };
  StaticValue plain = StaticValue::Tuple{2, 12345};
  kernel("pair")[1](plain, out, plain);
  EXPECT_EQ(composite(0).items.size(), 2u);
  EXPECT_EQ(lastSpecs()[2], ArgumentSpec(plain)); // a constexpr is compiled in
}

TEST_F(Composites, NamesReachAConstexpr) {
  kernel("pair")[1](1, out, "C"_a = Tuple::named("P", {"a", "b"}, {2, 3.5}));
  CompositeArgument c = composite(2);
  EXPECT_EQ(c.type, "P");
  EXPECT_THAT(c.names, ElementsAre("a", "b"));
  std::vector<ArgumentSpec> expected = {StaticValue(2), StaticValue(3.5)};
  EXPECT_EQ(c.items, expected);
  kernel("pair")[1](1, out, "C"_a = Tuple{2, Tuple{3}});
  EXPECT_EQ(lastSpecs()[2], ArgumentSpec(StaticValue(
                                StaticValue::Tuple{2, StaticValue::Tuple{3}})));
}

TEST_F(Composites, DescriptorsAreBaseShapeAndStrides) {
  Tensor a = empty({32, 16}, f16);
  program = [&](const FakeCall &call) {
    EXPECT_EQ(call.slot("t.base"), reinterpret_cast<uint64_t>(a.data()));
    EXPECT_EQ(call.integer("t.shape.0"), 32);
    EXPECT_EQ(call.integer("t.shape.1"), 16);
    EXPECT_EQ(call.integer("t.strides.0"), 16);
  };
  Kernel k = kernel("pair");
  k[1](TensorDescriptor(a, {8, 16}), out);
  CompositeArgument d = composite(0);
  EXPECT_EQ(d.kind, CompositeArgument::Kind::Descriptor);
  EXPECT_THAT(d.blockShape, ElementsAre(8, 16));
  EXPECT_EQ(d.items[4], ArgumentSpec(StaticValue(1))); // the last stride
  EXPECT_EQ(world->compiles, 1);
  k[1](TensorDescriptor(a, {16, 16}), out);
  EXPECT_EQ(world->compiles, 2);
  k[1](TensorDescriptor(a, {16, 16}, TensorDescriptor::Padding::Nan), out);
  EXPECT_EQ(world->compiles, 3);
  program = [&](const FakeCall &call) {
    EXPECT_EQ(call.slot("t.0.base"), reinterpret_cast<uint64_t>(a.data()));
    EXPECT_EQ(call.integer("t.1"), 2);
  };
  k[1](Tuple{TensorDescriptor(a, {16, 16}), 2}, out);
}

TEST_F(Composites, DescriptorsAreChecked) {
  Tensor a = empty({32, 16}, f16), i = empty({32, 16}, i32);
  auto make = [&](Tensor base, Shape shape, Shape strides, Shape block,
                  TensorDescriptor::Padding padding = {}) {
    return errorOf(
        [&] { TensorDescriptor(base, shape, strides, block, padding); });
  };
  EXPECT_EQ(make(a, {32, 16}, {16, 1}, {8, 8}), "");
  EXPECT_THAT(make({}, {1}, {1}, {1}), HasSubstr("an undefined tensor"));
  EXPECT_THAT(make(a, {}, {}, {}), HasSubstr("1 to 5 dimensions"));
  EXPECT_THAT(make(a, {32, 16}, {1}, {8, 8}), HasSubstr("one stride and"));
  EXPECT_THAT(make(a.slice(1, 1), {32, 15}, {16, 1}, {8, 8}),
              HasSubstr("divisible by 16"));
  EXPECT_THAT(make(a, {0, 16}, {16, 1}, {8, 8}), HasSubstr("[0, 16]"));
  EXPECT_THAT(make(a, {32, 16}, {16, 1}, {8, 12}), HasSubstr("[8, 12]"));
  EXPECT_THAT(make(a, {32, 16}, {17, 1}, {8, 8}), HasSubstr("16 bytes"));
  EXPECT_THAT(make(a, {32, 16}, {16, 2}, {8, 8}),
              HasSubstr("expected a last stride of 1, got [16, 2]"));
  EXPECT_THAT(
      make(i, {32, 16}, {16, 1}, {8, 8}, TensorDescriptor::Padding::Nan),
      HasSubstr("padding with zeros for elements of int32"));
}

TEST_F(Composites, MistakesNameTheItem) {
  Kernel k = kernel("pair");
  Tensor undefined;
  EXPECT_THAT(errorOf([&] { k[1](Tuple{1, Tuple{undefined}}, out); }),
              HasSubstr("argument 't[1][0]': expected a tensor with memory"));
  EXPECT_THAT(
      errorOf([&] { k[1](1, out, "C"_a = Tuple::named("P", {"a"}, {x})); }),
      HasSubstr("argument 'C.a': expected a compile-time value"));
  EXPECT_THAT(errorOf([&] { k[1](1, out, "C"_a = Tuple{x}); }),
              HasSubstr("argument 'C': expected a compile-time value"));
  EXPECT_THAT(errorOf([&] { Tuple::named("P", {"a"}, {1, 2}); }),
              HasSubstr("expected one name an item, got 1 names for 2 items"));
  EXPECT_THAT(errorOf([&] { k[1](FunctionName{"f"}, out); }),
              HasSubstr("expected a tensor or a number, got the function 'f'"));
}

TEST_F(Composites, TensorsInsideDecideTheDevice) {
  Tensor there = x.to(Device::interp());
  kernel("pair")[1](Tuple{there}, 1);
  EXPECT_EQ(world->requests.back().target, "interp");
  EXPECT_THAT(errorOf([&] { kernel("pair")[1](Tuple{there}, out); }),
              HasSubstr("argument 'out' is on cpu, but 't' is on interp"));
}

TEST_F(Composites, FunctionsAreHashed) {
  FakeKernel f;
  f.description.name = "f";
  f.description.sourceHash = "hash of f";
  world->kernels["f"] = f;
  kernel("pair")[1](1, out, "C"_a = FunctionName{"f"});
  EXPECT_EQ(lastSpecs()[2],
            ArgumentSpec(StaticValue(StaticValue::Function{"f", "hash of f"})));
}

/// More slots than a launch keeps in place.
TEST_F(Composites, ManyItems) {
  std::vector<Argument> items;
  for (int i = 0; i < 100; ++i) {
    items.emplace_back(1000 + i);
  }
  int64_t sum = 0;
  program = [&](const FakeCall &call) {
    for (int i = 0; i < 100; ++i) {
      sum += call.integer("t." + std::to_string(i)) - 1000;
    }
  };
  kernel("pair")[1](Tuple(items), out);
  EXPECT_EQ(sum, 4950);
}
