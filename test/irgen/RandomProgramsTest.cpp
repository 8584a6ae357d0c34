//===- RandomProgramsTest.cpp - Control flow against CPython ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A seeded generator writes kernels on int32 scalars: nested branches and
// loops, early returns in kernels and helpers, helpers that call helpers,
// tuples, ternaries, compile-time branches and unrolled loops, and chains of
// branches, some longer than IRGen nests. The same file is
// run by the reference executor and, with a few lines in place of triton, by
// CPython; kernels with so many loops that they are emitted in another form are
// run as machine code too. Arithmetic stays inside int32 and away from `//` and
// `%`, which mean different things on both sides.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/KernelCompiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <unistd.h>

using namespace nereid;

namespace {

constexpr int numInputs = 3, numOutputs = 6;

/// Writes one kernel and its helpers.
class Generator {
public:
  Generator(uint32_t seed, std::string name, bool hasChains)
      : random(seed), name(std::move(name)), hasChains(hasChains) {}

  std::string run() {
    int helpers = int(pick(4));
    for (int i = 0; i < helpers; ++i) {
      helper(i);
    }
    variables = {"a", "b", "c"};
    loops = 0;
    kind = Kernel;
    out << "@triton.jit\ndef " << name
        << "(inp, out, K: tl.constexpr, F: tl.constexpr):\n";
    for (int i = 0; i < numInputs; ++i) {
      line(1) << variables[i] << " = tl.load(inp + " << i << ")\n";
    }
    block(1, 6, 3);
    for (int i = 0; i < numOutputs; ++i) {
      line(1) << "tl.store(out + " << i << ", " << expression(1) << ")\n";
    }
    return out.str();
  }

private:
  enum Kind { Kernel, Scalar, Pair };

  size_t pick(size_t n) { return random() % n; }
  std::ostream &line(int indent) { return out << std::string(indent * 4, ' '); }
  const std::string &variable() { return variables[pick(variables.size())]; }
  std::string fresh() { return "v" + std::to_string(pick(8)); }

  void define(const std::string &variable) {
    for (const std::string &known : variables) {
      if (known == variable) {
        return;
      }
    }
    variables.push_back(variable);
  }

  void helper(int index) {
    kind = pick(3) == 0 ? Pair : Scalar;
    size_t count = 1 + pick(3);
    variables.clear();
    loops = 0;
    out << "@triton.jit\ndef " << name << "_h" << index << "(";
    for (size_t i = 0; i < count; ++i) {
      variables.push_back("p" + std::to_string(i));
      out << variables.back() << ", ";
    }
    out << "K: tl.constexpr, F: tl.constexpr):\n";
    block(1, 4, 2);
    returns(1);
    (kind == Pair ? pairs : scalars).push_back({index, count});
  }

  void returns(int indent) {
    if (kind == Kernel) {
      line(indent) << "return\n";
    } else if (kind == Pair) {
      line(indent) << "return " << expression(2) << ", " << expression(1)
                   << "\n";
    } else {
      line(indent) << "return " << expression(2) << "\n";
    }
  }

  //===--------------------------------------------------------------------===//
  // Expressions: every value lies in [-2^20, 2^20]
  //===--------------------------------------------------------------------===//

  std::string call(std::pair<int, size_t> callee) {
    std::string text = name + "_h" + std::to_string(callee.first) + "(";
    for (size_t i = 0; i < callee.second; ++i) {
      text += expression(0) + ", ";
    }
    return text + "K, F)";
  }

  std::string leaf() {
    switch (pick(8)) {
    case 0:
      return "K";
    case 1:
    case 2:
      return std::to_string(int(pick(20)) - 5);
    default:
      return variable();
    }
  }

  /// Brings a sum or a product back into range.
  std::string bounded(const std::string &text) {
    return "((" + text + ") & 1023)";
  }

