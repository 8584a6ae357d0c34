//===- PythonParser.h - The recursive-descent parser ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each rule of the grammar, named after it ("The full grammar
// specification" of the Python 3.11 reference). A function consumes its
// construct and returns the node, or returns null: then either something was
// raised, or the text does not fit and `expected` says what would have. One
// token decides which way to go, except at `with (` and `match`, which are
// tried and taken back.
//
// The parser is fast because it does not look for reasons. When a file does not
// parse, MistakeFinder reads the failing statement again and finds the message.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_PARSE_PYTHONPARSER_H
#define NEREID_SYNTAX_PARSE_PYTHONPARSER_H

#include "nereid/Syntax/Arena.h"
#include "nereid/Syntax/Ast.h"
#include "nereid/Syntax/Lex/Lexer.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nereid::syntax {

/// What a text is parsed as.
enum class Start { File, Eval, Field };

class PythonParser {
public:
  /// `text` ends with '\n' and outlives the tree. The positions are for the
  /// field of an f-string, see Lexer; `depth` is how deep that string stands.
  PythonParser(Arena &arena, std::string_view text, uint32_t firstLine = 1,
               uint32_t firstColumn = 0, unsigned depth = 0)
      : arena(arena), lexer(text, firstLine, firstColumn), depth(depth) {
    tokens.reserve(text.size() / 4 + 16);
  }

  /// Null when the text is wrong; problem() then says how.
  ast::Module *parseFile();
  ast::Expr *parseEval();
  ast::Expr *parseField();
  const Problem &problem() const { return *raised; }

private:
  friend class MistakeFinder;

  //===--- Tokens ---------------------------------------------------------===//

  const Token &token(uint32_t index) {
    while (index >= tokens.size()) {
      fetch();
    }
    return tokens[index];
  }
  void fetch();
  Tok peek() { return token(pos).kind; }
  Tok peekSecond() { return token(pos + 1).kind; }
  bool at(Tok kind) { return peek() == kind; }
  bool accept(Tok kind) {
    if (!at(kind)) {
      return false;
    }
    ++pos;
    return true;
  }
  bool expect(Tok kind) { return accept(kind) || mismatch(describe(kind)); }
  /// As expect, but raises at once.
  bool require(Tok kind);
  bool mismatch(const char *what);
  std::string_view text(const Token &token) const {
    return lexer.source().substr(token.begin, token.end - token.begin);
  }
  bool atSoftKeyword(std::string_view word) {
    return at(Tok::Name) && text(tokens[pos]) == word;
  }
  /// Could an expression (or `*expression`) start with this token?
  static bool startsExpression(Tok kind);

  //===--- Nodes ----------------------------------------------------------===//

  template <typename T>
  T *make(uint32_t firstToken) {
    T *node = arena.create<T>();
    node->span = token(firstToken).span;
    return node;
  }
  static unsigned heightOf(const ast::Node *node) {
    return node ? node->height : 0;
  }
  template <typename T>
  static unsigned heightOf(ast::Seq<T *> nodes) {
    unsigned highest = 0;
    for (const ast::Node *node : nodes) {
      highest = std::max(highest, heightOf(node));
    }
    return highest;
  }
  /// Ends `node` at the last token taken, and bounds its height.
  template <typename T, typename... Children>
  T *finish(T *node, Children... children) {
    const ast::Span &last = tokens[pos - 1].span;
    node->span.endLine = last.endLine;
    node->span.endColOffset = last.endColOffset;
    return bound(node, children...);
  }
  template <typename T, typename... Children>
  T *bound(T *node, Children... children) {
    return limited(node, 1 + std::max<unsigned>({0u, heightOf(children)...}));
  }
  template <typename T>
  T *limited(T *node, unsigned height) {
    node->height = static_cast<uint16_t>(height);
    return height <= ast::maxHeight ? node : tooDeep<T>(node->span);
  }
  /// As finish, for a statement with a block: blank tokens do not count.
  template <typename T, typename... Children>
  T *finishBlock(T *node, Children... children) {
    const ast::Span &last = lastVisible().span;
    node->span.endLine = last.endLine;
    node->span.endColOffset = last.endColOffset;
    return bound(node, children...);
  }
  const Token &lastVisible() const;
  template <typename T>
  T *tooDeep(const ast::Span &span) {
    raiseTooDeep(span);
    return nullptr;
  }
  void raiseTooDeep(const ast::Span &span);
  bool linkChain(std::span<ast::If *const> chain, ast::Body orelse);

