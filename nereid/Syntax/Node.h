//===- Node.h - The base of every syntax tree node --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kinds, spans, sequences and casts. The nodes themselves are in Expr.h and
// Stmt.h; include Ast.h for all of them.
//
// A tree lives in the arena of its ParsedModule: nodes are never freed one by
// one, are trivially destructible, and hold no memory of their own. Every
// pointer, string_view and Seq in a tree is valid as long as the ParsedModule.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_NODE_H
#define NEREID_SYNTAX_NODE_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nereid::ast {

// X(Type, name in CPython's ast). Each group is contiguous, so that
// Expr::classof and its like are two comparisons.
#define NEREID_AST_EXPR_NODES(X)                                               \
  X(BoolOp, "BoolOp")                                                          \
  X(NamedExpr, "NamedExpr")                                                    \
  X(BinOp, "BinOp")                                                            \
  X(UnaryOp, "UnaryOp")                                                        \
  X(Lambda, "Lambda")                                                          \
  X(IfExp, "IfExp")                                                            \
  X(Dict, "Dict")                                                              \
  X(Set, "Set")                                                                \
  X(ListComp, "ListComp")                                                      \
  X(SetComp, "SetComp")                                                        \
  X(DictComp, "DictComp")                                                      \
  X(GeneratorExp, "GeneratorExp")                                              \
  X(Await, "Await")                                                            \
  X(Yield, "Yield")                                                            \
  X(YieldFrom, "YieldFrom")                                                    \
  X(Compare, "Compare")                                                        \
  X(Call, "Call")                                                              \
  X(FormattedValue, "FormattedValue")                                          \
  X(JoinedStr, "JoinedStr")                                                    \
  X(Constant, "Constant")                                                      \
  X(Attribute, "Attribute")                                                    \
  X(Subscript, "Subscript")                                                    \
  X(Starred, "Starred")                                                        \
  X(Name, "Name")                                                              \
  X(List, "List")                                                              \
  X(Tuple, "Tuple")                                                            \
  X(Slice, "Slice")

#define NEREID_AST_STMT_NODES(X)                                               \
  X(FunctionDef, "FunctionDef")                                                \
  X(AsyncFunctionDef, "AsyncFunctionDef")                                      \
  X(ClassDef, "ClassDef")                                                      \
  X(Return, "Return")                                                          \
  X(Delete, "Delete")                                                          \
  X(Assign, "Assign")                                                          \
  X(AugAssign, "AugAssign")                                                    \
  X(AnnAssign, "AnnAssign")                                                    \
  X(For, "For")                                                                \
  X(AsyncFor, "AsyncFor")                                                      \
  X(While, "While")                                                            \
  X(If, "If")                                                                  \
  X(With, "With")                                                              \
  X(AsyncWith, "AsyncWith")                                                    \
  X(Match, "Match")                                                            \
  X(Raise, "Raise")                                                            \
  X(Try, "Try")                                                                \
  X(TryStar, "TryStar")                                                        \
  X(Assert, "Assert")                                                          \
  X(Import, "Import")                                                          \
  X(ImportFrom, "ImportFrom")                                                  \
  X(Global, "Global")                                                          \
  X(Nonlocal, "Nonlocal")                                                      \
  X(ExprStmt, "Expr")                                                          \
  X(Pass, "Pass")                                                              \
  X(Break, "Break")                                                            \
  X(Continue, "Continue")

#define NEREID_AST_PATTERN_NODES(X)                                            \
  X(MatchValue, "MatchValue")                                                  \
  X(MatchSingleton, "MatchSingleton")                                          \
  X(MatchSequence, "MatchSequence")                                            \
  X(MatchMapping, "MatchMapping")                                              \
  X(MatchClass, "MatchClass")                                                  \
  X(MatchStar, "MatchStar")                                                    \
  X(MatchAs, "MatchAs")                                                        \
  X(MatchOr, "MatchOr")

#define NEREID_AST_OTHER_NODES(X)                                              \
  X(Module, "Module")                                                          \
  X(Expression, "Expression")                                                  \
  X(Comprehension, "comprehension")                                            \
  X(ExceptHandler, "ExceptHandler")                                            \
  X(Arguments, "arguments")                                                    \
  X(Arg, "arg")                                                                \
  X(Keyword, "keyword")                                                        \
  X(Alias, "alias")                                                            \
  X(WithItem, "withitem")                                                      \
  X(MatchCase, "match_case")

