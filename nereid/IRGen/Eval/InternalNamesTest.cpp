//===- InternalNamesTest.cpp - Messages name what was typed ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some built-ins stand in the table under names that no user types: list() is
// '_list', the second step of triton.jit is '_apply_jit'. Every one of them is
// used wrongly in every way here, and no message may say such a name.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/testing/IRGenTesting.h"

#include "llvm/ADT/StringExtras.h"

#include <regex>

using namespace nereid;
using namespace nereid::irgen;

namespace {

/// How the callable D is used wrongly, in a kernel or at module level.
constexpr const char *uses[] = {
    "D(1, 2, 3, 4, 5, 6, 7, 8, 9)",
    "D(nobody=1)",
    "D(D)",
    "D({1: D})",
    "D(*D)",
    "D() + D",
    "D + 1",
    "D[0]",
    "D.nobody",
    "D()(1)(2)",
    "D(do_not_specialize=[])(3)",
    "D(n)",
    "D(tl.arange(0, 4))",
    "-D",
    "D in D",
    "D < 1",
    "f'{D:d}'",
    "tl.exp(D)",
    "range(D)",
    "[x for x in D]",
    "tl.full([D], 1, tl.int32)",
};

std::string messages(const std::string &text) {
  Compiled compiled = compileFile(text, "*fp32,i32");
  std::string all = compiled.failure.str();
  for (const Diagnostic &warning : compiled.warnings) {
    all += render(warning);
  }
  return all;
}

TEST(InternalNames, NoMessageHasOne) {
  constexpr const char *head = "import triton\nimport triton.language as tl\n";
  constexpr const char *kernel = "@triton.jit\ndef k(p, n):\n    ";
  int internals = 0, refused = 0;
  for (const auto &row : BuiltinTable::get().rows()) {
    std::string shown = displayName(*row);
    if (!(row->flags & Internal) || shown == row->name) {
      continue;
    }
    ++internals;
    EXPECT_NE(shown.front(), '_') << row->name;
    std::string module(llvm::StringRef(row->module).split(' ').first);
    std::string typed =
        module == "python"
            ? (shown == "constexpr" || shown == "dtype" ? "tl." + shown : shown)
            : module + "." + shown;
    // Not as a part of another name, and not where the source is shown.
    std::regex name("(^|[^A-Za-z0-9_])" + row->name + "([^A-Za-z0-9_]|$)");
    for (const char *use : uses) {
      std::string expression =
          std::regex_replace(std::string(use), std::regex("\\bD\\b"), typed);
      for (const std::string &text :
           {std::string(head) + kernel + "v = " + expression + "\n",
            std::string(head) + "V = " + expression + "\n" + kernel +
                "tl.static_assert(V == 7)\n"}) {
        std::string said = messages(text);
        refused += !said.empty();
        EXPECT_FALSE(std::regex_search(said, name)) << text << said;
      }
    }
  }
  // The table has them, and the uses are wrong.
  EXPECT_GT(internals, 10);
  EXPECT_GT(refused, 300);
}

} // namespace
