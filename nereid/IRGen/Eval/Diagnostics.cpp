//===- Diagnostics.cpp - Messages with a call stack -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Diagnostics.h"

#include "nereid/IRGen/Eval/Budget.h"

#include "nereid/Support/EditDistance.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nereid::irgen {

Diagnostic Diagnostics::make(Severity severity, const ast::Span &span,
                             std::string message, std::string hint) const {
  Diagnostic result;
  result.severity = severity;
  result.message = std::move(message);
  result.hint = std::move(hint);
  // The user's own code is what a message is about: step out of the library.
  size_t depth = stack.size();
  while (depth > 1 && stack[depth - 1].isLibrary) {
    --depth;
  }
  auto place = [](Diagnostic &out, const Frame &frame, const ast::Span &at) {
    if (frame.source) {
      out.location = frame.source->location(at);
      out.sourceLine = std::string(frame.source->line(at.line));
    }
  };
  bool innermost = depth == stack.size();
  if (depth > 0) {
    place(result, stack[depth - 1], innermost ? span : stack[depth - 1].span);
  }
  if (!innermost) {
    Diagnostic note;
    note.severity = Severity::Note;
    note.message = "in the library function '" + stack.back().function + "'";
    place(note, stack.back(), span);
    result.notes.push_back(std::move(note));
  }
  for (size_t i = depth; i-- > 1;) {
    Diagnostic note;
    note.severity = Severity::Note;
    const std::string &caller = stack[i - 1].function;
    note.message =
        "called from " + (caller.empty() ? "here" : "'" + caller + "'");
    place(note, stack[i - 1], stack[i - 1].span);
    result.notes.push_back(std::move(note));
  }
  return result;
}

/// What follows an exceeded budget is its consequence.
LogicalResult Diagnostics::error(std::string message, std::string hint) {
  if (const Budget::Problem *problem = Budget::exceeded()) {
    message = problem->message;
    hint = problem->hint;
  }
  return error(stack.empty() ? ast::Span() : stack.back().span,
               std::move(message), std::move(hint));
}

LogicalResult Diagnostics::error(const ast::Span &span, std::string message,
                                 std::string hint) {
  if (errors.empty()) {
    errors.push_back(
        make(Severity::Error, span, std::move(message), std::move(hint)));
  }
  return failure();
}

std::string Diagnostics::reason() const {
  if (errors.empty()) {
    return "";
  }
  // The innermost reason says it; what it caused repeats it.
  const Diagnostic &first = errors.front();
  static constexpr llvm::StringLiteral because = ", which is not known: ";
  auto [effect, cause] = llvm::StringRef(first.message).split(because);
  return cause.empty() ? first.message + " (" + first.location.file + ":" +
                             std::to_string(first.location.line) + ")"
                       : cause.str();
}

void Diagnostics::warning(std::string message, std::string hint) {
  warning(stack.empty() ? ast::Span() : stack.back().span, std::move(message),
          std::move(hint));
}

void Diagnostics::warning(const ast::Span &span, std::string message,
                          std::string hint) {
  Diagnostic made =
      make(Severity::Warning, span, std::move(message), std::move(hint));
  bool known = llvm::any_of(warnings, [&](const Diagnostic &other) {
    return other.message == made.message &&
           other.location.line == made.location.line &&
           other.location.column == made.location.column;
  });
  if (!known) {
    warnings.push_back(std::move(made));
  }
}

void Diagnostics::note(const ast::Span &span, std::string message) {
  if (errors.empty() || stack.empty()) {
    return;
  }
  Diagnostic made = make(Severity::Note, span, std::move(message), {});
  made.notes.clear();
  std::vector<Diagnostic> &notes = errors.back().notes;
  notes.insert(notes.begin(), std::move(made));
}

Failure Diagnostics::takeFailure() {
  Failure result;
  result.code = ErrorCode::CompileError;
  result.message = errors.empty() ? "compilation failed" : errors[0].message;
  result.diagnostics = std::move(errors);
  errors.clear();
  return result;
}

void Diagnostics::forget(Mark mark) {
  errors.resize(mark.errors);
  warnings.resize(mark.warnings);
  dueToHost = isUnforgivable = false;
  exception.clear();
}

std::string suggestion(llvm::StringRef name,
                       llvm::ArrayRef<std::string> candidates) {
  std::optional<std::string> near = closestName(
      std::string_view(name.data(), name.size()),
      std::span<const std::string>(candidates.data(), candidates.size()));
  return near ? "did you mean '" + *near + "'?" : std::string();
}

std::string choices(llvm::StringRef name,
                    llvm::ArrayRef<std::string> candidates) {
  std::string near = suggestion(name, candidates);
  if (!near.empty()) {
    return near;
  }
  constexpr size_t mostShown = 12;
  size_t count = candidates.size();
  if (count == 0) {
    return "there are none";
  }
  return count > mostShown
             ? "there are " + std::to_string(count) + ", and none is similar"
             : (count == 1 ? "there is " : "there are ") +
                   llvm::join(candidates, ", ");
}

} // namespace nereid::irgen
