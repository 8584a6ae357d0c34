//===- Ast.h - The syntax tree ----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every node of the tree, which is CPython 3.11's `ast` one to one: the same
// classes, the same fields (in lowerCamel), the same positions.
//
//   if (const auto *def = ast::dynCast<ast::FunctionDef>(stmt)) ...
//   switch (expr->kind) { case ast::Kind::BinOp: ... }
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_AST_H
#define NEREID_SYNTAX_AST_H

#include "nereid/Syntax/Expr.h"
#include "nereid/Syntax/Stmt.h"

#endif // NEREID_SYNTAX_AST_H
