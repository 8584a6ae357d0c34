//===- HooksTest.cpp - Functions given to triton.autotune -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGen.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace nereid;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Kind = HookAction::Kind;

StaticValue tensor(DType dtype, StaticValue::Tuple shape,
                   StaticValue::Tuple stride) {
  return StaticValue::Dict{{"dtype", dtype},
                           {"shape", std::move(shape)},
                           {"stride", std::move(stride)}};
}

/// `hooks` stands above a kernel k(c_ptr, x, desc, n, BLOCK) with `decorator`.
HookRequest requestFor(const std::string &hooks, const std::string &decorator) {
  HookRequest request;
  request.source = {"hooks.py",
                    "import torch\n"
                    "import triton\n"
                    "import triton.language as tl\n"
                    "from triton.tools.tensor_descriptor import "
                    "TensorDescriptor\n" +
                        hooks + "\n@triton.autotune(" + decorator +
                        ", key=['n'])\n"
                        "@triton.jit\n"
                        "def k(c_ptr, x, desc, n, BLOCK: tl.constexpr):\n"
                        "  pass\n",
                    {}};
  request.kernel = "k";
  StaticValue x = tensor(DType::Float16, {64, 32}, {32, 1});
  request.values = {
      {"c_ptr", tensor(DType::Float32, {8}, {1})},
      {"x", x},
      {"desc", StaticValue::Dict{{"base", x},
                                 {"shape", StaticValue::Tuple{64, 32}},
                                 {"strides", StaticValue::Tuple{32, 1}},
                                 {"block_shape", StaticValue::Tuple{8, 8}}}},
      {"n", 100},
      {"BLOCK", 16},
      {"num_warps", 4}};
  return request;
}

/// Of a Config's hook.
Expected<std::vector<HookAction>> run(const std::string &hook,
                                      const std::string &hooks = "") {
  return irgen::runHook(requestFor(
      hooks, "configs=[triton.Config({'BLOCK': 16}, pre_hook=" + hook + ")]"));
}

std::vector<HookAction> actions(const std::string &hook,
                                const std::string &hooks = "") {
  auto result = run(hook, hooks);
  EXPECT_TRUE(result.ok()) << result.failure().str();
  return result.ok() ? *result : std::vector<HookAction>();
}

std::string message(const std::string &hook, const std::string &hooks = "") {
  auto result = run(hook, hooks);
  EXPECT_FALSE(result.ok()) << hook;
  return result.ok() ? "" : result.failure().str();
}

const HookAction zeroC = {Kind::Fill, "c_ptr", 0, {}, {}};

TEST(Hooks, Lambdas) {
  EXPECT_THAT(actions("lambda nargs: nargs['c_ptr'].zero_()"),
              ElementsAre(zeroC));
  EXPECT_THAT(actions("lambda a: a['c_ptr'].fill_(-float('inf'))"),
              ElementsAre(HookAction{Kind::Fill, "c_ptr", -INFINITY, {}, {}}));
  EXPECT_THAT(actions("lambda a: a['c_ptr'].copy_(a['x'])"),
              ElementsAre(HookAction{Kind::Copy, "c_ptr", 0, "x", {}}));
  EXPECT_THAT(actions("lambda a: a['c_ptr'].zero_() if a['BLOCK'] > 16 else 0"),
              IsEmpty());
}

TEST(Hooks, FunctionsWithConditions) {
  const char *hooks = "def hook(nargs):\n"
                      "  if nargs['n'] > 50 and nargs['x'] is not None:\n"
                      "    nargs['c_ptr'].zero_()\n"
                      "  for name in ['x', 'c_ptr']:\n"
                      "    if nargs[name].numel() == 8:\n"
                      "      nargs[name].fill_(nargs['BLOCK'] / 32)\n"
                      "  if nargs['x'].stride(0) != 32 or "
                      "nargs['x'].shape[-1] != 32:\n"
                      "    nargs['x'].zero_()\n";
  EXPECT_THAT(actions("hook", hooks),
              ElementsAre(zeroC, HookAction{Kind::Fill, "c_ptr", 0.5, {}, {}}));
}

