//===- SourceText.h - A source file, its lines and positions ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text as the lexer reads it: UTF-8 (decoded from the declared encoding),
// without a byte order mark, every line ended by '\n'.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_SOURCETEXT_H
#define NEREID_SYNTAX_SOURCETEXT_H

#include "nereid/ABI/Status.h"
#include "nereid/Syntax/Node.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid {

class SourceText {
public:
  SourceText() = default;
  /// `text` is UTF-8 with '\n' line ends.
  SourceText(std::string path, std::string text);

  const std::string &path() const { return path_; }
  const std::string &text() const { return text_; }
  size_t lineCount() const { return lineStarts.size(); }

  /// Line `line` (from 1) without its line end; empty outside the file.
  std::string_view line(uint32_t line) const;

  /// For diagnostics: columns in characters from 1, clamped to the line.
  SourceLocation location(const ast::Span &span) const;

  /// The text a span covers, empty for one outside the file.
  std::string_view text(const ast::Span &span) const;

  /// An error at `span`, with its source line filled in.
  Diagnostic error(const ast::Span &span, std::string message,
                   std::string hint = {}) const;

private:
  uint32_t column(uint32_t line, uint32_t colOffset) const;

  std::string path_;
  std::string text_;
  std::vector<uint32_t> lineStarts; ///< byte offset of each line
};

} // namespace nereid

#endif // NEREID_SYNTAX_SOURCETEXT_H
