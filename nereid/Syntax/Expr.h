//===- Expr.h - Expression nodes --------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `expr` of CPython 3.11's Python.asdl, and what only occurs inside one.
// Fields have CPython's names in lowerCamel. "may be null" is said where it is
// true; every other pointer is set.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_EXPR_H
#define NEREID_SYNTAX_EXPR_H

#include "nereid/Syntax/Node.h"

#include <string>

namespace nereid::ast {

enum class BoolOperator : uint8_t { And, Or };
enum class Operator : uint8_t {
  Add,
  Sub,
  Mult,
  MatMult,
  Div,
  Mod,
  Pow,
  LShift,
  RShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv
};
enum class UnaryOperator : uint8_t { Invert, Not, UAdd, USub };
enum class CompareOperator : uint8_t {
  Eq,
  NotEq,
  Lt,
  LtE,
  Gt,
  GtE,
  Is,
  IsNot,
  In,
  NotIn
};
enum class ExprContext : uint8_t { Load, Store, Del };

/// CPython's class names: "And", "Add", "Invert", "Eq", "Load".
const char *operatorName(BoolOperator op);
const char *operatorName(Operator op);
const char *operatorName(UnaryOperator op);
const char *operatorName(CompareOperator op);
const char *contextName(ExprContext ctx);

/// As written in the source: "and", "+", "not", "is not".
const char *spelling(BoolOperator op);
const char *spelling(Operator op);
const char *spelling(UnaryOperator op);
const char *spelling(CompareOperator op);

struct Expr : Node {
  using Node::Node;
  static bool classof(const Node *node) { return node->kind <= Kind::Slice; }
};

struct Arguments;

/// `a and b and c`: one node, three values.
struct BoolOp : NodeOf<Expr, Kind::BoolOp> {
  BoolOperator op;
  Seq<Expr *> values;
};

/// `target := value`
struct NamedExpr : NodeOf<Expr, Kind::NamedExpr> {
  Expr *target; ///< a Name
  Expr *value;
};

struct BinOp : NodeOf<Expr, Kind::BinOp> {
  Expr *left;
  Operator op;
  Expr *right;
};

struct UnaryOp : NodeOf<Expr, Kind::UnaryOp> {
  UnaryOperator op;
  Expr *operand;
};

struct Lambda : NodeOf<Expr, Kind::Lambda> {
  Arguments *args;
  Expr *body;
};

struct IfExp : NodeOf<Expr, Kind::IfExp> {
  Expr *test;
  Expr *body;
  Expr *orelse;
};

struct Dict : NodeOf<Expr, Kind::Dict> {
  Seq<Expr *> keys; ///< null where the value is a `**mapping`
  Seq<Expr *> values;
};

struct Set : NodeOf<Expr, Kind::Set> {
  Seq<Expr *> elts;
};

/// `for target in iter if ... if ...`
struct Comprehension : NodeOf<Node, Kind::Comprehension> {
  Expr *target;
  Expr *iter;
  Seq<Expr *> ifs;
  bool isAsync;
};

struct ListComp : NodeOf<Expr, Kind::ListComp> {
  Expr *elt;
  Seq<Comprehension *> generators;
};

struct SetComp : NodeOf<Expr, Kind::SetComp> {
  Expr *elt;
  Seq<Comprehension *> generators;
};

struct DictComp : NodeOf<Expr, Kind::DictComp> {
  Expr *key;
  Expr *value;
  Seq<Comprehension *> generators;
};

struct GeneratorExp : NodeOf<Expr, Kind::GeneratorExp> {
  Expr *elt;
  Seq<Comprehension *> generators;
};

struct Await : NodeOf<Expr, Kind::Await> {
  Expr *value;
};

struct Yield : NodeOf<Expr, Kind::Yield> {
  Expr *value; ///< may be null
};

struct YieldFrom : NodeOf<Expr, Kind::YieldFrom> {
  Expr *value;
};

/// `left op[0] comparators[0] op[1] comparators[1] ...`
struct Compare : NodeOf<Expr, Kind::Compare> {
  Expr *left;
  Seq<CompareOperator> ops;
  Seq<Expr *> comparators;
};

/// `arg=value`, or `**value` with an empty `arg`.
struct Keyword : NodeOf<Node, Kind::Keyword> {
  std::string_view arg; ///< empty for `**value`
  Expr *value;
};

struct Call : NodeOf<Expr, Kind::Call> {
  Expr *func;
  Seq<Expr *> args; ///< `*args` are Starred
  Seq<Keyword *> keywords;
};

/// `{value!r:spec}` of an f-string.
struct FormattedValue : NodeOf<Expr, Kind::FormattedValue> {
  Expr *value;
  int conversion;   ///< 's', 'r', 'a', or -1
  Expr *formatSpec; ///< a JoinedStr; may be null
};

struct JoinedStr : NodeOf<Expr, Kind::JoinedStr> {
  Seq<Expr *> values; ///< Constant strings and FormattedValues
};

/// An integer literal: any size, never negative.
struct Integer {
  std::string_view text; ///< as written, underscores and radix included
  bool fitsInt64;
  int64_t small;       ///< the value when fitsInt64
  Seq<uint64_t> words; ///< always: the value, least significant word first,
                       ///< two's complement (the top bit is clear)
};

/// Decimal digits of any Integer. Quadratic in its length.
std::string toDecimal(const Integer &value);
/// "0x1f", as Python's hex().
std::string toHex(const Integer &value);

enum class ConstantKind : uint8_t {
  None,
  True,
  False,
  Ellipsis,
  Int,
  Float,
  Complex,
  Str,
  Bytes
};

struct Constant : NodeOf<Expr, Kind::Constant> {
  ConstantKind constantKind;
  bool hasUPrefix; ///< CPython's `kind`: the (first) string was written u"..."
  /// Str: UTF-8, where an escape such as "\ud800" gives a lone surrogate in its
  /// three-byte form (WTF-8), since Python's str can hold one. Bytes: raw.
  std::string_view text;
  double number;          ///< Float, or Complex's imaginary part
  const Integer *integer; ///< set for Int only
};

/// `value.attr`
struct Attribute : NodeOf<Expr, Kind::Attribute> {
  Expr *value;
  std::string_view attr; ///< NFKC, as every identifier
  ExprContext ctx;
};

/// `value[slice]`; several subscripts make a Tuple.
struct Subscript : NodeOf<Expr, Kind::Subscript> {
  Expr *value;
  Expr *slice;
  ExprContext ctx;
};

struct Starred : NodeOf<Expr, Kind::Starred> {
  Expr *value;
  ExprContext ctx;
};

struct Name : NodeOf<Expr, Kind::Name> {
  std::string_view id;
  ExprContext ctx;
};

struct List : NodeOf<Expr, Kind::List> {
  Seq<Expr *> elts;
  ExprContext ctx;
};

struct Tuple : NodeOf<Expr, Kind::Tuple> {
  Seq<Expr *> elts;
  ExprContext ctx;
};

/// `lower:upper:step`, inside a Subscript only.
struct Slice : NodeOf<Expr, Kind::Slice> {
  Expr *lower; ///< may be null, all three
  Expr *upper;
  Expr *step;
};

/// One parameter.
struct Arg : NodeOf<Node, Kind::Arg> {
  std::string_view arg;
  Expr *annotation; ///< may be null
};

/// The parameters of a function or a lambda.
struct Arguments : NodeOf<Node, Kind::Arguments> {
  Seq<Arg *> posonlyargs;
  Seq<Arg *> args;
  Arg *vararg; ///< may be null
  Seq<Arg *> kwonlyargs;
  Seq<Expr *> kwDefaults; ///< one for each of kwonlyargs, null where missing
  Arg *kwarg;             ///< may be null
  Seq<Expr *> defaults;   ///< of the last posonlyargs and args
};

} // namespace nereid::ast

#endif // NEREID_SYNTAX_EXPR_H
