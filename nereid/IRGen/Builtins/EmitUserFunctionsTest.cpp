//===- EmitUserFunctionsTest.cpp - Assembly, maps, symbols -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/testing/BuiltinTesting.h"
#include "nereid/IRGen/testing/IRGenTesting.h"

using namespace nereid::irgen;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// The message of a file that must not compile.
std::string errorOfFile(const std::string &text, const char *arguments) {
  Compiled compiled = compile(text, arguments);
  EXPECT_EQ(compiled.tile, "") << text;
  return compiled.failure.str();
}

TEST(EmitUserFunctions, InlineAssembly) {
  std::string tile = tileOf(
      "x: *u8", "o = tl.arange(0, 8)\n"
                "v = tl.load(x + o)\n"
                "a, b = tl.inline_asm_elementwise('mov.b32 $0, $2;', "
                "'=r,=r,=r,=r,=r,r', [v], (tl.uint8, tl.float32), True, 4)\n"
                "tl.static_assert(a.dtype == tl.uint8)\n"
                "tl.static_assert(b.dtype == tl.float32)\n"
                "tl.static_assert(b.shape == (8,))\n"
                "tl.store(x + o, a)");
  EXPECT_THAT(tile, HasSubstr("tile.inline_asm \"mov.b32 $0, $2;\", "
                              "\"=r,=r,=r,=r,=r,r\" pack 4 pure"));
  EXPECT_THAT(tile, HasSubstr(": (tensor<8xi8>) -> "
                              "(tensor<8xi8>, tensor<8xf32>)"));
}

TEST(EmitUserFunctions, AssemblyOperandsMeetInOneShape) {
  std::string tile =
      tileOf("n: i32", "v = tl.inline_asm_elementwise('add.u32 $0, $1, $2;', "
                       "'=r,r,r', [n, tl.arange(0, 4)[:, None]], tl.int32, "
                       "False, 1)\n"
                       "tl.static_assert(v.shape == (4, 1))\n"
                       "w = tl.inline_asm_elementwise('mov.u32 $0, 1;', '=r', "
                       "[], tl.int32, True, 1)\n"
                       "tl.static_assert(w.shape == ())\n"
                       "tl.device_print('w', w)");
  EXPECT_THAT(tile, AllOf(HasSubstr("pack 1("), HasSubstr("pack 1 pure()")));
}

TEST(EmitUserFunctions, AssemblyErrors) {
  auto failing = [](const char *arguments) {
    return errorOf("x: *u8", "v = tl.load(x + tl.arange(0, 8))\n"
                             "tl.inline_asm_elementwise(" +
                                 std::string(arguments) + ")");
  };
  EXPECT_THAT(failing("'x', '=r', [v], tl.uint8, True, 4"),
              AllOf(HasSubstr("'constraints': expected 1 output and 1 input "
                              "for pack=4, got 1 output and 0 inputs"),
                    HasSubstr("share a register")));
  EXPECT_THAT(failing("'x', '=r,r', [v], tl.uint8, True, 0"),
              HasSubstr("'pack': expected 1 to 64, got 0"));
  EXPECT_THAT(failing("'x', '=r,r', v, tl.uint8, True, 1"),
              HasSubstr("'args': expected a list of values"));
  EXPECT_THAT(failing("'x', '=r,r', [None], tl.uint8, True, 1"),
              HasSubstr("an item of 'args'"));
  EXPECT_THAT(failing("'x', '=r,r', [v], 3, True, 1"),
              HasSubstr("'dtype': expected a type such as tl.float32"));
  EXPECT_THAT(failing("'x', 'r', [v], (), True, 1"),
              HasSubstr("at least one type"));
  EXPECT_THAT(failing("'x', '=r,r,r', [v, tl.arange(0, 3)], tl.int32, True, "
                      "1"),
              AllOf(HasSubstr("[8]"), HasSubstr("[3]")));
}

TEST(EmitUserFunctions, MapsKeepTheirBranches) {
  std::string tile = tileOfFile("@triton.jit\n"
                                "def f(x, n):\n"
                                "  if x > n:\n"
                                "    return x - n\n"
                                "  else:\n"
                                "    return x\n"
                                "@triton.jit\n"
                                "def k(p, n):\n"
                                "  o = tl.arange(0, 8)\n"
                                "  y = tl.map_elementwise(f, o, n)\n"
                                "  tl.static_assert(y.dtype == tl.int32)\n"
                                "  tl.store(p + o, y)\n",
                                "*i32,i32");
  EXPECT_THAT(tile, AllOf(HasSubstr("\"tile.map\"("), HasSubstr("scf.if"),
                          HasSubstr("(tensor<8xi32>, tensor<8xi32>) -> "
                                    "tensor<8xi32>")));
}