/// As triton.ops' matmul has it.
TEST(Hooks, FunctionsThatMakeHooks) {
  EXPECT_THAT(actions("init_to_zero('c_ptr')",
                      "def init_to_zero(name):\n"
                      "  return lambda nargs: nargs[name].zero_()\n"),
              ElementsAre(zeroC));
}

TEST(Hooks, BlockShapesOfDescriptors) {
  const char *hooks = "def hook(nargs):\n"
                      "  if not isinstance(nargs['desc'], TensorDescriptor):\n"
                      "    return\n"
                      "  if isinstance(nargs['x'], TensorDescriptor):\n"
                      "    nargs['x'].zero_()\n"
                      "  if isinstance(nargs['x'], torch.Tensor):\n"
                      "    nargs['desc'].block_shape = [nargs['BLOCK'], 32]\n"
                      "  nargs['desc'].base.zero_()\n";
  EXPECT_THAT(actions("hook", hooks),
              ElementsAre(HookAction{Kind::BlockShape, "desc", 0, "", {16, 32}},
                          HookAction{Kind::Fill, "desc.base", 0, {}, {}}));
}

TEST(Hooks, WhatElseAHookDoesIsRefusedAtItsLine) {
  EXPECT_THAT(message("hook", "def hook(nargs):\n"
                              "  nargs['c_ptr'].zero_()\n"
                              "  nargs['c_ptr'].normal_()\n"),
              AllOf(HasSubstr("hooks.py:7:"), HasSubstr("normal_")));
  EXPECT_THAT(message("hook", "def hook(nargs):\n"
                              "  nargs['c_ptr'].copy_(torch.ones(8))\n"),
              HasSubstr("hooks.py:6:"));
  EXPECT_THAT(message("hook", "def hook(nargs):\n"
                              "  nargs['x'].data = 3\n"),
              AllOf(HasSubstr("hooks.py:6:"),
                    HasSubstr("a hook cannot assign to 'data'")));
  EXPECT_THAT(message("lambda a: a['c_ptr'].fill_('text')"),
              HasSubstr("fill_: expected a number, got str 'text'"));
  EXPECT_THAT(message("lambda a: a['c_ptr'].copy_(a['n'])"),
              HasSubstr("copy_: expected another argument that is a tensor"));
  EXPECT_THAT(message("lambda a: a['missing'].zero_()"), HasSubstr("missing"));
}

TEST(Hooks, OfTheDecorator) {
  HookRequest request =
      requestFor("def before(nargs, reset_only=False):\n"
                 "  nargs['c_ptr'].fill_(1 if reset_only else 2)\n"
                 "def after(nargs, exception):\n"
                 "  if exception is None:\n"
                 "    nargs['c_ptr'].fill_(3)\n",
                 "configs=[triton.Config({'BLOCK': 16})], pre_hook=before, "
                 "post_hook=after");
  auto description = irgen::describe(request.source, "k");
  ASSERT_TRUE(description.ok());
  EXPECT_TRUE(description->hasPreHook && description->hasPostHook);
  EXPECT_FALSE(description->configs[0].hasHook);
  auto value = [&] { return irgen::runHook(request)->front().value; };
  request.hook = HookRequest::Hook::Before;
  EXPECT_EQ(value(), 2);
  request.resetOnly = true;
  EXPECT_EQ(value(), 1);
  request.hook = HookRequest::Hook::After;
  EXPECT_EQ(value(), 3);
}