  /// Elements of a sequence being built; nested ones share one stack.
  template <typename T>
  class Builder {
  public:
    explicit Builder(PythonParser &parser)
        : parser(parser), outer(parser.innermost),
          begin(parser.scratch.size()) {
      parser.innermost = this;
    }
    ~Builder() {
      parser.scratch.resize(begin);
      parser.innermost = outer;
    }
    Builder(const Builder &) = delete;
    void add(T *node) {
      assert(parser.innermost == this && "another sequence is still open");
      parser.scratch.push_back(node);
    }
    size_t size() const { return parser.scratch.size() - begin; }
    ast::Seq<T *> take() {
      if (size() == 0) {
        return {};
      }
      void *memory = parser.arena.allocate(size() * sizeof(T *), alignof(T *));
      T **out = static_cast<T **>(memory);
      for (size_t i = 0; i < size(); ++i) {
        out[i] = static_cast<T *>(parser.scratch[begin + i]);
      }
      return {out, size()};
    }

  private:
    PythonParser &parser;
    void *outer;
    size_t begin;
  };

  /// Counts nested constructs, so that the stack cannot run out.
  class Nesting {
  public:
    explicit Nesting(PythonParser &parser) : parser(parser) {
      if (++parser.depth > ast::maxHeight) {
        parser.raiseTooDeep(parser.token(parser.pos).span);
      }
    }
    ~Nesting() { --parser.depth; }
    bool ok() const { return parser.depth <= ast::maxHeight; }

  private:
    PythonParser &parser;
  };

  /// Raises unless something was raised before; always null.
  std::nullptr_t raise(Problem problem);
  std::nullptr_t raise(const ast::Span &span, std::string message,
                       std::string hint = {});
  /// At the last token read, where CPython reports errors inside strings, with
  /// a note if that is not where `about` stands.
  std::nullptr_t raiseInString(const Token &about, std::string message,
                               std::string hint = {});

  std::string_view identifier(const Token &token);
  bool name(std::string_view &out);

  //===--- Statements (ParseStatement.cpp, ParseCompound.cpp) -------------===//

  bool statement(Builder<ast::Stmt> &out);
  bool simpleStatements(Builder<ast::Stmt> &out);
  ast::Stmt *simpleStatement();
  ast::Stmt *assignmentOrExpression();
  ast::Stmt *annotatedAssignment(uint32_t first, ast::Expr *target);
  ast::Stmt *augmentedAssignment(uint32_t first, ast::Expr *target,
                                 ast::Operator op);
  ast::Stmt *assignment(uint32_t first, ast::Expr *target);
  ast::Stmt *returnStatement();
  ast::Stmt *raiseStatement();
  ast::Stmt *deleteStatement();
  ast::Stmt *assertStatement();
  template <typename T>
  ast::Stmt *nameListStatement();
  ast::Stmt *importStatement();
  ast::Stmt *importFromStatement();
  ast::Alias *alias(bool dotted);
  bool dottedName(std::string_view &out);

  ast::Stmt *compoundStatement(Tok first);
  bool block(ast::Body &out);
  bool elseBlock(ast::Body &out);
  ast::Stmt *decorated();
  ast::Stmt *asyncStatement(ast::Seq<ast::Expr *> decorators);
  template <typename T>
  ast::Stmt *functionDef(uint32_t first, ast::Seq<ast::Expr *> decorators);
  ast::Stmt *classDef(ast::Seq<ast::Expr *> decorators);
  ast::Stmt *ifStatement();
  ast::Stmt *whileStatement();
  template <typename T>
  ast::Stmt *forStatement(uint32_t first);
  template <typename T>
  ast::Stmt *withStatement(uint32_t first);
  bool withItems(Builder<ast::WithItem> &items, bool parenthesized);
  ast::WithItem *withItem();
  ast::Stmt *tryStatement();
  ast::ExceptHandler *exceptHandler(bool star);

