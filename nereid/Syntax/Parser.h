//===- Parser.h - From source text to a syntax tree -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole grammar of Python 3.11: accepts what CPython 3.11's ast.parse
// accepts, with the same tree and the same positions, and rejects the rest, on
// the same line. What only CPython's later stages reject (`return` outside a
// function, a duplicate argument, ...) parses.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_PARSER_H
#define NEREID_SYNTAX_PARSER_H

#include "nereid/ABI/Status.h"
#include "nereid/Syntax/Arena.h"
#include "nereid/Syntax/Ast.h"
#include "nereid/Syntax/SourceText.h"

#include <memory>
#include <string>

namespace nereid {

/// A file, its tree, and the memory of both. Immutable after parsing, so it may
/// be shared between threads.
struct ParsedModule {
  SourceText source;
  Arena arena;
  ast::Module *module = nullptr;
};

/// As ParsedModule, for one expression.
struct ParsedExpression {
  SourceText source;
  Arena arena;
  ast::Expr *expr = nullptr;
};

/// Parses the bytes of a file. `path` is only a name, for diagnostics. The
/// encoding is UTF-8 unless a byte order mark or a coding comment in the first
/// two lines says otherwise. A Failure is a CompileError with one diagnostic.
Expected<std::shared_ptr<ParsedModule>> parseModule(std::string path,
                                                    std::string text);

/// Parses one expression, as ast.parse(text, mode="eval"): leading blanks and
/// a trailing newline are allowed. `name` stands for the file in diagnostics.
Expected<std::shared_ptr<ParsedExpression>> parseExpression(std::string name,
                                                            std::string text);

} // namespace nereid

#endif // NEREID_SYNTAX_PARSER_H
