//===- IRGenFuzz.cpp - Any kernel file at all -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever the source says, `generate` gives a valid module or a diagnostic
// with a message, never a crash, a hang or an internal error. Inputs that begin
// with a letter or '@' are kernel files themselves (seed the corpus with real
// ones); any other input drives a grammar, so that most of what is tried
// parses, and fails where types, shapes and scopes do.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/IRGen.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstdlib>

using namespace nereid;
using namespace nereid::irgen;

namespace {

/// Turns bytes into a kernel file.
class Grammar {
public:
  Grammar(const uint8_t *data, size_t size) : data(data), size(size) {}

  std::string file() {
    std::string text = "import triton\nimport triton.language as tl\n"
                       "from triton.language.extra import libdevice\n"
                       "C: tl.constexpr = 3\nG = 7\n"
                       "def host(a, b=2):\n  return a * b\n"
                       "@triton.jit\ndef add(a, b):\n  return a + b\n";
    text += "@triton.jit\ndef helper(n, x, B: tl.constexpr = 16):\n" +
            std::string(prologue) + block(1, 2) + "  return " + expression(2) +
            "\n";
    text += "@triton.jit\ndef k(p, q, n, x, B: tl.constexpr):\n" +
            std::string(prologue) + block(1, 3);
    return text;
  }

  ArgumentSpec argument(bool pointer) {
    RuntimeArgument argument;
    argument.dtype = static_cast<DType>(pick(numDTypes));
    argument.isPointer = pointer;
    return argument;
  }

  size_t pick(size_t n) { return n ? next() % n : 0; }
  bool isDone() const { return position >= size; }

private:
  uint8_t next() { return position < size ? data[position++] : 0; }
  template <size_t N>
  std::string oneOf(const char *const (&list)[N]) {
    return list[pick(N)];
  }

  /// One variable of every kind, so that most names mean something.
  static constexpr const char *prologue =
      "  i = n * 2\n  a = tl.arange(0, 16)\n  b = a.to(tl.float32)\n"
      "  c = a < n\n  v = (n, x)\n  w = a[:, None] + a[None, :]\n"
      "  acc = tl.zeros([16, 16], tl.float32)\n  y = 1.5\n  f = n > 0\n";

  std::string name() {
    static const char *const names[] = {"n", "x", "B", "a", "b", "c",   "v",
                                        "w", "C", "i", "y", "f", "acc", "a"};
    return oneOf(names);
  }

  //===--------------------------------------------------------------------===//
  // Expressions that mean something
  //===--------------------------------------------------------------------===//

  std::string integer(int depth) {
    static const char *const leaves[] = {"n", "i", "1", "B", "C", "7"};
    static const char *const operators[] = {"+", "-", "*", "&", "|", "^", "%"};
    if (depth <= 0 || isDone()) {
      return oneOf(leaves);
    }
    switch (pick(7)) {
    case 0:
      return "(" + integer(depth - 1) + " if " + boolean(depth - 1) + " else " +
             integer(depth - 1) + ")";
    case 1:
      return "tl.program_id(" + std::to_string(pick(3)) + ")";
    case 2:
      return "min(" + integer(depth - 1) + ", " + integer(depth - 1) + ")";
    case 3:
      return "tl.sum(" + block1(depth - 1) + ")";
    case 4:
      return wild(depth);
    default:
      return "(" + integer(depth - 1) + " " + oneOf(operators) + " " +
             integer(depth - 1) + ")";
    }
  }

  std::string boolean(int depth) {
    static const char *const operators[] = {"<", "==", ">=", "!="};
    if (depth <= 0 || isDone()) {
      return pick(2) ? "f" : "(n > 3)";
    }
    switch (pick(4)) {
    case 0:
      return "(" + boolean(depth - 1) + (pick(2) ? " and " : " or ") +
             boolean(depth - 1) + ")";
    case 1:
      return "(not " + boolean(depth - 1) + ")";
    default:
      return "(" + integer(depth - 1) + " " + oneOf(operators) + " " +
             integer(depth - 1) + ")";
    }
  }

