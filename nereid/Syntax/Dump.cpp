//===- Dump.cpp - A tree as text ------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of fields is that of CPython's Python.asdl. The same text is made
// from CPython's own tree by test/syntax/dump_cpython_ast.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Dump.h"

#include <bit>
#include <charconv>
#include <vector>

namespace nereid::ast {

namespace {

class Dumper {
public:
  std::string out;

  void tree(const Node *root);

private:
  void node(const Node *node);
  void number(uint64_t value) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + 24, value).ptr);
  }
  void bits(uint64_t value) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      out += "0123456789abcdef"[value >> shift & 15];
    }
  }
  void quoted(std::string_view text) {
    out += '\'';
    for (char c : text) {
      unsigned char byte = c;
      if (byte >= ' ' && byte != '\\' && byte != '\'' && byte != 127) {
        out += c;
      } else {
        out += "\\x";
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
      }
    }
    out += '\'';
  }
  void field(const char *name) {
    out += ' ';
    out += name;
    out += '=';
  }
  void text(const char *name, std::string_view value) {
    if (!value.empty()) {
      field(name);
      quoted(value);
    }
  }
  void word(const char *name, std::string_view value) {
    field(name);
    out += value;
  }
  void names(const char *name, Seq<std::string_view> values) {
    if (values.empty()) {
      return;
    }
    field(name);
    for (std::string_view value : values) {
      quoted(value);
    }
  }
  void child(const char *name, const Node *value) {
    if (value) {
      children.push_back({name, -1, value});
    }
  }
  template <typename T>
  void list(const char *name, Seq<T *> values) {
    int index = 0;
    for (const T *value : values) {
      children.push_back({name, index++, value});
    }
  }
  void position(const Node *node);
  void constant(const Constant *node);
  void singleton(ConstantKind kind);
  void expression(const Expr *node);
  void statement(const Stmt *node);
  void pattern(const Pattern *node);
  void other(const Node *node);
  void function(const FunctionLike *node);
  void loop(const ForLike *node);
  void with(const WithLike *node);
  void tryStatement(const TryLike *node);
  void parameters(const Arguments *node);

  struct Child {
    const char *name;
    int index; ///< -1 outside of a list
    const Node *node;
    size_t depth = 0;
  };
  std::vector<Child> children; ///< of the node being written
};

} // namespace

void Dumper::node(const Node *node) {
  out += kindName(node->kind);
  position(node);
  if (const Expr *expr = dynCast<Expr>(node)) {
    expression(expr);
  } else if (const Stmt *stmt = dynCast<Stmt>(node)) {
    statement(stmt);
  } else if (const Pattern *p = dynCast<Pattern>(node)) {
    pattern(p);
  } else {
    other(node);
  }
  out += '\n';
}

/// What is still to be written stands in a list, the next at its end: an `elif`
/// is a child of the one before, and chains are longer than stacks are deep.
void Dumper::tree(const Node *root) {
  std::vector<Child> pending;
  auto write = [&](const Node *node, size_t depth) {
    children.clear();
    this->node(node);
    while (!children.empty()) {
      children.back().depth = depth + 1;
      pending.push_back(children.back());
      children.pop_back();
    }
  };
  write(root, 0);
  while (!pending.empty()) {
    Child next = pending.back();
    pending.pop_back();
    out.append(next.depth, ' ');
    out += next.name;
    if (next.index >= 0) {
      out += '[';
      number(next.index);
      out += ']';
    }
    out += '=';
    if (next.node) {
      write(next.node, next.depth);
    } else {
      out += "None\n";
    }
  }
}

void Dumper::position(const Node *node) {
  switch (node->kind) {
  case Kind::Module:
  case Kind::Expression:
  case Kind::Comprehension:
  case Kind::Arguments:
  case Kind::WithItem:
  case Kind::MatchCase:
    return; // CPython's have none
  default:
    out += ' ';
    number(node->span.line);
    out += ':';
    number(node->span.colOffset);
    out += '-';
    number(node->span.endLine);
    out += ':';
    number(node->span.endColOffset);
  }
}

