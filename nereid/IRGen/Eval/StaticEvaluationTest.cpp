//===- StaticEvaluationTest.cpp - Static evaluation against CPython *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random expressions over ints, floats, bools, strings, tuples and dicts, and a
// list of programs, evaluated by us and by CPython: the same repr, or an error
// on both sides.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Value.h"
#include "nereid/IRGen/IRGen.h"
#include "nereid/IRGen/testing/TemporaryFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace nereid;

namespace {

/// One expression of bounded depth. Kinds are mixed on purpose: errors must
/// agree as well.
class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {}

  std::string expression(int depth) {
    if (depth == 0) {
      return leaf();
    }
    auto sub = [&] { return expression(depth - 1); };
    switch (pick(17)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return "(" + sub() + " " + oneOf(binary) + " " + sub() + ")";
    case 4:
      return "(" + sub() + " " + oneOf(comparison) + " " + sub() + ")";
    case 16: // a small exponent: Python would compute any other for minutes
      return "(" + sub() + " ** " + oneOf(exponents) + ")";
    case 5:
      return "(" + sub() + " " + oneOf(comparison) + " " + sub() + " " +
             oneOf(comparison) + " " + sub() + ")";
    case 6:
      return "(" + sub() + (pick(2) ? " and " : " or ") + sub() + ")";
    case 7:
      return std::string("(") +
             (pick(2)   ? "-"
              : pick(2) ? "~"
                        : "not ") +
             sub() + ")";
    case 8:
      return "(" + sub() + " if " + sub() + " else " + sub() + ")";
    case 9:
      return "(" + sub() + ", " + sub() + ")";
    case 10:
      return oneOf(functions) + "(" + sub() + ")";
    case 11:
      return (pick(2) ? "min(" : "max(") + sub() + ", " + sub() + ")";
    case 12:
      return "(" + sub() + ")[" + sub() + "]";
    case 13:
      return "(" + sub() + ")[" + maybe(sub()) + ":" + maybe(sub()) +
             (pick(2) ? ":" + maybe(sub()) : "") + "]";
    case 14:
      return "[x for x in (" + sub() + ", " + sub() + ") if " + sub() + "]";
    default:
      return "isinstance(" + sub() + ", " + oneOf(classes) + ")";
    }
  }

private:
  size_t pick(size_t n) { return random() % n; }
  std::string maybe(std::string text) { return pick(3) ? text : ""; }
  template <typename Range>
  std::string oneOf(const Range &range) {
    return range[pick(std::size(range))];
  }
  std::string leaf() { return oneOf(leaves); }

  static constexpr const char *binary[] = {"+", "-", "*", "/",  "//", "%",
                                           "&", "|", "^", "<<", ">>"};
  static constexpr const char *exponents[] = {"0",  "1",   "2",    "3",
                                              "-1", "0.5", "True", "'x'"};
  static constexpr const char *comparison[] = {
      "==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  static constexpr const char *functions[] = {"abs", "int",  "float", "bool",
                                              "len", "repr", "tuple", "sum",
                                              "any", "all",  "sorted"};
  static constexpr const char *classes[] = {"int", "float", "bool", "str",
                                            "tuple"};
  static constexpr const char *leaves[] = {
      "0",      "1",    "2",          "3",        "-1",    "7",      "-5",
      "64",     "127",  "1000",       "2**31",    "2**40", "-2**62", "0.0",
      "0.5",    "-1.5", "2.0",        "1e10",     "1e-3",  "3.25",   "True",
      "False",  "None", "''",         "'ab'",     "'b'",   "'fp16'", "()",
      "(1, 2)", "(3,)", "(1.5, 'x')", "[1, 2, 3]"};

  std::mt19937 random;
};