  //===--- Parameters (ParseParameters.cpp) -------------------------------===//

  struct Parameters;
  ast::Arguments *parameters(Tok end);
  bool parameter(Parameters &out, Tok end);
  bool starParameter(Parameters &out, Tok end);
  bool doubleStarParameter(Parameters &out, Tok end);
  ast::Arg *arg(Tok end, bool starAnnotation);
  bool commaOr(Tok end);

  //===--- match (ParseMatch.cpp) -----------------------------------------===//

  ast::Stmt *matchStatement();
  ast::Expr *subject();
  ast::MatchCase *matchCase();
  ast::Pattern *patterns();
  ast::Pattern *pattern();
  ast::Pattern *orPattern();
  ast::Pattern *closedPattern();
  ast::Pattern *namePattern();
  ast::Pattern *starPattern();
  ast::Pattern *literalPattern();
  ast::Pattern *groupOrSequencePattern();
  ast::Pattern *mappingPattern();
  ast::Pattern *classPattern(uint32_t first, ast::Expr *cls);
  bool sequenceItems(Builder<ast::Pattern> &out, Tok end);
  bool captureTarget(std::string_view &out);
  ast::Expr *literalKey();
  ast::Expr *signedNumber();
  ast::Expr *dottedValue();

  //===--- Expressions (ParseExpression.cpp, ParseAtom.cpp) ---------------===//

  ast::Expr *expressions();
  ast::Expr *starExpressions();
  ast::Expr *starExpression();
  ast::Expr *starNamedExpression();
  ast::Expr *starredBitwiseOr();
  ast::Expr *namedExpression();
  ast::Expr *expression();
  ast::Expr *yieldExpression();
  ast::Expr *yieldOrStarExpressions();
  ast::Expr *lambda();
  ast::Expr *disjunction();
  ast::Expr *conjunction();
  ast::Expr *inversion();
  ast::Expr *comparison();
  ast::Expr *bitwiseOr() { return binary(1); }
  ast::Expr *binary(int minimum);
  ast::Expr *factor();
  ast::Expr *awaitPrimary();
  ast::Expr *primary();
  ast::Expr *trailers(uint32_t first, ast::Expr *value);
  ast::Expr *call(uint32_t first, ast::Expr *func);
  bool arguments(ast::Seq<ast::Expr *> &args,
                 ast::Seq<ast::Keyword *> &keywords, bool generatorAllowed);
  ast::Keyword *keyword();
  ast::Expr *subscript(uint32_t first, ast::Expr *value);
  ast::Expr *slices();
  ast::Expr *slice();
  ast::Expr *atom();
  ast::Expr *constant(ast::ConstantKind kind);
  ast::Expr *nameExpression();
  ast::Expr *parenthesized();
  ast::Expr *listDisplay();
  ast::Expr *braceDisplay();
  ast::Expr *dictDisplay(uint32_t first, ast::Expr *firstKey);
  ast::Expr *setDisplay(uint32_t first, ast::Expr *firstElement);
  bool moreElements(Builder<ast::Expr> &elements, Tok end);
  bool comprehensions(ast::Seq<ast::Comprehension *> &out);
  bool comprehensionConditions(ast::Seq<ast::Expr *> &out);
  bool atComprehension();

  //===--- Targets (ParseTarget.cpp) --------------------------------------===//

  ast::Expr *starTargets();
  ast::Expr *starTarget();
  bool makeTarget(ast::Expr *expr, ast::ExprContext context);
  bool isSingleTarget(const ast::Expr *expr) const;

  //===--- Literals (Literals.cpp, ParseString.cpp, FString.cpp) ----------===//

  ast::Expr *number();
  ast::Expr *strings();

  Arena &arena;
  Lexer lexer;
  std::vector<Token> tokens;
  uint32_t pos = 0;
  uint32_t statementStart = 0; ///< the current top-level statement
  unsigned depth;
  std::vector<void *> scratch;
  void *innermost = nullptr; ///< the Builder that may grow
  std::optional<Problem> raised;
  const char *expected = nullptr; ///< at token expectedAt
  uint32_t expectedAt = 0;

  friend class FStringParser;
  friend class StringParser;
};

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_PARSE_PYTHONPARSER_H
