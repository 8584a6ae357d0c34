//===- LoopIndex.cpp - A loop's variable after its loop ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Triton leaves it undefined; here it is what Python has, where it is read.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

/// The loops of a body over a variable of this name.
static void loopsOver(ast::Body body, llvm::StringRef name,
                      llvm::SmallVectorImpl<ast::Span> &spans) {
  for (const ast::Stmt *statement : body) {
    if (const auto *loop = ast::dynCast<ast::For>(statement)) {
      const auto *target = ast::dynCast<ast::Name>(loop->target);
      if (target && name == llvm::StringRef(target->id)) {
        spans.push_back(loop->span);
        continue; // with what it holds
      }
      loopsOver(loop->body, name, spans);
    } else if (const auto *loop = ast::dynCast<ast::While>(statement)) {
      loopsOver(loop->body, name, spans);
    } else if (const auto *branch = ast::dynCast<ast::If>(statement)) {
      for (; branch; branch = ast::elifOf(branch)) {
        loopsOver(branch->body, name, spans);
        if (!ast::elifOf(branch)) {
          loopsOver(branch->orelse, name, spans);
        }
      }
    }
  }
}

/// Whether the function names a loop's variable outside of the loops over it,
/// by its text: where it does not, nothing is emitted for it.
bool Evaluator::isReadElsewhere(const ast::Name &target) const {
  const Function *function = frame->function.get();
  if (!function || !function->def) {
    return false;
  }
  llvm::StringRef name(target.id);
  llvm::SmallVector<ast::Span> loops;
  loopsOver(function->def->body, name, loops);
  // Loops and places are both in order.
  const ast::Span *next = loops.begin();
  auto isInLoop = [&](uint32_t line, uint32_t column) {
    auto at = std::pair(line, column);
    while (next != loops.end() &&
           at >= std::pair(next->endLine, next->endColOffset)) {
      ++next;
    }
    return next != loops.end() && at >= std::pair(next->line, next->colOffset);
  };
  const ast::Span &whole = function->def->span;
  const SourceText &source = function->module->parsed->source;
  for (uint32_t line = whole.line; line <= whole.endLine; ++line) {
    llvm::StringRef text(source.line(line));
    text = text.take_until([](char c) { return c == '#'; });
    size_t at = 0;
    while ((at = text.find(name, at)) != llvm::StringRef::npos) {
      auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
      bool starts = at == 0 || !isWord(text[at - 1]);
      bool ends =
          at + name.size() == text.size() || !isWord(text[at + name.size()]);
      if (starts && ends && !isInLoop(line, static_cast<uint32_t>(at))) {
        return true;
      }
      at += name.size();
    }
  }
  return false;
}

/// As in Python: the index of the last iteration; without one, what the
/// variable was before (where it was nothing, the loop's start).
void Evaluator::bindLastIndex(const LoopIndex &loop) {
  using namespace mlir::arith;
  const Tensor &lower = loop.bounds[0], &upper = loop.bounds[1];
  Tensor one = emitter.constant(loop.type, Int{1});
  // A step of 0 would divide by it, though the loop never ends.
  Tensor step{emitter.create<MaxUIOp>(loop.bounds[2].value, one.value),
              loop.type};
  Tensor inside = emitter.sub(emitter.sub(upper, lower), one);
  Tensor steps{emitter.create<DivUIOp>(inside.value, step.value), loop.type};
  Tensor distance = emitter.mul(steps, step);
  Tensor last = loop.reversed ? emitter.sub(upper, distance)
                              : emitter.add(lower, distance);
  Tensor before = loop.reversed ? upper : lower;
  if (loop.before.isNumber() || loop.before.isTensor()) {
    Diagnostics::Mark mark = diag.mark();
    FailureOr<Tensor> value = emitter.toTensor(loop.before);
    bool isIndex =
        succeeded(value) && !value->isBlock() && value->type.isInteger();
    if (isIndex) {
      value = emitter.cast(*value, loop.type);
    }
    if (failed(value)) {
      diag.forget(mark); // too wide for 64 bits
    } else if (isIndex) {
      before = *value;
    }
  }
  Tensor runs{emitter.create<CmpIOp>(loop.type.isUnsignedInt()
                                         ? CmpIPredicate::ult
                                         : CmpIPredicate::slt,
                                     lower.value, upper.value),
              DType::Int1};
  bind(loop.target->id,
       {Value(emitter.select(runs, last, before)), false, loop.target->span});
}

} // namespace nereid::irgen
