//===- DiagnosticsTest.cpp - What users read about their mistakes ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace nereid;
using testing::HasSubstr;

static std::string errorOf(const std::string &text) {
  auto parsed = parseModule("kernel.py", text);
  return parsed.ok() ? "no error" : parsed.failure().str();
}

TEST(Diagnostics, PointAtTheMistakeAndSayWhatToDo) {
  EXPECT_EQ(errorOf("@triton.jit\n"
                    "def add(x, y):\n"
                    "    z = tl.load(x y)\n"),
            "kernel.py:3:17: error: expected a comma or an operator between "
            "two expressions\n"
            "      z = tl.load(x y)\n"
            "                  ^^^\n"
            "  hint: perhaps you forgot a comma\n");
  EXPECT_EQ(errorOf("if x = 1:\n    pass\n"),
            "kernel.py:1:4: error: '=' cannot be used inside an expression\n"
            "  if x = 1:\n"
            "     ^^^^^\n"
            "  hint: use '==' to compare, ':=' to assign\n");
  EXPECT_EQ(errorOf("for i in range(4)\n    pass\n"),
            "kernel.py:1:18: error: expected ':'\n"
            "  for i in range(4)\n"
            "                   ^\n"
            "  hint: a ':' opens the block\n");
}

TEST(Diagnostics, CountColumnsInCharacters) {
  EXPECT_EQ(errorOf("größe = (ü ß)\n"),
            "kernel.py:1:10: error: expected a comma or an operator between "
            "two expressions\n"
            "  größe = (ü ß)\n"
            "           ^^^\n"
            "  hint: perhaps you forgot a comma\n");
}

TEST(Diagnostics, PointIntoFStrings) {
  EXPECT_EQ(errorOf("print(f'{a b}')\n"),
            "kernel.py:1:10: error: f-string: expected a comma or an operator "
            "between two expressions\n"
            "  print(f'{a b}')\n"
            "           ^^^\n"
            "  hint: perhaps you forgot a comma\n");
}

TEST(Diagnostics, NameTheStringThatIsWrong) {
  EXPECT_EQ(errorOf("x = ('\\N{NO SUCH}'\n     'b'\n)\n"),
            "kernel.py:3:1: error: unknown Unicode character name 'NO SUCH'\n"
            "  )\n"
            "  ^\n"
            "  hint: names are those of Unicode 14\n"
            "kernel.py:1:6: note: the string starts here\n"
            "  x = ('\\N{NO SUCH}'\n"
            "       ^^^^^^^^^^^^^\n");
}

namespace {
struct Mistake {
  const char *text;
  const char *place;   ///< line:column
  const char *message; ///< a part of it
  const char *hint;    ///< a part of it
};
} // namespace

