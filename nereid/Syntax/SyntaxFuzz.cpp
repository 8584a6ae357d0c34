//===- SyntaxFuzz.cpp - Any bytes at all ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser either gives a tree, whose every node and position can be looked
// at, or a diagnostic with a message and a line, which can be rendered.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Dump.h"
#include "nereid/Syntax/Parser.h"

#include <cstdlib>

using namespace nereid;

template <typename T>
static void checkFailure(const Expected<T> &result) {
  const Failure &failure = result.failure();
  if (failure.diagnostics.size() != 1 ||
      failure.diagnostics[0].message.empty() ||
      failure.diagnostics[0].location.line == 0 || failure.str().empty()) {
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  auto module = parseModule("fuzz.py", text);
  if (module.ok()) {
    ast::dump((*module)->module);
    for (const ast::Stmt *statement : (*module)->module->body) {
      (*module)->source.location(statement->span);
      (*module)->source.text(statement->span);
    }
  } else {
    checkFailure(module);
  }
  auto expression = parseExpression("fuzz", std::move(text));
  if (expression.ok()) {
    ast::dump((*expression)->expr);
  } else {
    checkFailure(expression);
  }
  return 0;
}
