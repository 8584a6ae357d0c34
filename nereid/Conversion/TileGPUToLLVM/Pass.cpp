//===- Pass.cpp - The conversion as a pass --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"
#include "nereid/Dialect/Tile/IR/Kernel.h"

using namespace mlir;

namespace nereid {

#define GEN_PASS_DEF_TILEGPUTOLLVM
#include "nereid/Conversion/TileGPUToLLVM/Passes.h.inc"

/// i32, on the kernel: threads of a block.
static constexpr StringLiteral threadsAttr = "tilegpu.threads";
/// i32: bytes of dynamic shared memory of a block.
static constexpr StringLiteral sharedBytesAttr = "tilegpu.shared_bytes";
/// Unit: the last parameter is a fault record.
static constexpr StringLiteral faultRecordAttr = "tilegpu.fault_record";
/// A bool for each parameter of the source: is it written?
static constexpr StringLiteral writtenAttr = "tilegpu.written";

static void describe(LLVM::LLVMFuncOp kernel, const GpuKernelInfo &info) {
  Builder b(kernel.getContext());
  kernel->setAttr(threadsAttr, b.getI32IntegerAttr(info.threads));
  kernel->setAttr(sharedBytesAttr, b.getI32IntegerAttr(info.sharedBytes));
  if (info.registers) {
    kernel->setAttr(tilegpu::registersAttr,
                    b.getI32IntegerAttr(info.registers));
  }
  if (info.mostRegisters) {
    kernel->setAttr(tilegpu::mostRegistersAttr,
                    b.getI32IntegerAttr(info.mostRegisters));
  }
  if (!info.tensorMaps.empty()) {
    SmallVector<Attribute> maps(info.tensorMaps.begin(), info.tensorMaps.end());
    kernel->setAttr(tilegpu::tensorMapAttr, b.getArrayAttr(maps));
  }
  if (info.hasFaultRecord) {
    kernel->setAttr(faultRecordAttr, b.getUnitAttr());
  }
  SmallVector<bool> written(info.writtenParameters.begin(),
                            info.writtenParameters.end());
  kernel->setAttr(writtenAttr, b.getDenseBoolArrayAttr(written));
}

Expected<GpuKernelInfo> readGpuKernel(ModuleOp module) {
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    auto threads = kernel->getAttrOfType<IntegerAttr>(threadsAttr);
    auto shared = kernel->getAttrOfType<IntegerAttr>(sharedBytesAttr);
    auto written = kernel->getAttrOfType<DenseBoolArrayAttr>(writtenAttr);
    if (threads && shared && written) {
      ArrayRef<bool> list = written.asArrayRef();
      auto registers =
          kernel->getAttrOfType<IntegerAttr>(tilegpu::registersAttr);
      auto most =
          kernel->getAttrOfType<IntegerAttr>(tilegpu::mostRegistersAttr);
      GpuKernelInfo info;
      info.entry = kernel.getSymName().str();
      info.threads = threads.getInt();
      info.sharedBytes = shared.getInt();
      info.registers = registers ? registers.getInt() : 0;
      info.mostRegisters = most ? most.getInt() : 0;
      info.hasFaultRecord = kernel->hasAttr(faultRecordAttr);
      info.writtenParameters.assign(list.begin(), list.end());
      if (auto maps =
              kernel->getAttrOfType<ArrayAttr>(tilegpu::tensorMapAttr)) {
        auto range = maps.getAsRange<tilegpu::TensorMapSourceAttr>();
        info.tensorMaps.assign(range.begin(), range.end());
      }
      return info;
    }
  }
  return {ErrorCode::Internal,
          "the module has no kernel with " + threadsAttr.str()};
}

namespace {
struct TileGPUToLLVMPass : impl::TileGPUToLLVMBase<TileGPUToLLVMPass> {
  using TileGPUToLLVMBase::TileGPUToLLVMBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerTileGPUToLLVMDialects(registry);
  }

  void runOnOperation() override {
    auto kernel = tile::findKernel(getOperation());
    if (!kernel.ok()) {
      getOperation()->emitError(kernel.failure().message);
      return signalPassFailure();
    }
    const tilegpu::TargetInfo *target = tilegpu::targetOf(*kernel);
    if (!target) {
      return signalPassFailure();
    }
    const togpu::InstructionSet *instructions = togpu::instructionsOf(*target);
    if (!instructions) {
      (*kernel)->emitError("expected instructions that a vendor's folder has, "
                           "got '")
          << target->instructions << "' of " << target->name;
      return signalPassFailure();
    }
    togpu::KernelEmitter emitter(*kernel, *target, *instructions,
                                 {fpFusion, streamedStores, loopedProducts},
                                 getChildAnalysis<AxisInfoAnalysis>(*kernel));
    // The emitter erases the kernel.
    auto registers =
        (*kernel)->getAttrOfType<IntegerAttr>(tilegpu::registersAttr);
    auto most =
        (*kernel)->getAttrOfType<IntegerAttr>(tilegpu::mostRegistersAttr);
    auto info = emitter.run();
    if (failed(info)) {
      return signalPassFailure();
    }
    info->registers = registers ? registers.getInt() : 0;
    info->mostRegisters = most ? most.getInt() : 0;
    describe(getOperation().lookupSymbol<LLVM::LLVMFuncOp>(info->entry), *info);
  }
};
} // namespace

} // namespace nereid
