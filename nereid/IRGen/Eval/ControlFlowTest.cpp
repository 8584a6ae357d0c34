//===- ControlFlowTest.cpp - Branches, loops, returns, calls as Tile IR *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/testing/IRGenTesting.h"

#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::irgen;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

size_t countOf(const std::string &text, llvm::StringRef what) {
  return llvm::StringRef(text).count(what);
}

//===----------------------------------------------------------------------===//
// The kernel's function
//===----------------------------------------------------------------------===//

TEST(KernelFunction, CarriesWhatTheLaunchKnows) {
  CompileRequest request;
  request.source = {"kernel.py",
                    std::string(prelude) +
                        "@triton.jit\ndef k(x, f, n, u, B: tl.constexpr):\n"
                        "  pass\n",
                    {}};
  request.kernel = "k";
  RuntimeArgument x{DType::Float16, true, true, true};
  RuntimeArgument f{DType::Int1, true, false, false};
  RuntimeArgument n{DType::Int32, false, false, true};
  RuntimeArgument u{DType::UInt64, false, false, false};
  request.arguments = {x, f, n, u, StaticValue(64)};
  Compiled compiled = compileRequest(request);
  const std::string &tile = compiled.tile;
  ASSERT_FALSE(tile.empty()) << compiled.failure.str();
  EXPECT_THAT(tile, HasSubstr("func.func @k("));
  EXPECT_THAT(tile, HasSubstr("attributes {tile.kernel}"));
  EXPECT_THAT(tile, HasSubstr("%arg0: !tile.ptr<f16> {tile.const, "
                              "tile.divisibility = 16 : i32, tile.dtype = "
                              "\"*fp16\", tile.name = \"x\"}"));
  EXPECT_THAT(tile, HasSubstr("%arg1: !tile.ptr<i8> {tile.dtype = \"*i1\", "
                              "tile.name = \"f\"}"));
  EXPECT_THAT(tile, HasSubstr("%arg2: i32 {tile.divisibility = 16 : i32, "
                              "tile.dtype = \"i32\", tile.name = \"n\"}"));
  EXPECT_THAT(tile, HasSubstr("%arg3: i64 {tile.dtype = \"u64\", tile.name = "
                              "\"u\"}"));
}

TEST(KernelFunction, LocationsNameTheCallChain) {
  CompileRequest request;
  request.source = {"kernel.py",
                    std::string(prelude) +
                        "@triton.jit\ndef f(x):\n  return x * 2.0\n"
                        "@triton.jit\ndef k(p):\n"
                        "  tl.store(p, f(tl.load(p)))\n",
                    {}};
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32")};
  mlir::MLIRContext context;
  std::vector<Diagnostic> warnings;
  auto module = generate(context, request, warnings);
  ASSERT_TRUE(module.ok()) << module.failure().str();
  bool found = false;
  (*module)->walk([&](mlir::arith::MulFOp op) {
    auto call = mlir::cast<mlir::CallSiteLoc>(op.getLoc());
    auto callee = mlir::cast<mlir::FileLineColRange>(call.getCallee());
    auto caller = mlir::cast<mlir::FileLineColRange>(call.getCaller());
    EXPECT_EQ(callee.getFilename().str(), "kernel.py");
    EXPECT_EQ(callee.getStartLine(), 6u);
    EXPECT_EQ(callee.getStartColumn(), 10u);
    EXPECT_EQ(callee.getEndColumn(), 17u);
    EXPECT_EQ(caller.getStartLine(), 9u);
    found = true;
  });
  EXPECT_TRUE(found);
}

//===----------------------------------------------------------------------===//
// Static control flow leaves no trace
//===----------------------------------------------------------------------===//

TEST(Static, OnlyTheTakenBranchIsEvaluated) {
  std::string tile =
      tileOfFile("@triton.jit\n"
                 "def k(p, B: tl.constexpr, ACT: tl.constexpr, bias):\n"
                 "  x = tl.load(p)\n"
                 "  if ACT == 'relu':\n    x = tl.maximum(x, 0.0)\n"
                 "  elif ACT == 'bad':\n    x = this.does.not_.exist\n"
                 "  if bias is not None:\n    x += tl.load(bias)\n"
                 "  x = x * 2.0 if B > 16 and not (B % 2) else nonsense\n"
                 "  tl.store(p, x)\n",
                 "*fp32,=32,='relu',=None");
  EXPECT_THAT(tile, AllOf(HasSubstr("arith.maxnumf"), HasSubstr("arith.mulf"),
                          Not(HasSubstr("scf."))));
  EXPECT_EQ(countOf(tile, "tile.load"), 1u);
}

