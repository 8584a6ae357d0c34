//===- Frame.h - One call in evaluation ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_FRAME_H
#define NEREID_IRGEN_EVAL_FRAME_H

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

struct Evaluator::Frame {
  Frame *parent = nullptr;
  std::shared_ptr<const Function> function; ///< null: module level
  std::shared_ptr<SourceModule> module;
  std::shared_ptr<Scope> scope;
  bool isKernel = false;
  std::vector<Value> yields; ///< of a generator of the host: all at once
  Scope entry; ///< of a jit function: its parameters, as it was called
  unsigned loopDepth = 0; ///< run-time loops around the current statement
  unsigned depth = 0;     ///< frames below
  /// While branches are evaluated: what each assignment replaced.
  struct Undo {
    std::string name;
    std::optional<Scope::Binding> old;
  };
  std::vector<Undo> journal;
  unsigned journalling = 0;
  llvm::StringMap<bool> pendingConstexpr; ///< bare `x: tl.constexpr`
  /// Of the host: names that `global` (true) and `nonlocal` declare.
  llvm::StringMap<bool> outerNames;
  /// Of a statement at module level that is evaluated; 0: none.
  uint32_t statementLine = 0;
  bool isModuleCode = false; ///< run by exec: each name is a global
};

inline bool Evaluator::inKernel() const { return frame && frame->isKernel; }

/// One call of a function, or the evaluation of something at module level.
class Evaluator::FrameScope {
public:
  FrameScope(Evaluator &evaluator, std::shared_ptr<SourceModule> module,
             std::shared_ptr<const Function> function, bool isKernel,
             std::shared_ptr<Scope> scope, const SourceText *source = nullptr);
  ~FrameScope();
  FrameScope(const FrameScope &) = delete;
  FrameScope &operator=(const FrameScope &) = delete;

private:
  Evaluator &evaluator;
  LanguageVersion languageBefore;
  Frame own;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_FRAME_H
