//===- LaunchPlanTest.cpp - A launch like an earlier one ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever has been launched before, a launch gets the code, the slots and the
// errors of its own arguments. The fake compiler's kernels see both: the
// constants that they were compiled with, and what is passed.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/Specialize.h"
#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Support/Knobs.h"

#include <thread>

using namespace nereid;
using namespace nereid::literals;
using testing::HasSubstr;

namespace {

/// `note` writes how each parameter of its launch came, and with what value.
class LaunchPlanTest : public LaunchFixture {
protected:
  LaunchPlanTest() {
    FakeKernel note;
    note.description.name = "note";
    note.description.parameters = {
        parameter("out_ptr"), parameter("a"), parameter("b"),
        constexprParameter("BLOCK", StaticValue(64)),
        constexprParameter("MODE", StaticValue("none"))};
    note.description.parameters[2].defaultValue = StaticValue(7);
    note.program = [](const FakeCall &call) {
      auto *out = call.pointer<int64_t>("out_ptr");
      out[0] = call.integer("a");
      out[1] = call.isConstant("a");
      out[2] = call.integer("b");
      out[3] = call.integer("BLOCK");
    };
    world->kernels["note"] = note;
    note.description.name = "typed";
    note.description.parameters[1].dtype = DType::Int8;
    world->kernels["typed"] = note;
  }

  Kernel kernel(const std::string &name) {
    return Kernel::fromSource("", name, context);
  }
  std::vector<int64_t> noted() const { return out.toVector<int64_t>(); }
  int compiles() const { return world->compiles.load(); }

  Tensor out = zeros({4}, i64, Device::cpu());
};

using Values = std::vector<int64_t>;

} // namespace

TEST_F(LaunchPlanTest, ValuesOfOneFormShareItAndKeepTheirSlots) {
  Kernel note = kernel("note");
  for (int64_t a : {3, 5, 1001, 17}) {
    note[{1}](out, a, "BLOCK"_a = 32);
    EXPECT_EQ(noted(), (Values{a, 0, 7, 32}));
  }
  EXPECT_EQ(compiles(), 1);
}

TEST_F(LaunchPlanTest, OtherFormsAreNotTakenForThePlans) {
  Kernel note = kernel("note");
  int64_t wide = int64_t{1} << 40;
  for (int round = 0; round < 3; ++round) {
    for (int64_t a : {int64_t{3}, int64_t{1}, int64_t{16}, int64_t{-3},
                      int64_t{0}, wide, wide + 1, -wide, -wide - 1}) {
      note[{1}](out, a);
      EXPECT_EQ(noted(), (Values{a, a == 1, 7, 64})) << a;
    }
  }
  // 1; odd and even int32; odd and even int64.
  EXPECT_EQ(compiles(), 5);
}

TEST_F(LaunchPlanTest, AnAddressOfAnotherAlignmentIsAnotherForm) {
  Kernel note = kernel("note");
  Tensor room = zeros({5}, i64, Device::cpu());
  for (int round = 0; round < 3; ++round) {
    note[{1}](out, 3);
    note[{1}](room.slice(0, 1), 4 + round);
  }
  EXPECT_EQ(compiles(), 2);
  EXPECT_EQ(room.toVector<int64_t>()[1], 6);
}

TEST_F(LaunchPlanTest, NamesAreComparedByWhatTheySay) {
  Kernel note = kernel("note");
  char name[] = "a";
  note[{1}](out, LaunchArgument(std::string_view(name), 3));
  EXPECT_EQ(noted(), (Values{3, 0, 7, 64}));
  name[0] = 'c';
  try {
    note[{1}](out, LaunchArgument(std::string_view(name), 3));
    FAIL() << "c is no parameter";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("is named 'c'"));
  }
  name[0] = 'b';
  note[{1}](out, LaunchArgument(std::string_view(name), 5), "a"_a = 9);
  EXPECT_EQ(noted(), (Values{9, 0, 5, 64}));
}