TEST(Static, UnrolledLoops) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p):\n"
                                "  acc = 0.0\n"
                                "  for i in tl.static_range(4):\n"
                                "    if i == 2:\n      continue\n"
                                "    x = tl.arange(0, 1 + i)\n"
                                "    acc += tl.load(p + i)\n"
                                "  tl.store(p, acc)\n",
                                "*fp32");
  EXPECT_EQ(countOf(tile, "tile.load"), 3u);
  EXPECT_THAT(tile,
              AllOf(HasSubstr("tile.range 0, 4"),
                    Not(HasSubstr("tile.range 0, 3")), Not(HasSubstr("scf."))));
}

TEST(Static, FunctionsThatMakeTypesAreClassesToo) {
  tileOfFile("@triton.jit\n"
             "def k(p, n):\n"
             "  tl.static_assert(isinstance(p.dtype, tl.pointer_type))\n"
             "  tl.static_assert(not isinstance(n.dtype, tl.pointer_type))\n"
             "  tl.static_assert(not isinstance(n, tl.pointer_type))\n"
             "  b = p + tl.arange(0, 4)\n"
             "  tl.static_assert(isinstance(b.type, tl.block_type))\n"
             "  tl.static_assert(not isinstance(b.type, tl.pointer_type))\n"
             "  tl.static_assert(isinstance(b.dtype, tl.pointer_type))\n"
             "  tl.static_assert(not isinstance(p.type, tl.block_type))\n"
             "  tl.static_assert(isinstance(p.type, (tl.block_type, "
             "tl.pointer_type)))\n",
             "*fp32,i32");
}

TEST(ControlFlow, ABlockOfOneElementIsACondition) {
  EXPECT_THAT(tileOfFile("@triton.jit\n"
                         "def k(p):\n"
                         "  if tl.load(p + tl.arange(0, 1)[:, None]) > 42:\n"
                         "    tl.store(p, 42)\n",
                         "*i32"),
              AllOf(HasSubstr("tile.reduce"), HasSubstr("scf.if")));
}

TEST(Static, AssignmentDecaysAndAnnotationDoesNot) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p):\n"
                                "  a = 3\n"
                                "  b: tl.constexpr = a if False else 5\n"
                                "  c = tl.arange(0, b)\n"
                                "  d, (e, f) = 1, (2.0, True)\n"
                                "  tl.static_assert(a.dtype == tl.int32)\n"
                                "  tl.static_assert(d.dtype == tl.int32)\n"
                                "  tl.static_assert(e.dtype == tl.float32)\n"
                                "  tl.static_assert(f.dtype == tl.int1)\n"
                                "  tl.static_assert(isinstance(b, "
                                "tl.constexpr))\n"
                                "  tl.static_assert((5000000000 + 0) > 0)\n"
                                "  g = 5000000000\n"
                                "  tl.static_assert(g.dtype == tl.int64)\n"
                                "  h = 4000000000\n"
                                "  tl.static_assert(h.dtype == tl.uint32)\n"
                                "  t: tl.constexpr\n"
                                "  t = 7\n"
                                "  tl.static_assert(t == 7)\n"
                                "  u = tl.arange(0, t)\n",
                                "*fp32");
  EXPECT_THAT(
      tile, AllOf(HasSubstr("tile.range 0, 5"), HasSubstr("tile.range 0, 7")));
}

//===----------------------------------------------------------------------===//
// Run-time branches
//===----------------------------------------------------------------------===//

TEST(Branch, YieldsWhatDiffers) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  a = n\n"
                                "  b = n + 1\n"
                                "  same = 4\n"
                                "  if n > 0:\n"
                                "    a = n * 2\n"
                                "    c = 1.5\n"
                                "  else:\n"
                                "    b = n * 3\n"
                                "    c = 2.5\n"
                                "  tl.store(p, a + b + c + same)\n",
                                "*fp32,i32");
  EXPECT_THAT(tile, HasSubstr("-> (i32, f32, i32)"));
}