/// Runs each line as a Python expression; one line of output for each.
std::vector<std::string> byPython(const std::vector<std::string> &lines) {
  irgen::TemporaryFolder folder;
  std::string input,
      program = "import resource, signal, sys, warnings\n"
                "warnings.simplefilter('ignore')\n"
                // 2**63 ** 2**63 would take all memory and time.
                "resource.setrlimit(resource.RLIMIT_AS, "
                "(1 << 30, 1 << 30))\n"
                "class Late(BaseException): pass\n"
                "def late(*_): raise Late\n"
                "signal.signal(signal.SIGALRM, late)\n"
                "def small(v):\n"
                "  if type(v) is int: return -2**63 <= v < 2**63\n"
                "  if type(v) in (tuple, list): return "
                "all(map(small, v))\n"
                "  return type(v) in (float, bool, str, "
                "type(None))\n"
                "for line in open(sys.argv[1]):\n"
                "  try:\n"
                "    signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
                "    try: v = eval(line)\n"
                "    finally: signal.setitimer(signal.ITIMER_REAL, 0)\n"
                "    v = tuple(v) if type(v) is list else v\n"
                "    print(repr(v) if small(v) else 'SKIP')\n"
                "  except (Late, MemoryError): print('SKIP')\n"
                "  except Exception as e: print('ERROR')\n";
  for (const std::string &line : lines) {
    input += line + "\n";
  }
  std::string script = folder.write("run.py", program);
  std::string file = folder.write("input.txt", input);
  std::vector<std::string> results;
  FILE *pipe = popen(("python3 " + script + " " + file).c_str(), "r");
  std::string text;
  for (int c; pipe && (c = fgetc(pipe)) != EOF;) {
    if (c == '\n') {
      results.push_back(std::move(text));
      text.clear();
    } else {
      text += static_cast<char>(c);
    }
  }
  pclose(pipe);
  return results;
}

/// Messages and limits are those of 3.11 and later.
bool havePython() {
  return std::system("python3 -c 'import sys; "
                     "sys.exit(sys.version_info < (3, 11))' 2>/dev/null") == 0;
}

/// A list in a result is a tuple in the interface; nested ones are not
/// compared here.
bool hasNestedList(const std::string &text) {
  return text.find('[') != std::string::npos;
}

TEST(StaticEvaluation, ExpressionsAgreeWithPython) {
  if (!havePython()) {
    GTEST_SKIP() << "needs python3 of version 3.11 or later";
  }
  Generator generator(20240229);
  std::vector<std::string> lines;
  for (int i = 0; i < 6000; ++i) {
    lines.push_back(generator.expression(1 + i % 4));
  }
  std::vector<std::string> expected = byPython(lines);
  ASSERT_EQ(expected.size(), lines.size());
  size_t compared = 0, failures = 0, errors = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    EvaluateRequest request{{"empty.py", "", {}}, "", lines[i], "", {}};
    Expected<StaticValue> got = irgen::evaluate(request);
    std::string text =
        got.ok() ? irgen::Value::fromStatic(*got).repr() : "ERROR";
    bool beyond = !got.ok() &&
                  (got.failure().str().find("128 bits") != std::string::npos ||
                   got.failure().str().find("elements") != std::string::npos);
    if (expected[i] == "SKIP" || beyond || hasNestedList(expected[i])) {
      continue;
    }
    ++compared;
    errors += text == "ERROR";
    if (text != expected[i] && ++failures <= 20) {
      ADD_FAILURE() << lines[i] << "\n  here:   " << text
                    << "\n  python: " << expected[i] << "\n"
                    << (got.ok() ? "" : got.failure().str());
    }
  }
  EXPECT_EQ(failures, 0u);
  EXPECT_GT(compared, 4500u);
  EXPECT_GT(compared - errors, 1000u) << "too few expressions are legal";
}

//===----------------------------------------------------------------------===//
// Host programs
//===----------------------------------------------------------------------===//

