//===- DescribeTest.cpp - Kernels as data, host expressions, source hashes *-
// C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGen.h"
#include "nereid/IRGen/testing/TemporaryFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::irgen;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

const char *prelude = "import triton\nimport triton.language as tl\n";

KernelDescription described(const std::string &text,
                            const std::string &kernel = "k") {
  auto description = describe({"kernel.py", prelude + text, {}}, kernel);
  EXPECT_TRUE(description.ok()) << description.failure().str();
  return description.ok() ? *description : KernelDescription();
}

std::vector<std::string> kernels(const std::string &text) {
  auto names = listKernels({"kernel.py", text, {}});
  EXPECT_TRUE(names.ok()) << names.failure().str();
  return names.ok() ? *names : std::vector<std::string>();
}

//===----------------------------------------------------------------------===//
// describe
//===----------------------------------------------------------------------===//

TEST(Describe, Parameters) {
  KernelDescription d = described(
      "@triton.jit\n"
      "def k(x_ptr, n, eps: tl.float64, w: '*fp16', c: tl.const, B: "
      "tl.constexpr,\n"
      "      D: 'tl.constexpr' = 16, s=1.5, t: torch.Tensor = None):\n"
      "  pass\n");
  ASSERT_EQ(d.parameters.size(), 9u);
  EXPECT_EQ(d.parameters[0].name, "x_ptr");
  EXPECT_FALSE(d.parameters[0].isStatic);
  EXPECT_FALSE(d.parameters[0].dtype);
  EXPECT_FALSE(d.parameters[0].defaultValue);
  EXPECT_EQ(d.parameters[2].dtype, DType::Float64);
  EXPECT_FALSE(d.parameters[2].isPointer);
  EXPECT_EQ(d.parameters[3].dtype, DType::Float16);
  EXPECT_TRUE(d.parameters[3].isPointer);
  EXPECT_TRUE(d.parameters[4].isConst);
  EXPECT_TRUE(d.parameters[5].isStatic);
  EXPECT_TRUE(d.parameters[6].isStatic);
  EXPECT_EQ(d.parameters[6].defaultValue, StaticValue(16));
  EXPECT_EQ(d.parameters[7].defaultValue, StaticValue(1.5));
  EXPECT_EQ(d.parameters[8].defaultValue, StaticValue());
  EXPECT_EQ(d.parameters[0].location.line, 4u);
  EXPECT_EQ(d.parameters[0].location.column, 7u);
  EXPECT_EQ(d.location.line, 4u);
}

TEST(Describe, Specialization) {
  KernelDescription d = described("@triton.jit(do_not_specialize=['a', 2], "
                                  "do_not_specialize_on_alignment=['b'])\n"
                                  "def k(a, b, c, d):\n"
                                  "  pass\n");
  std::vector<bool> values, alignments;
  for (const ParameterDescription &p : d.parameters) {
    values.push_back(p.specialize);
    alignments.push_back(p.specializeAlignment);
  }
  EXPECT_THAT(values, ElementsAre(false, true, false, true));
  EXPECT_THAT(alignments, ElementsAre(false, false, false, true));
}

TEST(Describe, ConstexprMustSpecialize) {
  auto d =
      describe({"kernel.py",
                std::string(prelude) + "@triton.jit(do_not_specialize=['B'])\n"
                                       "def k(B: tl.constexpr):\n  pass\n",
                {}},
               "k");
  ASSERT_FALSE(d.ok());
  EXPECT_THAT(d.failure().message, HasSubstr("both tl.constexpr and in "
                                             "do_not_specialize"));
}

TEST(Describe, VariadicKernelsAreRefused) {
  auto d = describe(
      {"kernel.py",
       std::string(prelude) + "@triton.jit\ndef k(a, *rest):\n  pass\n",
       {}},
      "k");
  ASSERT_FALSE(d.ok());
  EXPECT_THAT(d.failure().message, HasSubstr("variadic"));
}

