//===- IgnoredOptions.cpp - Options that change nothing -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/IgnoredOptions.h"

#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"
#include "nereid/Pipeline/CheckedOptions.h"
#include "nereid/Pipeline/Diagnostics.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace nereid {

static std::string listOf(ArrayRef<std::string> names) {
  return llvm::join(names, ", ") + (names.size() == 1 ? " has" : " have");
}

std::vector<Diagnostic> ignoredLoopHints(func::FuncOp kernel,
                                         const Source &source,
                                         const std::string &target,
                                         bool copiesAhead, bool rolesOfWarps) {
  std::vector<Diagnostic> found;
  kernel.walk([&](LoopLikeOpInterface loop) {
    SmallVector<std::string> names;
    std::string hint;
    for (StringRef name :
         {"num_stages", "loop_unroll_factor", "flatten", "warp_specialize",
          "disallow_acc_multi_buffer", "disable_licm"}) {
      auto value = loop->getAttr("tile." + name.str());
      // One stage asks for nothing to run ahead.
      auto stages = dyn_cast_or_null<IntegerAttr>(value);
      bool holds = name == "num_stages" &&
                   (copiesAhead || (stages && stages.getInt() <= 1));
      holds |= name == "warp_specialize" && rolesOfWarps;
      if (value && !holds) {
        names.push_back(name.str());
      }
    }
    if (names.empty()) {
      return;
    }
    Diagnostic said = makeDiagnostic(
        loop.getLoc(), Severity::Warning,
        listOf(names) + " no effect on this loop for " + target, source);
    if (llvm::is_contained(names, "loop_unroll_factor")) {
      said.hint = "tl.static_range unrolls a loop";
    }
    found.push_back(std::move(said));
  });
  return found;
}

static std::vector<Diagnostic> warningAt(func::FuncOp kernel,
                                         const CompileRequest &request,
                                         std::string message) {
  return {makeDiagnostic(kernel.getLoc(), Severity::Warning, std::move(message),
                         request.source)};
}

/// Options that only some GPUs have stand in kernels for all of them: it is no
/// mistake that others ignore them.
static void reportMatrixOptions(func::FuncOp kernel,
                                const CompileOptions &options,
                                const std::string &target) {
  const CompileOptions defaults;
  SmallVector<std::string> names;
  std::pair<uint32_t CompileOptions::*, const char *> table[] = {
      {&CompileOptions::wavesPerUnit, "waves_per_eu"},
      {&CompileOptions::matrixSize, "matrix_instr_nonkdim"}};
  for (auto [member, name] : table) {
    if (options.*member != defaults.*member) {
      names.push_back(name);
    }
  }
  if (!names.empty()) {
    reportDecision(kernel, [&] {
      return Decision{"option", listOf(names) + " no effect on " + target, "",
                      "only GPUs of AMD have such a choice", ""};
    });
  }
}

std::vector<Diagnostic> optionsIgnoredOnHost(func::FuncOp kernel,
                                             const CompileRequest &request,
                                             const std::string &target) {
  const CompileOptions &options = request.options, defaults;
  SmallVector<std::string> names;
  auto check = [&](uint32_t CompileOptions::*member, const char *name) {
    if (options.*member != defaults.*member) {
      names.push_back(name);
    }
  };
  check(&CompileOptions::numWarps, "num_warps");
  check(&CompileOptions::numStages, "num_stages");
  if (!names.empty()) {
    reportDecision(kernel, [&] {
      return Decision{"option", listOf(names) + " no effect on " + target, "",
                      "programs are functions of one thread there", ""};
    });
    names.clear();
  }
  reportMatrixOptions(kernel, options, target);
  check(&CompileOptions::numCtas, "num_ctas");
  check(&CompileOptions::maxRegisters, "maxnreg");
  check(&CompileOptions::minRegisters, "minnreg");
  if (names.empty()) {
    return {};
  }
  return warningAt(kernel, request,
                   "kernel '" + request.kernel + "': " + listOf(names) +
                       " no effect on " + target);
}

std::vector<Diagnostic> optionsIgnoredOnGpu(func::FuncOp kernel,
                                            const CompileRequest &request,
                                            const tilegpu::TargetInfo &target) {
  const CompileOptions &options = request.options, defaults;
  std::vector<Diagnostic> found;
  if (!takesMatrixOptions(target)) {
    reportMatrixOptions(kernel, options, target.name);
  }
  if (options.numCtas != defaults.numCtas) {
    found = warningAt(kernel, request,
                      "kernel '" + request.kernel +
                          "': num_ctas has no effect on " + target.name +
                          ": a program is one block");
  }
  bool runsAhead = kernel
                       ->walk([](Operation *op) {
                         return isa<tilegpu::CopyAsyncOp, tilegpu::CopyTileOp,
                                    tilegpu::PrefetchOp>(op)
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       })
                       .wasInterrupted();
  // One stage asks for nothing to run ahead.
  if (options.numStages > 1 && options.numStages != defaults.numStages &&
      !runsAhead) {
    auto more = warningAt(kernel, request,
                          "kernel '" + request.kernel +
                              "': num_stages has no effect: none of its loads "
                              "runs ahead");
    more.front().hint = "NEREID_LOG=dispatch tells why";
    found.push_back(std::move(more.front()));
  }
  return found;
}

} // namespace nereid