  std::string expression(int depth) {
    if (depth == 0) {
      return leaf();
    }
    auto sub = [&] { return expression(depth - 1); };
    switch (pick(9)) {
    case 0:
      return bounded(sub() + " * " + sub());
    case 1:
      return bounded(sub() + " - " + sub());
    case 2:
      return "min(" + sub() + ", " + sub() + ")";
    case 3:
      return "max(" + sub() + ", " + sub() + ")";
    case 4:
      return bounded("-" + sub());
    case 5:
      return "(" + variable() + " if " + condition(1) + " else " + variable() +
             ")";
    case 6:
      if (!scalars.empty() && calls++ < 6) {
        return call(scalars[pick(scalars.size())]);
      }
      return bounded(sub() + " ^ " + sub());
    case 7:
      return "(" + leaf() + " if F else " + variable() + ")";
    default:
      return bounded(sub() + " + " + sub());
    }
  }

  /// A run-time condition: one side is always a variable.
  std::string condition(int depth) {
    static const char *operators[] = {"<", "<=", ">", ">=", "==", "!="};
    std::string test = "(" + variable() + " " + operators[pick(6)] + " " +
                       expression(depth) + ")";
    switch (pick(6)) {
    case 0:
      return "(" + test + " and " + condition(0) + ")";
    case 1:
      return "(" + test + " or F)";
    case 2:
      return "(not " + test + ")";
    default:
      return test;
    }
  }

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  void block(int indent, size_t statements, int depth) {
    size_t count = 1 + pick(statements);
    for (size_t i = 0; i < count; ++i) {
      statement(indent, depth);
    }
  }

  void assignment(int indent) {
    std::string target = fresh();
    switch (pick(6)) {
    case 0: {
      std::string other = fresh();
      if (other == target) {
        other = "w";
      }
      std::string value = pairs.empty() || calls++ > 6
                              ? variable() + ", " + bounded(variable() + " + 1")
                              : call(pairs[pick(pairs.size())]);
      line(indent) << target << ", " << other << " = " << value << "\n";
      define(other);
      break;
    }
    case 1:
      target = variable();
      if (target[0] != 'i') { // a loop's index decides when the loop ends
        line(indent) << target << " += " << leaf() << "\n";
        line(indent) << target << " = " << target << " & 1023\n";
        break;
      }
      target = fresh();
      [[fallthrough]];
    default:
      line(indent) << target << " = " << expression(2) << "\n";
    }
    define(target);
  }

  void branch(int indent, int depth) {
    bool isStatic = pick(4) == 0;
    line(indent) << "if " << (isStatic ? "K > 3 and F" : condition(1)) << ":\n";
    std::vector<std::string> before = variables;
    block(indent + 1, 3, depth - 1);
    if (loops == 0 && pick(3) == 0) {
      returns(indent + 1);
    }
    std::vector<std::string> afterThen = variables;
    variables = before;
    if (pick(2)) {
      line(indent) << "else:\n";
      block(indent + 1, 3, depth - 1);
      if (loops == 0 && pick(5) == 0) {
        returns(indent + 1);
      }
    }
    // Only what both sides define exists afterwards.
    std::vector<std::string> both;
    for (const std::string &x : afterThen) {
      for (const std::string &y : variables) {
        if (x == y) {
          both.push_back(x);
        }
      }
    }
    variables = both;
  }

  /// Holds for one of 64 branches in a row, which one being a matter of what
  /// the variable is; some bind a name, some load.
  std::string choice(size_t i, const std::string &selector) {
    std::string value = selector + " + " + std::to_string(i);
    std::string chosen = ") & 63) == " + std::to_string(pick(4));
    switch (pick(8)) {
    case 0:
      define("z");
      return "((z := (" + value + chosen + ")";
    case 1: {
      std::string place = std::to_string(pick(numInputs));
      return "((" + value +
             (kind == Kernel ? " + tl.load(inp + " + place + ")" : " + K") +
             chosen;
    }
    case 2:
      return "((" + value + chosen + " and F";
    default:
      return "((" + value + chosen;
    }
  }