TEST(Describe, Autotune) {
  KernelDescription d = described(
      "@triton.autotune(\n"
      "  configs=[triton.Config({'B': 64}), triton.Config({'B': 128, 'S': "
      "True}, num_warps=8, num_stages=2, num_ctas=2, maxnreg=64, "
      "minnreg=40), triton.Config({'B': 32, 'minnreg': 80}), "
      "triton.Config({'B': 16, 'waves_per_eu': 2, 'matrix_instr_nonkdim': 32, "
      "'kpack': 2})],\n"
      "  key=['n', 'm'], reset_to_zero=['x'], restore_value=['y'])\n"
      "@triton.jit\n"
      "def k(x, y, n, m, B: tl.constexpr, S: tl.constexpr):\n"
      "  pass\n");
  ASSERT_EQ(d.configs.size(), 4u);
  EXPECT_EQ(d.configs[0].values.at("B"), StaticValue(64));
  EXPECT_EQ(d.configs[0].options.numWarps, 4u);
  EXPECT_EQ(d.configs[0].options.numStages, 3u);
  EXPECT_EQ(d.configs[1].values.at("S"), StaticValue(true));
  EXPECT_EQ(d.configs[1].options.numWarps, 8u);
  EXPECT_EQ(d.configs[1].options.numStages, 2u);
  EXPECT_EQ(d.configs[1].options.numCtas, 2u);
  EXPECT_EQ(d.configs[1].options.maxRegisters, 64u);
  EXPECT_EQ(d.configs[1].options.minRegisters, 40u);
  EXPECT_EQ(d.configs[2].options.minRegisters, 80u);
  EXPECT_EQ(d.configs[3].values.size(), 1u);
  EXPECT_EQ(d.configs[3].options.wavesPerUnit, 2u);
  EXPECT_EQ(d.configs[3].options.matrixSize, 32u);
  EXPECT_THAT(d.tuneKey, ElementsAre("n", "m"));
  EXPECT_THAT(d.resetToZero, ElementsAre("x"));
  EXPECT_THAT(d.restoreValue, ElementsAre("y"));
}

TEST(Describe, ConfigsFromHostCode) {
  // Lists made by comprehensions, functions, loops and filters, as real files
  // make them.
  KernelDescription d = described(
      "import itertools, torch\n"
      "def keep(c):\n"
      "  return c.kwargs['B'] * c.num_warps <= 256\n"
      "def configs():\n"
      "  out = []\n"
      "  for b, w in itertools.product([32, 64], [4, 8]):\n"
      "    if b == 64 and w == 8 and not is_cuda():\n"
      "      continue\n"
      "    out.append(triton.Config({'B': b, **EXTRA}, num_warps=w))\n"
      "  return out\n"
      "def is_cuda():\n"
      "  return triton.runtime.driver.active.get_current_target().backend == "
      "'cuda'\n"
      "EXTRA = {f'S{i}': 2 ** i for i in range(2)}\n"
      "@triton.autotune(list(filter(keep, configs())), ['n'])\n"
      "@triton.jit\n"
      "def k(n, B: tl.constexpr, S0: tl.constexpr, S1: tl.constexpr):\n"
      "  pass\n");
  ASSERT_EQ(d.configs.size(), 3u);
  EXPECT_EQ(d.configs[1].values.at("B"), StaticValue(32));
  EXPECT_EQ(d.configs[1].options.numWarps, 8u);
  EXPECT_EQ(d.configs[2].values.at("B"), StaticValue(64));
  EXPECT_EQ(d.configs[2].values.at("S1"), StaticValue(2));
}

TEST(Describe, ConfigsThatOnlyTheHostKnows) {
  // A whole list from a library, and one value from torch: the kernel is still
  // a kernel; what is not known is left to the launch.
  KernelDescription whole =
      described("import tuner\n"
                "@tuner.libentry()\n"
                "@triton.autotune(configs=tuner.get_configs('k'), key=['n'])\n"
                "@triton.jit\n"
                "def k(n, B: tl.constexpr):\n  pass\n");
  EXPECT_THAT(whole.configs, IsEmpty());
  KernelDescription part =
      described("import torch\n"
                "@triton.autotune([triton.Config({'B': 64, 'P': "
                "torch.cuda.get_device_properties(0).count})], ['n'])\n"
                "@triton.jit\n"
                "def k(n, B: tl.constexpr, P: tl.constexpr):\n  pass\n");
  ASSERT_EQ(part.configs.size(), 1u);
  EXPECT_EQ(part.configs[0].values.size(), 1u);
}

