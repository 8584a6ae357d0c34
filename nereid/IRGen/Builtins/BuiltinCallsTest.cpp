//===- BuiltinCallsTest.cpp - Random calls of every built-in ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The law: whatever a call is given, it becomes Tile IR that verifies, or a
// message with a position that says what was expected. Half of the calls have
// arguments of the kinds that the signature names, so that they get past the
// binding.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/testing/BuiltinTesting.h"

#include <cstdlib>
#include <random>

using namespace nereid;
using namespace nereid::irgen;

namespace {

class CallMaker {
public:
  explicit CallMaker(uint32_t seed) : engine(seed) {}

  std::string call(const Builtin &builtin, const std::string &module) {
    bool isSensible = below(2) == 0;
    bool isMethod = (builtin.flags & MemberOnly) ||
                    ((builtin.flags & Member) && below(4) == 0);
    std::string arguments;
    size_t count = builtin.parameters.size();
    for (size_t i = 0; i < count; ++i) {
      const BuiltinParameter &parameter = builtin.parameters[i];
      if (parameter.hasDefault && below(2)) {
        continue;
      }
      if (i == 0 && isMethod) {
        continue;
      }
      arguments += arguments.empty() ? "" : ", ";
      bool byName = parameter.hasDefault || parameter.keywordOnly;
      arguments += byName && !parameter.isVariadic ? parameter.name + "=" : "";
      arguments += isSensible ? fitting(parameter) : anything();
    }
    std::string callee = module + "." + builtin.name;
    if (isMethod) {
      callee = "(" + (isSensible ? receiver(module) : anything()) + ")." +
               builtin.name;
    }
    return callee + "(" + arguments + ")";
  }

private:
  uint32_t below(uint32_t n) { return engine() % n; }
  std::string pick(std::initializer_list<const char *> choices) {
    return choices.begin()[below(choices.size())];
  }

  std::string tensor() {
    return pick({"f", "d", "h", "c", "e", "i", "l", "u", "b", "p",   "q",
                 "F", "H", "I", "B", "P", "M", "N", "E", "1", "2.5", "True"});
  }
  std::string integer() {
    return pick({"0", "1", "2", "-1", "-2", "3", "6", "8", "16", "100",
                 "2147483647", "-2147483648", "4294967296",
                 "9223372036854775807",
                 "170141183460469231731687303715884105"});
  }
  std::string shape() {
    return pick({"[4]", "(2, 3)", "[]", "6", "[1, 6]", "[3, -2]", "(0,)",
                 "[1048576, 2]", "[2, 2, 2]", "[9223372036854775807, 4]",
                 "(1, 0)", "(1,)", "(0, 1)", "(16,)"});
  }
  std::string receiver(const std::string &module) {
    return module == "tensor_descriptor" ? pick({"D", "R"})
           : module == "block_ptr"       ? pick({"S"})
                                         : tensor();
  }
  std::string type() {
    return pick({"tl.float32", "tl.float16", "tl.int8", "tl.int64", "tl.int1",
                 "tl.uint8", "tl.float8e5", "tl.float8e4nv", "tl.bfloat16",
                 "tl.float64", "tl.pointer_type(tl.float32)", "'fp32'"});
  }
  std::string anything() {
    switch (below(7)) {
    case 0:
      return integer();
    case 1:
      return shape();
    case 2:
      return type();
    case 3:
      return pick({"None", "'zero'",  "''",     "'acq_rel'", "(f, F)",
                   "(P,)", "[]",      "tl",     "tl.exp",    "add",
                   "{}",   "F.shape", "1e400",  "-0.0",      "S",
                   "D",    "R",       "(n, n)", "range(4)",  "..."});
    default:
      return tensor();
    }
  }
  std::string fitting(const BuiltinParameter &parameter) {
    switch (parameter.kind) {
    case ParameterKind::Tensor:
      return tensor();
    case ParameterKind::Int:
      return integer();
    case ParameterKind::Float:
      return pick({"0.5", "-1.0", "3"});
    case ParameterKind::Bool:
      return pick({"True", "False"});
    case ParameterKind::String:
      return pick({"''", "'zero'", "'nan'", "'relaxed'", "'acquire'", "'gpu'",
                   "'ieee'", "'.cg'", "'evict_last'", "'rtz'", "'text'"});
    case ParameterKind::Ints:
      return shape();
    case ParameterKind::DType:
      return type();
    case ParameterKind::Static:
      return pick({"None", "0", "1", "-1", "tl.PropagateNan.ALL"});
    case ParameterKind::Function:
      return pick({"add", "pair", "tl.maximum"});
    case ParameterKind::Any:
      break;
    }
    return below(3) == 0
               ? shape()
               : pick({"p", "P", "q", "F", "I", "B", "f", "b", "1", "0.0", "n",
                       "S", "D", "(n, 64)", "(64, 1)", "[0, n]", "(F, F)"});
  }