TEST(Branch, KeepsTypesAndFunctions) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def f(x):\n  return x + 1.0\n"
                                "@triton.jit\n"
                                "def k(p, n):\n"
                                "  g = f\n"
                                "  t = tl.float32\n"
                                "  pair = (n, tl.float32)\n"
                                "  if n > 0:\n"
                                "    pair = (n + 1, t)\n"
                                "    t = tl.float32\n"
                                "  tl.store(p, g(pair[0].to(pair[1])))\n",
                                "*fp32,i32");
  EXPECT_THAT(tile, HasSubstr("-> (i32)"));
}

TEST(Branch, Ternary) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  x = n if n > 0 else -n\n"
                                "  y = 1 if n > 0 else 1\n"
                                "  tl.store(p, x + y)\n",
                                "*i32,i32");
  EXPECT_EQ(countOf(tile, "-> (i32)"), 1u) << tile;
}

TEST(Branch, ElifChain) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  if n == 0:\n    x = 1.0\n"
                                "  elif n == 1:\n    x = 2.0\n"
                                "  else:\n    x = 3.0\n"
                                "  tl.store(p, x)\n",
                                "*fp32,i32");
  EXPECT_EQ(countOf(tile, "scf.if"), 2u);
}

/// How deep scf.if nests; printing indents by two a level.
static size_t depthOfBranches(llvm::StringRef tile) {
  size_t least = SIZE_MAX, most = 0;
  while (!tile.empty()) {
    auto [line, rest] = tile.split('\n');
    tile = rest;
    if (line.contains("scf.if")) {
      least = std::min(least, line.find_first_not_of(' ') / 2);
      most = std::max(most, line.find_first_not_of(' ') / 2);
    }
  }
  return most - least + 1;
}

TEST(Branch, LongElifChainsGoOnBehind) {
  auto chain = [](int length) {
    std::string source = "@triton.jit\ndef k(p, n):\n  y = 5\n";
    for (int i = 0; i < length; ++i) {
      std::string at = std::to_string(i);
      source += std::string(i ? "  el" : "  ") + "if tl.load(p + " + at +
                ") == n:\n    x = " + at + ".0\n";
    }
    return source + "  else:\n    x = 0.5\n    y = n\n  tl.store(p, x + y)\n";
  };
  std::string shorter = tileOfFile(chain(31), "*fp32,i32");
  EXPECT_EQ(depthOfBranches(shorter), 31u);
  EXPECT_EQ(countOf(shorter, "-> (f32, i32)"), 31u);
  // Twice 32 of them give x and a flag; the rest, with its own, x and y.
  std::string longer = tileOfFile(chain(90), "*fp32,i32");
  EXPECT_EQ(countOf(longer, "scf.if"), 92u);
  EXPECT_LE(depthOfBranches(longer), 33u);
  EXPECT_EQ(countOf(longer, "-> (f32, i1)"), 64u);
  EXPECT_EQ(countOf(longer, "-> (f32, i32)"), 28u);
}

TEST(Branch, WhatAConditionBindsGoesOnBehind) {
  std::string source = "@triton.jit\ndef k(p, n):\n  x = 0\n"
                       "  if n == 1:\n    pass\n"
                       "  elif (z := n * n) == 7:\n    pass\n";
  for (int i = 0; i < 40; ++i) {
    source += "  elif n == " + std::to_string(i) + ":\n    pass\n";
  }
  std::string tile = tileOfFile(source + "  elif z > 3:\n    x = z\n"
                                         "  tl.store(p, x)\n",
                                "*i32,i32");
  EXPECT_THAT(tile, HasSubstr("-> (i1, i32)"));
}

TEST(Branch, LongChainsSayWhatIsMissing) {
  std::string source = "@triton.jit\ndef k(p, n):\n";
  for (int i = 0; i < 70; ++i) {
    source += std::string(i ? "  el" : "  ") + "if n == " + std::to_string(i) +
              ":\n    x = " + (i == 50 ? "1.5" : "n") + "\n";
  }
  source += "  else:\n    x = 3\n";
  auto messageOf = [](const std::string &text) {
    Compiled result = compile(text, "*i32,i32");
    return result.failure.diagnostics.empty()
               ? std::string()
               : result.failure.diagnostics[0].message;
  };
  EXPECT_THAT(
      messageOf(source + "  tl.store(p, x)\n"),
      HasSubstr("'x' has different types after the 'if' at line 106: "));
  EXPECT_EQ(messageOf(source + "    y = 4\n  tl.store(p, y)\n"),
            "'y' is assigned on only one side of the 'if' at line 130, so it "
            "has no value here");
}