  /// Blocks of 16, of any type.
  std::string block1(int depth) {
    static const char *const leaves[] = {"a", "b", "c", "tl.arange(0, 16)",
                                         "tl.arange(16, 32)"};
    static const char *const operators[] = {"+", "-", "*", "/", "%", "<", "=="};
    if (depth <= 0 || isDone()) {
      return oneOf(leaves);
    }
    auto sub = [&] { return block1(depth - 1); };
    switch (pick(12)) {
    case 0:
      return "tl.where(" + sub() + " < " + sub() + ", " + sub() + ", " + sub() +
             ")";
    case 1:
      return "tl.load(p + " + sub() + ".to(tl.int32), mask=" + sub() +
             " < 3, other=" + (pick(2) ? "0" : "1.5") + ")";
    case 2:
      return "tl.exp(" + sub() + ".to(tl.float32))";
    case 3:
      return "tl.sum(" + block2(depth - 1) + ", " + std::to_string(pick(2)) +
             ")";
    case 4:
      return "tl.cumsum(" + sub() + ", 0)";
    case 5:
      return "tl.reduce(" + block2(depth - 1) + ", 1, add)";
    case 6:
      return "tl.maximum(" + sub() + ", " + sub() + ")";
    case 7:
      return sub() + ".to(tl." +
             std::string(languageName(static_cast<DType>(pick(numDTypes)))) +
             ")";
    case 8:
      return "(" + sub() + " + " + integer(depth - 1) + ")";
    case 9:
      return wild(depth);
    default:
      return "(" + sub() + " " + oneOf(operators) + " " + sub() + ")";
    }
  }

  /// Blocks of 16 x 16.
  std::string block2(int depth) {
    if (depth <= 0 || isDone()) {
      return pick(2) ? "w" : "acc";
    }
    switch (pick(6)) {
    case 0:
      return "tl.dot(" + block2(depth - 1) + ".to(tl.float16), " +
             block2(depth - 1) + ".to(tl.float16))";
    case 1:
      return "(" + block1(depth - 1) + "[:, None] * " + block1(depth - 1) +
             "[None, :])";
    case 2:
      return "tl.trans(" + block2(depth - 1) + ")";
    case 3:
      return wild(depth);
    default:
      return "(" + block2(depth - 1) + (pick(2) ? " + " : " * ") +
             block2(depth - 1) + ")";
    }
  }

  /// Now and then, something that need not mean anything.
  std::string wild(int depth) { return pick(8) ? block1(0) : anything(depth); }

  std::string expression(int depth) {
    switch (pick(16)) {
    case 0:
      return anything(depth);
    case 1:
    case 2:
    case 3:
      return integer(depth + 1);
    case 4:
    case 5:
      return boolean(depth);
    case 6:
    case 7:
    case 8:
      return block2(depth);
    case 9:
      return "(" + integer(depth) + ", " + block1(depth) + ")";
    default:
      return block1(depth + 1);
    }
  }

  std::string literal() {
    static const char *const literals[] = {
        "0",        "1",    "2",    "4",     "16",         "-1",
        "64",       "1.5",  "0.0",  "True",  "False",      "None",
        "'relu'",   "''",   "()",   "(4,)",  "(2, 8)",     "[16, 16]",
        "2**40",    "1e30", "3000", "2**70", "tl.float16", "tl.int64",
        "tl.uint8", "1e-9"};
    return oneOf(literals);
  }

  std::string builtinCall(int depth) {
    const auto &rows = BuiltinTable::get().rows();
    const Builtin &row = *rows[(pick(256) * 256 + pick(256)) % rows.size()];
    llvm::StringRef home = llvm::StringRef(row.module).split(' ').first;
    std::string text =
        home == "python" ? row.name : (home + "." + row.name).str();
    if (row.flags & (Member | MemberOnly)) {
      text = pick(2) || (row.flags & MemberOnly)
                 ? "(" + expression(depth - 1) + ")." + row.name
                 : text;
    }
    text += "(";
    bool keywords = false;
    size_t count = std::min<size_t>(row.parameters.size() + pick(2), 6);
    for (size_t i = 0; i < count; ++i) {
      keywords |= pick(5) == 0;
      if (keywords && i < row.parameters.size()) {
        text += row.parameters[i].name + "=";
      }
      text += (pick(3) ? expression(0) : anything(depth - 1)) + ", ";
    }
    return text + ")";
  }