TEST(Describe, WhatTheLaunchMayGiveNeedNotBeKnown) {
  KernelDescription d = described(
      "import host\nfrom host import NUM\n"
      "@triton.autotune(configs=[triton.Config({'B': b}) for b in "
      "range(undefined)], key=[])\n"
      "@triton.heuristics({'E': HEURISTIC} if host.flag() else {})\n"
      "@triton.jit\n"
      "def k(n, B: tl.constexpr, E: tl.constexpr, F: tl.constexpr = NUM + 1):\n"
      "  pass\n");
  EXPECT_EQ(d.parameters.size(), 4u);
  EXPECT_THAT(d.configs, IsEmpty());
  EXPECT_FALSE(d.parameters[3].defaultValue);
  ASSERT_EQ(d.unknown.size(), 3u);
  EXPECT_THAT(d.unknown[0].message, HasSubstr("NUM"));
  EXPECT_THAT(d.unknown[1].message, HasSubstr("host.flag"));
  EXPECT_THAT(d.unknown[2].message, HasSubstr("'undefined' is not defined"));
}

TEST(Describe, MistakesInConfigurationsAreWarnings) {
  auto warning = [](const std::string &configs) {
    KernelDescription d = described("@triton.autotune(configs=" + configs +
                                    ", key=[])\n@triton.jit\ndef k(n):\n  "
                                    "pass\n");
    EXPECT_EQ(d.unknown.size(), 1u);
    return d.unknown.empty() ? Diagnostic() : d.unknown[0];
  };
  Diagnostic wrong = warning("[3]");
  EXPECT_EQ(wrong.severity, Severity::Warning);
  EXPECT_THAT(wrong.message,
              HasSubstr("expected a list of triton.Config, got int 3"));
  Diagnostic keyword = warning("[triton.Config({}, num_warp=4)]");
  EXPECT_THAT(keyword.message,
              HasSubstr("triton.Config has no parameter 'num_warp'"));
  EXPECT_THAT(keyword.hint, HasSubstr("did you mean 'num_warps'?"));
  EXPECT_EQ(warning("__import__('host').configs()").severity, Severity::Note);
}

TEST(Describe, NamesThatNoParameterHasAreWarnings) {
  auto warning = [](const std::string &decorator) {
    KernelDescription d =
        described(decorator + "\n@triton.jit\ndef k(x, size, "
                              "BLOCK: tl.constexpr):\n  pass\n");
    EXPECT_EQ(d.unknown.size(), 1u);
    return d.unknown.empty() ? Diagnostic() : d.unknown[0];
  };
  Diagnostic config =
      warning("@triton.autotune([triton.Config({'BLOK': 4})], [])");
  EXPECT_THAT(config.message, HasSubstr("no parameter 'BLOK'"));
  EXPECT_THAT(warning("@triton.heuristics({'EVEN': lambda a: True})").message,
              HasSubstr("triton.heuristics: 'k' has no parameter 'EVEN'"));
  EXPECT_THAT(
      warning("@triton.autotune([triton.Config({}, num_warps=3)], [])").message,
      HasSubstr("'num_warps': expected a power of two from 1 to 32, got 3"));
}

/// triton 3.9 refuses what earlier ones ignored.
TEST(Describe, TunedNamesThatNoParameterHasAreErrorsSince39) {
  auto describedAs = [](LanguageVersion language, const std::string &options) {
    Source source{"kernel.py",
                  std::string(prelude) +
                      "@triton.autotune([triton.Config({})], " + options +
                      ")\n@triton.jit\ndef k(x, size):\n  pass\n",
                  {}};
    source.language = language;
    return describe(source, "k");
  };
  for (auto [option, text] :
       {std::pair("triton.autotune's key", "['sze']"),
        std::pair("reset_to_zero", "[], reset_to_zero=['sze']"),
        std::pair("restore_value", "[], restore_value=['sze']")}) {
    auto refused = describedAs(LanguageVersion::V3_9, text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.failure().str(),
                AllOf(HasSubstr(std::string(option) +
                                ": expected parameters of 'k', x, size, got "
                                "'sze'"),
                      HasSubstr("did you mean 'size'?"),
                      HasSubstr("NEREID_LANGUAGE=3.8")));
    auto warned = describedAs(LanguageVersion::V3_8, text);
    ASSERT_TRUE(warned.ok()) << warned.failure().str();
    ASSERT_EQ(warned->unknown.size(), 1u);
    EXPECT_EQ(warned->unknown[0].severity, Severity::Warning);
    EXPECT_THAT(warned->unknown[0].message,
                HasSubstr(std::string(option) + ": 'k' has no parameter"));
    EXPECT_THAT(warned->unknown[0].hint, HasSubstr("did you mean 'size'?"));
  }
  EXPECT_TRUE(
      describedAs(LanguageVersion::V3_9, "['x'], restore_value=['x']").ok());
}