//===----------------------------------------------------------------------===//
// Early returns
//===----------------------------------------------------------------------===//

TEST(Return, ManyOfThemGoOnBehind) {
  std::string source = "@triton.jit\ndef k(p, n):\n  x = n\n  old = n * 3\n";
  for (int i = 0; i < 80; ++i) {
    std::string at = std::to_string(i);
    source +=
        "  if n == " + at + ":\n    return\n  x += n\n  t" + at + " = x * 2\n";
  }
  std::string tile =
      tileOfFile(source + "  tl.store(p, x + old)\n", "*i32,i32");
  EXPECT_LE(depthOfBranches(tile), 33u);
  // What goes along is x: each t is read nowhere, and `old` never changes.
  EXPECT_EQ(countOf(tile, "-> (i1, i32)"), 64u) << tile;
  EXPECT_EQ(countOf(tile, "->"), 64u);
}

TEST(Return, EarlyMovesTheRestIntoTheOtherBranch) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  if n > 10:\n    return\n"
                                "  if n < 0:\n    return\n"
                                "  tl.store(p, n)\n",
                                "*i32,i32");
  // Nested, without flags or results.
  EXPECT_EQ(countOf(tile, "scf.if"), 2u) << tile;
  EXPECT_THAT(tile, Not(HasSubstr("->")));
}

TEST(Return, OnOneSideOnlySomewhere) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  if n > 10:\n"
                                "    if n > 20:\n      return\n"
                                "    n += 1\n"
                                "  tl.store(p, n)\n",
                                "*i32,i32");
  // A flag and n leave the outer branch; the store is under the flag.
  EXPECT_THAT(tile, HasSubstr("-> (i1, i32)"));
  EXPECT_EQ(countOf(tile, "tile.store"), 1u);
}

TEST(Return, OfHelpers) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def sign(x):\n"
                                "  if x > 0:\n    return 1\n"
                                "  elif x < 0:\n    return -1\n"
                                "  return 0\n"
                                "@triton.jit\n"
                                "def pair(x):\n"
                                "  if x > 0:\n    return x, 1.0\n"
                                "  else:\n    return -x, 2.0\n"
                                "@triton.jit\n"
                                "def k(p, n):\n"
                                "  a, b = pair(n)\n"
                                "  tl.store(p, sign(n) + a + b)\n",
                                "*fp32,i32");
  EXPECT_THAT(tile, HasSubstr("-> (i32, f32)"));
}

TEST(Return, ConstantsStayStaticWhereTheyAgree) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def f(n):\n"
                                "  if n > 0:\n    return 8\n"
                                "  return 8\n"
                                "@triton.jit\n"
                                "def k(p, n):\n"
                                "  x = tl.arange(0, f(n))\n",
                                "*fp32,i32");
  EXPECT_THAT(tile, HasSubstr("tile.range 0, 8"));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

TEST(For, CarriesAssignedVariablesOnly) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  acc = tl.zeros([8], tl.float32)\n"
                                "  scale = 2.0\n"
                                "  for i in range(0, n, 4):\n"
                                "    x = tl.load(p + i)\n"
                                "    acc += x * scale\n"
                                "  tl.store(p + tl.arange(0, 8), acc)\n",
                                "*fp32,i32");
  EXPECT_THAT(tile, HasSubstr("iter_args(%arg3 = "));
  EXPECT_THAT(tile, HasSubstr("-> (tensor<8xf32>)"));
}

TEST(For, ConstantBoundsAreARunTimeLoop) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p):\n"
                                "  for i in range(4):\n"
                                "    tl.store(p + i, i)\n",
                                "*i32");
  EXPECT_EQ(countOf(tile, "scf.for"), 1u);
  EXPECT_EQ(countOf(tile, "tile.store"), 1u);
}

