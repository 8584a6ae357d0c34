//===- UpstreamTypesTest.cpp - Result types against upstream's front end --===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every cell of the tables upstream_types_3.N.txt - an expression for the types
// of x and y - is compiled here under that version's rules and has the type
// that upstream gives it, in the form of the operation that upstream chooses,
// or is refused as it is there. What a version refuses and the newest accepts
// may have its type already. What this front end accepts beyond upstream is
// listed below with its reason.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGen.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::irgen;

namespace {

/// What this front end accepts beyond upstream: expressions and types of x and
/// y as regular expressions, and the reason.
struct Extension {
  const char *expression, *x, *y, *why;
  bool isUsed = false;
};
Extension extensions[] = {
    {"[+]x", ".*", "", "Python has it; it changes nothing"},
    {"tl[.]fdiv[(]x, y[)]", "fp.*|bf16", "fp.*|bf16",
     "operands of two float types are promoted"},
    {"tl[.]umulhi[(]x, y[)]", "[iu].*", "[iu].*",
     "operands of two integer types are promoted"},
    {"tl[.]umulhi[(]x, 5[)]", "[iu].*", "",
     "operands of two integer types are promoted"},
    {"tl[.]div_rn[(]x, y[)]", ".*", ".*", "operands that meet in float32"},
    {"tl[.]div_rn[(]x, .*[)]", ".*", "", "operands that meet in float32"},
    {"tl[.]dot[(].*[)]", "fp.*|bf16", "fp.*|bf16",
     "operands of two float types meet in one that holds both"},
    {"tl[.]dot[(].*[)]", "u8", "u8", "products of uint8"},
    {"x[.]to[(]tl[.]pi32_t[)]", "[iu].*", "", "any integer becomes a pointer"},
    {"x[.]to[(].*", "fp8.*", ".*", "a float becomes any type"},
    {"x[.]to[(].*", ".*", "fp8.*", "any number becomes a float"},
    {"tl[.]full[(].*", "fp8.*", "", "any number becomes a float"},
    {"tl[.]full[(].*", ".*", "fp8.*", "any number becomes a float"},
    {"tl[.]where[(].*", "fp8.*", ".*", "8-bit floats are selected and tested"},
    {"tl[.]atomic_xchg[(].*", "[iu].*", "fp8.*", "a float becomes any type"},
    {"tl[.]histogram[(].*", "[iu].*", "", "integers of any width"},
};

/// What it refuses and upstream accepts.
Extension limits[] = {
    {"tl[.]atomic_load[(].*", "i1|i8|u8|fp8.*", "",
     "GPUs change no fewer than 16 bits at once"},
};

class Types : public testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::string> differences;
  unsigned cells = 0;
  LanguageVersion language = newestLanguage;

  struct Cell {
    std::string expression, x, y, expected;
    std::string key() const { return expression + "\t" + x + "\t" + y; }
  };
  llvm::StringMap<std::string> newest;

  void SetUp() override { loadDialects(context); }

  /// The type of r, after lines that the table's generator has too; the Tile
  /// IR as well if asked. Upstream's tokens: "-", "*", "int32".
  std::string compile(llvm::StringRef expression, llvm::StringRef x,
                      llvm::StringRef y, std::string *tile) {
    bool isProduct = expression.contains("tl.dot");
    std::string text = "import triton\nimport triton.language as tl\n"
                       "@triton.jit\ndef plus(a, b):\n  return a + b\n"
                       "@triton.jit\ndef k(p, q):\n";
    text += isProduct ? "  i = tl.arange(0, 32)\n"
                        "  j = i[:, None] * 32 + i[None, :]\n"
                      : "  j = tl.arange(0, 4)\n";
    text += "  x = tl.load(p + j)\n";
    if (!y.empty()) {
      text += "  y = tl.load(q + j)\n";
    }
    text += "  r = " + expression.str() + "\n";
    if (!tile) {
      text += "  tl.static_assert(False, 'type ' + r.dtype.name)\n";
    }
    CompileRequest request;
    request.source = {"cell.py", text, {}, language};
    request.kernel = "k";
    for (llvm::StringRef type : {x, y.empty() ? x : y}) {
      RuntimeArgument argument;
      argument.isPointer = true;
      argument.dtype = parseDType(std::string_view(type)).value();
      request.arguments.push_back(argument);
    }
    std::vector<Diagnostic> warnings;
    auto module = generate(context, request, warnings);
    if (module.ok()) {
      EXPECT_NE(tile, nullptr) << text;
      llvm::raw_string_ostream(*tile) << **module;
      return "";
    }
    std::string message = module.failure().diagnostics.empty()
                              ? module.failure().message
                              : module.failure().diagnostics[0].message;
    size_t found = message.find("type ");
    if (message.find("assertion failed: type ") == std::string::npos &&
        !llvm::StringRef(message).starts_with("type ")) {
      return "-";
    }
    return message.substr(found + 5);
  }