void Dumper::singleton(ConstantKind kind) {
  out += kind == ConstantKind::None    ? "None"
         : kind == ConstantKind::True  ? "True"
         : kind == ConstantKind::False ? "False"
                                       : "Ellipsis";
}

void Dumper::constant(const Constant *node) {
  field("value");
  switch (node->constantKind) {
  case ConstantKind::Int:
    out += "int:";
    out += node->integer->fitsInt64 ? std::to_string(node->integer->small)
                                    : toHex(*node->integer);
    break;
  case ConstantKind::Float:
    out += "float:";
    bits(std::bit_cast<uint64_t>(node->number));
    break;
  case ConstantKind::Complex:
    out += "complex:";
    bits(std::bit_cast<uint64_t>(node->number));
    break;
  case ConstantKind::Str:
    quoted(node->text);
    break;
  case ConstantKind::Bytes:
    out += 'b';
    quoted(node->text);
    break;
  default:
    singleton(node->constantKind);
  }
  if (node->hasUPrefix) {
    out += " kind=u";
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// In one piece: a table with a row for each class of nodes.
void Dumper::expression(const Expr *node) {
  switch (node->kind) {
  case Kind::BoolOp: {
    const auto *n = cast<BoolOp>(node);
    word("op", operatorName(n->op));
    return list("values", n->values);
  }
  case Kind::NamedExpr: {
    const auto *n = cast<NamedExpr>(node);
    child("target", n->target);
    return child("value", n->value);
  }
  case Kind::BinOp: {
    const auto *n = cast<BinOp>(node);
    child("left", n->left);
    word("op", operatorName(n->op));
    return child("right", n->right);
  }
  case Kind::UnaryOp: {
    const auto *n = cast<UnaryOp>(node);
    word("op", operatorName(n->op));
    return child("operand", n->operand);
  }
  case Kind::Lambda: {
    const auto *n = cast<Lambda>(node);
    child("args", n->args);
    return child("body", n->body);
  }
  case Kind::IfExp: {
    const auto *n = cast<IfExp>(node);
    child("test", n->test);
    child("body", n->body);
    return child("orelse", n->orelse);
  }
  case Kind::Dict: {
    const auto *n = cast<Dict>(node);
    list("keys", n->keys);
    return list("values", n->values);
  }
  case Kind::Set:
    return list("elts", cast<Set>(node)->elts);
  case Kind::ListComp: {
    const auto *n = cast<ListComp>(node);
    child("elt", n->elt);
    return list("generators", n->generators);
  }
  case Kind::SetComp: {
    const auto *n = cast<SetComp>(node);
    child("elt", n->elt);
    return list("generators", n->generators);
  }
  case Kind::DictComp: {
    const auto *n = cast<DictComp>(node);
    child("key", n->key);
    child("value", n->value);
    return list("generators", n->generators);
  }
  case Kind::GeneratorExp: {
    const auto *n = cast<GeneratorExp>(node);
    child("elt", n->elt);
    return list("generators", n->generators);
  }
  case Kind::Await:
    return child("value", cast<Await>(node)->value);
  case Kind::Yield:
    return child("value", cast<Yield>(node)->value);
  case Kind::YieldFrom:
    return child("value", cast<YieldFrom>(node)->value);
  case Kind::Compare: {
    const auto *n = cast<Compare>(node);
    child("left", n->left);
    field("ops");
    for (CompareOperator op : n->ops) {
      out += operatorName(op);
      out += ',';
    }
    return list("comparators", n->comparators);
  }
  case Kind::Call: {
    const auto *n = cast<Call>(node);
    child("func", n->func);
    list("args", n->args);
    return list("keywords", n->keywords);
  }
  case Kind::FormattedValue: {
    const auto *n = cast<FormattedValue>(node);
    child("value", n->value);
    word("conversion", std::to_string(n->conversion));
    return child("format_spec", n->formatSpec);
  }
  case Kind::JoinedStr:
    return list("values", cast<JoinedStr>(node)->values);
  case Kind::Constant:
    return constant(cast<Constant>(node));
  case Kind::Attribute: {
    const auto *n = cast<Attribute>(node);
    child("value", n->value);
    text("attr", n->attr);
    return word("ctx", contextName(n->ctx));
  }
  case Kind::Subscript: {
    const auto *n = cast<Subscript>(node);
    child("value", n->value);
    child("slice", n->slice);
    return word("ctx", contextName(n->ctx));
  }
  case Kind::Starred: {
    const auto *n = cast<Starred>(node);
    child("value", n->value);
    return word("ctx", contextName(n->ctx));
  }
  case Kind::Name: {
    const auto *n = cast<Name>(node);
    text("id", n->id);
    return word("ctx", contextName(n->ctx));
  }
  case Kind::List: {
    const auto *n = cast<List>(node);
    list("elts", n->elts);
    return word("ctx", contextName(n->ctx));
  }
  case Kind::Tuple: {
    const auto *n = cast<Tuple>(node);
    list("elts", n->elts);
    return word("ctx", contextName(n->ctx));
  }
  case Kind::Slice: {
    const auto *n = cast<Slice>(node);
    child("lower", n->lower);
    child("upper", n->upper);
    return child("step", n->step);
  }
  default:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Dumper::function(const FunctionLike *node) {
  text("name", node->name);
  child("args", node->args);
  list("body", node->body);
  list("decorator_list", node->decoratorList);
  child("returns", node->returns);
}

void Dumper::loop(const ForLike *node) {
  child("target", node->target);
  child("iter", node->iter);
  list("body", node->body);
  list("orelse", node->orelse);
}

void Dumper::with(const WithLike *node) {
  list("items", node->items);
  list("body", node->body);
}

void Dumper::tryStatement(const TryLike *node) {
  list("body", node->body);
  list("handlers", node->handlers);
  list("orelse", node->orelse);
  list("finalbody", node->finalbody);
}

void Dumper::statement(const Stmt *node) {
  switch (node->kind) {
  case Kind::FunctionDef:
  case Kind::AsyncFunctionDef:
    return function(cast<FunctionLike>(node));
  case Kind::ClassDef: {
    const auto *n = cast<ClassDef>(node);
    text("name", n->name);
    list("bases", n->bases);
    list("keywords", n->keywords);
    list("body", n->body);
    return list("decorator_list", n->decoratorList);
  }
  case Kind::Return:
    return child("value", cast<Return>(node)->value);
  case Kind::Delete:
    return list("targets", cast<Delete>(node)->targets);
  case Kind::Assign: {
    const auto *n = cast<Assign>(node);
    list("targets", n->targets);
    return child("value", n->value);
  }
  case Kind::AugAssign: {
    const auto *n = cast<AugAssign>(node);
    child("target", n->target);
    word("op", operatorName(n->op));
    return child("value", n->value);
  }
  case Kind::AnnAssign: {
    const auto *n = cast<AnnAssign>(node);
    child("target", n->target);
    child("annotation", n->annotation);
    child("value", n->value);
    return word("simple", n->simple ? "1" : "0");
  }
  case Kind::For:
  case Kind::AsyncFor:
    return loop(cast<ForLike>(node));
  case Kind::While: {
    const auto *n = cast<While>(node);
    child("test", n->test);
    list("body", n->body);
    return list("orelse", n->orelse);
  }
  case Kind::If: {
    const auto *n = cast<If>(node);
    child("test", n->test);
    list("body", n->body);
    return list("orelse", n->orelse);
  }
  case Kind::With:
  case Kind::AsyncWith:
    return with(cast<WithLike>(node));
  case Kind::Match: {
    const auto *n = cast<Match>(node);
    child("subject", n->subject);
    return list("cases", n->cases);
  }
  case Kind::Raise: {
    const auto *n = cast<Raise>(node);
    child("exc", n->exc);
    return child("cause", n->cause);
  }
  case Kind::Try:
  case Kind::TryStar:
    return tryStatement(cast<TryLike>(node));
  case Kind::Assert: {
    const auto *n = cast<Assert>(node);
    child("test", n->test);
    return child("msg", n->msg);
  }
  case Kind::Import:
    return list("names", cast<Import>(node)->names);
  case Kind::ImportFrom: {
    const auto *n = cast<ImportFrom>(node);
    text("module", n->module);
    list("names", n->names);
    return word("level", std::to_string(n->level));
  }
  case Kind::Global:
    return names("names", cast<Global>(node)->names);
  case Kind::Nonlocal:
    return names("names", cast<Nonlocal>(node)->names);
  case Kind::ExprStmt:
    return child("value", cast<ExprStmt>(node)->value);
  default:
    return; // pass, break, continue
  }
}

//===----------------------------------------------------------------------===//
// Patterns and the rest
//===----------------------------------------------------------------------===//

void Dumper::pattern(const Pattern *node) {
  switch (node->kind) {
  case Kind::MatchValue:
    return child("value", cast<MatchValue>(node)->value);
  case Kind::MatchSingleton:
    field("value");
    return singleton(cast<MatchSingleton>(node)->value);
  case Kind::MatchSequence:
    return list("patterns", cast<MatchSequence>(node)->patterns);
  case Kind::MatchMapping: {
    const auto *n = cast<MatchMapping>(node);
    list("keys", n->keys);
    list("patterns", n->patterns);
    return text("rest", n->rest);
  }
  case Kind::MatchClass: {
    const auto *n = cast<MatchClass>(node);
    child("cls", n->cls);
    list("patterns", n->patterns);
    names("kwd_attrs", n->kwdAttrs);
    return list("kwd_patterns", n->kwdPatterns);
  }
  case Kind::MatchStar:
    return text("name", cast<MatchStar>(node)->name);
  case Kind::MatchAs: {
    const auto *n = cast<MatchAs>(node);
    child("pattern", n->pattern);
    return text("name", n->name);
  }
  case Kind::MatchOr:
    return list("patterns", cast<MatchOr>(node)->patterns);
  default:
    return;
  }
}

void Dumper::parameters(const Arguments *node) {
  list("posonlyargs", node->posonlyargs);
  list("args", node->args);
  child("vararg", node->vararg);
  list("kwonlyargs", node->kwonlyargs);
  list("kw_defaults", node->kwDefaults);
  child("kwarg", node->kwarg);
  list("defaults", node->defaults);
}

void Dumper::other(const Node *node) {
  switch (node->kind) {
  case Kind::Module:
    return list("body", cast<Module>(node)->body);
  case Kind::Expression:
    return child("body", cast<Expression>(node)->body);
  case Kind::Comprehension: {
    const auto *n = cast<Comprehension>(node);
    child("target", n->target);
    child("iter", n->iter);
    list("ifs", n->ifs);
    return word("is_async", n->isAsync ? "1" : "0");
  }
  case Kind::ExceptHandler: {
    const auto *n = cast<ExceptHandler>(node);
    child("type", n->type);
    text("name", n->name);
    return list("body", n->body);
  }
  case Kind::Arguments:
    return parameters(cast<Arguments>(node));
  case Kind::Arg: {
    const auto *n = cast<Arg>(node);
    text("arg", n->arg);
    return child("annotation", n->annotation);
  }
  case Kind::Keyword: {
    const auto *n = cast<Keyword>(node);
    text("arg", n->arg);
    return child("value", n->value);
  }
  case Kind::Alias: {
    const auto *n = cast<Alias>(node);
    text("name", n->name);
    return text("asname", n->asname);
  }
  case Kind::WithItem: {
    const auto *n = cast<WithItem>(node);
    child("context_expr", n->contextExpr);
    return child("optional_vars", n->optionalVars);
  }
  case Kind::MatchCase: {
    const auto *n = cast<MatchCase>(node);
    child("pattern", n->pattern);
    child("guard", n->guard);
    return list("body", n->body);
  }
  default:
    return;
  }
}

std::string dump(const Node *root) {
  Dumper dumper;
  dumper.tree(root);
  return std::move(dumper.out);
}

} // namespace nereid::ast