/// What is wrong with a name that a launch gives.
static std::string notAKernel(const std::string &text,
                              const std::string &name = "k") {
  auto description = describe({"kernel.py", prelude + text, {}}, name);
  return description.ok() ? "" : description.failure().str();
}

TEST(Describe, SaysWhyItIsNoKernel) {
  EXPECT_THAT(notAKernel("@triton.jit\nasync def k(x):\n  pass\n"),
              HasSubstr("write 'def' without 'async'"));
  EXPECT_THAT(notAKernel("async def k(x):\n  pass\n"),
              HasSubstr("an async function cannot be a kernel"));
  EXPECT_THAT(notAKernel("import numba\n@numba.njit\ndef k(x):\n  pass\n"),
              HasSubstr("'@numba.njit' is not known here"));
  std::string member = "class C:\n  @triton.jit\n  def k(x):\n    pass\n";
  for (const char *name : {"k", "C.k"}) {
    EXPECT_THAT(notAKernel(member, name),
                HasSubstr("it is a member of the class 'C'"));
  }
  EXPECT_THAT(notAKernel("k = triton.jit(lambda x: tl.store(x, 1))\n"),
              HasSubstr("expected a function, got a lambda"));
  EXPECT_THAT(notAKernel("k = triton.jit\n"), Not(HasSubstr("_apply")));
  EXPECT_THAT(notAKernel("k = triton.jit(do_not_specialize=['x'])\n"),
              Not(HasSubstr("_apply")));
}

TEST(Describe, WrappersOfTheHostKeepTheKernel) {
  std::string text = "def timed(fn):\n  def wrapper(*a, **k):\n    return "
                     "fn(*a, **k)\n  return wrapper\n"
                     "@timed\n@triton.jit\ndef k(n):\n  pass\n";
  EXPECT_EQ(described(text).parameters.size(), 1u);
}

TEST(Describe, Heuristics) {
  std::string text =
      "H = {'B': lambda args: triton.next_power_of_2(args['n']),\n"
      "     'EVEN': lambda args: args['n'] % args['B'] == 0}\n"
      "@triton.heuristics(H)\n"
      "@triton.heuristics({'W': lambda args: 8 if args['B'] > 64 else 4})\n"
      "@triton.jit\n"
      "def k(n, B: tl.constexpr, EVEN: tl.constexpr, W: tl.constexpr):\n"
      "  pass\n";
  EXPECT_THAT(described(text).heuristics, ElementsAre("B", "EVEN", "W"));
  auto value = [&](const std::string &name,
                   std::map<std::string, StaticValue> values) {
    EvaluateRequest request{
        {"kernel.py", prelude + text, {}}, "k", "", name, std::move(values)};
    auto result = evaluate(request);
    EXPECT_TRUE(result.ok()) << result.failure().str();
    return result.ok() ? *result : StaticValue();
  };
  EXPECT_EQ(value("B", {{"n", 100}}), StaticValue(128));
  EXPECT_EQ(value("EVEN", {{"n", 100}, {"B", 128}}), StaticValue(false));
  EXPECT_EQ(value("W", {{"n", 100}, {"B", 128}}), StaticValue(8));
}

