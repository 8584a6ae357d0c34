//===- Status.cpp - Errors as values, and diagnostics ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/Status.h"

#include <algorithm>

namespace nereid {

const char *name(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "invalid argument";
  case ErrorCode::CompileError:
    return "compile error";
  case ErrorCode::NotFound:
    return "not found";
  case ErrorCode::Unsupported:
    return "unsupported";
  case ErrorCode::OutOfMemory:
    return "out of memory";
  case ErrorCode::IoError:
    return "input/output error";
  case ErrorCode::KernelFault:
    return "kernel fault";
  case ErrorCode::Internal:
    return "internal error";
  }
  return "error";
}

static const char *word(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  case Severity::Remark:
    return "remark";
  }
  return "error";
}

/// A text with a 0 would end there for everyone who asks Error::what().
static std::string withoutZeros(std::string text) {
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) {
    text.replace(at, 1, "\xEF\xBF\xBD"); // U+FFFD, one column as well
  }
  return text;
}

static size_t countCharacters(const std::string &text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

static void appendCaret(std::string &out, const Diagnostic &d) {
  out += "  " + d.sourceLine + "\n  ";
  // Tabs are repeated under the line, so that the caret stands where the
  // reader's terminal puts the character.
  uint32_t column = 1;
  for (char c : d.sourceLine) {
    if (column >= d.location.column) {
      break;
    }
    if ((c & 0xc0) != 0x80) {
      out += c == '\t' ? '\t' : ' ';
      ++column;
    }
  }
  uint32_t lineEnd = countCharacters(d.sourceLine) + 1;
  uint32_t end =
      d.location.endLine > d.location.line ? lineEnd : d.location.endColumn;
  end = std::clamp(end, d.location.column + 1,
                   std::max(lineEnd, d.location.column + 1));
  out += std::string(end - d.location.column, '^') + "\n";
}

std::string render(const Diagnostic &d) {
  std::string out;
  if (!d.location.file.empty()) {
    out += d.location.file + ":";
    if (d.location.line) {
      out += std::to_string(d.location.line) + ":" +
             std::to_string(d.location.column) + ":";
    }
    out += " ";
  }
  out += std::string(word(d.severity)) + ": " + d.message + "\n";
  if (d.location.line && !d.sourceLine.empty()) {
    appendCaret(out, d);
  }
  if (!d.hint.empty()) {
    out += "  hint: " + d.hint + "\n";
  }
  for (const Diagnostic &note : d.notes) {
    out += render(note);
  }
  return withoutZeros(std::move(out));
}

std::string Failure::str() const {
  // The first diagnostic often says the same, with a position.
  bool repeated = !diagnostics.empty() && diagnostics[0].message == message;
  std::string out = repeated ? "" : message;
  for (const Diagnostic &d : diagnostics) {
    if (!out.empty() && out.back() != '\n') {
      out += '\n';
    }
    out += render(d);
  }
  return withoutZeros(std::move(out));
}

} // namespace nereid
