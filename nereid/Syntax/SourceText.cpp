//===- SourceText.cpp - A source file, its lines and positions ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/SourceText.h"

#include <algorithm>

namespace nereid {

SourceText::SourceText(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)) {
  for (size_t start = 0; start < text_.size();) {
    lineStarts.push_back(static_cast<uint32_t>(start));
    size_t end = text_.find('\n', start);
    start = end == std::string::npos ? text_.size() : end + 1;
  }
}

std::string_view SourceText::line(uint32_t line) const {
  if (line == 0 || line > lineStarts.size()) {
    return {};
  }
  std::string_view all = text_;
  std::string_view rest = all.substr(lineStarts[line - 1]);
  return rest.substr(0, rest.find('\n'));
}

uint32_t SourceText::column(uint32_t lineNumber, uint32_t colOffset) const {
  std::string_view text = line(lineNumber);
  std::string_view before =
      text.substr(0, std::min<size_t>(colOffset, text.size()));
  return 1 + static_cast<uint32_t>(
                 std::count_if(before.begin(), before.end(),
                               [](char c) { return (c & 0xc0) != 0x80; }));
}

SourceLocation SourceText::location(const ast::Span &span) const {
  SourceLocation out;
  out.file = path_;
  out.line = span.line;
  out.column = column(span.line, span.colOffset);
  out.endLine = std::max(span.endLine, span.line);
  out.endColumn = column(out.endLine, span.endColOffset);
  return out;
}

std::string_view SourceText::text(const ast::Span &span) const {
  if (span.line == 0 || span.line > lineStarts.size() || span.endLine == 0 ||
      span.endLine > lineStarts.size()) {
    return {};
  }
  size_t begin = lineStarts[span.line - 1] + size_t(span.colOffset);
  size_t end = lineStarts[span.endLine - 1] + size_t(span.endColOffset);
  if (begin > end || end > text_.size()) {
    return {};
  }
  return std::string_view(text_).substr(begin, end - begin);
}

Diagnostic SourceText::error(const ast::Span &span, std::string message,
                             std::string hint) const {
  Diagnostic out;
  out.location = location(span);
  out.message = std::move(message);
  out.sourceLine = std::string(line(span.line));
  out.hint = std::move(hint);
  return out;
}

} // namespace nereid
