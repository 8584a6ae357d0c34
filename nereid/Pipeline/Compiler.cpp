//===- Compiler.cpp - The compiler as its callers see it ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements nereid/ABI/KernelCompiler.h. How a kernel is compiled stands in
// Compilation.cpp.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/AssembledApart.h"
#include "nereid/ABI/KernelCompiler.h"

#include "nereid/IRGen/IRGen.h"
#include "nereid/Interp/Interp.h"
#include "nereid/Pipeline/BuildId.h"
#include "nereid/Pipeline/CheckedOptions.h"
#include "nereid/Pipeline/Compilation.h"
#include "nereid/Pipeline/ContextPool.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Target/NVPTX/Ptxas.h"

using namespace mlir;

namespace nereid {
namespace {

class PipelineCompiler : public KernelCompiler {
public:
  std::string buildId() const override { return getBuildId(); }

  Expected<std::string> resolveTarget(const std::string &name) override {
    auto target = nereid::resolveTarget(name);
    return target.ok() ? Expected<std::string>(nameOf(*target))
                       : target.status();
  }

  Expected<std::vector<std::string>>
  listKernels(const Source &source) override {
    return irgen::listKernels(source);
  }

  Expected<KernelDescription> describe(const Source &source,
                                       const std::string &kernel) override {
    return irgen::describe(source, kernel);
  }

  Expected<CompileResult> compile(const CompileRequest &request) override {
    auto target = nereid::resolveTarget(request.target);
    if (!target.ok()) {
      return target.status();
    }
    Status status = checkOptions(request);
    if (!status.ok()) {
      return status;
    }
    Expected<CompileResult> result = [&] {
      ContextPool::Lease context = ContextPool::shared().take();
      return Compilation(*context, request, *target).run();
    }();
    if (AssembledApart::ofThread() && result.ok() && request.emit.empty()) {
      assemble(result->image, request.options.maxRegisters);
    }
    return result;
  }

  Expected<std::vector<Diagnostic>>
  findOutside(const CompileRequest &request,
              const LaunchFacts &launch) override {
    auto target = nereid::resolveTarget(request.target);
    if (!target.ok()) {
      return target.status();
    }
    ContextPool::Lease context = ContextPool::shared().take();
    return Compilation(*context, request, *target).findOutside(launch);
  }

  Expected<std::optional<SourceOperations>>
  countOperations(const CompileRequest &request,
                  const LaunchFacts &launch) override {
    auto target = nereid::resolveTarget(request.target);
    if (!target.ok()) {
      return target.status();
    }
    ContextPool::Lease context = ContextPool::shared().take();
    return Compilation(*context, request, *target).countOperations(launch);
  }

  Expected<StaticValue> evaluate(const EvaluateRequest &request) override {
    return irgen::evaluate(request);
  }

  Expected<std::vector<HookAction>>
  runHook(const HookRequest &request) override {
    return irgen::runHook(request);
  }

  Expected<std::vector<size_t>>
  pruneConfigs(const HookRequest &request) override {
    return irgen::pruneConfigs(request);
  }

  Expected<HostCode> load(const KernelImage &image) override {
    switch (image.format) {
    case ImageFormat::HostObject:
      return cpu::loadObject(image.code, image.entry);
    case ImageFormat::TileIR:
      return interp::load(
          std::string_view(reinterpret_cast<const char *>(image.code.data()),
                           image.code.size()),
          image.entry);
    case ImageFormat::GpuAssembly:
    case ImageFormat::GpuBinary:
      break;
    }
    return {ErrorCode::Unsupported, "kernel '" + image.kernel +
                                        "' is compiled for " + image.target +
                                        ", which is not host code"};
  }

private:
  /// If this fails, the driver gets the PTX. The simulated GPU runs PTX.
  static void assemble(KernelImage &image, uint32_t maxRegisters) {
    Expected<std::string> ptxas = nvptx::findPtxas();
    if (ptxas.ok() && image.format == ImageFormat::GpuAssembly &&
        knobs().cudaDriver != "simulator") {
      (void)nvptx::assemble(*ptxas, image, maxRegisters).ok();
    }
  }
};
} // namespace

std::unique_ptr<KernelCompiler> createKernelCompiler() {
  return std::make_unique<PipelineCompiler>();
}

} // namespace nereid
