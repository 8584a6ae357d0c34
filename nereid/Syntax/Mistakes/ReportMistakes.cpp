//===- ReportMistakes.cpp - What is said about a mistake -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Mistakes/MistakeFinder.h"
#include "nereid/Syntax/Mistakes/MistakeGrammar.h"

#include <cassert>
#include <iterator>

namespace nereid::syntax {

using namespace ast;

static constexpr const char *targetHint =
    "a target is a name, an attribute, a subscript, or a list of these";
static constexpr const char *equalHint = "use '==' to compare";

static constexpr Mistake mistakes[] = {
    // Blocks.
    {"noColon", Mistake::Last, "expected ':'", "a ':' opens the block"},
    {"noBlock", Mistake::Last, "expected an indented block",
     "indent the body, or write 'pass'"},
    {"noBlockAfter", Mistake::Last,
     "expected an indented block after '{text}' on line {line}",
     "indent the body, or write 'pass'"},
    {"noBlockAfterFunction", Mistake::Last,
     "expected an indented block after function definition on line {line}",
     "indent the body, or write 'pass'"},
    {"noBlockAfterClass", Mistake::Last,
     "expected an indented block after class definition on line {line}",
     "indent the body, or write 'pass'"},
    {"noHandler", Mistake::Last, "expected 'except' or 'finally' block",
     "a 'try' needs at least one of them"},
    {"mixedHandlers", Mistake::FirstToSecond,
     "cannot have both 'except' and 'except*' on the same 'try'",
     "use one of them for every handler"},
    {"mixedHandler", Mistake::First,
     "cannot have both 'except' and 'except*' on the same 'try'",
     "use one of them for every handler"},
    {"severalExceptions", Mistake::FirstOn,
     "multiple exception types must be parenthesized", "write except (A, B):"},
    {"noExceptionType", Mistake::Last, "expected one or more exception types",
     "write except* A:"},
    {"importComma", Mistake::Last,
     "trailing comma not allowed without surrounding parentheses",
     "remove the comma, or put the names in parentheses"},

    // Assignments and targets.
    {"annotatedKind", Mistake::First,
     "only a single target, not a {kind}, can be annotated",
     "annotate one name at a time"},
    {"annotatedTuple", Mistake::First,
     "only a single target, not a tuple, can be annotated",
     "annotate one name at a time"},
    {"annotatedOther", Mistake::First, "illegal target for annotation",
     "expected a name, an attribute or a subscript before ':'"},
    {"assignTarget", Mistake::Special, "cannot assign to {kind}", targetHint},
    {"forTarget", Mistake::Special, "cannot assign to {kind}", targetHint},
    {"deleteTarget", Mistake::Special, "cannot delete {kind}", targetHint},
    {"assignYield", Mistake::First, "cannot assign to yield expression",
     targetHint},
    {"augmentedTarget", Mistake::First,
     "'{kind}' is an illegal expression for augmented assignment",
     "expected a name, an attribute or a subscript"},
    {"walrusTarget", Mistake::First,
     "cannot use assignment expressions with {kind}",
     "only a name may stand before ':='"},
    {"assignInExpression", Mistake::FirstToSecond,
     "'=' cannot be used inside an expression",
     "use '==' to compare, ':=' to assign"},
    {"assignHere", Mistake::First, "cannot assign to {kind} here", equalHint},

    // Expressions.
    {"noComma", Mistake::FirstToSecond,
     "expected a comma or an operator between two expressions",
     "perhaps you forgot a comma"},
    {"noElse", Mistake::FirstToSecond, "expected 'else' after 'if' expression",
     "a conditional expression is: a if condition else b"},
    {"printStatement", Mistake::FirstToSecond,
     "missing parentheses in call to '{text}'", "did you mean {text}(...)?"},
    {"starredGroup", Mistake::First, "cannot use starred expression here",
     "for a tuple, add a comma: (*a,)"},
    {"doubleStarredGroup", Mistake::First,
     "cannot use double starred expression here",
     "'**' unpacks in calls and dict displays only"},
    {"starredValue", Mistake::FirstOn,
     "cannot use a starred expression in a dictionary value",
     "unpack a mapping with '**' and no key"},
    {"noValue", Mistake::First,
     "expression expected after dictionary key and ':'", "add the value"},
    {"noKeyColon", Mistake::First, "':' expected after dictionary key",
     "entries of a dict are written key: value"},
    {"starredComprehension", Mistake::First,
     "iterable unpacking cannot be used in comprehension",
     "use two 'for' clauses"},
    {"doubleStarredComprehension", Mistake::First,
     "dict unpacking cannot be used in dict comprehension",
     "use two 'for' clauses"},
    {"bareTuple", Mistake::FirstToSecond,
     "did you forget parentheses around the comprehension target?",
     "write [(a, b) for ...]"},

    // Calls.
    {"starAfterDoubleStar", Mistake::First,
     "iterable argument unpacking follows keyword argument unpacking",
     "put '*args' before '**kwargs'"},
    {"bareGenerator", Mistake::FirstToSecond,
     "generator expression must be parenthesized",
     "only as the sole argument may it stand without parentheses"},
    {"generatorAfterArguments", Mistake::Special,
     "generator expression must be parenthesized",
     "only as the sole argument may it stand without parentheses"},
    {"positionalAfterKeyword", Mistake::Last,
     "positional argument follows keyword argument",
     "put positional arguments first"},
    {"keywordGenerator", Mistake::FirstToSecond,
     "'=' cannot be used inside a generator expression",
     "use '==' to compare, ':=' to assign"},
    {"keywordConstant", Mistake::FirstToSecond, "cannot assign to {text}",
     "a keyword argument is written name=value"},
    {"keywordExpression", Mistake::FirstToSecond,
     "expected a name before '=' of a keyword argument, got an expression",
     equalHint},

    // Parameters.
    {"noDefault", Mistake::First, "expected default value expression",
     "add the value after '='"},
    {"plainAfterDefault", Mistake::First,
     "non-default parameter follows default parameter",
     "give it a default, or move it to the front"},
    {"parameterParentheses", Mistake::FirstToSecond,
     "parameters cannot be parenthesized",
     "name the tuple and unpack it in the body"},
    {"nothingBeforeSlash", Mistake::First,
     "at least one parameter must precede '/'", "remove the '/'"},
    {"secondSlash", Mistake::First, "'/' may appear only once",
     "remove one of them"},
    {"slashAfterStar", Mistake::First, "'/' must be ahead of '*'",
     "positional-only parameters come first"},
    {"commaAfterSlash", Mistake::First, "expected comma between '/' and '*'",
     "write /, *"},
    {"nothingAfterStar", Mistake::First,
     "named parameters must follow bare '*'",
     "remove the '*', or name what follows it"},
    {"nothingAfterStarLast", Mistake::Last,
     "named parameters must follow bare '*'",
     "remove the '*', or name what follows it"},
    {"starDefault", Mistake::First,
     "var-positional parameter cannot have default value", "remove it"},
    {"secondStar", Mistake::First, "'*' may appear only once",
     "remove one of them"},
    {"doubleStarDefault", Mistake::First,
     "var-keyword parameter cannot have default value", "remove it"},
    {"afterDoubleStar", Mistake::First,
     "parameters cannot follow var-keyword parameter",
     "put the '**' parameter last"},

    // Patterns.
    {"wildcardTarget", Mistake::First, "cannot use '_' as a target",
     "'_' matches anything and binds nothing; use a name"},
    {"patternTarget", Mistake::First, "invalid pattern target",
     "expected a name after 'as'"},
    {"positionalPattern", Mistake::First,
     "positional patterns follow keyword patterns",
     "put positional patterns first"},
};

const Mistake &mistakeAt(int index) { return mistakes[index]; }

int mistakeNamed(std::string_view name) {
  for (size_t i = 0; i < std::size(mistakes); ++i) {
    if (mistakes[i].name == name) {
      return static_cast<int>(i);
    }
  }
  assert(false && "no such mistake");
  return 0;
}

//===----------------------------------------------------------------------===//
// What an expression is called
//===----------------------------------------------------------------------===//

static std::string kindOf(const Expr *expr) {
  switch (expr->kind) {
  case Kind::Attribute:
    return "attribute";
  case Kind::Subscript:
    return "subscript";
  case Kind::Starred:
    return "starred";
  case Kind::Name:
    return "name";
  case Kind::List:
    return "list";
  case Kind::Tuple:
    return "tuple";
  case Kind::Lambda:
    return "lambda";
  case Kind::Call:
    return "function call";
  case Kind::GeneratorExp:
    return "generator expression";
  case Kind::Yield:
  case Kind::YieldFrom:
    return "yield expression";
  case Kind::Await:
    return "await expression";
  case Kind::ListComp:
    return "list comprehension";
  case Kind::SetComp:
    return "set comprehension";
  case Kind::DictComp:
    return "dict comprehension";
  case Kind::Dict:
    return "dict literal";
  case Kind::Set:
    return "set display";
  case Kind::JoinedStr:
  case Kind::FormattedValue:
    return "f-string";
  case Kind::Compare:
    return "comparison";
  case Kind::IfExp:
    return "conditional expression";
  case Kind::NamedExpr:
    return "named expression";
  case Kind::Constant:
    switch (cast<Constant>(expr)->constantKind) {
    case ConstantKind::None:
      return "None";
    case ConstantKind::True:
      return "True";
    case ConstantKind::False:
      return "False";
    case ConstantKind::Ellipsis:
      return "ellipsis";
    default:
      return "literal";
    }
  default:
    return "expression";
  }
}

/// The expression that fills `range`; null if there is none.
Expr *MistakeFinder::rebuild(TokenRange range) {
  using Rule = Expr *(PythonParser::*)();
  for (Rule rule :
       {&PythonParser::starExpressions, &PythonParser::starNamedExpression,
        &PythonParser::bitwiseOr, &PythonParser::atom,
        &PythonParser::yieldExpression}) {
    parser.pos = range.begin;
    Expr *expr = (parser.*rule)();
    if (parser.raised) {
      return nullptr;
    }
    if (expr && parser.pos == range.end) {
      return expr;
    }
  }
  return nullptr;
}

/// Parentheses around an expression are not part of its node, and CPython
/// reports nodes.
Span MistakeFinder::spanOf(TokenRange range, TokenRange about) {
  uint32_t last = range.end > range.begin ? range.end - 1 : range.begin;
  Span span = parser.token(range.begin).span.to(parser.token(last).span);
  if (range.begin == about.begin && about.end > about.begin &&
      parser.token(about.begin).kind == Tok::LeftParen) {
    if (const Expr *expr = rebuild(about)) {
      return range.end == about.end ? expr->span : expr->span.to(span);
    }
  }
  return span;
}

std::string MistakeFinder::substitute(const char *text, TokenRange about,
                                      const std::string &name) {
  std::string out = text;
  auto replace = [&](std::string_view what, auto make) {
    if (size_t at = out.find(what); at != out.npos) {
      out.replace(at, what.size(), make());
    }
  };
  const Token first = parser.token(about.begin);
  replace("{kind}", [&] {
    Expr *expr = name.empty() ? rebuild(about) : nullptr;
    return expr ? kindOf(expr) : name.empty() ? "expression" : name;
  });
  replace("{text}", [&] { return std::string(parser.text(first)); });
  replace("{line}", [&] { return std::to_string(first.span.line); });
  return out;
}

void MistakeFinder::raise(int mistake, TokenRange where, TokenRange about,
                          const std::string &name) {
  const Mistake &entry = mistakes[mistake];
  std::string message = substitute(entry.message, about, name);
  std::string hint = substitute(entry.hint, about, name);
  parser.raise(spanOf(where, about), std::move(message), std::move(hint));
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

namespace {
enum class TargetKind { Assign, For, Delete };
} // namespace

/// The part of an expression that cannot be a target; null if all of it can.
static const Expr *invalidTarget(const Expr *expr, TargetKind kind) {
  switch (expr->kind) {
  case Kind::Name:
  case Kind::Attribute:
  case Kind::Subscript:
    return nullptr;
  case Kind::Starred:
    return kind == TargetKind::Delete
               ? expr
               : invalidTarget(cast<Starred>(expr)->value, kind);
  case Kind::Tuple:
  case Kind::List:
    for (const Expr *element :
         isa<Tuple>(expr) ? cast<Tuple>(expr)->elts : cast<List>(expr)->elts) {
      if (const Expr *bad = invalidTarget(element, kind)) {
        return bad;
      }
    }
    return nullptr;
  case Kind::Compare: {
    // `for a in b` was read as a comparison: only its left side is a target.
    const Compare *compare = cast<Compare>(expr);
    if (kind != TargetKind::For) {
      return expr;
    }
    return compare->ops[0] == CompareOperator::In
               ? invalidTarget(compare->left, kind)
               : nullptr;
  }
  default:
    return expr;
  }
}

bool MistakeFinder::reportTarget(int mistake, TokenRange range) {
  std::string_view name = mistakes[mistake].name;
  TargetKind kind = name == "forTarget"      ? TargetKind::For
                    : name == "deleteTarget" ? TargetKind::Delete
                                             : TargetKind::Assign;
  Expr *expr = rebuild(range);
  const Expr *bad = expr ? invalidTarget(expr, kind) : nullptr;
  if (!bad) {
    return false;
  }
  const Mistake &entry = mistakes[mistake];
  parser.raise(bad->span, substitute(entry.message, range, kindOf(bad)),
               entry.hint);
  return true;
}

/// CPython 3.11 compares too few letters and takes `m` or `cas` for a soft
/// keyword, whose mistakes it does not explain. Followed where the explanation
/// would stand on another line than "invalid syntax".
static bool looksLikeSoftKeyword(std::string_view text) {
  return std::string_view("match").starts_with(text) ||
         std::string_view("case").starts_with(text);
}

/// What CPython's rule actions look at before they speak.
static bool isPrintOrExec(std::string_view text) {
  return text == "print" || text == "exec";
}

/// The last positional argument in `range`, if there are at least two; an empty
/// range otherwise.
TokenRange MistakeFinder::lastOfSeveral(TokenRange range) {
  unsigned count = 0;
  TokenRange last;
  parser.pos = range.begin;
  do {
    uint32_t first = parser.pos;
    bool named = parser.at(Tok::DoubleStar) ||
                 (parser.at(Tok::Name) && parser.peekSecond() == Tok::Equal);
    if (named) {
      if (!parser.keyword()) {
        break;
      }
      continue;
    }
    parser.accept(Tok::Star);
    if (!parser.namedExpression()) {
      break;
    }
    ++count;
    last = {first, parser.pos};
  } while (parser.pos < range.end && parser.accept(Tok::Comma));
  return count > 1 ? last : TokenRange();
}

void MistakeFinder::report(int mistake, TokenRange range,
                           const TokenRange (&marked)[2]) {
  const Mistake &entry = mistakes[mistake];
  std::string_view name = entry.name;
  TokenRange a = marked[0], b = marked[1];
  uint32_t last = static_cast<uint32_t>(parser.tokens.size() - 1);
  auto isName = [&](TokenRange part) {
    return part.end == part.begin + 1 &&
           parser.token(part.begin).kind == Tok::Name;
  };
  auto printOrExec = [&] {
    return isName(a) && isPrintOrExec(parser.text(parser.token(a.begin)));
  };
  if (name == "assignTarget" || name == "forTarget" || name == "deleteTarget") {
    reportTarget(mistake, a);
    return;
  }
  if (name == "noComma" &&
      (printOrExec() || parser.token(range.end - 1).level == 0)) {
    return;
  }
  const Token first = parser.token(a.begin);
  if (name == "noComma" && first.kind == Tok::Name &&
      looksLikeSoftKeyword(parser.text(first)) &&
      first.span.line != parser.token(b.begin).span.line) {
    return;
  }
  if (name == "printStatement" && !printOrExec()) {
    return;
  }
  if (name == "generatorAfterArguments") {
    // One argument is the generator's own element: f(x for x in y).
    TokenRange argument = lastOfSeveral(a);
    if (argument.end > 0) {
      raise(mistake, {argument.begin, range.end}, a, "");
    }
    return;
  }
  switch (entry.place) {
  case Mistake::First:
    return raise(mistake, a, a, "");
  case Mistake::FirstToSecond:
    return raise(mistake, {a.begin, std::max(a.end, b.end)}, a, "");
  case Mistake::FirstOn:
    return raise(mistake, {a.begin, last + 1}, a, "");
  case Mistake::Last:
  case Mistake::Special:
    return raise(mistake, {last, last + 1}, a, "");
  }
}

} // namespace nereid::syntax
