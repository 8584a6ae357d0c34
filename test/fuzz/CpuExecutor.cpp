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
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace nereid::fuzz {

namespace {

class CpuExecutor : public Executor {
public:
  CpuExecutor(std::string label, cpu::CpuTarget target, std::string fault)
      : label(std::move(label)), target(std::move(target)),
        fault(std::move(fault)) {}

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
    if (!fault.empty() && plantFault(module) && !cpu::runsHere(target)) {
      return Status(ErrorCode::Unsupported,
                    "the program has '" + fault +
                        "', which this machine cannot run");
    }
    tile::expandMath(module, mathOptionsOf(target));
    if (Status status = convertToLLVM(module); !status.ok()) {
      return status;
    }
    if (!cpu::runsHere(target)) {
      Prepared prepared;
      prepared.compileOnly = true;
      return prepared;
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
  /// Makes the right operand of each such instruction, its last one, the left
  /// one. Is there any?
  bool plantFault(mlir::ModuleOp module) {
    bool found = false;
    module.walk([&](mlir::LLVM::CallIntrinsicOp call) {
      if (call.getIntrin().contains("." + fault)) {
        unsigned last = call->getNumOperands() - 1;
        call->setOperand(last, call->getOperand(last - 1));
        found = true;
      }
    });
    return found;
  }

  std::string label;
  cpu::CpuTarget target;
  std::string fault; ///< the instruction that is wrong; empty: none
};

} // namespace

Expected<std::unique_ptr<Executor>> makeCpuExecutor(const std::string &name) {
  static constexpr std::string_view mark = ":fault=";
  size_t colon = std::min(name.find(':'), name.size());
  std::string fault;
  if (colon < name.size()) {
    if (name.compare(colon, mark.size(), mark) != 0 ||
        name.size() == colon + mark.size()) {
      return Status(ErrorCode::NotFound,
                    "no executor '" + name +
                        "'; expected TARGET or TARGET:fault=INSTRUCTION");
    }
    fault = name.substr(colon + mark.size());
  }
  Expected<cpu::CpuTarget> target = cpu::resolve(name.substr(0, colon));
  if (!target.ok()) {
    return target.status();
  }
  if (fault.empty() && !cpu::runsHere(*target)) {
    return Status(ErrorCode::Unsupported, "this machine cannot run " + name);
  }
  return std::unique_ptr<Executor>(new CpuExecutor(name, *target, fault));
}

void registerExecutorDialects(mlir::DialectRegistry &registry) {
  registerTileToCPUDialects(registry);
  registerTileGPUToLLVMDialects(registry);
  nvptx::registerTargets(registry);
  amdgpu::registerTargets(registry);
  target::registerTranslations(registry);
}

} // namespace nereid::fuzz
