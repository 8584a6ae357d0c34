//===- ModulesTest.cpp - Globals and imports --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/IRGen/Session.h"
#include "nereid/IRGen/testing/IRGenTesting.h"
#include "nereid/IRGen/testing/TemporaryFolder.h"

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

TEST(Globals, AMissingImportIsNamed) {
  std::string kernel = "@triton.jit\ndef k(p):\n  tl.store(p, ";
  for (const std::string &text :
       {"from helpers import x\nX = tl.constexpr(x)\n" + kernel + "X)\n",
        "import helpers\n" + kernel + "helpers.X)\n",
        "from helpers import f\n" + kernel + "f(1))\n"}) {
    CompileRequest request;
    request.source = {"kernel.py", prelude + text, {}};
    request.kernel = "k";
    request.arguments = {argumentOf("*fp32")};
    Compiled compiled = compileRequest(request);
    ASSERT_FALSE(compiled.failure.diagnostics.empty()) << text;
    EXPECT_THAT(compiled.failure.diagnostics.front().hint,
                HasSubstr("the file of the module 'helpers' was not found"))
        << compiled.failure.str();
  }
}

/// What is so long is data, and no kernel needs a tree of it.
TEST(Globals, LongImportsAreRefused) {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < (3 << 20); ++i) {
    text += "x = 1\n";
  }
  folder.write("big.py", text);
  CompileRequest request;
  std::string kernel = "from big import x\nX = tl.constexpr(x)\n"
                       "@triton.jit\ndef k(p):\n  tl.store(p, X)\n";
  std::string path = folder.write("kernel.py", prelude + kernel);
  request.source = {path, prelude + kernel, {}};
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32")};
  EXPECT_THAT(compileRequest(request).failure.str(),
              HasSubstr("has 18 MB; at most 16 MB of source are read"));
}

