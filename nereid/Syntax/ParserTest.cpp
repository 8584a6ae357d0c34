//===- ParserTest.cpp - Trees, positions and limits -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The trees are compared with CPython's own by the test oracle.Syntax; here is
// what that cannot see, and what a reader of the code wants to see.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parser.h"

#include "nereid/Syntax/Dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace nereid;
using testing::HasSubstr;

static std::shared_ptr<ParsedModule> parse(const std::string &text) {
  auto parsed = parseModule("test.py", text);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.failure().str());
  return parsed.ok() ? *parsed : nullptr;
}

static std::string treeOf(const std::string &text) {
  auto parsed = parse(text);
  return parsed ? ast::dump(parsed->module) : "";
}

static const ast::Constant *constantOf(ParsedModule &parsed) {
  const auto *statement = ast::cast<ast::ExprStmt>(parsed.module->body[0]);
  return ast::cast<ast::Constant>(statement->value);
}

TEST(Parser, GivesCPythonsTree) {
  EXPECT_EQ(treeOf("x = f(a, *b, c=-1)\n"),
            "Module\n"
            " body[0]=Assign 1:0-1:18\n"
            "  targets[0]=Name 1:0-1:1 id='x' ctx=Store\n"
            "  value=Call 1:4-1:18\n"
            "   func=Name 1:4-1:5 id='f' ctx=Load\n"
            "   args[0]=Name 1:6-1:7 id='a' ctx=Load\n"
            "   args[1]=Starred 1:9-1:11 ctx=Load\n"
            "    value=Name 1:10-1:11 id='b' ctx=Load\n"
            "   keywords[0]=keyword 1:13-1:17 arg='c'\n"
            "    value=UnaryOp 1:15-1:17 op=USub\n"
            "     operand=Constant 1:16-1:17 value=int:1\n");
}

TEST(Parser, SpansOfFStringFields) {
  EXPECT_EQ(treeOf("f'''a\n{b:{c}}'''\n"),
            "Module\n"
            " body[0]=Expr 1:0-2:10\n"
            "  value=JoinedStr 1:0-2:10\n"
            "   values[0]=Constant 1:0-2:10 value='a\\x0a'\n"
            "   values[1]=FormattedValue 1:0-2:10 conversion=-1\n"
            "    value=Name 2:1-2:2 id='b' ctx=Load\n"
            "    format_spec=JoinedStr 1:0-2:10\n"
            "     values[0]=FormattedValue 1:0-2:10 conversion=-1\n"
            "      value=Name 2:4-2:5 id='c' ctx=Load\n");
}