TEST(Describe, HeuristicsAskTensors) {
  std::string text =
      "import torch\n"
      "@triton.heuristics({'B': lambda args: (args['x'].shape[0], "
      "args['x'].size(1), args['x'].stride(0), args['x'].numel(), "
      "args['x'].dtype == torch.float16, args['x'].dtype in (torch.float32,), "
      "args['x'].element_size(), args['x'].is_contiguous(), args['x'].ndim, "
      "args['y'] is None)})\n"
      "@triton.jit\ndef k(x, y, B: tl.constexpr):\n  pass\n";
  StaticValue::Dict tensor = {{"shape", StaticValue::Tuple{4, 8}},
                              {"stride", StaticValue::Tuple{8, 1}},
                              {"dtype", DType::Float16}};
  EvaluateRequest request{{"kernel.py", prelude + text, {}},
                          "k",
                          "",
                          "B",
                          {{"x", tensor}, {"y", StaticValue()}}};
  auto result = evaluate(request);
  ASSERT_TRUE(result.ok()) << result.failure().str();
  EXPECT_EQ(*result, StaticValue(StaticValue::Tuple{4, 8, 8, 32, true, false, 2,
                                                    true, 2, true}));
}

TEST(Describe, PythonsOwnNamesThroughTheirModule) {
  std::string text =
      "import builtins\n"
      "@triton.heuristics({'B': lambda args: builtins.min(args['n'], 64),\n"
      "                    'C': lambda args: builtins.mim(args['n'], 64)})\n"
      "@triton.jit\n"
      "def k(n, B: tl.constexpr, C: tl.constexpr):\n  pass\n";
  EvaluateRequest request{
      {"kernel.py", prelude + text, {}}, "k", "", "B", {{"n", 100}}};
  auto value = evaluate(request);
  ASSERT_TRUE(value.ok()) << value.failure().str();
  EXPECT_EQ(*value, StaticValue(64));
  request.heuristic = "C";
  auto wrong = evaluate(request);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.failure().str(),
              HasSubstr("module 'builtins' has no 'mim'"));
  EXPECT_THAT(wrong.failure().str(), HasSubstr("did you mean 'min'?"));
}

TEST(Describe, JitAsAFunctionAndRebinding) {
  std::string text = "def _k(n, B: tl.constexpr):\n  pass\n"
                     "_k = triton.jit(_k)\n"
                     "k = triton.heuristics({'B': lambda a: 8})(_k)\n";
  KernelDescription d = described(text);
  EXPECT_EQ(d.parameters.size(), 2u);
  EXPECT_THAT(d.heuristics, ElementsAre("B"));
  EXPECT_EQ(described(text, "_k").heuristics.size(), 0u);
}

TEST(ListKernels, InOrder) {
  EXPECT_THAT(kernels("import triton\n"
                      "from triton import jit\n"
                      "@triton.jit\ndef b(): pass\n"
                      "def host(): pass\n"
                      "@jit\ndef a(): pass\n"
                      "@other\n@triton.jit(debug=True)\ndef c(): pass\n"
                      "d = triton.jit(host)\n"
                      "class X:\n  pass\n"
                      "if cond:\n  @triton.jit\n  def e(): pass\n"),
              ElementsAre("b", "a", "c", "d", "e"));
  EXPECT_THAT(kernels(""), IsEmpty());
  EXPECT_FALSE(listKernels({"kernel.py", "def (", {}}).ok());
}

//===----------------------------------------------------------------------===//
// evaluate
//===----------------------------------------------------------------------===//

Expected<StaticValue> grid(const std::string &expression,
                           std::map<std::string, StaticValue> values,
                           const std::string &text = "") {
  return evaluate(
      {{"kernel.py", text, {}}, "k", expression, "", std::move(values)});
}

TEST(Evaluate, Grids) {
  auto is = [](Expected<StaticValue> got, StaticValue expected) {
    ASSERT_TRUE(got.ok()) << got.failure().str();
    EXPECT_EQ(*got, expected);
  };
  using Tuple = StaticValue::Tuple;
  is(grid("cdiv(n, BLOCK)", {{"n", 1000}, {"BLOCK", 64}}), 16);
  is(grid("(triton.cdiv(n, 128), 1)", {{"n", 129}}), Tuple{2, 1});
  is(grid("lambda META: (triton.cdiv(n, META['B']),)", {{"n", 5}, {"B", 2}}),
     Tuple{3});
  is(grid("min(n, 4) * max(1, m)", {{"n", 9}, {"m", 0}}), 4);
  is(grid("(n + C - 1) // C", {{"n", 9}}, "C = 4\n"), 3);
  is(grid("f(n)", {{"n", 9}}, "def f(x):\n  return x * 2\n"), 18);
}