TEST(Hooks, EarlyPruning) {
  auto left = [](const std::string &prune) {
    HookRequest request = requestFor(
        prune, "configs=[triton.Config({'BLOCK': b}, num_warps=w) for b in "
               "[16, 32, 64] for w in [2, 4]], prune_configs_by="
               "{'early_config_prune': prune}");
    EXPECT_TRUE(irgen::describe(request.source, "k")->prunesConfigs);
    return irgen::pruneConfigs(request);
  };
  EXPECT_THAT(*left("def prune(configs, named_args, **kwargs):\n"
                    "  n = kwargs['n']\n"
                    "  return [c for c in configs if c.kwargs['BLOCK'] * 2 < "
                    "n and c.num_warps == 4]\n"),
              ElementsAre(1, 3));
  EXPECT_THAT(*left("def prune(configs, named_args):\n"
                    "  kept = []\n"
                    "  for c in configs:\n"
                    "    if c.all_kwargs()['num_warps'] == 2 and "
                    "named_args['x'].shape[0] == c.kwargs['BLOCK']:\n"
                    "      kept.append(c)\n"
                    "  return kept\n"),
              ElementsAre(4));
  EXPECT_THAT(left("def prune(configs, named_args):\n"
                   "  return [triton.Config({'BLOCK': 1})]\n")
                  .failure()
                  .str(),
              HasSubstr("which is none of the configurations"));
  EXPECT_THAT(left("def prune(configs, named_args):\n"
                   "  return [c for c in configs if torch.magic(c)]\n")
                  .failure()
                  .str(),
              HasSubstr("hooks.py:6:"));
}

TEST(Hooks, QuestionsAboutTheDeviceAreAnsweredForTheTarget) {
  HookRequest request = requestFor(
      "def prune(configs, named_args):\n"
      "  major = torch.cuda.get_device_capability()[0]\n"
      "  return [c for c in configs if c.kwargs['BLOCK'] > major * 3]\n",
      "configs=[triton.Config({'BLOCK': b}) for b in [16, 25, 64]], "
      "prune_configs_by={'early_config_prune': prune}");
  request.target = "sm_80";
  EXPECT_THAT(*irgen::pruneConfigs(request), ElementsAre(1, 2));
  request.target = "sm_90a";
  EXPECT_THAT(*irgen::pruneConfigs(request), ElementsAre(2));
}

TEST(Hooks, ModelsOfTime) {
  auto left = [](const std::string &model, const std::string &top) {
    return *irgen::pruneConfigs(requestFor(
        model, "configs=[triton.Config({'BLOCK': b}) for b in [16, 32, 64]], "
               "prune_configs_by={'perf_model': model, 'top_k': " +
                   top + "}"));
  };
  const char *model = "def model(BLOCK, n, num_warps, **kwargs):\n"
                      "  return abs(BLOCK - 33) * num_warps\n";
  EXPECT_THAT(left(model, "2"), ElementsAre(1, 0));
  EXPECT_THAT(left(model, "0.4"), ElementsAre(1));
  EXPECT_THAT(left(model, "1.0"), ElementsAre(0, 1, 2));
  EXPECT_THAT(left(model, "0.1"), ElementsAre(1)) << "one at least";
  // One that only the host program can compute decides nothing.
  EXPECT_THAT(left("def model(**kwargs):\n"
                   "  return torch.cuda.clock_rate()\n",
                   "2"),
              ElementsAre(0, 1, 2));
}

/// triton-lang/triton#10964: of what early_config_prune left.
TEST(Hooks, AFractionIsOfWhatIsLeft) {
  auto left = [](const std::string &top) {
    return irgen::pruneConfigs(requestFor(
        "def early(configs, named_args, **kwargs):\n"
        "  return configs[2:]\n"
        "def model(BLOCK, **kwargs):\n"
        "  return -BLOCK\n",
        "configs=[triton.Config({'BLOCK': b}) for b in [1, 2, 4, 8, 16, 32]], "
        "prune_configs_by={'early_config_prune': early, 'perf_model': model, "
        "'top_k': " +
            top + "}"));
  };
  EXPECT_THAT(*left("0.5"), ElementsAre(5, 4));
  EXPECT_THAT(*left("3"), ElementsAre(5, 4, 3));
  EXPECT_THAT(*left("10"), ElementsAre(2, 3, 4, 5));
  for (const char *top : {"2.5", "'half'", "0"}) {
    EXPECT_THAT(left(top).failure().str(),
                HasSubstr("expected how many configurations the perf_model is "
                          "to leave: an int from 1, or a float from 0.0 to "
                          "1.0"));
  }
}

} // namespace