TEST(EmitUserFunctions, MapErrors) {
  auto failing = [](const std::string &body, const char *call) {
    return errorOfFile("@triton.jit\ndef f(x, y=0):\n  " + body +
                           "\n@triton.jit\ndef k(p, n):\n  o = tl.arange(0, "
                           "8)\n  tl.map_elementwise(" +
                           call + ")\n",
                       "*i32,i32");
  };
  EXPECT_THAT(failing("return tl.load(x)", "f, p + o"),
              AllOf(HasSubstr("must compute with scalars alone"),
                    HasSubstr("tile.load"), HasSubstr("load before the call")));
  EXPECT_THAT(failing("return x + tl.arange(0, 4)", "f, o"),
              HasSubstr("must return scalars"));
  EXPECT_THAT(failing("x + 1", "f, o"), HasSubstr("it returns none"));
  EXPECT_THAT(failing("return x", "f, o, pack=0"),
              HasSubstr("'pack': expected 1 to 64"));
  EXPECT_THAT(failing("return x", "f"), HasSubstr("at least one value"));
  EXPECT_THAT(failing("return x, x, x", "f, o, pack=2"),
              HasSubstr("a multiple of 2 values, it returns 3"));
}

TEST(EmitUserFunctions, FunctionsThatAreHandedUpstreamsCompiler) {
  EXPECT_THAT(tileOfFile("def twice(x, _semantic=None):\n"
                         "  return tl.cast(x, tl.float32, "
                         "_semantic=_semantic) * 2\n"
                         "@tl.core._aggregate\n"
                         "class Pair:\n"
                         "  first: tl.tensor\n"
                         "  second: tl.tensor\n"
                         "  def __init__(self, first, _semantic=None):\n"
                         "    self.first = first\n"
                         "    self.second = tl.arange(4, 8, "
                         "_semantic=_semantic)\n"
                         "  def __getitem__(self, i: tl.constexpr, "
                         "_semantic=None):\n"
                         "    if i == 0:\n"
                         "      return self.first\n"
                         "    return self.second\n"
                         "@triton.jit\n"
                         "def k(p, n):\n"
                         "  pair = Pair(tl.arange(0, 4))\n"
                         "  tl.store(p + pair[0], twice(pair[1]))\n",
                         "*fp32,i32"),
              AllOf(HasSubstr("tile.range 4, 8"), HasSubstr("arith.sitofp")));
}

TEST(EmitUserFunctions, SymbolsOfLibdevice) {
  auto file = [](const char *table) {
    return std::string("@tl.core.extern\n"
                       "def f(x, _semantic=None):\n"
                       "  return tl.extern_elementwise('', '', [x], ") +
           table +
           ", is_pure=True, _semantic=_semantic)\n"
           "@triton.jit\n"
           "def k(p, n):\n"
           "  o = tl.arange(0, 8)\n"
           "  y = f(o.to(tl.float32))\n"
           "  tl.store(p + o, y)\n";
  };
  EXPECT_THAT(tileOfFile(file("{(tl.float32,): ('__nv_ceilf', tl.float32)}"),
                         "*i32,i32"),
              HasSubstr("math.ceil"));
  // Operands without an entry of their own are promoted; then it is an error.
  EXPECT_THAT(errorOfFile(file("{(tl.float64,): ('__nv_ceil', tl.float64)}"),
                          "*i32,i32"),
              AllOf(HasSubstr("types of 'arg_type_symbol_dict'"),
                    HasSubstr("got float32")));
  EXPECT_THAT(
      errorOfFile(file("{(tl.float32,): ('mine', tl.float32)}"), "*i32,i32"),
      AllOf(HasSubstr("symbols of libdevice"), HasSubstr("'mine'")));
  EXPECT_THAT(errorOfFile(file("{(tl.float32,): 3}"), "*i32,i32"),
              HasSubstr("(symbol, result type)"));
}

TEST(EmitUserFunctions, TheClockOfHip) {
  EXPECT_THAT(tileOf("p: *i64", "tl.store(p, tl.extra.hip.memrealtime())"),
              AllOf(HasSubstr("tile.global_timer"), HasSubstr("arith.divui")));
}

TEST(EmitUserFunctions, TheMachine) {
  EXPECT_THAT(tileOf("p: *i64", "tl.extra.cuda.gdc_wait()\n"
                                "tl.store(p, tl.extra.cuda.globaltimer() + "
                                "tl.extra.cuda.smid())\n"
                                "tl.extra.cuda.gdc_launch_dependents()"),
              AllOf(HasSubstr("tile.grid_dependency wait"),
                    HasSubstr("tile.global_timer"),
                    HasSubstr("tile.processor_id"),
                    HasSubstr("tile.grid_dependency launch")));
  tileOf("", "tl.static_assert(tl.target_info.is_cuda())\n"
             "tl.static_assert(not tl.target_info.is_hip())\n"
             "tl.static_assert(tl.target_info.cuda_capability_geq(9, 0))\n"
             "tl.static_assert(not tl.target_info.cuda_capability_geq(10))\n"
             "tl.static_assert(tl.target_info.current_target().arch == 90)\n"
             "tl.static_assert((tl.arange(0, 4) > 1).logical_and(True).dtype "
             "== tl.int1)");
}