TEST(Parser, MatchIsAKeywordOnlyWhereItCanBe) {
  EXPECT_THAT(treeOf("match = match(case)\n"), HasSubstr("body[0]=Assign"));
  EXPECT_THAT(treeOf("match (a, b):\n case _: pass\n"),
              HasSubstr("body[0]=Match "));
  EXPECT_THAT(treeOf("match[a:b]\n"), HasSubstr("body[0]=Expr"));
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

TEST(Parser, BigIntegers) {
  auto parsed = parse("0xffffffffffffffff_ffffffffffffffff\n");
  const ast::Integer *value = constantOf(*parsed)->integer;
  EXPECT_FALSE(value->fitsInt64);
  ASSERT_EQ(value->words.size(), 3u);
  EXPECT_EQ(value->words[2], 0u);
  EXPECT_EQ(ast::toDecimal(*value), "340282366920938463463374607431768211455");
  EXPECT_EQ(ast::toHex(*value), "0xffffffffffffffffffffffffffffffff");
}

TEST(Parser, DecimalAndHexadecimalAgree) {
  std::string digits = "1";
  for (int i = 0; i < 200; ++i) {
    digits += static_cast<char>('0' + (i * 7 + 3) % 10);
    auto decimal = parse(digits + "\n");
    const ast::Integer *value = constantOf(*decimal)->integer;
    EXPECT_EQ(ast::toDecimal(*value), digits);
    auto hex = parse(ast::toHex(*value) + "\n");
    EXPECT_EQ(ast::toDecimal(*constantOf(*hex)->integer), digits);
    EXPECT_EQ(constantOf(*hex)->integer->fitsInt64, value->fitsInt64);
  }
}

TEST(Parser, Int64Limits) {
  auto most = parse("9223372036854775807\n");
  EXPECT_TRUE(constantOf(*most)->integer->fitsInt64);
  EXPECT_EQ(constantOf(*most)->integer->small, INT64_MAX);
  auto more = parse("9223372036854775808\n");
  EXPECT_FALSE(constantOf(*more)->integer->fitsInt64);
}

TEST(Parser, Floats) {
  auto parsed = parse("1e400\n");
  EXPECT_EQ(constantOf(*parsed)->number, HUGE_VAL);
  parsed = parse("0." + std::string(400, '0') + "1e401\n");
  EXPECT_EQ(constantOf(*parsed)->number, 1.0);
  parsed = parse("1" + std::string(400, '0') + "e-800\n");
  EXPECT_EQ(constantOf(*parsed)->number, 0.0);
}

TEST(Parser, LoneSurrogates) {
  auto parsed = parse("'\\ud800'\n");
  EXPECT_EQ(constantOf(*parsed)->text, "\xed\xa0\x80");
}

TEST(Parser, IdentifiersAreNormalized) {
  auto parsed = parse("ﬁ = 1\n");
  const auto *assign = ast::cast<ast::Assign>(parsed->module->body[0]);
  EXPECT_EQ(ast::cast<ast::Name>(assign->targets[0])->id, "fi");
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

TEST(Parser, SourceOfANode) {
  auto parsed = parse("def f():\r\n    return größe + 1\r\n");
  const auto *def = ast::cast<ast::FunctionDef>(parsed->module->body[0]);
  const auto *result = ast::cast<ast::Return>(def->body[0]);
  EXPECT_EQ(parsed->source.text(result->value->span), "größe + 1");
  SourceLocation where = parsed->source.location(result->value->span);
  EXPECT_EQ(where.line, 2u);
  EXPECT_EQ(where.column, 12u);
  EXPECT_EQ(where.endColumn, 21u);
  EXPECT_EQ(parsed->source.line(1), "def f():");
}

TEST(Parser, SpansOutsideOfTheFileAreClamped) {
  SourceText source("a.py", "ab\n");
  EXPECT_EQ(source.location({1, 7, 1, 9}).column, 3u);
  EXPECT_EQ(source.location({9, 0, 9, 1}).column, 1u);
  EXPECT_EQ(source.text(ast::Span{1, 7, 1, 9}), "");
  EXPECT_EQ(source.line(0), "");
}

TEST(Parser, Encodings) {
  EXPECT_THAT(treeOf("# coding: latin-1\nx = '\xe9'\n"),
              HasSubstr("value='é'"));
  EXPECT_THAT(treeOf("#!x\n# -*- coding: cp1252 -*-\nx = '\x80'\n"),
              HasSubstr("value='€'"));
  EXPECT_THAT(treeOf("\xef\xbb\xbfx = 1\n"), HasSubstr("Name 1:0-1:1"));
  EXPECT_THAT(treeOf("x\r# coding: latin-1\ry = 'é'"), HasSubstr("value='é'"));
}

TEST(Parser, Expressions) {
  auto parsed = parseExpression("grid", "  (cdiv(n, B), 1)\n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(ast::isa<ast::Tuple>((*parsed)->expr));
  EXPECT_FALSE(parseExpression("grid", "x = 1").ok());
  EXPECT_FALSE(parseExpression("grid", "").ok());
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static std::string repeated(const std::string &text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

TEST(Parser, ParametersHaveDifferentNames) {
  for (const char *text :
       {"def k(x, n, n):\n  pass\n", "def k(n, /, *, n):\n  pass\n",
        "def k(n, *n):\n  pass\n", "def k(n, **n):\n  pass\n",
        "f = lambda n, n: 1\n"}) {
    auto parsed = parseModule("t.py", text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.failure().str(),
                HasSubstr("duplicate argument 'n' in function definition"));
  }
}

// Whatever is deep must overflow the stack neither here nor in what walks the
// tree: beyond maxHeight it is refused.
TEST(Parser, DepthIsBounded) {
  for (const char *prefix :
       {"-", "not ", "lambda: ", "1 if 1 else ", "1**", "1+", "a.b+"}) {
    auto deep = parseModule("t.py", repeated(prefix, 100000) + "1\n");
    ASSERT_FALSE(deep.ok()) << prefix;
    EXPECT_THAT(deep.failure().str(), HasSubstr("nested too deeply"));
    auto fine = parse(repeated(prefix, 900) + "1\n");
    ASSERT_TRUE(fine);
    EXPECT_LE(fine->module->height, ast::maxHeight);
    ast::dump(fine->module);
  }
  EXPECT_FALSE(parseModule("t.py", "a" + repeated(".b", 100000)).ok());
  EXPECT_TRUE(parseModule("t.py", repeated("a and ", 100000) + "a").ok());
}

// An `elif` is no deeper than its `if`; the tree is CPython's all the same.
TEST(Parser, ElifDoesNotNest) {
  std::string chain = "if 0: x\n" + repeated("elif 1: x\n", 3000);
  auto parsed = parse(chain + "else: y\n");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->module->height, 4);
  std::string tree = ast::dump(parsed->module);
  EXPECT_THAT(tree, HasSubstr(std::string(3002, ' ') +
                              "orelse[0]=Expr 3002:6-3002:7\n"));
  auto longer = parseModule("t.py", chain + "elif 2: x\n");
  ASSERT_FALSE(longer.ok());
  EXPECT_THAT(longer.failure().str(),
              HasSubstr("t.py:3002:6: error: this 'if' has too many 'elif'"));
  EXPECT_THAT(longer.failure().str(), HasSubstr("at most 3000 are allowed"));
  // So does a mistake after a long chain.
  auto wrong = parseModule("t.py", chain + "else y\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.failure().str(), HasSubstr("t.py:3002:6: error: expected"));
}

TEST(Parser, BracketsNestTo200) {
  EXPECT_TRUE(
      parseModule("t.py", repeated("(", 200) + "1" + repeated(")", 200)).ok());
  auto more =
      parseModule("t.py", repeated("[", 201) + "1" + repeated("]", 201));
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(more.failure().str(), HasSubstr("too many nested"));
  // The search for the mistake nests as deeply.
  auto wrong =
      parseModule("t.py", repeated("f({(", 66) + "a b" + repeated(")})", 66));
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.failure().str(), HasSubstr("comma"));
}
