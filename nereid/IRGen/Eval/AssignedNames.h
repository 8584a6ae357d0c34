//===- AssignedNames.h - Variables that statements assign -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_ASSIGNEDNAMES_H
#define NEREID_IRGEN_EVAL_ASSIGNEDNAMES_H

#include "nereid/Syntax/Ast.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace nereid::irgen {

/// Every name that the body may bind, nested blocks included and nested
/// functions not; each once, in order of appearance.
std::vector<llvm::StringRef> assignedNames(ast::Body body);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_ASSIGNEDNAMES_H
