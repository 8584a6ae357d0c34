//===- ParseParameters.cpp - Parameters of functions and lambdas ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

#include <algorithm>
#include <unordered_set>

namespace nereid::syntax {

using namespace ast;

/// What was read so far: `a, b, /, c=1, *args, d, **kwargs`.
struct PythonParser::Parameters {
  std::vector<Arg *> positional, keywordOnly;
  std::vector<Expr *> defaults, keywordDefaults;
  Arg *vararg = nullptr, *kwarg = nullptr;
  size_t positionalOnly = 0;
  bool slash = false, star = false;
};

/// A parameter ends with a comma or before `end`.
bool PythonParser::commaOr(Tok end) {
  return accept(Tok::Comma) || at(end) ||
         mismatch(end == Tok::Colon ? "',' or ':'" : "',' or ')'");
}

/// A name, with its annotation outside of a lambda (`end` is ')').
Arg *PythonParser::arg(Tok end, bool starAnnotation) {
  Arg *node = make<Arg>(pos);
  if (!name(node->arg)) {
    return nullptr;
  }
  if (end == Tok::RightParen && accept(Tok::Colon)) {
    node->annotation =
        starAnnotation && at(Tok::Star) ? starredBitwiseOr() : expression();
    if (!node->annotation) {
      return nullptr;
    }
  }
  return finish(node, node->annotation);
}

bool PythonParser::parameter(Parameters &out, Tok end) {
  if (at(Tok::Slash)) {
    if (out.slash || out.star || out.positional.empty()) {
      return mismatch("a parameter");
    }
    ++pos;
    out.slash = true;
    out.positionalOnly = out.positional.size();
    return commaOr(end);
  }
  if (!at(Tok::Name)) {
    return mismatch(end == Tok::Colon ? "a parameter or ':'"
                                      : "a parameter or ')'");
  }
  Arg *node = arg(end, false);
  if (!node) {
    return false;
  }
  Expr *value = nullptr;
  if (accept(Tok::Equal) && !(value = expression())) {
    return false;
  }
  if (out.star) {
    out.keywordOnly.push_back(node);
    out.keywordDefaults.push_back(value);
  } else {
    if (!value && !out.defaults.empty()) {
      return mismatch("a default value");
    }
    out.positional.push_back(node);
    if (value) {
      out.defaults.push_back(value);
    }
  }
  return commaOr(end);
}

/// `*args`, or a bare `*`, which a named parameter must follow.
bool PythonParser::starParameter(Parameters &out, Tok end) {
  if (out.star) {
    return mismatch("a parameter");
  }
  ++pos;
  out.star = true;
  if (accept(Tok::Comma)) {
    return at(Tok::Name) || mismatch("a parameter");
  }
  out.vararg = arg(end, true);
  return out.vararg && commaOr(end);
}

bool PythonParser::doubleStarParameter(Parameters &out, Tok end) {
  ++pos;
  out.kwarg = arg(end, false);
  if (!out.kwarg || !commaOr(end)) {
    return false;
  }
  return at(end) || mismatch(describe(end));
}

Arguments *PythonParser::parameters(Tok end) {
  Arguments *node = make<Arguments>(pos);
  Parameters out;
  while (!at(end)) {
    bool fine = at(Tok::Star)         ? starParameter(out, end)
                : at(Tok::DoubleStar) ? doubleStarParameter(out, end)
                                      : parameter(out, end);
    if (!fine) {
      return nullptr;
    }
  }
  std::unordered_set<std::string_view> names;
  auto isNew = [&](const Arg *parameter) {
    if (!parameter || names.insert(parameter->arg).second) {
      return true;
    }
    raise(parameter->span,
          "duplicate argument '" + std::string(parameter->arg) +
              "' in function definition",
          "expected each parameter to have a name of its own");
    return false;
  };
  if (!std::ranges::all_of(out.positional, isNew) ||
      !std::ranges::all_of(out.keywordOnly, isNew) || !isNew(out.vararg) ||
      !isNew(out.kwarg)) {
    return nullptr;
  }
  size_t only = out.positionalOnly;
  node->posonlyargs = arena.copy(out.positional.data(), only);
  node->args =
      arena.copy(out.positional.data() + only, out.positional.size() - only);
  node->vararg = out.vararg;
  node->kwonlyargs = arena.copy(out.keywordOnly.data(), out.keywordOnly.size());
  node->kwDefaults =
      arena.copy(out.keywordDefaults.data(), out.keywordDefaults.size());
  node->kwarg = out.kwarg;
  node->defaults = arena.copy(out.defaults.data(), out.defaults.size());
  return finish(node, node->posonlyargs, node->args, node->vararg,
                node->kwonlyargs, node->kwDefaults, node->kwarg,
                node->defaults);
}

} // namespace nereid::syntax