  /// `if`, then dozens of `elif`: none, some or all of them return.
  void elifChain(int indent, int depth) {
    size_t length = 20 + pick(60), returning = pick(3);
    std::string selector = variable();
    std::vector<std::string> common, outside = variables;
    for (size_t i = 0; i <= length; ++i) {
      std::vector<std::string> before = variables;
      if (i == length) {
        if (pick(2)) {
          common = outside;
          break;
        }
        line(indent) << "else:\n";
      } else {
        std::string test = choice(i, selector);
        line(indent) << (i ? "elif " : "if ") << test << ":\n";
        before = variables;
      }
      block(indent + 1, 2, pick(8) ? 0 : depth - 1);
      bool returnsHere = loops == 0 && (returning == 2 || pick(4) < returning);
      if (returnsHere && i < length) {
        returns(indent + 1);
      }
      std::vector<std::string> kept;
      for (const std::string &x : i ? common : variables) {
        if (std::find(variables.begin(), variables.end(), x) !=
            variables.end()) {
          kept.push_back(x);
        }
      }
      common = kept;
      variables = before;
    }
    std::erase(common, "z");
    variables = common;
  }

  /// `if c: return` dozens of times, with work between.
  void guards(int indent) {
    size_t length = 20 + pick(60);
    std::string selector = variable();
    for (size_t i = 0; i < length; ++i) {
      std::string test = choice(i, selector);
      line(indent) << "if " << test << ":\n";
      if (pick(3) == 0) {
        line(indent + 1) << "if " << condition(1) << ":\n";
        returns(indent + 2);
      } else {
        returns(indent + 1);
      }
      if (pick(3) == 0) {
        assignment(indent);
      }
    }
  }

  void loop(int indent, int depth) {
    std::vector<std::string> before = variables;
    std::string index = "i" + std::to_string(loopNames++);
    switch (pick(4)) {
    case 0: {
      line(indent) << "for " << index << " in tl.static_range("
                   << (pick(2) ? "K" : "3") << "):\n";
      define(index);
      ++loops; // a `return` would be legal; CPython's loop variable would not
      block(indent + 1, 3, depth - 1);
      --loops;
      break;
    }
    case 1: {
      line(indent) << index << " = 0\n";
      line(indent) << "while " << index << " < (" << variable() << " & 7):\n";
      define(index);
      ++loops;
      block(indent + 1, 3, depth - 1);
      --loops;
      line(indent + 1) << index << " += " << 1 + pick(2) << "\n";
      break;
    }
    default: {
      const char *bounds[] = {"0, ", "1, ", ""};
      line(indent) << "for " << index << " in range(" << bounds[pick(3)] << "("
                   << variable() << " & 7)" << ")" << ":\n";
      define(index);
      ++loops;
      block(indent + 1, 3, depth - 1);
      --loops;
    }
    }
    variables = before;
  }

  void statement(int indent, int depth) {
    if (hasChains && depth > 0 && chains < 3 && pick(3) == 0) {
      ++chains;
      if (loops == 0 && pick(2)) {
        return guards(indent);
      }
      return elifChain(indent, depth);
    }
    size_t kindOfStatement = pick(10);
    if (depth > 0 && kindOfStatement < 3) {
      branch(indent, depth);
    } else if (depth > 0 && kindOfStatement < 5) {
      loop(indent, depth);
    } else if (kind == Kernel && kindOfStatement == 5) {
      line(indent) << "tl.store(out + " << pick(numOutputs) << ", "
                   << expression(1) << ")\n";
    } else {
      assignment(indent);
    }
  }