/// Functions `f()` whose result both sides print.
const char *programs[] = {
    "def f():\n  total = 0\n  for i in range(10):\n    if i % 3 == 0:\n      "
    "continue\n    if i == 8:\n      break\n    total += i\n  else:\n    total "
    "= -1\n  return total\n",
    "def f():\n  for i in range(3):\n    pass\n  else:\n    return 'else'\n",
    "def f():\n  out = []\n  n = 27\n  while n != 1:\n    out.append(n)\n    n "
    "= n // 2 if n % 2 == 0 else 3 * n + 1\n    if len(out) > 20: break\n  "
    "return tuple(out)\n",
    "def fib(n):\n  return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
    "def f():\n  return fib(12)\n",
    "def g(a, b=2, *args, c, d=4, **kw):\n  return (a, b, args, c, d, "
    "tuple(sorted(kw.items())))\n"
    "def f():\n  return (g(1, c=3), g(1, 5, 6, 7, c=8, e=9), g(*(1, 2), "
    "**{'c': 3, 'z': 4}))\n",
    "def f():\n  a, (b, *c), d = 1, (2, 3, 4), 5\n  x = y = 6\n  return (a, b, "
    "tuple(c), d, x, y)\n",
    "def f():\n  d = {'a': 1, 'b': 2}\n  d['c'] = 3\n  d.update(e=5, a=0)\n  "
    "return (tuple(d), tuple(d.values()), d.get('x', 9), 'b' in d, "
    "sum(d.values()), d.pop('a'), len(d), tuple({k: v for k, v in d.items() if "
    "v > 2}))\n",
    "def f():\n  l = [3, 1, 2]\n  l.append(5)\n  l.extend((7, 8))\n  l[0] = "
    "9\n  l += [4]\n  l.insert(1, 6)\n  return (tuple(l), l.index(5), l.pop(), "
    "tuple(sorted(l)), tuple(reversed(l)), tuple(sorted(l, key=lambda x: -x)), "
    "l.count(1))\n",
    "def f():\n  s = 'Hello, World'\n  return (s.lower(), s.upper(), "
    "s.split(', '), s.replace('l', 'L'), s.startswith('He'), s.find('o'), "
    "'-'.join(['a', 'b']), s[::-1], s[2:5], s.strip('Hd'), '7'.isdigit())\n",
    "def f():\n  n, x, s = 42, 3.14159, 'ab'\n  return (f'{n}', f'{x:.2f}', "
    "f'{n:5d}|', f'{n:<5}|', f'{n:05d}', f'{s!r:>6}', f'{n:x}', f'{n:b}', "
    "f'{x:e}', f'{s}{n}{{}}', f'{0.25:.1%}')\n",
    "def f():\n  k = 3\n  g = lambda x, y=10: x * k + y\n  k = 5\n  return "
    "(g(1), g(1, 2), tuple(map(g, [1, 2])), tuple(filter(lambda v: v > 1, "
    "(1, 2, 3))))\n",
    "def f():\n  return (tuple(zip((1, 2), 'ab')), tuple(enumerate('xy', 1)), "
    "divmod(-7, 2), round(2.5), round(3.5), round(2.567, 2), any([0, 3]), "
    "all([]))\n",
    "def f():\n  x = 5\n  if (y := x * 2) > 8:\n    return y\n",
    "def f():\n  return tuple([(i, j) for i in range(3) for j in range(i) if i "
    "+ j > 1])\n",
    "def f():\n  def outer(a):\n    def inner(b):\n      return a + b\n    "
    "return inner\n  return outer(2)(3)\n",
    "import math\ndef f():\n  return (math.ceil(2.1), math.floor(-2.1), "
    "math.sqrt(16), math.gcd(12, 18), math.prod([2, 3, 4]), math.log2(8), "
    "math.pow(2, 3), math.isinf(math.inf))\n",
    "from collections import namedtuple\nP = namedtuple('P', 'x y')\n"
    "def f():\n  p = P(1, y=2)\n  a, b = p\n  return (p.x, p[1], a + b, "
    "len(p))\n",
    "def f():\n  try:\n    return 1 // 0\n  except ZeroDivisionError:\n    "
    "return 'caught'\n",
    "X = 3\ndef f():\n  X = 4\n  return X\n",
    R"(def f():
  return ('{} {1} {0}'.format('a', 'b') if False else '{} {}'.format('a', 2),
          '{1}-{0}'.format(1, 'x'), '{n:04d}|{x:.3f}|{s!r:>6}'.format(n=7, x=1.5, s='q'),
          '{0[1]} {1[k]} {{}}'.format((1, 2), {'k': 3}), '{:>{w}}|{:^7}|{:<4}'.format('r', 'mid', 'l', w=5),
          '{:,} {:+d} {:#x} {:_}'.format(1234567, 5, 255, 1000))
)",
    R"(def f():
  return ('%d items, %5.2f%% of %s' % (3, 12.345, 'all'), '%x %X %o' % (255, 255, 8),
          '%-6s|%6s|%06d|%+d' % ('a', 'b', 42, 7), '%r' % 'q', '%s' % (1,), '%(a)s-%(b)d' % {'a': 1, 'b': 2},
          '%e %g' % (12345.678, 0.0001), '%d' % 3.99, '100%%' % ())
)",
    R"(def f():
  s = ' alpha,beta,,gamma '
  return (s.split(','), s.split(',', 1), s.rsplit(',', 1), s.split(), '  a  b c '.rsplit(None, 1), 'a b  c'.split(None, 1),
          'x=1'.partition('='), 'a.b.c'.rpartition('.'), 'none'.partition('='), 'a.b.c'.rfind('.'), 'abc'.index('c'))
)",
    R"(def f():
  return ('hello world'.title(), 'hELLO'.capitalize(), 'aBc'.swapcase(), '42'.zfill(5), '-42'.zfill(5), 'a'.ljust(3, '.'),
          'a'.rjust(3), 'ab'.center(5, '*'), 'abc'.center(6), 'prefix_x'.removeprefix('prefix_'), 'x.py'.removesuffix('.py'),
          'a1'.isalnum(), 'ab'.isalpha(), 'AB1'.isupper(), 'ab'.islower(), ' '.isspace(), 'x_1'.isidentifier(),
          'a\tb'.split(), '12'.isnumeric(), 'one two'.splitlines())
)",
    R"(def f():
  l = [5, 3, 9, 1]
  l.sort()
  m = list(l)
  m.sort(key=lambda x: -x)
  l.remove(3)
  n = [1, 2]
  n.clear()
  a, b = {1, 2, 3}, {3, 4}
  b.add(5)
  b.add(5)
  b.discard(9)
  return (l, m, n, sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b), sorted(a.union(b)),
          sorted(a.intersection(b)), sorted(a.difference(b)), {1}.issubset(a), a.isdisjoint({7}), len({1, 1, 2}), sorted(set([3, 1, 3])))
)",
    R"(import itertools, functools, operator