  std::mt19937 engine;
};

/// Every kind of value a call can meet.
const char *prologue = R"(
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.language.extra.cuda as cuda

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def pair(a, b, c, d):
    return a + c, b + d

@triton.jit
def k(p, q, f, d, i, l, u, n):
    h = f.to(tl.float16)
    c = f.to(tl.bfloat16)
    e = f.to(tl.float8e5)
    b = i > 0
    F = tl.full([2, 3], 1.5, tl.float32)
    H = tl.full([6], 1.5, tl.float16)
    I = tl.arange(0, 6)
    B = I < n
    P = p + I
    M = tl.full([16, 8], 1.0, tl.float16)
    N = tl.full([8, 16], 1.0, tl.float16)
    E = tl.full([4, 2], 1.0, tl.float64)
    S = tl.make_block_ptr(p, (n, 64), (64, 1), (0, 0), (4, 8), (1, 0))
    D = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [4, 8])
    R = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [1, 8])
    )";

TEST(BuiltinCalls, AnyCallCompilesOrIsExplained) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadDialects(context);
  CompileRequest request;
  request.kernel = "k";
  auto add = [&](DType dtype, bool isPointer) {
    request.arguments.push_back(
        RuntimeArgument{dtype, isPointer, false, false});
  };
  add(DType::Float32, true);
  add(DType::Int32, true);
  add(DType::Float32, false);
  add(DType::Float64, false);
  add(DType::Int32, false);
  add(DType::Int64, false);
  add(DType::UInt8, false);
  add(DType::Int32, false);

  int compiled = 0, refused = 0;
  uint32_t seed = 1;
  for (const auto &row : BuiltinTable::get().rows()) {
    std::string module(llvm::StringRef(row->module).split(' ').first);
    bool isMethodsOnly = module == "tensor_descriptor";
    if ((row->flags & Internal) || row->name == "static_print" ||
        (module != "tl" && module != "libdevice" && !isMethodsOnly)) {
      continue;
    }
    CallMaker maker(seed++);
    for (int repetition = 0; repetition < 12; ++repetition) {
      std::string call = maker.call(*row, module);
      request.source = {"calls.py", prologue + call + "\n", {}};
      SCOPED_TRACE(call);
      std::vector<Diagnostic> warnings;
      auto result = generate(context, request, warnings);
      if (result.ok()) {
        ++compiled;
        ASSERT_TRUE(mlir::succeeded(mlir::verify(**result)));
        continue;
      }
      ++refused;
      const Failure &failure = result.failure();
      ASSERT_EQ(failure.code, ErrorCode::CompileError) << failure.str();
      ASSERT_FALSE(failure.diagnostics.empty());
      const Diagnostic &error = failure.diagnostics[0];
      EXPECT_EQ(error.location.file, "calls.py") << failure.str();
      EXPECT_GT(error.location.line, 0u) << failure.str();
      // What was given stands under the caret; what would be right is said.
      bool explains = !error.hint.empty() ||
                      error.message.find("expected") != std::string::npos;
      EXPECT_TRUE(explains) << failure.str();
    }
  }
  // A generator that no longer produces valid calls would test nothing.
  EXPECT_GT(compiled, 400);
  EXPECT_GT(refused, 400);
}

} // namespace
