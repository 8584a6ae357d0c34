//===- ModulesTest.cpp - Globals and imports --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGenTesting.h"
#include "nereid/IRGen/Session.h"
#include "nereid/IRGen/TemporaryFolder.h"

using namespace nereid;
using namespace nereid::irgen;
using testing::HasSubstr;

namespace {

/// The kernel stores `expression`; the constant that reaches the store.
std::string stored(const std::string &globals, const std::string &expression) {
  std::string tile = tileOfFile(
      globals + "@triton.jit\ndef k(p):\n  tl.store(p, " + expression + ")\n",
      "*fp32");
  size_t at = tile.find("arith.constant ");
  if (at == std::string::npos) {
    return tile;
  }
  std::string rest = tile.substr(at + 15);
  return rest.substr(0, rest.find(" :"));
}

TEST(Globals, Constexpr) {
  EXPECT_EQ(stored("A: tl.constexpr = 2.5\n", "A"), "2.500000e+00");
  EXPECT_EQ(stored("A = tl.constexpr(2.5)\n", "A"), "2.500000e+00");
  EXPECT_EQ(stored("A = tl.constexpr(2.0)\nB = A * 1.25\n", "B"),
            "2.500000e+00");
  EXPECT_EQ(stored("A, B = tl.constexpr(1.0), tl.constexpr(2.5)\n", "B"),
            "2.500000e+00");
  EXPECT_EQ(stored("import math\nA: tl.constexpr = math.sqrt(6.25)\n", "A"),
            "2.500000e+00");
  EXPECT_EQ(stored("import torch\nA = tl.constexpr(torch.finfo(torch.float16)"
                   ".max)\n",
                   "A"),
            "6.550400e+04");
}

TEST(Globals, HostCodeIsNotEvaluated) {
  // Everything around the kernel would fail if it were looked at.
  EXPECT_EQ(stored("import torch, numpy as np\n"
                   "x = torch.randn(10000, device='cuda') / 0\n"
                   "assert x.shape == undefined_name\n"
                   "class Model(torch.nn.Module):\n"
                   "  def forward(self, *a, **k): yield await x\n"
                   "def helper(x=1/0): return lambda: x\n",
                   "1.0"),
            "1.000000e+00");
}

TEST(Globals, LastBindingThatCountsWins) {
  EXPECT_EQ(stored("A: tl.constexpr = 1.0\nA: tl.constexpr = 2.0\n", "A"),
            "2.000000e+00");
  EXPECT_EQ(stored("if 2 > 1:\n  A: tl.constexpr = 1.0\nelse:\n  A: "
                   "tl.constexpr = 2.0\n",
                   "A"),
            "1.000000e+00");
  EXPECT_EQ(stored("if 2 < 1:\n  A: tl.constexpr = 1.0\nelif True:\n  A: "
                   "tl.constexpr = 2.0\n",
                   "A"),
            "2.000000e+00");
  // The condition asks the host: the `if` side is taken.
  EXPECT_EQ(stored("import torch\nif torch.cuda.is_available():\n  A: "
                   "tl.constexpr = 1.0\nelse:\n  A: tl.constexpr = 2.0\n",
                   "A"),
            "1.000000e+00");
}

TEST(Globals, TryFallsBackWhereAModuleIsMissing) {
  EXPECT_EQ(stored("try:\n  from notthere import A\nexcept ImportError:\n  A: "
                   "tl.constexpr = 3.0\n",
                   "A"),
            "3.000000e+00");
  EXPECT_THAT(
      tileOfFile("try:\n  from triton.language.extra.cuda.libdevice import "
                 "tanh\nexcept ModuleNotFoundError:\n  from "
                 "triton.language.math import tanh\n"
                 "@triton.jit\ndef k(p):\n  tl.store(p, tanh(tl.load(p)))\n",
                 "*fp32"),
      HasSubstr("tile.store"));
}

TEST(Globals, ValuesFromTheHostLanguage) {
  CompileRequest request;
  request.source = {"kernel.py",
                    std::string(prelude) +
                        "@triton.jit\ndef k(p):\n  tl.store(p, SCALE)\n",
                    {{"SCALE", 4.5}}};
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32")};
  Compiled compiled = compileRequest(request);
  const std::string &tile = compiled.tile;
  ASSERT_FALSE(tile.empty()) << compiled.failure.str();
  EXPECT_THAT(tile, HasSubstr("arith.constant 4.500000e+00"));
}

TEST(Imports, NamesOfTriton) {
  // The ways in which kernel files spell the same thing.
  const char *spellings[] = {
      "from triton import language as L\n@triton.jit\ndef k(p):\n  L.store(p, "
      "L.exp(L.load(p)))\n",
      "import triton.language as T\n@triton.jit\ndef k(p):\n  T.store(p, "
      "T.math.exp(T.load(p)))\n",
      "from triton.language import load, store, exp\nfrom triton import jit\n"
      "@jit\ndef k(p):\n  store(p, exp(load(p)))\n",
      "from triton.language.math import exp as e\n@triton.jit\ndef k(p):\n  "
      "tl.store(p, e(tl.load(p)))\n",
      "@triton.jit\ndef k(p):\n  triton.language.store(p, "
      "triton.language.exp(triton.language.load(p)))\n",
      "@triton.jit\ndef k(p):\n  tl.store(p, "
      "tl.extra.libdevice.exp(tl.load(p)))\n",
      "from triton.language.extra.cuda import libdevice as ld\n@triton.jit\n"
      "def k(p):\n  tl.store(p, ld.exp(tl.load(p)))\n",
      "from triton.language.core import exp\n@triton.jit\ndef k(p):\n  "
      "tl.store(p, exp(tl.load(p)))\n"};
  for (const char *text : spellings) {
    EXPECT_THAT(tileOfFile(text, "*fp32"), HasSubstr("tile.store")) << text;
  }
}

class Files : public testing::Test {
protected:
  TemporaryFolder folder;

