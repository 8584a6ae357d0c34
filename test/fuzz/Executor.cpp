//===- Executor.cpp - What can run a Tile program -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Executor.h"

#include "nereid/Interp/Interp.h"
#include "nereid/Support/Files.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::fuzz {

void saveAssembly(const Prepared &prepared, const std::string &folder,
                  const std::string &name, unsigned executor) {
  if (folder.empty() || prepared.assembly.empty()) {
    return;
  }
  std::string number = executor ? "." + std::to_string(executor) : "";
  bool isCodeObject = prepared.assembly.starts_with("\x7f"
                                                    "ELF");
  Status status = writeFileAtomically(folder + "/" + name + number +
                                          (isCodeObject ? ".hsaco" : ".ptx"),
                                      prepared.assembly);
  if (!status.ok()) {
    llvm::errs() << "error: " << status.failure().message << "\n";
    std::exit(1);
  }
}

/// A pass with a bug, which the fuzzer must find and shrink to one operation.
static constexpr const char *broken = "broken-on-purpose";

namespace {

/// The interpreter, after a pass pipeline (none if empty).
class InterpExecutor : public Executor {
public:
  explicit InterpExecutor(std::string pipeline)
      : pipeline(std::move(pipeline)) {}

  std::string name() const override {
    return pipeline.empty() ? "interp" : pipeline;
  }

  Expected<Prepared> prepare(mlir::ModuleOp module,
                             const std::string &kernel) override {
    if (Status status = runPipeline(module); !status.ok()) {
      return status;
    }
    auto interpreter = interp::Interpreter::create(module, kernel);
    if (!interpreter.ok()) {
      return interpreter.status();
    }
    Prepared prepared;
    std::shared_ptr<interp::Interpreter> owner = std::move(*interpreter);
    prepared.code.entry = interp::Interpreter::entry;
    prepared.code.self = owner.get();
    prepared.code.owner = std::move(owner);
    return prepared;
  }

private:
  Status runPipeline(mlir::ModuleOp module) {
    if (pipeline.empty()) {
      return Status::success();
    }
    if (pipeline == broken) {
      module.walk([](mlir::arith::SubFOp op) {
        mlir::Value lhs = op.getLhs();
        op.setOperand(0, op.getRhs());
        op.setOperand(1, lhs);
      });
      return Status::success();
    }
    mlir::PassManager manager(module.getContext());
    // Passes over functions and pipelines over modules read alike.
    std::string text =
        pipeline == "tile-pipeline" ? pipeline : "func.func(" + pipeline + ")";
    if (mlir::failed(mlir::parsePassPipeline(text, manager)) ||
        mlir::failed(manager.run(module))) {
      return Status(ErrorCode::Internal, "the pass failed: " + pipeline);
    }
    return Status::success();
  }

  std::string pipeline;
};

} // namespace

static const char *const passes[] = {broken,
                                     "canonicalize",
                                     "cse",
                                     "loop-invariant-code-motion",
                                     "tile-simplify",
                                     "tile-scalarize-induction",
                                     "tile-expand-maps",
                                     "tile-pipeline"};

static const char *const cpuTargets[] = {
    "cpu",       "x86-64",         "x86-64-v2",    "x86-64-v3",
    "x86-64-v4", "x86-64-v4-bf16", "x86-64-v4-amx"};

std::vector<std::string> executorNames() {
  std::vector<std::string> names = {"interp"};
  names.insert(names.end(), std::begin(passes), std::end(passes));
  names.insert(names.end(), std::begin(cpuTargets), std::end(cpuTargets));
  names.insert(names.end(), {"x86-64...:fault=INSTRUCTION",
                             "cuda:WARPS[:STAGES]", "hip:WARPS[:STAGES]",
                             "sm_90a:WARPS[:STAGES]", "gfx942:WARPS[:STAGES]"});
  return names;
}

Expected<std::unique_ptr<Executor>> makeExecutor(const std::string &name) {
  if (name == "interp") {
    return std::unique_ptr<Executor>(new InterpExecutor(""));
  }
  for (const char *pass : passes) {
    if (name == pass) {
      return std::unique_ptr<Executor>(new InterpExecutor(name));
    }
  }
  for (const char *target : cpuTargets) {
    if (name.substr(0, name.find(':')) == target) {
      return makeCpuExecutor(name);
    }
  }
  if (name.starts_with("cuda:") || name.starts_with("hip:") ||
      name.starts_with("sm_") || name.starts_with("gfx")) {
    return makeGpuExecutor(name);
  }
  std::string known;
  for (const std::string &other : executorNames()) {
    known += " " + other;
  }
  return Status(ErrorCode::NotFound,
                "no executor '" + name + "'; there are:" + known);
}

/// The executor; null where this machine cannot run it.
static std::unique_ptr<Executor> executorOrExit(const std::string &name) {
  auto executor = makeExecutor(name);
  if (executor.ok()) {
    return std::move(*executor);
  }
  if (executor.failure().code == ErrorCode::Unsupported) {
    return nullptr;
  }
  llvm::errs() << executor.failure().str() << "\n";
  std::exit(2);
}

std::vector<std::unique_ptr<Executor>>
executorsOrExit(const std::vector<std::string> &names) {
  std::vector<std::unique_ptr<Executor>> executors;
  for (const std::string &name : names) {
    if (std::unique_ptr<Executor> executor = executorOrExit(name)) {
      executors.push_back(std::move(executor));
    }
  }
  if (executors.empty() && !names.empty()) {
    std::exit(77);
  }
  return executors;
}

void announceSkipped(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    auto executor = makeExecutor(name);
    if (!executor.ok() && executor.failure().code == ErrorCode::Unsupported) {
      llvm::outs() << "skipped: " << name << ": " << executor.failure().str()
                   << "\n";
    }
  }
  llvm::outs().flush();
  executorsOrExit(names);
}

} // namespace nereid::fuzz
