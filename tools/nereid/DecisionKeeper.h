//===- DecisionKeeper.h - A compiler that keeps its decisions ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_DECISIONKEEPER_H
#define NEREID_TOOLS_NEREID_DECISIONKEEPER_H

#include "nereid/ABI/ForwardingCompiler.h"

#include <mutex>

namespace nereid {

/// Another compiler, and keeps what each compilation decided, by the
/// code that came of it.
class DecisionKeeper : public ForwardingCompiler {
public:
  using ForwardingCompiler::ForwardingCompiler;

  std::vector<ToldDecision> decisionsOf(const std::string &code) {
    std::lock_guard lock(mutex);
    return decisions[code];
  }

  Expected<CompileResult> compile(const CompileRequest &request) override {
    CompileRequest asked = request;
    asked.wantsDecisions = true;
    Expected<CompileResult> result = compiler->compile(asked);
    if (result.ok()) {
      const std::vector<std::byte> &code = result->image.code;
      std::lock_guard lock(mutex);
      decisions[{reinterpret_cast<const char *>(code.data()), code.size()}] =
          result->decisions;
    }
    return result;
  }

private:
  std::mutex mutex;
  std::map<std::string, std::vector<ToldDecision>> decisions;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_DECISIONKEEPER_H