/// The program itself is one, and so is each file that it imports by any form,
/// and packages around it; a file that is not imported is no module.
TEST(Globals, FilesBesideTheProgramAreModulesOnceImported) {
  TemporaryFolder folder;
  for (const char *name : {"plain.py", "some.py", "star.py", "other.py"}) {
    folder.write(name, "x = 1\n");
  }
  folder.write("tools/__init__.py", "");
  folder.write("tools/deep.py", "x = 1\n");
  std::string text =
      std::string(prelude) +
      "import sys\nimport plain\nfrom some import x\nfrom star import *\n"
      "import tools.deep\ntry:\n  import gone\nexcept ImportError:\n"
      "  gone = None\n"
      "IN = ['__main__' in sys.modules, 'plain' in sys.modules,\n"
      "      'some' in sys.modules, 'star' in sys.modules,\n"
      "      'tools' in sys.modules, 'tools.deep' in sys.modules]\n"
      "OUT = ['other' in sys.modules, 'gone' in sys.modules,\n"
      "       'tool' in sys.modules, 'tools.deeper' in sys.modules]\n"
      "A: tl.constexpr = 1.0 if all(IN) and not any(OUT) else 2.0\n"
      "@triton.jit\ndef k(p):\n  tl.store(p, A)\n";
  CompileRequest request;
  request.source = {folder.write("kernel.py", text), text, {}};
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32")};
  Compiled compiled = compileRequest(request);
  EXPECT_THAT(compiled.tile, HasSubstr("arith.constant 1.0"))
      << compiled.failure.str();
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

/// The number that a kernel for `target` stores.
std::string storedOn(const std::string &target, const std::string &globals) {
  CompileRequest request;
  request.source = {"kernel.py",
                    std::string(prelude) + globals +
                        "@triton.jit\ndef k(p):\n  tl.store(p, A)\n",
                    {}};
  request.kernel = "k";
  request.target = target;
  request.arguments = {argumentOf("*fp32")};
  Compiled compiled = compileRequest(request);
  EXPECT_FALSE(compiled.tile.empty()) << compiled.failure.str();
  size_t at = compiled.tile.find("arith.constant ");
  std::string rest =
      at == std::string::npos ? "" : compiled.tile.substr(at + 15);
  return rest.substr(0, rest.find(" :"));
}

TEST(HostAnswers, ADeviceAnswersForItself) {
  std::string capability = "import torch\nA = tl.constexpr("
                           "torch.cuda.get_device_capability()[0] * 1.0)\n";
  EXPECT_EQ(storedOn("sm_80", capability), "8.000000e+00");
  EXPECT_EQ(storedOn("sm_90a", capability), "9.000000e+00");
  EXPECT_EQ(storedOn("cpu", capability), "9.000000e+00");
  std::string target =
      "t = triton.runtime.driver.active.get_current_target()\n"
      "A = tl.constexpr(t.arch * 1.0 if t.backend == 'cuda' else 0.0)\n";
  EXPECT_EQ(storedOn("sm_80", target), "8.000000e+01");
}

TEST(HostAnswers, DecideModuleConstants) {
  auto is = [](const std::string &globals) {
    EXPECT_EQ(storedOn("cpu", globals), "1.000000e+00") << globals;
  };
  auto chosen = [&](const std::string &condition) {
    is("import torch, os, sys, importlib.metadata, importlib.util, inspect\n"
       "import shutil\n"
       "from packaging import version\nif " +
       condition +
       ":\n  A: tl.constexpr = 1.0\nelse:\n  A: tl.constexpr = 2.0\n");
  };
  chosen("torch.version.hip is None");
  chosen("not (torch.version.hip is not None)");
  chosen("torch.cuda.is_available() and torch.version.cuda >= '12'");
  chosen("version.parse(triton.__version__) >= version.parse('3.2.0')");
  chosen("version.parse('3.10.1+git') > version.Version('3.9')");
  chosen("version.parse(torch.__version__).release < (3, 0)");
  chosen("importlib.metadata.version('triton') == triton.__version__");
  chosen("sys.version_info >= (3, 8) and sys.version_info[0] == 3");
  chosen("os.environ.get('NOT_SET_HERE', '1') == '1'");
  chosen("not hasattr(torch, 'npu') and hasattr(torch, 'cuda')");
  chosen("hasattr(tl, 'make_tensor_descriptor') and not hasattr(tl, 'nope')");
  chosen("'cache_results' in inspect.signature(triton.autotune).parameters");
  chosen("torch.cuda.get_device_properties(0).multi_processor_count > 100");
  chosen("'H200' in torch.cuda.get_device_name(0)");
  chosen("getattr(torch, 'musa', None) is None");
  chosen("importlib.util.find_spec('triton')");
  chosen("importlib.util.find_spec('numpy') is not None");
  chosen("not importlib.util.find_spec('flash_attn')");
  chosen("importlib.util.find_spec('flash_attn') is None");
  chosen("'torch' in sys.modules and 'numpy.linalg' in sys.modules");
  chosen("'flash_attn' not in sys.modules");
  chosen("not ('flash_attn' in sys.modules)");
  chosen("shutil.which('nvcc') is None");
  is("from importlib.util import find_spec\nHAS = find_spec('flash_attn')\n"
     "A: tl.constexpr = 2.0 if HAS else 1.0\n");
  is("import importlib\ntry:\n"
     "  V = importlib.metadata.version('flash_attn')\n"
     "  A: tl.constexpr = 2.0\n"
     "except importlib.metadata.PackageNotFoundError:\n"
     "  A: tl.constexpr = 1.0\n");
  is("try:\n  import flash_attn\n  A: tl.constexpr = 2.0\n"
     "except ImportError:\n  A: tl.constexpr = 1.0\n");
  is("import importlib\ntry:\n  importlib.import_module('flash_attn')\n"
     "  A: tl.constexpr = 2.0\nexcept ImportError:\n"
     "  A: tl.constexpr = 1.0\n");
  is("from somewhere.utils import is_hip, current_platform\n"
     "if is_hip() or current_platform.is_rocm():\n  A: tl.constexpr = 2.0\n"
     "else:\n  A: tl.constexpr = 1.0\n");
  is("from somewhere import IS_AMD, has_device_capability\n"
     "A = tl.constexpr(2.0 if IS_AMD else 1.0 if has_device_capability(90) "
     "else 3.0)\n");
  is("try:\n  import torch_npu\n  X = 2.0\nexcept ImportError:\n  X = 1.0\n"
     "A = tl.constexpr(X)\n");
  is("try:\n  import torch\n  X = 1.0\nexcept ImportError:\n  X = 2.0\n"
     "A = tl.constexpr(X)\n");
}

TEST(HostAnswers, TheTableIsPrinted) {
  EXPECT_THAT(hostAnswersMarkdown(), HasSubstr("`torch.version.hip`"));
}

TEST(Imports, TritonThroughAnUnknownModule) {
  EXPECT_THAT(
      tileOfFile("from somewhere.triton_utils import tl as T, tldevice\n"
                 "from else_where import tl_extra_shim\n"
                 "@triton.jit\ndef k(p):\n  T.store(p, "
                 "tldevice.exp(tl_extra_shim.pow(T.load(p), 2.0)))\n",
                 "*fp32"),
      HasSubstr("tile.store"));
}

TEST(Globals, StatementsThatCannotBeEvaluatedLeaveNothingHalfDone) {
  Compiled compiled = compile("import host\nL = [1.0]\nL.append(host.f() + 1)\n"
                              "A = tl.constexpr(L[0])\n"
                              "@triton.jit\ndef k(p):\n  tl.store(p, A)\n",
                              "*fp32");
  ASSERT_FALSE(compiled.failure.diagnostics.empty());
  EXPECT_THAT(compiled.failure.diagnostics[0].hint,
              HasSubstr("--bind NAME=VALUE"));
}

TEST(Globals, HintsNameTheGlobalToBind) {
  Compiled compiled = compile("import host\nN = 4 if host.fast() else 2\n"
                              "A: tl.constexpr = N * 2\n"
                              "@triton.jit\ndef k(p):\n  tl.store(p, A)\n",
                              "*fp32");
  ASSERT_FALSE(compiled.failure.diagnostics.empty());
  EXPECT_THAT(compiled.failure.diagnostics[0].hint,
              HasSubstr("--bind N=VALUE"));
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

TEST(Globals, BindingsOfOtherModules) {
  TemporaryFolder folder;
  folder.write("config/flags.py", "import host\nSIZE = host.size()\n");
  std::string text = std::string(prelude) +
                     "from config import flags\n"
                     "A = tl.constexpr(flags.SIZE)\n"
                     "@triton.jit\ndef k(p):\n  tl.store(p, A * 1.0)\n";
  CompileRequest request;
  request.source = {folder.write("main.py", text), text, {{"flags.SIZE", 3}}};
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32")};
  EXPECT_THAT(compileRequest(request).tile, HasSubstr("3.000000e+00"));
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
  std::string errorOfMain(const std::string &name) {
    std::string text = folder.read(name);
    return compileFile(text, "*fp32", folder.write(name, text)).failure.str();
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

// Of a name that no module has, each would ask the other without end.
TEST_F(Files, StarImportsInACircle) {
  folder.write("other.py", head + "from main import *\nfrom other import *\n"
                                  "N = tl.constexpr(3.5)\n");
  std::string use = "@triton.jit\ndef k(p):\n  tl.store(p, ";
  folder.write("main.py", head + "from other import *\n" + use + "N)\n");
  EXPECT_THAT(tileOfMain("main.py"), HasSubstr("3.500000e+00"));
  folder.write("main.py", head + "from other import *\n" + use + "M)\n");
  EXPECT_THAT(errorOfMain("main.py"), HasSubstr("'M' is not defined"));
}

TEST_F(Files, FoldersWithoutInit) {
  folder.write("proj/pyproject.toml", "");
  folder.write("proj/lib/math/scale.py",
               head + "from lib.constants import FACTOR\n"
                      "@triton.jit\ndef scaled(x):\n  return x * FACTOR\n");
  folder.write("proj/lib/constants.py", head + "FACTOR = tl.constexpr(3.5)\n");
  folder.write("proj/src/tools/extra.py",
               head + "@triton.jit\ndef extra(x):\n  return x - 0.25\n");
  folder.write("proj/kernels/deep/near.py",
               head + "@triton.jit\ndef near(x):\n  return x + 0.125\n");
  folder.write("proj/kernels/deep/main.py",
               head + "from lib.math.scale import scaled\n"
                      "from lib.math import scale as module\n"
                      "from tools.extra import extra\n"
                      "from . import near\n"
                      "@triton.jit\ndef k(p):\n"
                      "  x = extra(scaled(tl.load(p)))\n"
                      "  tl.store(p, near.near(module.scaled(x)))\n");
  std::string tile = tileOfMain("proj/kernels/deep/main.py");
  EXPECT_THAT(tile, HasSubstr("3.500000e+00"));
  EXPECT_THAT(tile, HasSubstr("2.500000e-01"));
  EXPECT_THAT(tile, HasSubstr("1.250000e-01"));
}

TEST_F(Files, AnotherProgramsModulesAreNotTaken) {
  folder.write("utils.py", "A = 1 +\n"); // would not parse
  folder.write("torch/__init__.py", "def (\n");
  folder.write("proj/sub/main.py",
               head + "import torch, utils\n@triton.jit\ndef k(p):\n  "
                      "tl.store(p, 1.5)\n");
  EXPECT_THAT(tileOfMain("proj/sub/main.py"), HasSubstr("1.500000e+00"));
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
