//===- BudgetTest.cpp - What static evaluation may cost -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small programs whose values are enormous: each ends with an error at the line
// that was too much, in a second or two and little memory.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/testing/IRGenTesting.h"

using namespace nereid;
using namespace nereid::irgen;
using testing::HasSubstr;

namespace {

std::string times(int count, const std::string &line) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += line;
  }
  return text;
}

struct Case {
  const char *name;
  std::string text; ///< after three lines of imports
  const char *message;
  unsigned line; ///< 0: any
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  return out << c.name;
}

class BudgetTest : public testing::TestWithParam<Case> {};

TEST_P(BudgetTest, IsToldWithItsLine) {
  const Case &c = GetParam();
  Compiled compiled = compile(c.text, "*fp32, i32");
  ASSERT_FALSE(compiled.failure.diagnostics.empty()) << "compiles";
  const Diagnostic &first = compiled.failure.diagnostics.front();
  EXPECT_THAT(first.message, HasSubstr(c.message)) << render(first);
  EXPECT_FALSE(first.hint.empty());
  if (c.line) {
    EXPECT_EQ(first.location.line, c.line + 3) << render(first);
  }
}

const std::string kernel = "@triton.jit\ndef k(p, n):\n";

const char *steps = "takes more than 5000000 steps";
const char *bytes = "more than 256 MB";

const Case cases[] = {
    {"tuplesInAKernel", kernel + "  t = (n, n)\n" + times(30, "  t = (t, t)\n"),
     "more than", 0},
    {"equalTuples",
     "def f():\n  t = (1, 2)\n  u = (1, 2)\n  for i in range(30):\n"
     "    t = (t, t)\n    u = (u, u)\n  return t == u\n"
     "X = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     steps, 7},
    {"textOfATuple",
     "def f():\n  t = (1, 2)\n  for i in range(30):\n    t = (t, t)\n"
     "  return f'{t}'\nX = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, len(X))\n",
     "more than", 5},
    {"constexprArgument",
     "def f():\n  t = (1, 2)\n  for i in range(30):\n    t = (t, t)\n"
     "  return t\nX = tl.constexpr(f())\n"
     "@triton.jit\ndef h(x, t: tl.constexpr):\n  return x\n" +
         kernel + "  y = h(n, X)\n  tl.store(p, h(n, (X, 1)))\n",
     "more than", 0},
    {"doubledText",
     "def f():\n  s = 'ab'\n  for i in range(40):\n    s = f'{s}{s}'\n"
     "  return len(s)\nX = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     bytes, 4},
    {"joinedText",
     "def f():\n  s = 'ab'\n  for i in range(40):\n    s = s.join([s, s])\n"
     "  return len(s)\nX = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     bytes, 4},
    {"replacedText",
     "def f():\n  s = 'a'*60000\n  s = s.replace('a', s)\n"
     "  return len(s)\nX = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     bytes, 3},
    {"formattedText",
     "def f():\n  s = 'ab'\n  for i in range(40):\n    s = '{}{}'.format(s, "
     "s)\n"
     "  return len(s)\nX = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     bytes, 4},
    {"lists",
     "X = tl.constexpr(len([[0] * 60000 for i in range(60000)]))\n" + kernel +
         "  tl.store(p, X)\n",
     bytes, 1},
    {"nestedTuples",
     "def f():\n  t = (1,)\n  for i in range(200000):\n    t = (t,)\n"
     "  return t == t\nX = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     "nested more than 500 levels", 5},
    {"listsThatHoldThemselves",
     "def f():\n  t = [1]\n  t.append(t)\n  return str(t)\n"
     "X = tl.constexpr(f())\n" +
         kernel + "  tl.store(p, X)\n",
     "nested more than 500 levels", 4},
    {"hugeInts",
     "X = tl.constexpr((1 << (1 << 30)) > 0)\n" + kernel + "  tl.store(p, X)\n",
     "does not fit 128 bits", 1},
};

INSTANTIATE_TEST_SUITE_P(All, BudgetTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

/// What is made in a million steps may be let go of.
TEST(Budget, LongChainsAreFreed) {
  Compiled compiled =
      compile("def f():\n  t = (1,)\n  for i in range(300000):\n    t = (t,)\n"
              "  return 7\nX = tl.constexpr(f())\n" +
                  kernel + "  tl.store(p, X)\n",
              "*fp32, i32");
  EXPECT_TRUE(compiled.failure.diagnostics.empty()) << compiled.failure.message;
}

} // namespace
