//===- Dump.h - A tree as text ----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_DUMP_H
#define NEREID_SYNTAX_DUMP_H

#include "nereid/Syntax/Ast.h"

#include <string>

namespace nereid::ast {

/// One node a line, indented by its depth, with its field, its CPython class,
/// its position and what it holds itself:
///
///   Module
///    body[0]=Assign 1:0-1:5
///     targets[0]=Name 1:0-1:1 id='x' ctx=Store
///     value=Constant 1:4-1:5 value=int:5
///
/// Fields that are None or empty are left out. Two trees have the same text
/// exactly when CPython's `ast` holds them equal, positions included.
std::string dump(const Node *root);

} // namespace nereid::ast

#endif // NEREID_SYNTAX_DUMP_H
