//===- Parser.cpp - From source text to a syntax tree ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parser.h"

#include "nereid/Syntax/Lex/Decode.h"
#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid {

static Failure failureOf(const SourceText &source,
                         const syntax::Problem &problem) {
  Diagnostic diagnostic =
      source.error(problem.span, problem.message, problem.hint);
  if (!problem.note.empty()) {
    Diagnostic note = source.error(problem.noteSpan, problem.note);
    note.severity = Severity::Note;
    diagnostic.notes.push_back(std::move(note));
  }
  return Failure{ErrorCode::CompileError, "", {std::move(diagnostic)}};
}

Expected<std::shared_ptr<ParsedModule>> parseModule(std::string path,
                                                    std::string text) {
  auto out = std::make_shared<ParsedModule>();
  std::optional<syntax::Problem> problem = syntax::decodeSource(text);
  out->source = SourceText(std::move(path), std::move(text));
  if (problem) {
    return failureOf(out->source, *problem);
  }
  syntax::PythonParser parser(out->arena, out->source.text());
  out->module = parser.parseFile();
  if (!out->module) {
    return failureOf(out->source, parser.problem());
  }
  return out;
}

Expected<std::shared_ptr<ParsedExpression>> parseExpression(std::string name,
                                                            std::string text) {
  auto out = std::make_shared<ParsedExpression>();
  // CPython's eval strips these too, so that " 1" is no unexpected indent.
  text.erase(0, text.find_first_not_of(" \t"));
  std::optional<syntax::Problem> problem = syntax::decodeSource(text);
  out->source = SourceText(std::move(name), std::move(text));
  if (problem) {
    return failureOf(out->source, *problem);
  }
  syntax::PythonParser parser(out->arena, out->source.text());
  out->expr = parser.parseEval();
  if (!out->expr) {
    return failureOf(out->source, parser.problem());
  }
  return out;
}

} // namespace nereid