TEST(For, IndexTypeIsWhatBoundsPromoteTo) {
  struct {
    const char *arguments, *loop;
  } cases[] = {{"*i64,i32", ": i32 {"},
               {"*i64,i64", ": i64 {"},
               {"*i64,i8", ": i32 {"},
               {"*i64,u32", "unsigned"}};
  for (auto [arguments, loop] : cases) {
    std::string tile = tileOfFile("@triton.jit\n"
                                  "def k(p, n):\n"
                                  "  for i in range(n):\n"
                                  "    tl.store(p + i, i)\n",
                                  arguments);
    EXPECT_THAT(tile, HasSubstr("scf.for"));
    EXPECT_THAT(tile, HasSubstr(loop)) << arguments;
  }
}

TEST(For, Hints) {
  std::string tile = tileOfFile(
      "@triton.jit\n"
      "def k(p, n):\n"
      "  for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, "
      "flatten=True):\n"
      "    tl.store(p + i, i)\n",
      "*i32,i32");
  EXPECT_THAT(tile, AllOf(HasSubstr("tile.num_stages = 3 : i32"),
                          HasSubstr("tile.loop_unroll_factor = 2 : i32"),
                          HasSubstr("tile.flatten = 1 : i32"),
                          Not(HasSubstr("tile.disable_licm"))));
}

TEST(For, ParametersSpecializedToNumbersAreVariables) {
  // n == 1 becomes a constant by specialization; the kernel must still be able
  // to change it in a loop, as it can for every other n.
  std::string text = "@triton.jit\n"
                     "def k(p, n):\n"
                     "  for i in range(4):\n"
                     "    n += i\n"
                     "  tl.store(p, n)\n";
  EXPECT_THAT(tileOfFile(text, "*i32,=1"), HasSubstr("-> (i32)"));
  EXPECT_THAT(tileOfFile(text, "*i32,i32"), HasSubstr("-> (i32)"));
}

TEST(For, CarriesTuplesAndPointers) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  state = (0.0, n)\n"
                                "  q = p + tl.arange(0, 4)\n"
                                "  for i in range(n):\n"
                                "    state = (state[0] + 1.0, state[1] - i)\n"
                                "    q += 4\n"
                                "  tl.store(q, state[0] + state[1])\n",
                                "*fp32,i32");
  EXPECT_THAT(tile, HasSubstr("-> (f32, i32, tensor<4x!tile.ptr<f32>>)"));
}

TEST(For, IndexAfterTheLoop) {
  // Nothing is made for an index that nothing reads.
  EXPECT_THAT(tileOfFile("@triton.jit\ndef k(p, n):\n"
                         "  for i in range(n):\n    tl.store(p + i, i)\n"
                         "  for i in range(n):\n    tl.store(p + i, i)\n",
                         "*i32, i32"),
              Not(HasSubstr("arith.select")));
  std::string after = tileOfFile("@triton.jit\ndef k(p, n):\n"
                                 "  i = 7\n"
                                 "  for i in range(n):\n    tl.store(p, i)\n"
                                 "  tl.store(p, i)\n",
                                 "*i32, i32");
  EXPECT_THAT(after, HasSubstr("arith.select"));
  // An outer loop carries it.
  EXPECT_THAT(tileOfFile("@triton.jit\ndef k(p, n):\n"
                         "  i = 0\n"
                         "  for j in range(n):\n"
                         "    tl.store(p, i)\n"
                         "    for i in range(j):\n      tl.store(p, i)\n",
                         "*i32, i32"),
              HasSubstr("iter_args"));
}

TEST(Call, RecursionOnConstants) {
  std::string tile =
      tileOfFile("@triton.jit\ndef fold(x, N: tl.constexpr):\n"
                 "  if N == 1:\n    return x\n"
                 "  else:\n    return fold(x + N, N // 2) * 2.0\n"
                 "@triton.jit\ndef k(p):\n  tl.store(p, fold(tl.load(p), 8))\n",
                 "*fp32");
  EXPECT_EQ(countOf(tile, "arith.mulf"), 3u);
}

TEST(While, ConditionIsPartOfTheLoop) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  i = 0\n"
                                "  while i * i < n:\n"
                                "    i += 1\n"
                                "  tl.store(p, i)\n",
                                "*i32,i32");
  EXPECT_THAT(tile, AllOf(HasSubstr("scf.while"), HasSubstr("scf.condition")));
  EXPECT_THAT(tileOfFile("@triton.jit\ndef k(p):\n  while False:\n    "
                         "nonsense\n",
                         "*i32"),
              Not(HasSubstr("scf.while")));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

