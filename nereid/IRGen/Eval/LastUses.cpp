//===- LastUses.cpp - Which variables still matter --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/LastUses.h"

#include "nereid/IRGen/Eval/Modules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nereid::irgen {

/// The outermost loops of a body, in order.
static void outermostLoops(ast::Body body,
                           llvm::SmallVectorImpl<ast::Span> &spans) {
  for (const ast::Stmt *statement : body) {
    if (ast::isa<ast::For>(statement) || ast::isa<ast::While>(statement)) {
      spans.push_back(statement->span);
    } else if (const auto *branch = ast::dynCast<ast::If>(statement)) {
      for (; branch; branch = ast::elifOf(branch)) {
        outermostLoops(branch->body, spans);
        if (!ast::elifOf(branch)) {
          outermostLoops(branch->orelse, spans);
        }
      }
    }
  }
}

/// By words, as they stand there: one in a comment or in a string counts too,
/// which keeps a variable that nothing reads.
static llvm::StringMap<uint32_t> findLastUses(const Function &function) {
  llvm::SmallVector<ast::Span> loops;
  outermostLoops(function.def->body, loops);
  const ast::Span *loop = loops.begin();
  llvm::StringMap<uint32_t> uses;
  const ast::Span &whole = function.def->span;
  const SourceText &source = function.module->parsed->source;
  for (uint32_t line = whole.line; line <= whole.endLine; ++line) {
    while (loop != loops.end() && loop->endLine < line) {
      ++loop;
    }
    bool isInLoop = loop != loops.end() && loop->line <= line;
    uint32_t until = isInLoop ? loop->endLine : line;
    auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    llvm::StringRef text(source.line(line));
    while (!(text = text.drop_until(isWord)).empty()) {
      llvm::StringRef word = text.take_while(isWord);
      uses[word] = until;
      text = text.drop_front(word.size());
    }
  }
  return uses;
}

bool LastUses::isNamedFrom(const Function &function, llvm::StringRef name,
                           const ast::Span &span) {
  bool isPlain = llvm::all_of(name, [](char c) { return llvm::isASCII(c); });
  if (!function.def || !isPlain) {
    return true; // Python may spell the name otherwise
  }
  auto [uses, isNew] = known.try_emplace(function.def);
  if (isNew) {
    uses->second = findLastUses(function);
  }
  auto use = uses->second.find(name);
  return use != uses->second.end() && use->second >= span.line;
}

namespace {

/// The loops over one variable, in order, those within one of them left out.
struct LoopsOver {
  llvm::SmallVector<ast::Span, 1> spans;
  size_t next = 0; ///< the first that does not end before what is read
  bool isOpen = false;
};

} // namespace

static void findLoops(ast::Body body, llvm::StringMap<LoopsOver> &loops) {
  for (const ast::Stmt *statement : body) {
    if (const auto *loop = ast::dynCast<ast::For>(statement)) {
      const auto *target = ast::dynCast<ast::Name>(loop->target);
      LoopsOver *over = target ? &loops[target->id] : nullptr;
      bool isOutermost = over && !over->isOpen;
      if (isOutermost) {
        over->spans.push_back(loop->span);
        over->isOpen = true;
      }
      findLoops(loop->body, loops);
      if (isOutermost) {
        over->isOpen = false;
      }
    } else if (const auto *loop = ast::dynCast<ast::While>(statement)) {
      findLoops(loop->body, loops);
    } else if (const auto *branch = ast::dynCast<ast::If>(statement)) {
      for (; branch; branch = ast::elifOf(branch)) {
        findLoops(branch->body, loops);
        if (!ast::elifOf(branch)) {
          findLoops(branch->orelse, loops);
        }
      }
    }
  }
}

/// Places come in order, as the loops do.
static bool isInLoop(LoopsOver &over, uint32_t line, size_t column) {
  auto at = std::pair<size_t, size_t>(line, column);
  while (over.next < over.spans.size() &&
         at >= std::pair<size_t, size_t>(over.spans[over.next].endLine,
                                         over.spans[over.next].endColOffset)) {
    ++over.next;
  }
  return over.next < over.spans.size() &&
         at >= std::pair<size_t, size_t>(over.spans[over.next].line,
                                         over.spans[over.next].colOffset);
}

static llvm::StringSet<> findNamedOutside(const Function &function) {
  llvm::StringMap<LoopsOver> loops;
  findLoops(function.def->body, loops);
  llvm::StringSet<> outside;
  // Bytes of other characters than ASCII are parts of a word.
  auto isWord = [](char c) {
    return llvm::isAlnum(c) || c == '_' || !llvm::isASCII(c);
  };
  const ast::Span &whole = function.def->span;
  const SourceText &source = function.module->parsed->source;
  for (uint32_t line = whole.line; line <= whole.endLine; ++line) {
    llvm::StringRef text(source.line(line));
    llvm::StringRef rest = text.take_until([](char c) { return c == '#'; });
    while (!(rest = rest.drop_until(isWord)).empty()) {
      llvm::StringRef word = rest.take_while(isWord);
      auto over = loops.find(word);
      if (over != loops.end() &&
          !isInLoop(over->second, line, word.data() - text.data())) {
        outside.insert(word);
      }
      rest = rest.drop_front(word.size());
    }
  }
  return outside;
}

bool LastUses::isNamedOutsideLoops(const Function &function,
                                   llvm::StringRef name) {
  if (!function.def) {
    return false;
  }
  auto [names, isNew] = outside.try_emplace(function.def);
  if (isNew) {
    names->second = findNamedOutside(function);
  }
  return names->second.contains(name);
}

} // namespace nereid::irgen