TEST_F(LaunchPlanTest, OptionsStringsAndDtypesArePartOfTheForm) {
  Kernel note = kernel("note");
  auto launches = [&] {
    note[{1}](out, 3, "num_warps"_a = 8);
    note[{1}](out, 3, "num_warps"_a = 4);
    note[{1}](out, 3, "MODE"_a = "relu");
    note[{1}](out, 3, "MODE"_a = "gelu");
    note[{1}](out, 3, "MODE"_a = std::string("relu"));
    note[{1}](out, 3, "MODE"_a = f32);
    note[{1}](out, 3, "MODE"_a = f16);
    note[{1}](out, 3, "MODE"_a = 0.5);
    note[{1}](out, 3, "MODE"_a = -0.5);
  };
  launches();
  EXPECT_EQ(compiles(), 8);
  launches();
  launches();
  EXPECT_EQ(compiles(), 8);
}

TEST_F(LaunchPlanTest, ErrorsAreThoseOfTheSlowPath) {
  Kernel typed = kernel("typed");
  auto message = [&](auto launch) -> std::string {
    try {
      launch();
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  };
  auto wrong = [&] {
    return std::vector{
        message([&] { typed[{1}](out, 128); }),
        message([&] { typed[{1}](out, 1.5); }),
        message([&] { typed[{1}](out); }),
        message([&] { typed[{1}](out, 3, 4, 5, 6, 7); }),
        message([&] { typed[{1}](Tensor(), 3); }),
        message([&] { typed[{-1}](out, 3); }),
        message([&] { typed[Grid()](out, 3); }),
        message([&] { typed[{1 << 30, 1 << 30, 16}](out, 3); }),
    };
  };
  std::vector<std::string> before = wrong();
  typed[{1}](out, 3);
  EXPECT_EQ(wrong(), before);
  for (const std::string &text : before) {
    EXPECT_THAT(text, HasSubstr("typed"));
  }
  for (int64_t a : {127, -128, 1}) {
    typed[{1}](out, a);
    EXPECT_EQ(noted()[0], a);
  }
}

TEST_F(LaunchPlanTest, ChangedSettingsEndThePlans) {
  Kernel note = kernel("note");
  note[{1}](out, 3);
  EXPECT_EQ(compiles(), 1);
  Knobs settings = knobs();
  settings.check = {"nan"};
  Knobs old = exchangeKnobs(settings);
  note[{1}](out, 3);
  EXPECT_EQ(compiles(), 2); // with the check
  exchangeKnobs(old);
  note[{1}](out, 3);
  EXPECT_EQ(compiles(), 2);
}

TEST_F(LaunchPlanTest, AGridFunctionSeesTheArgumentsOfItsLaunch) {
  Kernel note = kernel("note");
  std::vector<int64_t> seen;
  auto grid = [&](const Meta &m) {
    seen.push_back(m["a"] + m["BLOCK"] + m["b"] + m["num_warps"]);
    return Grid{1};
  };
  for (int a : {3, 5, 7}) {
    note[grid](out, a, "BLOCK"_a = 100, "num_warps"_a = 8);
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{118, 120, 122}));
}

TEST_F(LaunchPlanTest, MarksTellFormsApartByTheirConstants) {
  std::string mode = "relu";
  auto mark = [](std::initializer_list<LaunchArgument> call) {
    return markOfLaunch(std::span(call.begin(), call.size()));
  };
  uint64_t one = mark({out, 3, "BLOCK"_a = 32, "MODE"_a = mode});
  // Neither positions nor the place of a text in memory are part of it.
  EXPECT_EQ(mark({out, 5, "BLOCK"_a = 32, "MODE"_a = "relu"}), one);
  EXPECT_NE(mark({out, 3, "BLOCK"_a = 64, "MODE"_a = mode}), one);
  EXPECT_NE(mark({out, 3, "BLOCK"_a = 32, "MODE"_a = "none!"}), one);
  EXPECT_NE(mark({out, 3, "MODE"_a = f32}), mark({out, 3, "MODE"_a = f16}));
  EXPECT_NE(mark({}), 0u);
}