TEST(Call, DefaultsKeywordsAndVariadics) {
  tileOfFile("D: tl.constexpr = 4\n"
             "@triton.jit\n"
             "def f(a, b=2, *rest, c: tl.constexpr = D, d=None):\n"
             "  tl.static_assert(c == 4)\n"
             "  tl.static_assert(d is None)\n"
             "  tl.static_assert(len(rest) == 2)\n"
             "  tl.static_assert(rest[1] == 7)\n"
             "  return a + b\n"
             "@triton.jit\n"
             "def g(a, n: tl.constexpr, op):\n"
             "  return op(a, n)\n"
             "@triton.jit\n"
             "def add(a, b):\n"
             "  return a + b\n"
             "@triton.jit\n"
             "def k(p, n):\n"
             "  x = f(n, 3, 6, 7)\n"
             "  args = (n, 4)\n"
             "  y = g(*args, op=add)\n"
             "  tl.store(p, x + y)\n",
             "*i32,i32");
}

TEST(Call, ConstexprFunctions) {
  std::string tile =
      tileOfFile("@triton.constexpr_function\n"
                 "def blocks(n):\n"
                 "  out = 1\n"
                 "  while out * 2 <= n:\n    out *= 2\n"
                 "  return out\n"
                 "@triton.jit\n"
                 "def k(p, B: tl.constexpr):\n"
                 "  x = tl.arange(0, blocks(B))\n"
                 "  y = tl.arange(0, triton.next_power_of_2(B))\n"
                 "  z = tl.arange(0, triton.cdiv(B, 3))\n",
                 "*fp32,=100");
  EXPECT_THAT(tile, AllOf(HasSubstr("tile.range 0, 64"),
                          HasSubstr("tile.range 0, 128"),
                          HasSubstr("tile.range 0, 34")));
}

TEST(Call, NamedTuplesAndAggregates) {
  std::string tile =
      tileOfFile("from typing import NamedTuple\n"
                 "class Range(NamedTuple):\n"
                 "  start: tl.tensor\n"
                 "  size: tl.constexpr = 8\n"
                 "@triton.aggregate\n"
                 "class Block:\n"
                 "  base: tl.tensor\n"
                 "  n: tl.tensor\n"
                 "  @triton.jit\n"
                 "  def at(self, i):\n"
                 "    return self.base + i * self.n\n"
                 "@triton.jit\n"
                 "def offsets(r):\n"
                 "  return r.start + tl.arange(0, r.size)\n"
                 "@triton.jit\n"
                 "def k(p, n):\n"
                 "  b = Block(p, n)\n"
                 "  for i in range(n):\n"
                 "    b = Block(b.at(1), n)\n"
                 "  tl.store(b.at(2) + offsets(Range(n)), 1.0)\n",
                 "*fp32,i32");
  EXPECT_THAT(tile, AllOf(HasSubstr("tile.range 0, 8"),
                          HasSubstr("-> (!tile.ptr<f32>, i32)")));
}

TEST(Subscript, AddsAxes) {
  tileOfFile("@triton.jit\n"
             "def k(p, n):\n"
             "  a = tl.arange(0, 4)\n"
             "  tl.static_assert(a[:, None].shape == (4, 1))\n"
             "  tl.static_assert(a[None, :].shape == (1, 4))\n"
             "  tl.static_assert(a[None, :, None].shape == (1, 4, 1))\n"
             "  tl.static_assert(a[None].shape == (1, 4))\n"
             "  tl.static_assert(a[:].shape == (4,))\n"
             "  tl.static_assert(a[..., None].shape == (4, 1))\n"
             "  tl.static_assert(n[None, None].shape == (1, 1))\n"
             "  m = a[:, None] * a[None, :]\n"
             "  tl.static_assert(m[:, None, :].shape == (4, 1, 4))\n"
             "  tl.static_assert(m.shape[0] == 4)\n"
             "  tl.static_assert((1, 2, 3)[1:] == (2, 3))\n",
             "*fp32,i32");
}

} // namespace