  static bool isSameType(llvm::StringRef type, const std::string &got) {
    std::string wanted = type.str();
    if (std::optional<DType> dtype = parseDType(std::string_view(type))) {
      wanted = isFloat(*dtype) ? shortName(*dtype) : languageName(*dtype);
    }
    return type == "!" || got == wanted ||
           (type == "*" && llvm::StringRef(got).starts_with("pointer<"));
  }

  void check(const Cell &cell) {
    ++cells;
    auto [type, form] = llvm::StringRef(cell.expected).split('/');
    std::string got = compile(cell.expression, cell.x, cell.y, nullptr);
    bool same = isSameType(type, got);
    if (same && !form.empty()) {
      std::string tile;
      compile(cell.expression, cell.x, cell.y, &tile);
      same = form == formOf(tile);
      got += " with the " + formOf(tile) + " form";
    }
    if (same ||
        (got == "-" && isOneOf(limits, cell.expression, cell.x, cell.y))) {
      return;
    }
    auto later = newest.find(cell.key());
    if (type == "-" &&
        (isOneOf(extensions, cell.expression, cell.x, cell.y) ||
         (later != newest.end() &&
          isSameType(llvm::StringRef(later->second).split('/').first, got)))) {
      return;
    }
    std::string where = cell.expression + "  x: " + cell.x;
    where += cell.y.empty() ? "" : ", y: " + cell.y;
    differences.push_back("3." + std::to_string(static_cast<int>(language)) +
                          ": " + where + ": upstream " + cell.expected +
                          ", here " + got);
  }

  static std::vector<Cell> read(LanguageVersion language) {
    std::string path = std::string(NEREID_UPSTREAM_TYPES) +
                       std::to_string(static_cast<int>(language)) + ".txt";
    auto file = llvm::MemoryBuffer::getFile(path);
    EXPECT_TRUE(file) << path;
    llvm::SmallVector<llvm::StringRef> lines, types;
    (*file)->getBuffer().split(lines, '\n', -1, false);
    std::vector<Cell> all;
    for (llvm::StringRef line : lines) {
      if (line.consume_front("types ")) {
        line.split(types, ' ');
      }
      auto [expressions, rest] = line.split('\t');
      auto [x, results] = rest.split('\t');
      if (line.starts_with("#") || results.empty()) {
        continue;
      }
      llvm::SmallVector<llvm::StringRef> items, cells;
      expressions.split(items, "; ");
      results.split(cells, ' ');
      EXPECT_EQ(cells.size(), types.size()) << line.str();
      for (llvm::StringRef expression : items) {
        for (auto [type, expected] : llvm::zip_equal(types, cells)) {
          bool isUnary = x == "*";
          all.push_back({expression.str(), (isUnary ? type : x).str(),
                         isUnary ? "" : type.str(), expected.str()});
        }
      }
    }
    return all;
  }

  static bool matches(llvm::StringRef text, const char *pattern) {
    return *pattern
               ? llvm::Regex("^(" + std::string(pattern) + ")$").match(text)
               : text.empty();
  }
  static bool isOneOf(llvm::MutableArrayRef<Extension> list,
                      llvm::StringRef expression, llvm::StringRef x,
                      llvm::StringRef y) {
    for (Extension &extension : list) {
      if (matches(expression, extension.expression) &&
          matches(x, extension.x) && matches(y, extension.y)) {
        extension.isUsed = true;
        return true;
      }
    }
    return false;
  }

  /// Of the last operation with a signed and an unsigned form.
  static std::string formOf(llvm::StringRef tile) {
    static llvm::Regex regex("arith\\.((shr|div|rem|min|max)([su])i|cmpi "
                             "([su])[lg][te]),? ");
    std::string form;
    llvm::SmallVector<llvm::StringRef> groups;
    while (regex.match(tile, &groups)) {
      form = (groups[3] + groups[4]).str();
      tile = tile.drop_front(groups[0].end() - tile.begin());
    }
    return form;
  }
};

TEST_F(Types, AsUpstream) {
  for (const Cell &cell : read(newestLanguage)) {
    newest[cell.key()] = cell.expected;
  }
  for (LanguageVersion version : {LanguageVersion::V3_6, LanguageVersion::V3_7,
                                  LanguageVersion::V3_8, newestLanguage}) {
    language = version;
    unsigned before = cells;
    for (const Cell &cell : read(version)) {
      check(cell);
    }
    EXPECT_GT(cells - before, 15000u);
  }
  for (const Extension &extension : extensions) {
    EXPECT_TRUE(extension.isUsed)
        << "as upstream now: " << extension.expression;
  }
  for (const Extension &limit : limits) {
    EXPECT_TRUE(limit.isUsed) << "as upstream now: " << limit.expression;
  }
  EXPECT_TRUE(differences.empty())
      << differences.size() << " of " << cells << " differ:\n"
      << llvm::join(llvm::ArrayRef(differences).take_front(2000), "\n");
}

} // namespace