TEST_F(LaunchPlanTest, APlanIsFoundByItsMarkAmongAllThatThereIsRoomFor) {
  LaunchPlans plans;
  std::vector<LaunchPlan> made(LaunchPlans::count + 1);
  for (size_t i = 0; i < LaunchPlans::count; ++i) {
    plans.add(&made[i], i == 3 ? 0 : 100 + i);
    plans.add(&made[i], 100 + i); // is there already
  }
  for (size_t i = 0; i < LaunchPlans::count; ++i) {
    EXPECT_EQ(plans.get(i), &made[i]);
    EXPECT_EQ(plans.mayBe(i, 100 + i), true);
    EXPECT_EQ(plans.mayBe(i, 99), i == 3);
  }
  EXPECT_EQ(plans.get(LaunchPlans::count), nullptr);
  plans.add(&made.back(), 7); // in the place of the first
  EXPECT_EQ(plans.get(0), &made.back());
  EXPECT_TRUE(plans.mayBe(0, 7));
}

/// As many arguments as the kernels of products and of attention have, texts
/// among them.
TEST_F(LaunchPlanTest, LaunchesOfManyArgumentsHavePlans) {
  KernelDescription many;
  many.name = "many";
  many.parameters = {parameter("out_ptr")};
  std::vector<LaunchArgument> call = {out};
  for (int i = 0; i < 36; ++i) {
    many.parameters.push_back(parameter("s" + std::to_string(i)));
    call.push_back(LaunchArgument(34 + i));
  }
  std::vector<std::string> names;
  for (int i = 0; i < 14; ++i) {
    names.push_back("CONSTANT" + std::to_string(i));
    many.parameters.push_back(constexprParameter(names.back(), StaticValue(0)));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    call.push_back({Text(names[i]), i % 4 ? Argument(5) : Argument("none")});
  }
  KernelState state(context.state(), Source(), many);
  LaunchBinding binding(state);
  ASSERT_TRUE(binding.bind(call).ok());
  std::vector<Specialized> specialized(many.parameters.size());
  Specialization form;
  for (size_t i = 0; i < many.parameters.size(); ++i) {
    specialize(many.parameters[i], *binding.get(i), specialized[i]);
    if (!specialized[i].isStatic) {
      form.slotParameters.push_back(static_cast<uint16_t>(i));
    }
  }
  rememberLaunch({state, std::nullopt, call, binding, specialized, form});
  ASSERT_TRUE(form.plan);
  EXPECT_EQ(state.plans.get(0), form.plan.get());
  EXPECT_TRUE(state.plans.mayBe(0, markOfLaunch(call)));
  const Argument *bound[LaunchPlan::places];
  uint64_t slots[LaunchPlan::places];
  auto fits = [&] {
    return form.plan->match(std::nullopt, call, bound, slots);
  };
  call[1] = LaunchArgument(77);
  EXPECT_TRUE(fits());
  EXPECT_EQ(slots[1], 77u);
  call.back().value = Argument(6);
  EXPECT_FALSE(fits());
  call.back().value = Argument(5);
  EXPECT_TRUE(fits());
  call[37].value = Argument("some");
  EXPECT_FALSE(fits());
}

TEST_F(LaunchPlanTest, ThreadsLaunchingDifferentFormsDoNotMix) {
  Kernel note = kernel("note");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Tensor mine = zeros({4}, i64, Device::cpu());
      const auto *values = static_cast<const int64_t *>(mine.data());
      for (int i = 0; i < 3000; ++i) {
        // More specializations than there are plans, and one that all share.
        int64_t block = int64_t{16} << ((i + t) % 7), a = 2 * i + t;
        if (i % 3) {
          note[{1}](mine, a, "BLOCK"_a = block);
        } else {
          note[{1}](mine, a, block, "BLOCK"_a = 16);
        }
        bool right = values[0] == a && values[2] == (i % 3 ? 7 : block) &&
                     values[3] == (i % 3 ? block : 16);
        wrong += !right;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}