  std::string anything(int depth) {
    if (depth <= 0 || isDone()) {
      return pick(3) ? name() : "(" + literal() + ")";
    }
    auto sub = [&] { return anything(depth - 1); };
    static const char *const binary[] = {"+", "-", "*",  "/",  "//", "%", "&",
                                         "|", "^", "<<", ">>", "**", "@"};
    static const char *const comparison[] = {
        "<", ">", "==", "!=", "<=", "in", "is not", "is"};
    static const char *const unary[] = {"-", "~", "not ", "+"};
    static const char *const attributes[] = {
        ".dtype", ".shape", ".T",          ".type",   ".numel",
        ".value", ".to",    ".element_ty", ".scalar", ".nothing"};
    static const char *const subscripts[] = {"[:, None]", "[None, :]", "[0]",
                                             "[None]",    "[1:]",      "[-1]",
                                             "[:, :]",    "[...]"};
    switch (pick(18)) {
    case 0:
    case 1:
    case 2:
      return "(" + sub() + " " + oneOf(binary) + " " + sub() + ")";
    case 3:
      return "(" + sub() + " " + oneOf(comparison) + " " + sub() + ")";
    case 4:
      return "(" + oneOf(unary) + sub() + ")";
    case 5:
      return "(" + sub() + (pick(2) ? " and " : " or ") + sub() + ")";
    case 6:
      return "(" + sub() + " if " + sub() + " else " + sub() + ")";
    case 7:
      return sub() + oneOf(attributes);
    case 8:
      return sub() + oneOf(subscripts);
    case 9:
      return "(" + sub() + ", " + sub() + ")";
    case 10:
      return "helper(" + sub() + ", " + sub() + ")";
    case 11:
      return "tl.arange(0, " + (pick(2) ? "16" : sub()) + ")";
    case 12:
      return "tl.load(p + " + sub() + ")";
    case 13:
      return "tl.zeros(" + std::string(pick(2) ? "[16, 16]" : "(B,)") +
             ", tl." +
             std::string(languageName(static_cast<DType>(pick(numDTypes)))) +
             ")";
    case 14:
      return sub() + ".to(tl." +
             std::string(languageName(static_cast<DType>(pick(numDTypes)))) +
             ")";
    case 15:
      return "tl.reduce(" + sub() + ", " + literal() + ", add)";
    case 16:
      return "host(" + sub() + ")";
    default:
      return builtinCall(depth);
    }
  }

  std::string block(int indent, int depth) {
    std::string text;
    size_t count = 1 + pick(4);
    for (size_t i = 0; i < count; ++i) {
      text += statement(indent, depth);
    }
    return text;
  }

  std::string statement(int indent, int depth) {
    std::string pad(indent * 2, ' ');
    if (depth <= 0 || isDone()) {
      return pad + assignment() + "\n";
    }
    auto body = [&] { return block(indent + 1, depth - 1); };
    switch (pick(16)) {
    case 0:
      return pad + "if " + boolean(2) + ":\n" + body();
    case 1:
      return pad + "if " + boolean(1) + ":\n" + body() + pad + "else:\n" +
             body();
    case 2:
      return pad + "for i in range(" + integer(1) + "):\n" + body();
    case 3:
      return pad + "for i in tl.range(0, n, " + literal() + "):\n" + body();
    case 4:
      return pad + "for i in tl.static_range(" + std::to_string(pick(4)) +
             "):\n" + body();
    case 5:
      return pad + "while " + boolean(2) + ":\n" + body();
    case 6:
      return pad + "if " + boolean(1) + ":\n" + pad + "  return\n";
    case 7:
      return pad + "tl.store(q + a, " + block1(2) + ", mask=a < " + integer(1) +
             ")\n";
    case 8:
      return pad + "i, y = helper(" + integer(1) + ", x), 2.5\n";
    case 9:
      return pad + "z: tl.constexpr = " + anything(1) + "\n";
    case 10:
      return pad + "if " + anything(1) + ":\n" + body();
    case 11:
      return pad + anything(3) + "\n";
    case 12:
      return pad + "assert " + boolean(2) + ", 'm'\n";
    default:
      return pad + assignment() + "\n";
    }
  }