  std::mt19937 random;
  std::string name;
  std::stringstream out;
  std::vector<std::string> variables;
  std::vector<std::pair<int, size_t>> scalars, pairs;
  Kind kind = Kernel;
  int loops = 0, loopNames = 0, calls = 0, chains = 0;
  bool hasChains;
};

/// What stands for triton in CPython.
const char *shim =
    "class Pointer:\n"
    "    def __init__(self, data, at=0): self.data, self.at = data, at\n"
    "    def __add__(self, n): return Pointer(self.data, self.at + n)\n"
    "class tl:\n"
    "    constexpr = None\n"
    "    load = staticmethod(lambda p: p.data[p.at])\n"
    "    static_range = range\n"
    "    @staticmethod\n"
    "    def store(p, v): p.data[p.at] = int(v)\n"
    "class triton:\n"
    "    jit = staticmethod(lambda f: f)\n";

const int32_t inputs[][numInputs] = {
    {0, 0, 0}, {1, 2, 3}, {7, 5, 6}, {-3, 12, 4}, {100, -1, 9}};
const std::pair<int64_t, bool> statics[] = {{2, false}, {5, true}};

/// Every result of every kernel, in order, by CPython.
std::vector<int64_t> byPython(const std::string &text, int count) {
  namespace fs = std::filesystem;
  fs::path script = fs::temp_directory_path() /
                    ("nereid-programs-" + std::to_string(getpid()) + ".py");
  std::ofstream file(script);
  file << shim << text << "for k in range(" << count << "):\n"
       << "    f = globals()[f'k{k}']\n    for K, F in (";
  for (auto [k, f] : statics) {
    file << "(" << k << ", " << (f ? "True" : "False") << "), ";
  }
  file << "):\n        for inp in (";
  for (const auto &row : inputs) {
    file << "[";
    for (int32_t value : row) {
      file << value << ", ";
    }
    file << "], ";
  }
  file << "):\n            out = [-1] * " << numOutputs
       << "\n            f(Pointer(inp), Pointer(out), K, F)\n"
       << "            print(*out)\n";
  file.close();
  std::vector<int64_t> results;
  FILE *pipe = popen(("python3 " + script.string()).c_str(), "r");
  long value;
  while (pipe && std::fscanf(pipe, "%ld", &value) == 1) {
    results.push_back(value);
  }
  pclose(pipe);
  fs::remove(script);
  return results;
}

/// Programs neither print nor fail; a loop that might wait for memory goes on.
const HostServices services = {
    [](const LaunchFrame *, uint32_t, const void *, int64_t) {},
    [](const LaunchFrame *, uint32_t, int64_t, uint64_t) {},
    [](const LaunchFrame *, uint64_t, uint32_t) -> uint8_t { return 1; },
    [](const LaunchFrame *) {}};

/// Compares one specialization with what CPython gave, from `wanted` on.
bool runsAs(const int64_t *wanted, const HostCode &code,
            const std::string &what) {
  for (const auto &row : inputs) {
    std::vector<int32_t> in(row, row + numInputs), out(numOutputs, -1);
    uint64_t arguments[] = {reinterpret_cast<uint64_t>(in.data()),
                            reinterpret_cast<uint64_t>(out.data())};
    LaunchFrame frame = {};
    frame.arguments = arguments;
    frame.services = &services;
    frame.grid[0] = frame.grid[1] = frame.grid[2] = 1;
    code.entry(code.self, &frame, 0, 1);
    std::vector<int32_t> expected(wanted, wanted + numOutputs);
    wanted += numOutputs;
    if (out != expected) {
      ADD_FAILURE() << what << " in=" << testing::PrintToString(in)
                    << "\n  here:   " << testing::PrintToString(out)
                    << "\n  python: " << testing::PrintToString(expected);
      return false;
    }
  }
  return true;
}

using Make = std::string (*)(uint32_t seed, std::string name);

void compareWithPython(int count, Make make,
                       std::vector<std::string> targets = {"interp"}) {
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, "
                  "11))' 2>/dev/null") != 0) {
    GTEST_SKIP() << "needs python3 of version 3.11 or later";
  }
  if (const char *requested = std::getenv("NEREID_TEST_PROGRAMS")) {
    count = std::atoi(requested);
  }
  std::vector<std::string> kernels;
  std::string all;
  for (int i = 0; i < count; ++i) {
    std::string name = "k" + std::to_string(i);
    kernels.push_back(make(1000 + i, name));
    all += kernels.back();
  }
  std::vector<int64_t> expected = byPython(all, count);
  size_t perKernel = std::size(statics) * std::size(inputs) * numOutputs;
  ASSERT_EQ(expected.size(), count * perKernel);

  std::unique_ptr<KernelCompiler> compiler = createKernelCompiler();
  RuntimeArgument pointer{DType::Int32, true, false, false};
  int failures = 0;
  for (int i = 0; i < count && failures < 5; ++i) {
    for (const std::string &target : targets) {
      const int64_t *wanted = expected.data() + i * perKernel;
      for (auto [k, f] : statics) {
        CompileRequest request;
        request.source = {"programs.py",
                          "import triton\nimport triton.language as tl\n" +
                              kernels[i],
                          {}};
        request.kernel = "k" + std::to_string(i);
        request.arguments = {pointer, pointer, StaticValue(k), StaticValue(f)};
        request.target = target;
        Expected<CompileResult> result = compiler->compile(request);
        ASSERT_TRUE(result.ok()) << kernels[i] << result.failure().str();
        Expected<HostCode> code = compiler->load(result->image);
        ASSERT_TRUE(code.ok()) << code.failure().str();
        failures += !runsAs(wanted, *code,
                            kernels[i] + "on " + target + " with K=" +
                                std::to_string(k) + " F=" + std::to_string(f));
        wanted += std::size(inputs) * numOutputs;
      }
    }
  }
}

