//===- ErrorsTest.cpp - What users see --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every message that a user can reach names the thing that is wrong, marks it,
// and says what to do. A case: a kernel file (its line 1 is the first line
// after three lines of imports), its arguments, what the message must say, the
// line, the text under the caret, what the hint must say.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/testing/IRGenTesting.h"

using namespace nereid;
using namespace nereid::irgen;
using testing::HasSubstr;

namespace {

struct Case {
  const char *name;
  const char *text;
  const char *arguments;
  const char *message;
  unsigned line;
  const char *marked;
  const char *hint;
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  return out << c.name;
}

class Errors : public testing::TestWithParam<Case> {};

TEST_P(Errors, SayWhatIsWrongAndWhere) {
  const Case &c = GetParam();
  Compiled compiled = compile(c.text, c.arguments);
  ASSERT_FALSE(compiled.failure.diagnostics.empty())
      << "compiles:\n"
      << compiled.tile << compiled.failure.message;
  EXPECT_EQ(compiled.failure.code, ErrorCode::CompileError);
  const Diagnostic &first = compiled.failure.diagnostics.front();
  EXPECT_THAT(first.message, HasSubstr(c.message));
  EXPECT_EQ(first.location.line, c.line + 3) << render(first);
  EXPECT_EQ(compiled.marked(), c.marked) << render(first);
  EXPECT_THAT(first.hint, HasSubstr(c.hint)) << render(first);
  // What would be right: in the message, or in the hint.
  EXPECT_TRUE(!first.hint.empty() ||
              first.message.find("expected") != std::string::npos)
      << render(first);
  EXPECT_EQ(first.location.file, "kernel.py");
}

#define KERNEL(PARAMETERS) "@triton.jit\ndef k(" PARAMETERS "):\n"

const Case nameCases[] = {
    {"undefined", KERNEL("n") "  x = nn + 1\n", "i32",
     "the name 'nn' is not defined", 3, "nn", "did you mean 'n'?"},
    {"undefinedFunction", KERNEL("n") "  x = arange(0, 8)\n", "i32",
     "the name 'arange' is not defined", 3, "arange", ""},
    {"misspelledBuiltin", KERNEL("p") "  x = tl.laod(p)\n", "*fp32",
     "module 'triton.language' has no 'laod'", 3, "tl.laod",
     "did you mean 'load'?"},
    {"misspelledLibdevice", KERNEL("x") "  y = libdevice.tanhh(x)\n", "fp32",
     "has no 'tanhh'", 3, "libdevice.tanhh", "did you mean 'tanh'?"},
    {"misspelledDtype", KERNEL("x") "  y = x.to(tl.floatt32)\n", "fp32",
     "has no 'floatt32'", 3, "tl.floatt32", "did you mean 'float32'?"},
    {"misspelledMethod", KERNEL("x") "  y = x.summ()\n", "fp32",
     "a run-time float32 has no attribute 'summ'", 3, "x.summ",
     "did you mean 'sum'?"},
    {"misspelledKeyword", KERNEL("p") "  y = tl.load(p, msk=None)\n", "*fp32",
     "tl.load has no parameter 'msk'", 3, "msk=None", "did you mean 'mask'?"},
    {"typeAttribute", KERNEL("x") "  y = x.dtype.is_fp23()\n", "fp32",
     "has no attribute 'is_fp23'", 3, "x.dtype.is_fp23",
     "did you mean 'is_fp32'?"},
    {"plainGlobal", "SCALE = 2.0\n" KERNEL("x") "  y = x * SCALE\n", "fp32",
     "the global 'SCALE' (float 2.0) is not a compile-time constant", 4,
     "SCALE", "SCALE: tl.constexpr = ..."},
    {"definedByItself", "A = A + 1\n" KERNEL("x") "  y = x + A\n", "fp32",
     "'A' is defined by itself", 1, "A", ""},
    {"hostModule", "import torch\n" KERNEL("x") "  y = torch.sqrt(x)\n", "fp32",
     "'torch.sqrt' is host code", 4, "torch.sqrt(x)", "@triton.jit"},
    {"hostFunction", "def f(x):\n  return x\n" KERNEL("x") "  y = f(x)\n",
     "fp32", "'f' is a host function; a kernel cannot call it", 5, "f(x)",
     "@triton.jit"},
    {"onlyOneBranch", KERNEL("n") "  if n > 0:\n    y = n\n  z = y + 1\n",
     "i32", "'y' is assigned on only one side of the 'if' at line 6", 5, "y",
     ""},
    {"differsAfterIf",
     KERNEL("n") "  if n > 0:\n    y = n\n  else:\n    y = 1.5\n  z = y + "
                 "1\n",
     "i32",
     "'y' has different types after the 'if' at line 6: int32 and "
     "float32",
     7, "y", ""},
    {"onlyInLoop", KERNEL("n") "  for i in range(n):\n    y = i\n  z = y\n",
     "i32", "'y' has a value only inside the loop at line 6", 5, "y", ""},
    {"assignedIndexAfterLoop",
     KERNEL("n") "  for i in range(n):\n    i += 1\n  z = i\n", "i32",
     "'i' has a value only inside the loop", 5, "i", ""},
};

const Case constexprCases[] = {
    {"runtimeBlock", KERNEL("n") "  x = tl.arange(0, n)\n", "i32",
     "tl.arange: argument 'end': expected an integer known while compiling, "
     "got a run-time int32",
     3, "n", "declare the parameter 'n: tl.constexpr' of 'k'"},
    {"plainVariableAsBlock",
     KERNEL("n") "  B = 64\n  x = tl.zeros([B], tl.float32)\n", "i32",
     "expected an integer known while compiling", 4, "[B]",
     "'B' is a plain variable, so a run-time value; write 'B: tl.constexpr = "
     "...'"},
    {"unpackedAsBlock",
     KERNEL("n") "  A, B = (64, 32)\n  x = tl.zeros([B], tl.float32)\n", "i32",
     "expected an integer known while compiling", 4, "[B]",
     "'B' is unpacked, so a run-time value, and Python has no annotations in "
     "an "
     "unpacking; write 'B: tl.constexpr = TUPLE[INDEX]'"},
    {"redefined", KERNEL("n") "  a: tl.constexpr = 1\n  a: tl.constexpr = 2\n",
     "i32", "'a' is already defined as tl.constexpr", 4, "a", "another name"},
    {"changedInLoop",
     "@triton.jit\ndef k(n, B: tl.constexpr):\n  for i in range(n):\n    B = "
     "B + 1\n",
     "i32,=4", "'B' changes its type in the loop: int 4 before it", 4, "B",
     "a constexpr cannot be re-assigned in a loop"},
    {"staticRangeBound",
     KERNEL("n") "  for i in tl.static_range(n):\n    pass\n", "i32",
     "the bounds must be known while compiling, got a run-time int32", 3,
     "tl.static_range(n)", "use range or tl.range"},
    {"tupleIndex", KERNEL("n") "  t = (1, 2)\n  x = t[n]\n", "i32",
     "a tuple is indexed while compiling, but the index is a run-time int32", 4,
     "t[n]", "tl.static_range"},
    {"staticAssert", KERNEL("n") "  tl.static_assert(2 < 1, 'two is less')\n",
     "i32", "two is less", 3, "tl.static_assert(2 < 1, 'two is less')", ""},
    {"assertFalse", KERNEL("n") "  assert 2 < 1, 'no'\n", "i32",
     "assertion failed: no", 3, "2 < 1", ""},
    {"raiseReached", KERNEL("n") "  raise ValueError('bad block')\n", "i32",
     "'raise' is reached: bad block", 3, "raise ValueError('bad block')", ""},
    {"intOfTensor", KERNEL("n") "  x = int(n)\n", "i32",
     "int() works while compiling", 3, "int(n)", "x.to(tl.int32)"},
    {"floatOfTensor", KERNEL("n") "  x = float(n)\n", "i32",
     "float() works while compiling", 3, "float(n)", "x.to(tl.float32)"},
    {"nextPowerOfTensor", KERNEL("n") "  x = triton.next_power_of_2(n)\n",
     "i32", "works while compiling", 3, "triton.next_power_of_2(n)",
     "tl.constexpr"},
    {"constexprFunctionOfTensor",
     "@triton.constexpr_function\ndef f(x):\n  return x\n" KERNEL(
         "n") "  x = f(n)\n",
     "i32", "'f' runs while compiling, but this argument is a run-time int32",
     6, "n", ""},
    {"divisionByZero", KERNEL("n") "  x: tl.constexpr = 1 // 0\n", "i32",
     "division by zero: 1 // 0", 3, "1 // 0", ""},
    {"hugeInteger", KERNEL("n") "  x: tl.constexpr = 1 << 200\n", "i32",
     "does not fit 128 bits", 3, "1 << 200", ""},
    {"integerTooWide", KERNEL("n") "  x = 2 ** 70\n", "i32",
     "does not fit 64 bits", 3, "x = 2 ** 70", ""},
    {"fstringOfTensor", KERNEL("n") "  tl.static_print(f'{n}')\n", "i32",
     "an f-string in a kernel is made while compiling", 3, "n",
     "tl.device_print"},
};

const Case typeCases[] = {
    {"shapes", KERNEL("n") "  x = tl.arange(0, 8) + tl.arange(0, 16)\n", "i32",
     "operator '+': shapes [8] and [16] do not match", 3,
     "tl.arange(0, 8) + tl.arange(0, 16)", "x[:, None]"},
    {"shapesOfRanks",
     KERNEL("n") "  a = tl.zeros([4, 8], tl.int32)\n  x = a + tl.arange(0, "
                 "4)\n",
     "i32", "shapes [4, 8] and [4] do not match", 4, "a + tl.arange(0, 4)",
     "x[:, None]"},
    {"pointerPlusFloat", KERNEL("p, x") "  q = p + x\n", "*fp32,fp32",
     "a pointer's offset must be an integer, got float32", 3, "p + x",
     "to(tl.int32)"},
    {"pointerTimes", KERNEL("p") "  q = p * 2\n", "*fp32",
     "operator '*' is not defined for a run-time pointer<float32> and int 2", 3,
     "p * 2", "tl.load"},
    {"pointerPlusPointer", KERNEL("p, q") "  r = p + q\n", "*fp32,*fp32",
     "operator '+' is not defined for", 3, "p + q", "to(tl.int64)"},
    {"pointerCompare", KERNEL("p") "  r = p > 0\n", "*fp32",
     "pointer<float32> and int32 have no common type", 3, "p > 0", "tl.load"},
    {"shiftOfFloat", KERNEL("x") "  r = x << 1\n", "fp32",
     "operator '<<' is not defined for floats (float32)", 3, "x << 1", ""},
    {"andOfFloats", KERNEL("x") "  r = x & x\n", "fp32",
     "operator '&' is not defined for floats", 3, "x & x",
     "parenthesise comparisons"},
    {"floorDivisionOfFloats", KERNEL("x") "  r = x // 2\n", "fp32",
     "operator '//' is not defined for floats", 3, "x // 2", "tl.floor"},
    {"power", KERNEL("x") "  r = x ** 2\n", "fp32",
     "operator '**' is not defined for run-time values", 3, "x ** 2",
     "libdevice.pow"},
    {"matmul", KERNEL("x") "  r = x @ x\n", "fp32",
     "operator '@' is not defined for blocks", 3, "x @ x", "tl.dot"},
    {"mixedSignsDivision", KERNEL("a, b") "  r = a // b\n", "i32,u32",
     "cannot divide int32 and uint32, which differ in signedness", 3, "a // b",
     "cast one of them"},
    {"unusedResult",
     "@triton.must_use_result('assign it')\n@triton.jit\ndef f(x):\n"
     "  return x\n@triton.jit\ndef k(n):\n  f(n)\n",
     "i32", "the result of 'f' is not used", 7, "f(n)", "assign it"},
    {"fp8TimesInteger", KERNEL("a, b") "  r = a.to(tl.float8e5) * b\n",
     "fp32,i32", "float8e5 and int32 have no common type", 3,
     "a.to(tl.float8e5) * b", "cast one of them"},
    {"fp8LessThanInteger", KERNEL("a, b") "  r = a < b.to(tl.float8e4nv)\n",
     "u8,fp32", "uint8 and float8e4nv have no common type", 3,
     "a < b.to(tl.float8e4nv)", "cast one of them"},
    {"moreImpreciseSumsThanProducts",
     KERNEL("n") "  a = tl.zeros([32, 64], tl.float8e5)\n"
                 "  r = tl.dot(a, a.T, max_num_imprecise_acc=128)\n",
     "i32",
     "argument 'max_num_imprecise_acc': expected at most K (64), got 128", 4,
     "max_num_imprecise_acc=128", ""},
    {"numberOutOfRange", KERNEL("a") "  r = a + 300\n", "i8",
     "the number 300 is out of range for int8", 3, "a + 300", "wider type"},
    {"negativeWithUnsigned", KERNEL("a") "  r = a * -1\n", "u32",
     "the negative number -1 meets the unsigned type uint32", 3, "a * -1",
     "cast the operand"},
    {"fp8Arithmetic", KERNEL("a, b") "  r = a + b\n", "fp8e5,fp8e5",
     "operator '+' is not defined for float8e5", 3, "a + b",
     "x.to(tl.float16)"},
    {"invertFloat", KERNEL("x") "  r = ~x\n", "fp32",
     "operator '~' is not defined for floats", 3, "~x", ""},
    {"notOfInteger", KERNEL("n") "  r = not n\n", "i32",
     "'not' needs a boolean, got int32", 3, "not n", "x == 0"},
    {"andOfInteger", KERNEL("n") "  r = n and (n > 0)\n", "i32",
     "'and' needs booleans, got int32", 3, "n and (n > 0)", "(x != 0) and"},
    {"blockCondition", KERNEL("n") "  if tl.arange(0, 8) < n:\n    pass\n",
     "i32", "the condition is a block, int1[8]; expected a scalar", 3,
     "tl.arange(0, 8) < n", "tl.where"},
    {"noneOperand", "@triton.jit\ndef k(x, b: tl.constexpr):\n  y = x + b\n",
     "fp32,=None", "expected numbers or tensors, got None", 3, "x + b",
     "if x is not None"},
    {"stringOperand", KERNEL("x") "  y = x + 'a'\n", "fp32",
     "expected numbers or tensors, got str 'a'", 3, "x + 'a'", ""},
    {"is", KERNEL("a, b") "  y = a is b\n", "i32,i32", "'is' compares identity",
     3, "a is b", "x == y"},
    {"sliceOfBlock", KERNEL("n") "  y = tl.arange(0, 8)[0:4]\n", "i32",
     "a block cannot be sliced", 3, "tl.arange(0, 8)[0:4]",
     "load the part you need"},
    {"indexOfBlock", KERNEL("n") "  y = tl.arange(0, 8)[0]\n", "i32",
     "int32[8] cannot be indexed with int 0", 3, "tl.arange(0, 8)[0]",
     "tl.gather"},
    {"indexOfPointer", KERNEL("p") "  y = p[0]\n", "*fp32",
     "pointer<float32> cannot be indexed with int 0", 3, "p[0]",
     "tl.load(pointer + index)"},
    {"tooManySubscripts", KERNEL("n") "  y = tl.arange(0, 8)[:, :]\n", "i32",
     "too many subscripts: int32[8] has 1 dimensions, and 2 are named", 3,
     "tl.arange(0, 8)[:, :]", ""},
    {"carriedType",
     KERNEL("n") "  acc = tl.zeros([8], tl.float16)\n  for i in range(n):\n   "
                 " acc = acc + tl.zeros([8], tl.float32)\n",
     "i32",
     "'acc' changes its type in the loop: a block float16[8] before it, a "
     "block float32[8] after one iteration",
     5, "acc",
     "float16 with float32 gives float32; start with the type that the loop "
     "computes: acc = acc.to(tl.float32)"},
    {"carriedShape",
     KERNEL("n") "  acc = 0.0\n  for i in range(n):\n    acc += tl.zeros([8], "
                 "tl.float32)\n",
     "i32", "a run-time float32 before it, a block float32[8] after", 5, "acc",
     "tl.zeros([8], tl.float32)"},
    {"carriedNone",
     KERNEL("n") "  acc = None\n  for i in range(n):\n    acc = i\n", "i32",
     "'acc' changes its type in the loop: None before it", 5, "acc",
     "tl.zeros"},
    {"loopBound", KERNEL("x") "  for i in range(x):\n    pass\n", "fp32",
     "the bounds of a loop must be integer scalars, got float32", 3, "range(x)",
     ""},
    {"zeroStep", KERNEL("n") "  for i in range(0, n, 0):\n    pass\n", "i32",
     "the step must not be 0", 3, "range(0, n, 0)", ""},
    {"tooLarge", KERNEL("n") "  x = tl.zeros([2048, 1024], tl.int8)\n", "i32",
     "has more than 1048576 elements", 3, "tl.zeros([2048, 1024], tl.int8)",
     "loop"},
};

const Case callCases[] = {
    {"missingArgument", KERNEL("p") "  tl.store(p)\n", "*fp32",
     "tl.store: missing argument 'value'", 3, "tl.store(p)",
     "its parameters: tl.store(pointer, value"},
    {"tooManyArguments", KERNEL("n") "  x = tl.arange(0, 8, 2)\n", "i32",
     "tl.arange takes at most 2 positional arguments, got 3", 3, "2",
     "its parameters"},
    {"twice", KERNEL("p") "  x = tl.load(p, pointer=p)\n", "*fp32",
     "argument 'pointer' is given twice", 3, "pointer=p", ""},
    {"wrongKind", KERNEL("p") "  x = tl.load(p, cache_modifier=3)\n", "*fp32",
     "argument 'cache_modifier': expected a string, got int 3", 3,
     "cache_modifier=3", ""},
    {"wrongType", KERNEL("x") "  y = x.to('float33')\n", "fp32",
     "expected a type such as tl.float32, got str 'float33'", 3, "'float33'",
     ""},
    {"helperMissing",
     "@triton.jit\ndef f(a, b):\n  return a + b\n" KERNEL("x") "  y = f(x)\n",
     "fp32", "'f': missing argument 'b'", 6, "f(x)", ""},
    {"helperTooMany",
     "@triton.jit\ndef f(a):\n  return a\n" KERNEL("x") "  y = f(x, x)\n",
     "fp32", "'f' takes 1 positional arguments, got 2", 6, "x", ""},
    {"helperKeyword",
     "@triton.jit\ndef f(alpha):\n  return alpha\n" KERNEL(
         "x") "  y = f(alpa=x)\n",
     "fp32", "'f' has no parameter 'alpa'", 6, "alpa=x",
     "did you mean 'alpha'?"},
    {"recursion",
     "@triton.jit\ndef f(a):\n  return f(a)\n" KERNEL("x") "  y = f(x)\n",
     "fp32",
     "'f' calls itself with the same types and compile-time values, which "
     "never ends",
     3, "f(a)", "write a loop"},
    {"deepRecursion",
     "@triton.jit\ndef f(a, N: tl.constexpr):\n  return f(a, N + 1)\n" KERNEL(
         "x") "  y = f(x, 0)\n",
     "fp32", "'f' calls itself more than 64 times", 3, "f(a, N + 1)",
     "change in every call"},
    {"returnTypes",
     "@triton.jit\ndef f(a):\n  if a > 0:\n    return a\n  return 1\n" KERNEL(
         "x") "  y = f(x)\n",
     "fp32", "give different types: float32 and int32", 3,
     "  if a > 0:", "x.to(...)"},
    {"returnsNothingOnOnePath",
     "@triton.jit\ndef f(a):\n  if a > 0:\n    return a\n" KERNEL(
         "x") "  y = f(x)\n",
     "fp32",
     "the function returns a run-time float32 on one path and nothing on "
     "another",
     3, "  if a > 0:", "at the end of the function"},
    {"kernelReturns", KERNEL("x") "  return x\n", "fp32",
     "the kernel 'k' returns a run-time float32; a kernel returns nothing", 2,
     "def k(x):", "tl.store"},
    {"callOfNumber", KERNEL("n") "  x = n(1)\n", "i32",
     "a run-time int32 cannot be called", 3, "n(1)", ""},
    {"callOfType", KERNEL("n") "  x = tl.float32(n)\n", "i32",
     "a type cannot be called", 3, "tl.float32(n)", "x.to(tl.float32)"},
    {"launchInKernel",
     "@triton.jit\ndef f(a):\n  pass\n" KERNEL("n") "  f[(1,)](n)\n", "i32",
     "a kernel cannot be launched here: 'f[...]'", 6, "f[(1,)]", "f(...)"},
    {"notStoredThroughConst",
     "@triton.jit\ndef k(p: tl.const):\n  tl.store(p, 1.0)\n", "*const fp32",
     "const", 3, "p", ""},
    {"storeToConst", KERNEL("x") "  tl.store(x, 1.0)\n", "fp32",
     "expected a pointer", 3, "x", ""},
    {"unpackCount", KERNEL("n") "  a, b = (1, 2, 3)\n", "i32",
     "cannot unpack 3 values into 2 variables", 3, "a, b = (1, 2, 3)", ""},
    {"unpackNumber", KERNEL("n") "  a, b = n\n", "i32",
     "unpacking: expected a tuple, a list, a string, a dict or a range, got a "
     "run-time int32",
     3, "a, b = n", ""},
    {"noSuchField",
     "from collections import namedtuple\nP = namedtuple('P', ['x', "
     "'y'])\n" KERNEL("n") "  p = P(n, n)\n  z = p.xx\n",
     "i32", "a P has no attribute 'xx'", 6, "p.xx", "did you mean 'x'?"},
};

const Case syntaxCases[] = {
    {"break", KERNEL("n") "  for i in range(n):\n    break\n", "i32",
     "'break' is not supported in a run-time loop", 4, "break", "while"},
    {"continue", KERNEL("n") "  for i in range(n):\n    continue\n", "i32",
     "'continue' is not supported in a run-time loop", 4, "continue", "'if'"},
    {"returnInLoop", KERNEL("n") "  for i in range(n):\n    return\n", "i32",
     "'return' inside a run-time loop is not supported", 4, "return",
     "after the loop"},
    {"loopElse",
     KERNEL("n") "  for i in range(n):\n    pass\n  else:\n    pass\n", "i32",
     "'else' of a loop is not supported", 3, "  for i in range(n):", ""},
    {"endless", KERNEL("n") "  while True:\n    pass\n", "i32",
     "the loop never ends", 3, "True", "'break' is not supported"},
    {"tryInKernel", KERNEL("n") "  try:\n    pass\n  except:\n    pass\n",
     "i32", "'try' is not supported in a kernel", 3, "  try:", ""},
    {"withInKernel", KERNEL("n") "  with n:\n    pass\n", "i32",
     "'with' is not supported in a kernel", 3, "  with n:", ""},
    {"nestedFunction", KERNEL("n") "  def f():\n    pass\n", "i32",
     "a function inside a kernel is not supported", 3,
     "  def f():", "module level"},
    {"lambda", KERNEL("n") "  f = lambda x: x\n", "i32",
     "a lambda is not supported in a kernel", 3, "lambda x: x", "@triton.jit"},
    {"dict", KERNEL("n") "  d = {1: 2}\n", "i32",
     "a dict is not supported in a kernel", 3, "{1: 2}", ""},
    {"globalStatement", KERNEL("n") "  global G\n", "i32",
     "'global' is not supported in a kernel", 3, "global G", ""},
    {"del", KERNEL("n") "  x = n\n  del x\n", "i32",
     "'del' is not supported in a kernel", 4, "del x", ""},
    {"subscriptStore", KERNEL("n") "  x = tl.arange(0, 8)\n  x[0] = n\n", "i32",
     "a kernel cannot assign to an element", 4, "x[0]", "tl.store"},
    {"attributeStore", KERNEL("n") "  n.x = 1\n", "i32",
     "assigning to an attribute is not supported", 3, "n.x", ""},
    {"yield", KERNEL("n") "  yield n\n", "i32", "'yield' is not supported here",
     3, "yield n", ""},
    {"awaited", KERNEL("n") "  x = 3j\n", "i32",
     "complex numbers and bytes are not supported", 3, "3j", ""},
    {"iterateTensor", KERNEL("n") "  for i in n:\n    pass\n", "i32",
     "'for': expected a tuple, a list, a string, a dict or a range, got a "
     "run-time int32",
     3, "n", ""},
    {"syntaxError", KERNEL("n") "  x = (n + \n", "i32", "'(' was never closed",
     3, "(", ""},
    {"jitKeyword", "@triton.jit(do_not_specialise=['n'])\ndef k(n):\n  pass\n",
     "i32", "triton.jit has no parameter 'do_not_specialise'", 1,
     "do_not_specialise=['n']", "did you mean 'do_not_specialize'?"},
};

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Names, Errors, testing::ValuesIn(nameCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Constexpr, Errors, testing::ValuesIn(constexprCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Types, Errors, testing::ValuesIn(typeCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Calls, Errors, testing::ValuesIn(callCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Syntax, Errors, testing::ValuesIn(syntaxCases),
                         nameOf);

//===----------------------------------------------------------------------===//
// Call stacks, warnings, kernels that are not there
//===----------------------------------------------------------------------===//

TEST(ErrorNotes, NameTheCallers) {
  Compiled compiled = compile("@triton.jit\n"
                              "def inner(a):\n"
                              "  return a << 1\n"
                              "@triton.jit\n"
                              "def outer(a):\n"
                              "  return inner(a)\n"
                              "@triton.jit\n"
                              "def k(x):\n"
                              "  y = outer(x)\n",
                              "fp32");
  ASSERT_EQ(compiled.failure.diagnostics.size(), 1u);
  const Diagnostic &error = compiled.failure.diagnostics[0];
  EXPECT_EQ(compiled.marked(), "a << 1");
  ASSERT_EQ(error.notes.size(), 2u);
  EXPECT_EQ(error.notes[0].message, "called from 'outer'");
  EXPECT_EQ(error.notes[0].location.line, 9u);
  EXPECT_EQ(error.notes[1].message, "called from 'k'");
  EXPECT_EQ(error.notes[1].location.line, 12u);
}

TEST(ErrorNotes, LibraryErrorsPointAtTheUser) {
  Compiled compiled = compile("@triton.jit\n"
                              "def k(x):\n"
                              "  y = tl.cdiv(x, 2)\n",
                              "fp32");
  ASSERT_EQ(compiled.failure.diagnostics.size(), 1u);
  const Diagnostic &error = compiled.failure.diagnostics[0];
  EXPECT_EQ(compiled.marked(), "tl.cdiv(x, 2)");
  ASSERT_EQ(error.notes.size(), 1u);
  EXPECT_EQ(error.notes[0].message, "in the library function 'cdiv'");
  EXPECT_EQ(error.notes[0].location.file, "<nereid>/standard.py");
}

TEST(ErrorNotes, RedefinitionShowsTheFirst) {
  Compiled compiled = compile("@triton.jit\n"
                              "def k(x):\n"
                              "  a: tl.constexpr = 1\n"
                              "  a: tl.constexpr = 2\n",
                              "fp32");
  ASSERT_EQ(compiled.failure.diagnostics.size(), 1u);
  ASSERT_FALSE(compiled.failure.diagnostics[0].notes.empty());
  EXPECT_EQ(compiled.failure.diagnostics[0].notes[0].message, "defined here");
  EXPECT_EQ(compiled.failure.diagnostics[0].notes[0].location.line, 6u);
}

TEST(Warnings, AccumulatingIn16Bits) {
  for (const char *type : {"float16", "bfloat16"}) {
    Compiled compiled = compile("@triton.jit\n"
                                "def k(p, n):\n"
                                "  acc = tl.zeros([64], dtype=tl." +
                                    std::string(type) +
                                    ")\n"
                                    "  for i in range(n):\n"
                                    "    acc += tl.load(p + tl.arange(0, 64))\n"
                                    "  tl.store(p + tl.arange(0, 64), acc)\n",
                                std::string("*") + type + ",i32");
    EXPECT_FALSE(compiled.tile.empty()) << compiled.failure.str();
    ASSERT_EQ(compiled.warnings.size(), 1u);
    EXPECT_THAT(compiled.warnings[0].message,
                HasSubstr("'acc' accumulates in " + std::string(type)));
    EXPECT_THAT(compiled.warnings[0].hint, HasSubstr("dtype=tl.float32"));
    EXPECT_EQ(compiled.warnings[0].location.line, 8u);
  }
  // No warning where the sum is kept in float32.
  Compiled compiled = compile("@triton.jit\n"
                              "def k(p, n):\n"
                              "  acc = tl.zeros([64], dtype=tl.float32)\n"
                              "  for i in range(n):\n"
                              "    acc += tl.load(p + tl.arange(0, 64))\n"
                              "  tl.store(p + tl.arange(0, 64), acc)\n",
                              "*fp16,i32");
  EXPECT_TRUE(compiled.warnings.empty());
}

TEST(Warnings, ConstexprsThatAreKnownAtRunTime) {
  for (const char *body :
       {"  k: tl.constexpr = s + 1\n", "  k: tl.constexpr\n  k = s + 1\n"}) {
    std::string kernel = "@triton.jit\ndef k(p, s):\n" + std::string(body);
    Compiled compiled = compile(kernel + "  tl.store(p, k * s)\n", "*i32,i32");
    EXPECT_FALSE(compiled.tile.empty()) << compiled.failure.str();
    ASSERT_EQ(compiled.warnings.size(), 1u);
    EXPECT_THAT(compiled.warnings[0].message,
                HasSubstr("'k' is declared tl.constexpr, but its value is a "
                          "run-time int32, known only at run time"));
    EXPECT_THAT(compiled.warnings[0].hint, HasSubstr("drop the annotation"));
    // Where a number is needed at compile time, it is a mistake.
    Compiled wrong = compile(kernel + "  tl.arange(0, k)\n", "*i32,i32");
    EXPECT_TRUE(wrong.tile.empty());
  }
}

TEST(Warnings, ShiftByTheWidth) {
  Compiled compiled = compile("@triton.jit\ndef k(n):\n  x = n << 32\n", "i32");
  ASSERT_EQ(compiled.warnings.size(), 1u);
  EXPECT_THAT(compiled.warnings[0].message,
              HasSubstr("shifting int32 by 32 bits is undefined"));
}

TEST(Warnings, OnceALine) {
  Compiled compiled = compile("@triton.jit\n"
                              "def k(n):\n"
                              "  for i in tl.static_range(8):\n"
                              "    x = n << 40\n",
                              "i32");
  EXPECT_EQ(compiled.warnings.size(), 1u);
}

TEST(MissingKernel, IsNamedWithWhatThereIs) {
  Source source{"f.py",
                "import triton\n@triton.jit\ndef softmax(x):\n  pass\n"
                "def host():\n  pass\n",
                {}};
  auto missing = describe(source, "softmaks");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.failure().code, ErrorCode::NotFound);
  EXPECT_THAT(missing.failure().message, HasSubstr("did you mean 'softmax'?"));
  auto host = describe(source, "host");
  ASSERT_FALSE(host.ok());
  EXPECT_EQ(host.failure().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(host.failure().message,
              HasSubstr("'host' is not a kernel: it is function 'host'"));
  auto none = describe({"g.py", "x = 1\n", {}}, "k");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.failure().message,
              HasSubstr("no function decorated with @triton.jit"));
}

TEST(ArgumentCount, IsChecked) {
  Compiled compiled = compile("@triton.jit\ndef k(a, b):\n  pass\n", "i32");
  EXPECT_EQ(compiled.failure.code, ErrorCode::InvalidArgument);
  EXPECT_THAT(compiled.failure.message, HasSubstr("has 2 parameters"));
}

TEST(Limits, StepsAndNesting) {
  Compiled steps = compile("@triton.jit\n"
                           "def k(n):\n"
                           "  for i in tl.static_range(100000000):\n"
                           "    pass\n",
                           "i32");
  ASSERT_EQ(steps.failure.diagnostics.size(), 1u);
  EXPECT_THAT(steps.failure.diagnostics[0].message,
              HasSubstr("a range of 100000000 elements"));
  Compiled endless = compile("@triton.constexpr_function\n"
                             "def f():\n"
                             "  while True:\n"
                             "    pass\n"
                             "@triton.jit\n"
                             "def k(n):\n"
                             "  x = f()\n",
                             "i32");
  ASSERT_EQ(endless.failure.diagnostics.size(), 1u);
  EXPECT_THAT(endless.failure.diagnostics[0].message, HasSubstr("steps"));
  std::string sum = "n";
  for (int i = 0; i < 3000; ++i) {
    sum += " + n";
  }
  Compiled deep = compile("@triton.jit\ndef k(n):\n  x = " + sum + "\n", "i32");
  ASSERT_EQ(deep.failure.diagnostics.size(), 1u);
  EXPECT_THAT(deep.failure.diagnostics[0].message,
              HasSubstr("nested too deeply"));
  Compiled recursive = compile("def f(x):\n"
                               "  return f(x)\n"
                               "A: tl.constexpr = f(1)\n"
                               "@triton.jit\n"
                               "def k(n):\n"
                               "  x = n + A\n",
                               "i32");
  ASSERT_EQ(recursive.failure.diagnostics.size(), 1u);
  EXPECT_THAT(recursive.failure.diagnostics[0].message,
              HasSubstr("calls are nested more than 100 deep"));
}

} // namespace