  /// Mostly keeps each variable's kind.
  std::string assignment() {
    switch (pick(8)) {
    case 0:
      return "i = " + integer(3);
    case 1:
      return "a = tl.arange(0, 16) + " + integer(2);
    case 2:
      return "b = (" + block1(3) + ").to(tl.float32)";
    case 3:
      return "acc += " + block2(3);
    case 4:
      return "f = " + boolean(3);
    case 5:
      return name() + " = " + expression(3);
    case 6:
      return "i += " + integer(2);
    default:
      return "acc = " + block2(2) + ".to(tl.float32)";
    }
  }

  const uint8_t *data;
  size_t size, position = 0;
};

void require(bool condition, const char *what, const std::string &text,
             const std::string &detail) {
  if (!condition) {
    std::fprintf(stderr, "%s\n%s\n%s\n", what, text.c_str(), detail.c_str());
    std::abort();
  }
}

void checkFailure(const Failure &failure, const std::string &text) {
  require(failure.code != ErrorCode::Internal, "internal error", text,
          failure.message);
  require(!failure.message.empty(), "no message", text, "");
  if (failure.code == ErrorCode::CompileError) {
    require(!failure.diagnostics.empty() &&
                failure.diagnostics[0].location.line > 0,
            "no position", text, failure.str());
  }
  (void)failure.str();
}

void tryKernel(const std::string &text, const std::string &kernel,
               std::vector<ArgumentSpec> arguments) {
  // One context for the process: types and attributes pile up in it, so it is
  // made again now and then.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 2000 == 0) {
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  }
  CompileRequest request;
  request.source = {"/nonexistent/fuzz.py", text, {}};
  request.kernel = kernel;
  request.arguments = std::move(arguments);
  request.options.checks = CheckAsserts | CheckOverflow;
  std::vector<Diagnostic> warnings;
  auto module = generate(*context, request, warnings);
  if (!module.ok()) {
    checkFailure(module.failure(), text);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 20000) {
    return 0;
  }
  bool isText = size > 0 && (llvm::isAlpha(char(data[0])) || data[0] == '@' ||
                             data[0] == '#' || data[0] == '"');
  if (!isText) {
    Grammar grammar(data, size);
    std::string text = grammar.file();
    std::vector<ArgumentSpec> arguments = {
        grammar.argument(true), grammar.argument(true), grammar.argument(false),
        grammar.argument(false), StaticValue(16)};
    tryKernel(text, "k", std::move(arguments));
    return 0;
  }
  std::string text(reinterpret_cast<const char *>(data), size);
  Source source{"/nonexistent/fuzz.py", text, {}};
  Expected<std::vector<std::string>> kernels = listKernels(source);
  if (!kernels.ok()) {
    checkFailure(kernels.failure(), text);
    return 0;
  }
  for (size_t i = 0; i < std::min<size_t>(kernels->size(), 3); ++i) {
    Expected<KernelDescription> described = describe(source, (*kernels)[i]);
    if (!described.ok()) {
      checkFailure(described.failure(), text);
      continue;
    }
    std::vector<ArgumentSpec> arguments;
    for (const ParameterDescription &parameter : described->parameters) {
      RuntimeArgument argument;
      argument.isPointer =
          parameter.isPointer || parameter.name.find('p') != std::string::npos;
      argument.dtype = parameter.dtype.value_or(
          argument.isPointer ? DType::Float32 : DType::Int32);
      if (parameter.defaultValue) {
        arguments.emplace_back(*parameter.defaultValue);
      } else if (parameter.isStatic) {
        arguments.emplace_back(StaticValue(32));
      } else {
        arguments.emplace_back(argument);
      }
    }
    tryKernel(text, (*kernels)[i], std::move(arguments));
  }
  return 0;
}