/// 80 loops in a row, some with a loop inside.
class LoopsGenerator {
public:
  explicit LoopsGenerator(uint32_t seed) : random(seed) {}

  std::string run(const std::string &name) {
    out << "@triton.jit\ndef " << name
        << "(inp, out, K: tl.constexpr, F: tl.constexpr):\n"
           "    a = tl.load(inp) & 1023\n    b = tl.load(inp + 1) & 1023\n"
           "    c = tl.load(inp + 2) & 1023\n";
    for (int i = 0; i < 80; ++i) {
      loop(1, "i" + std::to_string(pick(5)));
    }
    for (int i = 0; i < numOutputs; ++i) {
      out << "    tl.store(out + " << i << ", " << variable() << " + " << i
          << ")\n";
    }
    return out.str();
  }

private:
  int pick(int below) { return int(random() % uint32_t(below)); }
  std::string variable() { return std::string(1, char('a' + pick(3))); }

  /// `for`, or `while` over a counter.
  void loop(int depth, const std::string &index) {
    std::string indent(4 * depth, ' ');
    bool isFor = pick(3) != 0;
    if (isFor) {
      const std::string small = "(" + variable() + " & 7)";
      const std::string ranges[] = {
          small,
          small + " - 4, " + variable() + " & 15",
          small + " - 9, 5, 3",
          "-3, " + variable() + " & 15, K",
          small + ", 20, (" + variable() + " & 3) + 1",
          "2147483640 + K, 2147483647, 4", // the counter passes its type's end
          "9, " + small + ", -2",
      };
      out << indent << "for " << index << " in range(" << ranges[pick(7)]
          << "):\n";
    } else {
      const std::string tests[] = {index + " < " + variable() + " & 7",
                                   "(tl.load(inp + (" + index +
                                       " & 1)) & 7) > " + index,
                                   index + " * K < 9"};
      out << indent << index << " = 0\n"
          << indent << "while " << tests[pick(3)] << ":\n"
          << indent << "    " << index << " = " << index << " + 1\n";
    }
    std::string changed = variable();
    out << indent << "    " << changed << " = (" << changed << " * "
        << 2 * pick(4) + 1 << " + (" << index << " & 15) + " << variable()
        << ") & 1023\n";
    if (depth == 1 && pick(4) == 0) {
      loop(2, "j");
    }
  }

  std::mt19937 random;
  std::ostringstream out;
};

std::string randomProgram(uint32_t seed, std::string name) {
  return Generator(seed, std::move(name), /*hasChains=*/false).run();
}

std::string programWithChains(uint32_t seed, std::string name) {
  return Generator(seed, std::move(name), /*hasChains=*/true).run();
}

std::string programWithLoops(uint32_t seed, std::string name) {
  return LoopsGenerator(seed).run(name);
}

TEST(RandomPrograms, AgreeWithPython) { compareWithPython(300, randomProgram); }

TEST(RandomPrograms, LongChainsAgreeWithPython) {
  compareWithPython(60, programWithChains);
}

TEST(RandomPrograms, ManyLoopsAgreeWithPython) {
  compareWithPython(12, programWithLoops, {"interp", "cpu"});
}

} // namespace
