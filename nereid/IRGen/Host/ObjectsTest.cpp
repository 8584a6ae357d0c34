//===- ObjectsTest.cpp - Objects, exceptions, files of the host -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs whose f() CPython computes too, from the same files; and what is
// refused, with its message.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Value.h"
#include "nereid/IRGen/IRGen.h"
#include "nereid/IRGen/testing/IRGenTesting.h"
#include "nereid/IRGen/testing/TemporaryFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::irgen;
using testing::HasSubstr;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

/// repr(f()) of a program beside other files, or the failure's text.
std::string evaluated(const TemporaryFolder &folder, const std::string &program,
                      std::map<std::string, StaticValue> bindings = {}) {
  std::string path = folder.write("p.py", program);
  EvaluateRequest request{
      {path, program, std::move(bindings)}, "", "f()", "", {}};
  Expected<StaticValue> got = irgen::evaluate(request);
  return got.ok() ? Value::fromStatic(*got).repr() : got.failure().str();
}

std::string evaluated(const std::string &program) {
  TemporaryFolder folder;
  return evaluated(folder, program);
}

/// What CPython prints; empty where there is none.
std::string byPython(const TemporaryFolder &folder) {
  std::string code =
      "import sys; sys.path.insert(0, '" +
      std::filesystem::path(folder.write("out", "")).parent_path().string() +
      "'); import p\n"
      // Lists as tuples, as the interface has them.
      "def t(v):\n"
      "  if type(v) is dict: return {k: t(x) for k, x in v.items()}\n"
      "  return tuple(map(t, v)) if type(v) in (list, tuple) else v\n"
      "print(repr(t(p.f())))";
  std::string text;
  if (FILE *pipe =
          popen(("python3 -B -c \"" + code + "\" 2>&1").c_str(), "r")) {
    char buffer[4096];
    while (size_t size = fread(buffer, 1, sizeof buffer, pipe)) {
      text.append(buffer, size);
    }
    pclose(pipe);
  }
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

struct Program {
  const char *name, *text;
  friend void PrintTo(const Program &program, std::ostream *out) {
    *out << program.name;
  }
};

class HostPrograms : public testing::TestWithParam<Program> {};

TEST_P(HostPrograms, AgreeWithPython) {
  if (system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' "
             ">/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "needs python3 of version 3.11 or later";
  }
  TemporaryFolder folder;
  folder.write("package/__init__.py", "from .loader import Loader\n"
                                      "loader = Loader()\n");
  folder.write("package/loader.py", "import os, json\n"
                                    "class Loader:\n"
                                    "  def __init__(self):\n"
                                    "    here = os.path.dirname("
                                    "os.path.abspath(__file__))\n"
                                    "    path = os.path.join(here, 'c.json')\n"
                                    "    with open(path, 'r') as file:\n"
                                    "      self.data = json.load(file)\n");
  folder.write("package/c.json", "{\"b\": [1, 2.5, null, true, \"x\\u00e9\"], "
                                 "\"a\": {\"deep\": -3}}\n");
  folder.write("package/plug.py", "NAME = 'plug'\n");
  std::string got = evaluated(folder, GetParam().text);
  EXPECT_EQ(got, byPython(folder));
}

const Program programs[] = {
    {"singleton", R"(class Single:
  made = None
  count = 0
  def __new__(cls, *args, **kwargs):
    if cls.made is None:
      cls.made = super(Single, cls).__new__(cls)
    return cls.made
  def __init__(self, n=0):
    if not hasattr(self, 'ready'):
      self.ready = True
      self.n = n
    Single.count += 1
def f():
  a, b = Single(3), Single(4)
  b.m = 5
  return a is b, a.n, a.m, Single.count, a == b, Single.made is a
)"},
    {"inheritance", R"(class A(object):
  unit = 'a'
  def __init__(self, x):
    self.x = x
  def name(self):
    return self.unit + str(self.x)
  @classmethod
  def of(cls, x):
    return cls(x + 1)
  @staticmethod
  def twice(x):
    return 2 * x
  @property
  def square(self):
    return self.x ** 2
class B(A):
  unit = 'b'
  def __init__(self, x, y):
    super().__init__(x)
    self.y = y
  def name(self):
    return super().name() + '/' + str(self.y)
class C(B):
  def __getattr__(self, name):
    return 'no ' + name
def f():
  b, a = B(1, 2), B.of
  c = C(7, 8)
  del c.y
  return (b.name(), A.of(4).name(), b.twice(4), c.square, c.missing, c.y,
          isinstance(b, A), isinstance(A(1), B), issubclass(C, A),
          type(b).__name__, b.__class__ is B, getattr(b, 'z', 9),
          sorted(vars(b).keys()), callable(b), callable(B))
)"},
    {"diamond", R"(class A:
  def who(self): return 'A'
class B(A):
  def who(self): return 'B' + super().who()
class C(A):
  def who(self): return 'C' + super().who()
class D(B, C):
  def who(self): return 'D' + super().who()
def f():
  return D().who()
)"},
    {"specialMethods", R"(class Box:
  def __init__(self, *items):
    self.items = list(items)
  def __len__(self): return len(self.items)
  def __getitem__(self, i): return self.items[i]
  def __setitem__(self, i, v): self.items[i] = v
  def __contains__(self, x): return x in self.items
  def __iter__(self): return iter(self.items)
  def __call__(self, k, *, by=1): return [by * k * x for x in self.items]
  def __add__(self, other): return Box(*self.items, *other.items)
  def __radd__(self, n): return n + sum(self.items)
  def __eq__(self, other): return self.items == other.items
  def __lt__(self, other): return len(self) < len(other)
  def __str__(self): return 'Box' + str(self.items)
def f():
  a, b = Box(1, 2), Box(3)
  a[0] = 5
  return (len(a), a[0], 2 in a, 7 not in a, a(2), a(2, by=3), list(a + b),
          10 + a, a == Box(5, 2), a != b, b < a, str(a), f'{b}', bool(Box()),
          1 if Box() else 2, not Box(1), [x for x in b], (Box() or 3))
)"},
    {"enums", R"(from enum import Enum, IntEnum, auto
class Color(Enum):
  RED = 1
  BLUE = 2
  CRIMSON = 1
  @classmethod
  def names(cls):
    return [member.name for member in cls]
  def hot(self):
    return self is Color.RED
class Level(IntEnum):
  LOW = 1
  HIGH = 5
class Mode(Enum):
  A = auto()
  B = auto()
def f():
  return (Color.names(), Color(2).name, Color['BLUE'].value, Color.RED.hot(),
          Color.CRIMSON is Color.RED, Color.RED == 1, len(Color),
          Color.BLUE in [Color.RED], Color.BLUE in Color, str(Color.RED),
          repr(Color.RED), Level.HIGH > 3, Level.LOW + 1, Mode.B.value,
          isinstance(Color.RED, Color), list(Color.__members__),
          {Color.RED: 'r'}[Color.RED])
)"},
    {"exceptions", R"(class Mine(ValueError):
  def __init__(self, text, code):
    super().__init__(text)
    self.code = code
def kind(action):
  try:
    action()
  except (KeyError, IndexError) as error:
    return 'lookup'
  except Mine as error:
    return 'mine ' + str(error.code) + str(error)
  except ValueError as error:
    return 'value ' + str(error)
  except Exception as error:
    return type(error).__name__
  else:
    return 'fine'
def raises(error):
  raise error
def again():
  try:
    raise KeyError('k')
  except LookupError as error:
    raise
def f():
  log = []
  def last():
    try:
      return 1
    finally:
      log.append('last')
  def missing():
    import a_module_that_no_machine_has
  def both():
    try:
      raise Mine('m', 3)
    except KeyError:
      return 'wrong'
  def renamed():
    try:
      {}['x']
    except KeyError as e:
      raise RuntimeError(f'no {e}')
  return (kind(lambda: {}['x']), kind(lambda: [][1]), kind(both), last(), log,
          kind(lambda: raises(ValueError('v'))), kind(again),
          kind(lambda: object_without.x), kind(lambda: 1), kind(renamed),
          kind(lambda: raises(NotImplementedError)))
class Empty: pass
object_without = Empty()
)"},
    {"globalState", R"(cache = None
calls = []
def get():
  global cache
  if cache is None:
    calls.append(1)
    cache = {'x': 1}
  return cache
def peek():
  return cache
def f():
  total = 0
  def add(n):
    nonlocal total
    total += n
  get()['y'] = 2
  add(3)
  add(4)
  return len(get()), len(calls), peek()['y'], total
)"},
    {"files", R"(import os, json, io
from package import loader
def f():
  here = os.path.dirname(os.path.abspath(__file__))
  path = os.path.join(here, 'package', 'c.json')
  with open(path) as file:
    lines = file.readlines()
  try:
    open(os.path.join(here, 'nothing.txt'))
  except FileNotFoundError:
    gone = True
  try:
    json.loads('{')
  except ValueError:
    bad = True
  return (list(loader.data), loader.data['b'], loader.data['a']['deep'],
          len(lines), gone, bad, os.path.basename(path),
          os.path.splitext(path)[1], os.path.exists(path),
          os.path.join('a', '/b', 'c'), os.path.split('x/y')[0],
          json.loads('[1e3, -2, "q", {"k": []}]'))
)"},
    {"code", R"(import ast, importlib
def made(text, name):
  tree = ast.parse(text)
  exec(compile(tree, filename='<x>', mode='exec'), globals())
  return globals()[name]
def f():
  module = importlib.import_module('package.plug')
  try:
    importlib.import_module('package.nothing')
  except ModuleNotFoundError:
    missing = True
  return (made('import math\nz = math.gcd(12, 18)\ny = z + 1\n', 'y'),
          eval('1 + 2'), 'z' in globals(), module.NAME, missing,
          hasattr(module, 'NAME'), hasattr(module, 'OTHER'))
)"},
    {"library", R"(import argparse, threading
from queue import Queue
from functools import lru_cache, partial
@lru_cache(maxsize=None)
def double(x):
  return 2 * x
def f():
  parser = argparse.ArgumentParser(description='d')
  parser.add_argument('--ops', type=str, default=None, choices=['a'])
  parser.add_argument('--block-size', type=int, default=4)
  parser.add_argument('-v', '--verbose', action='store_true')
  args, rest = parser.parse_known_args([])
  queue, threads = Queue(), []
  for i in range(3):
    thread = threading.Thread(target=queue.put, args=(i,))
    threads.append(thread)
    thread.start()
  for thread in threads:
    thread.join()
  with threading.Lock():
    n = queue.qsize()
  return (args.ops, args.block_size, args.verbose, rest, n, queue.get(),
          queue.empty(), partial(double, 4)())
)"},
    {"moduleLevel", R"(class Loader:
  size = 1
  def __init__(self):
    self.rows = []
  def add(self, row):
    self.rows.append(row)
    return self
loader = Loader()
loader.scale = 2
loader.add('a').add('b')
loader.scale += 3
loader.gone = 1
del loader.gone
Loader.size = 7
configs = [1, 2]
configs.append(3)
early = [c + 1 for c in configs]
name = 'a'
both = name + 'b'
configs = ['last']
configs += ['one']
name = 'z'
def f():
  return (loader.scale, loader.rows, hasattr(loader, 'gone'), Loader.size,
          loader.size, early, configs, both, name)
)"},
    {"classBodies", R"(class K:
  A = 2
  B = A * 3
  C = [B, B + 1]
  if B > 5:
    D = 'big'
  else:
    D = 'small'
  for i in range(3):
    LAST = i
  E = F = 9
  def get(self, n=4):
    return self.A + n
def f():
  k = K()
  K.A = 10
  k.list = K.C
  k.list += [1]
  d = {'x': [1, 2, 3], 'y': 0}
  del d['y'], d['x'][1]
  setattr(k, 'z', 5)
  delattr(k, 'z')
  return (K.B, K.C, K.D, K.LAST, K.F, k.get(), k.get(n=1), len(d), d['x'],
          hasattr(k, 'z'))
)"},
};

INSTANTIATE_TEST_SUITE_P(All, HostPrograms, testing::ValuesIn(programs),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(HostYaml, IsReadAsPyYamlDoes) {
  TemporaryFolder folder;
  folder.write("c.yaml", "a: 1\nb: [x, 'y', \"z\"]\nc:\n  - yes\n  - Off\n"
                         "  - 0x10\n  - 010\n  - 1_000\n  - 1.5\n  - 1e3\n"
                         "  - ~\n  - .inf\n  - null\n  - &k {q: 1}\n  - *k\n"
                         "d: |\n  two\n  lines\n3: three\n");
  // What yaml.safe_load of PyYAML 6 gives.
  EXPECT_EQ(
      evaluated(folder, R"(import yaml
def f():
  d = yaml.safe_load(open('c.yaml')) if False else None
  import os
  with open(os.path.join(os.path.dirname(__file__), 'c.yaml')) as file:
    d = yaml.safe_load(file)
  return list(d), d['a'], d['b'], d['c'][:10], d['c'][10]['q'], d['c'][11]['q'], d['d'], d[3]
)"),
      "(('a', 'b', 'c', 'd', 3), 1, ('x', 'y', 'z'), (True, False, 16, 8, "
      "1000, 1.5, '1e3', None, inf, None), 1, 1, 'two\\nlines\\n', 'three')");
  EXPECT_EQ(evaluated("import yaml\ndef f():\n  return "
                      "yaml.safe_load('') is None\n"),
            "True");
}

struct Refusal {
  const char *name, *text, *message;
};

class HostRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(HostRefusals, NameWhatIsMissing) {
  TemporaryFolder folder;
  folder.write("tree/__init__.py", "");
  EXPECT_THAT(evaluated(folder, GetParam().text),
              HasSubstr(GetParam().message));
}

const Refusal refusals[] = {
    {"baseOfTheHost",
     "import torch\nclass M(torch.nn.Module):\n  pass\ndef f():\n"
     "  return M().size + 1\n",
     "which is not known: its base class 'torch.nn.Module' is host code"},
    {"initialisation",
     "import torch\nclass M:\n  def __init__(self):\n"
     "    self.n = torch.tensor(3).item() + 1\ndef f():\n"
     "  return M().n + 1\n",
     "p.py:4)"},
    {"metaclass",
     "class T(type):\n  pass\nclass M(metaclass=T):\n  pass\ndef f():\n"
     "  return M().x + 1\n",
     "it has a metaclass, 'T'"},
    {"noAttribute",
     "class M:\n  def __init__(self):\n    self.size = 1\ndef f():\n"
     "  return M().sise\n",
     "an instance of class 'M' has no attribute 'sise'"},
    {"takesNoArguments", "class M:\n  pass\ndef f():\n  return M(1)\n",
     "'M' takes no arguments; expected M()"},
    {"enumValue",
     "from enum import Enum\nclass M(Enum):\n  A = 1\ndef f():\n"
     "  return M(2)\n",
     "2 is no value of 'M'"},
    {"enumMember",
     "from enum import Enum\nclass M(Enum):\n  A = 1\ndef f():\n"
     "  return M['B'].value\n",
     "the enum 'M' has no member 'B'"},
    {"enumAssignment",
     "from enum import Enum\nclass M(Enum):\n  A = 1\ndef f():\n"
     "  M.A.x = 3\n",
     "cannot assign to a member of an enum"},
    {"propertySetter",
     "class M:\n  @property\n  def x(self):\n    return 1\n  @x.setter\n"
     "  def x(self, v):\n    pass\ndef f():\n  M().x = 3\n",
     "'x' is a property; setters are not supported"},
    {"attributeOfANumber", "def f():\n  x = 1\n  x.y = 2\n",
     "assigning to an attribute is not supported"},
    {"attributeOfTheHost", "import torch\ndef f():\n  torch.backends.x = 2\n",
     "cannot assign to an attribute of the host value 'torch.backends'"},
    {"super", "def f():\n  return super().x\n",
     "super() is not understood here"},
    {"superAttribute",
     "class M:\n  def g(self):\n    return super().g()\ndef f():\n"
     "  return M().g()\n",
     "no base class of 'M' has 'g'"},
    {"newOfAnInstance",
     "class M:\n  def __new__(cls):\n    return super().__new__(3)\n"
     "def f():\n  return M()\n",
     "__new__: expected the class of the object"},
    {"textMethod",
     "class M:\n  def __str__(self):\n    return 1\ndef f():\n"
     "  return str(M())\n",
     "__str__ returns int 1; expected a string"},
    {"iterator",
     "class M:\n  def __iter__(self):\n    return self\n  def g(self):\n"
     "    return 1\nclass N:\n  def __iter__(self):\n    return M()\n"
     "def f():\n  return list(N())\n",
     "whose __iter__ returns an object"},
    {"raised", "def f():\n  raise ValueError('too ' + 'small')\n",
     "'raise' is reached: too small"},
    {"raisedAgain",
     "def f():\n  try:\n    {}['x']\n  except KeyError as e:\n    raise e\n",
     "the dict has no key 'x'"},
    {"otherHandler",
     "def f():\n  try:\n    raise ValueError('v')\n  except KeyError:\n"
     "    return 1\n",
     "'raise' is reached: v"},
    {"handlerOfAnUnknownValue",
     "import torch\ndef f():\n  try:\n    return torch.rand(3).sum() + 1\n"
     "  except Exception:\n    return 1\n",
     "operator '+' is not defined for the host value"},
    {"fileOutside", "def f():\n  return open('/etc/hostname').read()\n",
     "'/etc/hostname' lies outside of the program's own folder"},
    {"fileWritten", "def f():\n  open(__file__, 'w')\n",
     "open: the mode is 'w'; expected 'r'"},
    {"fileOfNoName", "import torch\ndef f():\n  open(torch.x)\n",
     "open: expected the name of a file that is known here"},
    {"fileMissing", "def f():\n  open(__file__ + '.txt')\n",
     "open: there is no file"},
    {"folder",
     "import os\ndef f():\n  open(os.path.dirname(__file__) + '/tree')\n",
     "/tree' is no file; expected a text"},
    {"yamlText", "import yaml\ndef f():\n  return yaml.safe_load('a: [1')\n",
     "p.py:3:"},
    {"yamlTag", "import yaml\ndef f():\n  return yaml.safe_load('a: !x 1')\n",
     "yaml: the tag '!x' is not supported"},
    {"yamlMerge",
     "import yaml\ndef f():\n  return yaml.safe_load('<<: {a: 1}')\n",
     "yaml: the merge key '<<' is not supported"},
    {"yamlSixty", "import yaml\ndef f():\n  return yaml.safe_load('1:30')\n",
     "yaml: a number to base 60 ('1:30') is not supported"},
    {"yamlDate",
     "import yaml\ndef f():\n  return yaml.safe_load('2020-01-02')\n",
     "yaml: a date ('2020-01-02') is not supported"},
    {"yamlKey",
     "import yaml\ndef f():\n  return yaml.safe_load('? [1]\\n: 2')\n",
     "yaml: a key is a mapping or a sequence"},
    {"yamlDeep", "import yaml\ndef f():\n  return yaml.safe_load('[' * 100)\n",
     "yaml: nesting deeper than 64"},
    {"yamlDeepBlocks",
     "import yaml\ndef f():\n  return yaml.safe_load('- ' * 100 + 'x')\n",
     "yaml: nesting deeper than 64"},
    {"yamlSecond",
     "import yaml\ndef f():\n  return yaml.safe_load('a\\n---\\nb\\n')\n",
     "yaml: a second document is not supported"},
    {"yamlOfAnUnknownValue",
     "import yaml, torch\ndef f():\n  return yaml.safe_load(torch.x)\n",
     "yaml: expected a text or an open file"},
    {"jsonText", "import json\ndef f():\n  return json.loads('{1')\n",
     "json: "},
    {"jsonDeep", "import json\ndef f():\n  return json.loads('[' * 99)\n",
     "json: nesting deeper than 64"},
    {"jsonInteger",
     "import json\ndef f():\n  return json.loads('[123456789012345678901]')\n",
     "json: an integer of more than 64 bits"},
    {"program",
     "import subprocess\ndef f():\n  return subprocess.run(['ls'])"
     ".returncode\n",
     "programs are not run, and what 'ls' would say is not known"},
    {"programOfOthers",
     "import subprocess\ndef f():\n  return subprocess.run(['rocm-smi'])"
     ".returncode\n",
     "there is no program 'rocm-smi'"},
    {"module",
     "import importlib\ndef f():\n  importlib.import_module('no_such')\n",
     "the module 'no_such' is not found"},
    {"execOfAFunction", "def f():\n  exec('def g(): pass')\n",
     "exec runs imports, assignments and expressions only"},
    {"execOfALambda", "def f():\n  exec('g = lambda: 1')\n",
     "exec and eval make no functions"},
    {"execOfNoPython", "def f():\n  exec('1 +')\n", "the text that is run: "},
    {"execElsewhere", "def f():\n  exec('x = 1', {})\n",
     "exec and eval work in globals() only"},
    {"execOfANumber", "def f():\n  exec(1)\n",
     "exec and eval take a text of at most 64 KB"},
    {"evalForEver", "def f():\n  return eval('f()')\n",
     "calls are nested more than"},
    {"globalsKey", "def f():\n  return globals()['nothing']\n",
     "the module has no global 'nothing'"},
    {"globalsNumber", "def f():\n  return globals()[1]\n",
     "globals() has no key 1"},
    {"globalsStore", "def f():\n  globals()[1] = 2\n",
     "a name of a module is a string"},
    {"deleted", "import torch\ndef f():\n  del torch.x\n",
     "cannot delete an attribute of the host value 'torch'"},
    {"deletedElement", "import torch\ndef f():\n  del torch.x[0]\n",
     "cannot delete an element of the host value 'torch.x'"},
    {"deletedTuple", "def f():\n  a = b = 1\n  del (a, b)\n",
     "'del' is not understood here"},
    {"requiredOption",
     "import argparse\ndef f():\n  p = argparse.ArgumentParser()\n"
     "  p.add_argument('--x', required=True)\n  p.parse_args()\n",
     "the following arguments are required: --x"},
    {"recursiveObjects",
     "class M:\n  def __init__(self):\n    self.m = M()\ndef f():\n"
     "  return M().m.x + 1\n",
     "calls are nested more than"},
};

INSTANTIATE_TEST_SUITE_P(All, HostRefusals, testing::ValuesIn(refusals),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

/// A vendor's machine, as its owner describes it.
TEST(HostBindings, SayWhatTheHostWouldAnswer) {
  TemporaryFolder folder;
  std::string program = "import torch\nimport triton.backends.x as driver\n"
                        "def f():\n  return (hasattr(torch, 'mlu'), "
                        "torch.mlu.device_count(), "
                        "driver.Utils().properties(0)['n'],\n"
                        "    torch.cuda.device_count())\n";
  EXPECT_EQ(evaluated(folder, program,
                      {{"torch.mlu.device_count()", StaticValue(int64_t{3})},
                       {"triton.backends.x.Utils().properties()",
                        StaticValue(
                            StaticValue::Dict{{"n", StaticValue(int64_t{7})}})},
                       {"torch.cuda.device_count()", StaticValue(int64_t{2})}}),
            "(True, 3, 7, 2)");
  EXPECT_THAT(evaluated(folder, program),
              HasSubstr("'torch.mlu' does not exist on this machine"));
}

/// What a compilation reads is part of the kernel's hash; data files are not.
TEST(HostFiles, AreNotReadByCompilations) {
  TemporaryFolder folder;
  std::string text = "import os\nimport triton\nimport triton.language as tl\n"
                     "N = tl.constexpr(len(open(__file__).read()))\n"
                     "@triton.jit\ndef k(p):\n  tl.store(p, N)\n";
  CompileRequest request;
  request.source = {folder.write("k.py", text), text, {}};
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32")};
  EXPECT_THAT(compileRequest(request).failure.str(),
              HasSubstr("the host value 'open(...)"));
}

/// In a kernel a member of an enum is its value.
TEST(HostEnums, AreValuesInKernels) {
  TemporaryFolder folder;
  std::string text = "from enum import Enum\nimport triton\n"
                     "import triton.language as tl\n"
                     "class M(Enum):\n  A = 1\n  B = 2\n"
                     "@triton.jit\n"
                     "def k(p, m: tl.constexpr = M.B):\n"
                     "  tl.static_assert(m == 2)\n"
                     "  tl.static_assert(M.A.value == 1)\n"
                     "  tl.static_assert(M.A == 1)\n  tl.store(p, m)\n";
  Source source{folder.write("k.py", text), text, {}};
  Expected<KernelDescription> described = irgen::describe(source, "k");
  ASSERT_TRUE(described.ok()) << described.failure().str();
  EXPECT_EQ(described->parameters[1].defaultValue, StaticValue(int64_t{2}));
  CompileRequest request;
  request.source = source;
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32"),
                       *described->parameters[1].defaultValue};
  EXPECT_EQ(compileRequest(request).failure.str(), "");
}

} // namespace