TEST(Aggregates, InitMakesTheFields) {
  auto file = [](const char *init, const char *use) {
    return std::string("@triton.aggregate\n"
                       "class Pair:\n"
                       "  a: tl.tensor\n"
                       "  n: tl.constexpr\n"
                       "  def __init__(self, a, n=4):\n") +
           init + "@triton.jit\ndef k(p, n):\n" + use;
  };
  const char *plain = "    self.a = a\n    self.n = tl.constexpr(n * 2)\n";
  EXPECT_THAT(tileOfFile(file(plain, "  q = Pair(n)\n"
                                     "  tl.store(p + tl.arange(0, q.n), q.a)"
                                     "\n"),
                         "*i32,i32"),
              HasSubstr("tile.range 0, 8"));
  EXPECT_THAT(errorOfFile(file("    self.a = a\n", "  Pair(n)\n"), "*i32,i32"),
              HasSubstr("does not set the field 'n'"));
  EXPECT_THAT(errorOfFile(file("    self.b = a\n", "  Pair(n)\n"), "*i32,i32"),
              HasSubstr("'Pair' has no field 'b'"));
  EXPECT_THAT(errorOfFile(file(plain, "  Pair(3)\n"), "*i32,i32"),
              AllOf(HasSubstr("'a' of 'Pair' is annotated tl.tensor"),
                    HasSubstr("tl.to_tensor")));
  EXPECT_THAT(
      errorOfFile(file(plain, "  q = Pair(n)\n  q.a = n\n"), "*i32,i32"),
      HasSubstr("make a new one"));
}

TEST(Aggregates, CopiesWithOtherFields) {
  auto file = [](const char *use) {
    return std::string("@triton.aggregate\nclass Span:\n  start: tl.tensor\n"
                       "  size: tl.constexpr = 4\n"
                       "@triton.jit\ndef k(p, n):\n") +
           use;
  };
  EXPECT_THAT(
      tileOfFile(file("  s = tl.aggregate_replace(Span(n), size=8)\n"
                      "  tl.store(p + tl.arange(0, s.size), s.start)\n"),
                 "*i32,i32"),
      HasSubstr("tile.range 0, 8"));
  EXPECT_THAT(errorOfFile(file("  tl.aggregate_replace(Span(n), sise=8)\n"),
                          "*i32,i32"),
              testing::AllOf(HasSubstr("'Span' has no field 'sise'"),
                             HasSubstr("did you mean 'size'")));
  EXPECT_THAT(
      errorOfFile(file("  tl.aggregate_replace(Span(n), n)\n"), "*i32,i32"),
      HasSubstr("takes at most 1 positional arguments, got 2"));
  EXPECT_THAT(
      errorOfFile(file("  tl.aggregate_replace(n, size=8)\n"), "*i32,i32"),
      HasSubstr("expected an aggregate, got"));
}

TEST(Aggregates, OwnOperators) {
  auto file = [](const char *use) {
    return std::string("@triton.aggregate\nclass Span:\n  start: tl.tensor\n"
                       "  @triton.jit\n"
                       "  def __add__(self, n): return Span(self.start + n)\n"
                       "  @triton.jit\n"
                       "  def __rsub__(self, n): return Span(n - self.start)\n"
                       "  @triton.jit\n"
                       "  def __lt__(self, n): return self.start < n\n"
                       "  @triton.jit\n"
                       "  def __neg__(self): return Span(0 - self.start)\n"
                       "@triton.jit\ndef k(p, n):\n") +
           use;
  };
  EXPECT_THAT(
      tileOfFile(file("  tl.store(p, (Span(n) + 3).start)\n"), "*i32,i32"),
      HasSubstr("arith.addi %arg1, %c3"));
  // The aggregate's method goes before the tensor's.
  EXPECT_THAT(
      tileOfFile(file("  tl.store(p, (n - Span(n)).start)\n"), "*i32,i32"),
      HasSubstr("arith.subi %arg1, %arg1"));
  EXPECT_THAT(tileOfFile(file("  tl.store(p, 5 > Span(n))\n"), "*i32,i32"),
              HasSubstr("arith.cmpi slt, %arg1, %c5"));
  EXPECT_THAT(tileOfFile(file("  tl.store(p, (-Span(n)).start)\n"), "*i32,i32"),
              HasSubstr("arith.subi %c0"));
  EXPECT_THAT(errorOfFile(file("  Span(n) * 2\n"), "*i32,i32"),
              HasSubstr("operator '*' is not defined"));
}

} // namespace
