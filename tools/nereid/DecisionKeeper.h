//===- DecisionKeeper.h - A compiler that keeps its decisions ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_DECISIONKEEPER_H
#define NEREID_TOOLS_NEREID_DECISIONKEEPER_H

#include "nereid/ABI/KernelCompiler.h"

#include <mutex>

namespace nereid {

/// Another compiler, of which it keeps what each compilation decided, by the
/// code that came of it.
class DecisionKeeper : public KernelCompiler {
public:
  explicit DecisionKeeper(std::unique_ptr<KernelCompiler> compiler)
      : compiler(std::move(compiler)) {}

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

  std::string buildId() const override { return compiler->buildId(); }
  Expected<std::string> resolveTarget(const std::string &target) override {
    return compiler->resolveTarget(target);
  }
  Expected<std::vector<std::string>>
  listKernels(const Source &source) override {
    return compiler->listKernels(source);
  }
  Expected<KernelDescription> describe(const Source &source,
                                       const std::string &kernel) override {
    return compiler->describe(source, kernel);
  }
  Expected<std::vector<Diagnostic>>
  findOutside(const CompileRequest &request,
              const LaunchFacts &launch) override {
    return compiler->findOutside(request, launch);
  }
  Expected<StaticValue> evaluate(const EvaluateRequest &request) override {
    return compiler->evaluate(request);
  }
  Expected<std::vector<HookAction>>
  runHook(const HookRequest &request) override {
    return compiler->runHook(request);
  }
  Expected<std::vector<size_t>>
  pruneConfigs(const HookRequest &request) override {
    return compiler->pruneConfigs(request);
  }
  Expected<HostCode> load(const KernelImage &image) override {
    return compiler->load(image);
  }

private:
  std::unique_ptr<KernelCompiler> compiler;
  std::mutex mutex;
  std::map<std::string, std::vector<ToldDecision>> decisions;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_DECISIONKEEPER_H
