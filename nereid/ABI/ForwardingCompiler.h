//===- ForwardingCompiler.h - A compiler in front of another ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does what another compiler does. A class that derives from it overrides what
// it changes, and calls `compiler` for the rest.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_FORWARDINGCOMPILER_H
#define NEREID_ABI_FORWARDINGCOMPILER_H

#include "nereid/ABI/KernelCompiler.h"

namespace nereid {

class ForwardingCompiler : public KernelCompiler {
public:
  explicit ForwardingCompiler(std::unique_ptr<KernelCompiler> compiler)
      : compiler(std::move(compiler)) {}

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
  Expected<CompileResult> compile(const CompileRequest &request) override {
    return compiler->compile(request);
  }
  Expected<std::vector<Diagnostic>>
  findOutside(const CompileRequest &request,
              const LaunchFacts &launch) override {
    return compiler->findOutside(request, launch);
  }
  Expected<std::optional<SourceOperations>>
  countOperations(const CompileRequest &request,
                  const LaunchFacts &launch) override {
    return compiler->countOperations(request, launch);
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

protected:
  std::unique_ptr<KernelCompiler> compiler;
};

} // namespace nereid

#endif // NEREID_ABI_FORWARDINGCOMPILER_H