TEST(Evaluate, SaysWhatIsWrong) {
  auto message = [](Expected<StaticValue> got) {
    EXPECT_FALSE(got.ok());
    return got.ok() ? std::string() : got.failure().str();
  };
  EXPECT_THAT(message(grid("cdiv(n, BLOK)", {{"n", 1}, {"BLOCK", 64}})),
              HasSubstr("did you mean 'BLOCK'?"));
  EXPECT_THAT(message(grid("n +", {{"n", 1}})), HasSubstr("<expression>:1"));
  EXPECT_THAT(message(grid("lambda x: min", {{"n", 1}})), HasSubstr("gives"));
  EXPECT_THAT(message(grid("n // 0", {{"n", 1}})),
              HasSubstr("division by zero"));
  EvaluateRequest request{
      {"kernel.py", std::string(prelude) + "@triton.jit\ndef k(): pass\n", {}},
      "k",
      "",
      "B",
      {}};
  EXPECT_THAT(message(evaluate(request)), HasSubstr("no heuristic for 'B'"));
}

//===----------------------------------------------------------------------===//
// sourceHash
//===----------------------------------------------------------------------===//

TEST(SourceHash, FollowsWhatIsReached) {
  auto hash = [](const std::string &text) {
    return described(text).sourceHash;
  };
  auto file = [](const std::string &constant, const std::string &helper,
                 const std::string &unrelated) {
    return "C: tl.constexpr = " + constant +
           "\n"
           "@triton.jit\ndef leaf(x):\n  return x + " +
           helper +
           "\n"
           "@triton.jit\ndef f(x):\n  return leaf(x) * C\n"
           "@triton.jit\ndef k(p):\n  tl.store(p, f(tl.load(p)))\n"
           "@triton.jit\ndef other(p):\n  tl.store(p, " +
           unrelated + ")\n";
  };
  std::string base = hash(file("1", "2", "3"));
  EXPECT_EQ(base, hash(file("1", "2", "4"))) << "not reached";
  EXPECT_NE(base, hash(file("9", "2", "3"))) << "a constant of a callee";
  EXPECT_NE(base, hash(file("1", "9", "3"))) << "a callee of a callee";
}

TEST(SourceHash, FollowsImportsAndBindings) {
  TemporaryFolder folder;
  std::string path = folder.write(
      "kernel.py", "import triton\nimport triton.language as tl\n"
                   "from helper import f\n"
                   "@triton.jit\ndef k(p):\n  tl.store(p, f(S))\n");
  auto hash = [&](const std::string &helper, int binding) {
    folder.write("helper.py", helper);
    Source source{path, folder.read("kernel.py"), {{"S", binding}}};
    auto d = describe(source, "k");
    EXPECT_TRUE(d.ok()) << d.failure().str();
    return d.ok() ? d->sourceHash : "";
  };
  std::string head = "import triton\n";
  std::string one = head + "@triton.jit\ndef f(x):\n  return x + 1\n";
  std::string two = head + "@triton.jit\ndef f(x):\n  return x + 22\n";
  std::string base = hash(one, 1);
  EXPECT_EQ(base, hash(one + "def unused():\n  pass\n", 1));
  EXPECT_NE(base, hash(two, 1));
  EXPECT_NE(base, hash(one, 2));
}

// Choices that were tuned on one machine hold where the files lie elsewhere.
TEST(SourceHash, IsThatOfAFolderWhereverItLies) {
  auto hash = [](const TemporaryFolder &folder) {
    std::string text = "import triton\nimport triton.language as tl\n"
                       "from helper import f\n"
                       "@triton.jit\ndef k(p):\n  tl.store(p, f(1))\n";
    folder.write("helper.py",
                 "import triton\n@triton.jit\ndef f(x):\n  return x + 1\n");
    auto d = describe(Source{folder.write("kernel.py", text), text, {}}, "k");
    EXPECT_TRUE(d.ok()) << d.failure().str();
    return d.ok() ? d->sourceHash : "";
  };
  TemporaryFolder here, there;
  EXPECT_EQ(hash(here), hash(there));
}

} // namespace