#define NEREID_AST_NODES(X)                                                    \
  NEREID_AST_EXPR_NODES(X)                                                     \
  NEREID_AST_STMT_NODES(X)                                                     \
  NEREID_AST_PATTERN_NODES(X)                                                  \
  NEREID_AST_OTHER_NODES(X)

enum class Kind : uint8_t {
#define NEREID_KIND(TYPE, NAME) TYPE,
  NEREID_AST_NODES(NEREID_KIND)
#undef NEREID_KIND
};

/// The class's name in CPython's ast: "BinOp", "Expr", "comprehension", ...
const char *kindName(Kind kind);

/// Where a node stands, exactly as CPython 3.11 reports it: lines from 1,
/// columns as UTF-8 byte offsets from 0, the end one past the last byte.
/// Columns in characters, as people and SourceLocation count them, come from
/// SourceText::location(span).
///
/// In replacement fields of f-strings CPython 3.11's own positions are kept,
/// which can be off when the string spans lines or parts; location() clamps.
/// Module, Expression, Arguments, Comprehension, WithItem and MatchCase have no
/// position in CPython; here they carry one all the same (their extent).
struct Span {
  uint32_t line = 0, colOffset = 0;
  uint32_t endLine = 0, endColOffset = 0;

  /// From the start of this one to the end of `last`.
  Span to(const Span &last) const {
    return {line, colOffset, last.endLine, last.endColOffset};
  }
  bool operator==(const Span &) const = default;
};

/// No tree is higher than this: the parser refuses it with a clear error
/// (CPython itself gives up at about 3000). Code that walks a tree may
/// therefore recurse, at up to maxHeight frames. An `elif` counts as the `if`
/// that it belongs to: chains are walked in a loop (`elifOf`).
inline constexpr unsigned maxHeight = 1000;
/// Of one chain; CPython cannot build the tree of a longer one either.
inline constexpr unsigned maxElifs = 3000;

struct Node {
  Kind kind;
  uint16_t height = 1; ///< levels of nodes from here down, this one included
  Span span;

protected:
  constexpr explicit Node(Kind kind) : kind(kind) {}
};

/// A fixed sequence in the arena. Elements that may be null are marked at the
/// field (a `**mapping` in a Dict, a missing keyword-only default).
template <typename T>
class Seq {
public:
  constexpr Seq() = default;
  constexpr Seq(T *data, size_t size)
      : first(data), count(static_cast<uint32_t>(size)) {}

  T *begin() const { return first; }
  T *end() const { return first + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T &operator[](size_t i) const {
    assert(i < count);
    return first[i];
  }
  T &front() const { return (*this)[0]; }
  T &back() const { return (*this)[count - 1]; }

private:
  T *first = nullptr;
  uint32_t count = 0;
};

/// Is `node` a T? `node` must not be null.
template <typename T>
bool isa(const Node *node) {
  assert(node && "isa of a null node");
  return T::classof(node);
}

/// `node` as a T, which it must be.
template <typename T>
T *cast(Node *node) {
  assert(isa<T>(node) && "cast to the wrong kind");
  return static_cast<T *>(node);
}
template <typename T>
const T *cast(const Node *node) {
  assert(isa<T>(node) && "cast to the wrong kind");
  return static_cast<const T *>(node);
}

/// `node` as a T, or null when it is null or something else.
template <typename T>
T *dynCast(Node *node) {
  return node && T::classof(node) ? static_cast<T *>(node) : nullptr;
}
template <typename T>
const T *dynCast(const Node *node) {
  return node && T::classof(node) ? static_cast<const T *>(node) : nullptr;
}

/// Gives a node its kind and its classof.
template <typename Base, Kind kindOfNode>
struct NodeOf : Base {
  static constexpr Kind nodeKind = kindOfNode;
  constexpr NodeOf() : Base(kindOfNode) {}
  static bool classof(const Node *node) { return node->kind == kindOfNode; }
};

} // namespace nereid::ast

#endif // NEREID_SYNTAX_NODE_H