from functools import partial, reduce
def f():
  def power(base, exponent, scale=1):
    return base ** exponent * scale
  square = partial(power, exponent=2)
  return (list(itertools.product([1, 2], 'ab')), list(itertools.product([0, 1], repeat=2)), list(itertools.chain([1], (2, 3))),
          list(itertools.combinations([1, 2, 3], 2)), list(itertools.permutations([1, 2, 3], 2)), list(itertools.repeat(7, 2)),
          list(itertools.accumulate([1, 2, 3])), square(5), functools.partial(power, 2)(5, scale=3), reduce(operator.mul, [1, 2, 3, 4]),
          reduce(lambda a, b: a + b, [1, 2], 10), operator.itemgetter(1)((4, 5)), list(itertools.islice([1, 2, 3, 4], 1, 3)))
)",
    R"(import functools
@functools.lru_cache(maxsize=None)
def slow(n):
  return n if n < 2 else slow(n - 1) + slow(n - 2)
@functools.cache
def one():
  return 1
def f():
  return (slow(10), one())
)",
    R"(T = {}
for i in range(3):
  T[i] = i * i
T['x'] = 5
T.update(y=6)
L = [1]
L.append(2)
L += [3]
n = 0
for i in range(4):
  n += i
  L.append(n)
if n > 5:
  L.append('big')
else:
  L.append('small')
L = [L, len(L)]
def f():
  return (tuple(T.items()), L, n, i)
)",
    R"(C = [1]
C = C + [2]
C.append(3)
F = True
if F:
  F = len(C) == 3
if F:
  G = 'yes'
L = []
L.append(0)
for i in (1, 2):
  L += [i]
L.append(9)
def f():
  return (C, F, G, L)
)",
    R"(from enum import Enum
class Memory(Enum):
  ADA = 101376
  DEFAULT = 102400
  @classmethod
  def of(cls, arch):
    try:
      return cls[arch.upper()].value
    except KeyError:
      return cls.DEFAULT.value
def f():
  return (Memory.of('ada'), Memory.of('none'))
)",
    R"(def gen(n):
  for i in range(n):
    yield i
  yield from (7, 8)