static const Mistake mistakes[] = {
    // Blocks and indentation.
    {"if x:\npass\n", "2:1", "indented block after 'if' on line 1", "'pass'"},
    {"def f():\n\nx = 1\n", "3:1", "after function definition on line 1",
     "indent the body"},
    {"class A\n    pass\n", "1:8", "expected ':'", "opens the block"},
    {"x = 1\n    y = 2\n", "2:", "unexpected indent", "align"},
    {"if x:\n        a\n    b\n", "3:1", "does not match any outer", "align"},
    {"if x:\n\ta\n        b\n", "3:1", "tabs and spaces", "spaces only"},
    {"try:\n    a\nb\n", "3:1", "'except' or 'finally'", "at least one"},
    {"try:\n    a\nexcept A, B:\n    b\n", "3:8", "parenthesized",
     "except (A, B):"},
    {"else:\n    x\n", "1:1", "got 'else'", "must follow"},
    {"if a:\n    b\nelse if c:\n    d\n", "3:6", "expected ':'", "elif"},
    // Brackets, quotes, characters.
    {"x = (1,\ny = 2\n", "1:5", "'(' was never closed", "close it"},
    {"x = (1]\n", "1:7", "does not match opening parenthesis '('",
     "expected ')'"},
    {"x = 1)\n", "1:6", "unmatched ')'", "remove it"},
    {"x = 'abc\n", "1:5", "unterminated string", "close it with '"},
    {"x = '''abc\n", "1:5", "unterminated triple-quoted", "close it with '''"},
    {"x = a ? b : c\n", "1:7", "got '?'", "a if condition else b"},
    {"x = “a”\n", "1:5", "invalid character '“' (U+201C)", "write \" instead"},
    {"x = 08\n", "1:5", "leading zeros", "0o"},
    {"x = 3px\n", "1:5", "invalid decimal literal", "start with a digit"},
    {"x = 0b12\n", "1:8", "invalid digit '2' in binary", "0 and 1"},
    {"x = a \\ b\n", "1:8", "after line continuation", "last character"},
    // Assignments.
    {"f() = 1\n", "1:1", "cannot assign to function call here", "'=='"},
    {"None = 1\n", "1:1", "cannot assign to None", "target"},
    {"(a, b): int = 1\n", "1:1", "not a tuple, can be annotated", "one name"},
    {"(a, b) += 1\n", "1:1", "'tuple' is an illegal expression", "name"},
    {"del f()\n", "1:5", "cannot delete function call", "target"},
    {"for f() in x:\n    pass\n", "1:5", "cannot assign to function call",
     "target"},
    {"class = 3\n", "1:7", "expected a name", "keyword"},
    {"with a as 1:\n    pass\n", "1:11", "cannot assign to literal", "target"},
    // Expressions.
    {"x = 1 if y\n", "1:5", "expected 'else'", "a if condition else b"},
    {"x = a && b\n", "1:8", "got '&'", "write 'and'"},
    {"x++\n", "1:4", "expected an expression", "x += 1"},
    {"x = a <> b\n", "1:7", "'!='", "write '!='"},
    {"x = {1: 2, 3}\n", "1:12", "':' expected after dictionary key",
     "key: value"},
    {"x = [a, b for a, b in c]\n", "1:6", "parentheses around", "(a, b)"},
    {"x = f(a=1, 2)\n", "1:13", "positional argument follows", "first"},
    {"x = f(a, b for b in c)\n", "1:10", "must be parenthesized", "sole"},
    {"x = f(a.b=1)\n", "1:7", "before '=' of a keyword argument", "'=='"},
    {"x = f(True=1)\n", "1:7", "cannot assign to True", "name=value"},
    {"print 'a'\n", "1:1", "missing parentheses in call to 'print'",
     "print(...)"},
    {"x = (*a)\n", "1:6", "starred expression", "(*a,)"},
    {"x = f'{}'\n", "1:5", "expected an expression", "{{"},
    {"x = f'{a'\n", "1:5", "expected '}'", "twice"},
    {"x = f'a}'\n", "1:5", "single '}'", "}}"},
    {"x = b'é'\n", "1:5", "ASCII", "\\x"},
    {"x = 'a' b'b'\n", "1:9", "cannot mix bytes and str", "same prefix"},
    // Definitions.
    {"def f(a=1, b):\n    pass\n", "1:12", "non-default parameter", "default"},
    {"def f(*):\n    pass\n", "1:7", "must follow bare '*'", "remove"},
    {"def f(**k, a):\n    pass\n", "1:12", "follow var-keyword", "last"},
    {"def f((a, b)):\n    pass\n", "1:7", "cannot be parenthesized",
     "unpack it"},
    {"def f(a, /, b, /):\n    pass\n", "1:16", "only once", "remove"},
    {"def f(a:\n", "1:6", "'(' was never closed", "close"},
    {"function f(x):\n    pass\n", "1:10", "got 'f'", "'def'"},
    {"from a import b,\n", "1:17", "trailing comma", "parentheses"},
    {"import a.class\n", "1:10", "expected a name", "keyword"},
    // match.
    {"match x:\n    case a as _:\n        pass\n", "2:15",
     "cannot use '_' as a target", "use a name"},
    {"match x:\n    case A(b=1, c):\n        pass\n", "2:17",
     "positional patterns follow", "first"},
    // The file.
    {"# coding: ebcdic\nx\n", "1:11", "unknown encoding 'ebcdic'", "utf-8"},
    {"x = '\xff'\n", "1:5", "not valid UTF-8", "encoding"},
};

TEST(Diagnostics, KnowManyMistakes) {
  for (const Mistake &mistake : mistakes) {
    std::string error = errorOf(mistake.text);
    SCOPED_TRACE(std::string(mistake.text) + "\n" + error);
    EXPECT_THAT(error,
                testing::StartsWith("kernel.py:" + std::string(mistake.place)));
    std::string first = error.substr(0, error.find('\n'));
    EXPECT_THAT(first, HasSubstr(mistake.message));
    size_t hint = error.find("hint: ");
    ASSERT_NE(hint, std::string::npos);
    EXPECT_THAT(error.substr(hint), HasSubstr(mistake.hint));
  }
}

TEST(Diagnostics, ADictWinsOverALaterString) {
  // Found in the quiet pass, so before the mistake in the second one.
  EXPECT_THAT(errorOf("x = {1: 2, foo 'a' b'b'}\n"),
              HasSubstr("':' expected after dictionary key"));
}

TEST(Diagnostics, AnUnclosedBracketExplainsWhatFollows) {
  EXPECT_THAT(errorOf("x = f(a,\ndef g():\n    pass\n"),
              HasSubstr("kernel.py:1:6: error: '(' was never closed"));
}

TEST(Diagnostics, ExpressionsHaveTheirOwnName) {
  auto parsed = parseExpression("--grid", "cdiv(n, )) + 1");
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.failure().str(),
              HasSubstr("--grid:1:10: error: unmatched ')'"));
}
