//===- CpuExecutor.cpp - The compiled CPU targets -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Executor.h"

#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"
#include "nereid/Conversion/ToLLVM/ToLLVM.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace nereid::fuzz {

namespace {

class CpuExecutor : public Executor {
public:
  CpuExecutor(std::string label, cpu::CpuTarget target)
      : label(std::move(label)), target(std::move(target)) {}

  std::string name() const override { return label; }

  Expected<Prepared> prepare(mlir::ModuleOp module,
                             const std::string &) override {
    mlir::PassManager manager(module.getContext());
    manager.addNestedPass<mlir::func::FuncOp>(tile::createExpandMaps());
    tile::buildTilePipeline(manager);
    if (mlir::failed(manager.run(module))) {
      return Status(ErrorCode::Internal, "the Tile passes failed");
    }
    // a * b + c may be rounded once, as kernels are compiled; the bounds allow
    // for it.
    auto converted = convertTileToCPU(module, target);
    if (!converted.ok()) {
      return converted.status();
    }
    if (mlir::failed(mlir::verify(module))) {
      return Status(ErrorCode::Internal, "the loops are not valid IR");
    }
    tile::expandMath(module, mathOptionsOf(target));
    if (Status status = convertToLLVM(module); !status.ok()) {
      return status;
    }
    auto object = cpu::emitObject(module, target);
    if (!object.ok()) {
      return object.status();
    }
    auto code = cpu::loadObject(*object, converted->entry);
    if (!code.ok()) {
      return code.status();
    }
    Prepared prepared;
    prepared.code = *code;
    prepared.scratchBytes = converted->scratchBytes;
    return prepared;
  }

private:
  std::string label;
  cpu::CpuTarget target;
};

} // namespace

Expected<std::unique_ptr<Executor>> makeCpuExecutor(const std::string &name) {
  Expected<cpu::CpuTarget> target = cpu::resolve(name);
  if (!target.ok()) {
    return target.status();
  }
  if (!cpu::runsHere(*target)) {
    return Status(ErrorCode::Unsupported, "this machine cannot run " + name);
  }
  return std::unique_ptr<Executor>(new CpuExecutor(name, *target));
}

void registerExecutorDialects(mlir::DialectRegistry &registry) {
  registerTileToCPUDialects(registry);
  registerTileGPUToLLVMDialects(registry);
  nvptx::registerTargets(registry);
  target::registerTranslations(registry);
}

} // namespace nereid::fuzz