def f():
  return (list(gen(3)), sum(gen(2)), next(iter([4, 5])), next(iter([]), 'none'), hex(255), bin(5), oct(8), hex(-16), chr(65), ord('a'), pow(2, 5))
)",
    R"(class Shape:
  SIDES = 4
  names = ['a', 'b']
  @classmethod
  def sides(cls):
    return cls.SIDES
  @staticmethod
  def twice(x):
    return 2 * x
  @property
  def area(self):
    return self.SIDES * 10
  def plus(self, x):
    return self.SIDES + x
def f():
  s = Shape()
  return (Shape.SIDES, Shape.sides(), Shape.twice(4), s.twice(5), s.area, s.plus(1), Shape.names, s.sides())
)",
    R"(from enum import IntEnum, auto
class Mode(IntEnum):
  OFF = 0
  ON = 1
  MORE = auto()
def f():
  return (Mode.ON == 1, Mode.MORE == 2, Mode.OFF.value, int(Mode.MORE))
)",
    R"(from dataclasses import dataclass, field
@dataclass
class Config:
  m: int
  n: int = 4
  tags: list = field(default_factory=list)
  w: int = field(default=3)
  def tiles(self):
    return self.m * self.n
def f():
  c = Config(2)
  c2 = Config(m=3, n=5)
  return (c.tiles(), c2.tiles(), c.tags, c.w)
)",
    R"(CACHE = None
def get():
  global CACHE
  if CACHE is None:
    CACHE = 41
  return CACHE + 1
def f():
  return get()
)",
    R"(import sys, os, math
from typing import TYPE_CHECKING
if TYPE_CHECKING:
  A = 1
else:
  A = 2
try:
  import a_module_that_no_machine_has
  HAS = True
except ImportError:
  HAS = False
V = '3.12.1+x'.split('+')[0].split('.')
B = 1 if sys.version_info >= (3, 8) else 0
C = os.environ.get('NO_SUCH_VARIABLE_HERE', 'unset')
D = 'NO_SUCH_VARIABLE_HERE' in os.environ
def f():
  return (A, HAS, tuple(map(int, V[:2])), B, C, D, math.isqrt(17), math.factorial(5), math.lcm(4, 6), math.log1p(0.0))
)",
    R"(def f():
  import copy
  a = {'x': [1, 2], 'y': {'z': 3}}
  b = copy.deepcopy(a)
  b['x'].append(3)
  b['y']['z'] = 4
  c = {**a, 'x': 0}
  try:
    raise ValueError('no')
  except (ValueError, TypeError) as error:
    d = 'caught'
  finally:
    e = 'done'
  g = dict(p=1, q=[2])
  h = dict(g, p=3)
  return (tuple(h.items()), dict(((1, 2),))[1], a['x'], a['y']['z'], b['x'], b['y']['z'], c['x'], d, e, {k.upper(): v for k, v in a.items()}['Y']['z'], 'x' in a, [*a], (*a, 1))
)",
};

TEST(StaticEvaluation, ProgramsAgreeWithPython) {
  if (!havePython()) {
    GTEST_SKIP() << "needs python3 of version 3.11 or later";
  }
  for (const char *program : programs) {
    std::string quoted;
    for (const char *c = program; *c; ++c) {
      quoted += *c == '\n' ? "\\n" : *c == '\'' ? "\\'" : std::string(1, *c);
    }
    // Python's lists as tuples, as the interface has them.
    std::string line = "(lambda g: (exec('" + quoted +
                       "', g), (lambda t: t(t, g['f']()))(lambda t, v: "
                       "tuple(t(t, x) for x in v) if isinstance(v, (list, "
                       "tuple)) else v))[1])({})";
    std::vector<std::string> expected = byPython({line});
    ASSERT_EQ(expected.size(), 1u);
    EvaluateRequest request{{"p.py", program, {}}, "", "f()", "", {}};
    Expected<StaticValue> got = irgen::evaluate(request);
    EXPECT_EQ(got.ok() ? irgen::Value::fromStatic(*got).repr()
                       : got.failure().str(),
              expected[0])
        << program;
  }
}

} // namespace