  std::string tileOfMain(const std::string &name) {
    std::string text = folder.read(name);
    Compiled compiled = compileFile(text, "*fp32", folder.write(name, text));
    EXPECT_FALSE(compiled.tile.empty()) << compiled.failure.str();
    return compiled.tile;
  }
};

const std::string head = "import triton\nimport triton.language as tl\n";

TEST_F(Files, BesideTheKernel) {
  folder.write("helpers.py",
               head + "C: tl.constexpr = 7.0\n"
                      "@triton.jit\ndef twice(x):\n  return x + x * C\n");
  folder.write("main.py", head +
                              "from helpers import twice\nimport helpers as h\n"
                              "@triton.jit\ndef k(p):\n  tl.store(p, "
                              "twice(tl.load(p)) + h.C)\n");
  EXPECT_THAT(tileOfMain("main.py"), HasSubstr("7.000000e+00"));
}

TEST_F(Files, PackagesAndRelativeImports) {
  folder.write("pkg/__init__.py", "from .ops import *\nfrom pkg import deep\n");
  folder.write("pkg/ops/__init__.py", "from .scale import scaled\n");
  folder.write("pkg/ops/scale.py",
               head + "from ..constants import FACTOR\n"
                      "@triton.jit\ndef scaled(x):\n  return x * FACTOR\n");
  folder.write("pkg/constants.py", head + "FACTOR = tl.constexpr(3.5)\n");
  folder.write("pkg/deep/__init__.py", "");
  folder.write("pkg/deep/leaf.py",
               head + "@triton.jit\ndef leaf(x):\n  return x - 0.25\n");
  folder.write("pkg/kernels/__init__.py", "");
  folder.write("pkg/kernels/main.py",
               head + "import pkg\nfrom pkg import scaled\n"
                      "from pkg.deep.leaf import leaf\n"
                      "from .. import ops\n"
                      "@triton.jit\ndef k(p):\n  x = leaf(scaled(tl.load(p)))\n"
                      "  tl.store(p, ops.scaled(x))\n");
  std::string tile = tileOfMain("pkg/kernels/main.py");
  EXPECT_THAT(tile, HasSubstr("3.500000e+00"));
  EXPECT_THAT(tile, HasSubstr("2.500000e-01"));
}

TEST_F(Files, CircularImports) {
  folder.write("a.py", head + "from b import g\n@triton.jit\ndef f(x):\n  "
                              "return x + 1.5\n"
                              "@triton.jit\ndef k(p):\n  tl.store(p, "
                              "g(tl.load(p)))\n");
  folder.write("b.py", head +
                           "from a import f\n@triton.jit\ndef g(x):\n  return "
                           "f(x)\n");
  EXPECT_THAT(tileOfMain("a.py"), HasSubstr("1.500000e+00"));
}

TEST_F(Files, ErrorsNameTheOtherFile) {
  folder.write("helpers.py",
               head + "@triton.jit\ndef bad(x):\n  return x << 1\n");
  std::string text = head + "from helpers import bad\n@triton.jit\ndef k(p):\n"
                            "  tl.store(p, bad(tl.load(p)))\n";
  Compiled compiled = compileFile(text, "*fp32", folder.write("main.py", text));
  ASSERT_EQ(compiled.failure.diagnostics.size(), 1u);
  const Diagnostic &error = compiled.failure.diagnostics[0];
  EXPECT_THAT(error.location.file, HasSubstr("helpers.py"));
  EXPECT_EQ(error.location.line, 5u);
  ASSERT_EQ(error.notes.size(), 1u);
  EXPECT_THAT(error.notes[0].location.file, HasSubstr("main.py"));
}

TEST_F(Files, MissingNameInAFile) {
  folder.write("helpers.py", head + "@triton.jit\ndef scale(x):\n  return x\n");
  std::string text = head + "from helpers import scal\n@triton.jit\ndef k(p):\n"
                            "  tl.store(p, scal(tl.load(p)))\n";
  Compiled compiled = compileFile(text, "*fp32", folder.write("main.py", text));
  ASSERT_EQ(compiled.failure.diagnostics.size(), 1u);
  EXPECT_THAT(compiled.failure.diagnostics[0].message,
              HasSubstr("module 'helpers' has no 'scal'"));
  EXPECT_THAT(compiled.failure.diagnostics[0].hint,
              HasSubstr("did you mean 'scale'?"));
}

TEST(Modules, AreFreedWithTheirSession) {
  std::weak_ptr<SourceModule> module;
  {
    Source source;
    source.path = "main.py";
    source.text = "import triton\ndef make(n):\n"
                  "  def again(k):\n    return k if k < 1 else again(k - 1)\n"
                  "  return again(n)\nA = make(3)\n"
                  "@triton.jit\ndef k(p):\n  pass\n";
    Session session(nullptr, source);
    Failure why;
    ASSERT_TRUE(session.findKernel("k", why)) << why.str();
    module = session.modules.main;
  }
  EXPECT_TRUE(module.expired());
}

} // namespace
