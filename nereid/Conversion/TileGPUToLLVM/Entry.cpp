//===- Entry.cpp - The function that a thread runs ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/TrappingAsserts.h"
#include "nereid/Analysis/GlobalAccesses.h"
#include "nereid/Analysis/RootPointer.h"
#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include "mlir/IR/Iterators.h"

using namespace mlir;

namespace nereid::togpu {

KernelEmitter::KernelEmitter(func::FuncOp kernel,
                             const tilegpu::TargetInfo &target,
                             const InstructionSet &instructions,
                             Policies policies, const AxisInfoAnalysis &axes)
    : b(kernel.getContext()), loc(kernel.getLoc()), target(target),
      machine(instructions.make(b, loc, target)), policies(policies),
      kernel(kernel), axes(axes), warps(tilegpu::warpsOf(kernel)),
      producerWarps(tilegpu::producerWarpsOf(kernel)),
      ordersGlobal(ordersGlobalMemory(kernel)) {
  laneTarget.hasF16c = laneTarget.hasF16Extrema = true;
  laneTarget.hasBf16 = target.hasBf16Arithmetic;
  laneTarget.fpFusion = policies.fpFusion;
}

void KernelEmitter::fail(Operation *op, const Twine &message) {
  if (!hasFailed) {
    op->emitError("the GPU target cannot run this kernel: ") << message;
  }
  hasFailed = true;
}

/// A kernel's parameters have their natural sizes; an int1 is a byte.
static Type parameterType(Type type) {
  if (isa<tilegpu::TensorMapType>(type)) {
    return LLVM::LLVMPointerType::get(type.getContext());
  }
  Type lane = laneType(type);
  return lane.isInteger(1) ? IntegerType::get(type.getContext(), 8) : lane;
}

/// Of a kernel that loads elements, computes with them and stores less than it
/// has loaded, and does nothing else.
void KernelEmitter::findStreamed() {
  if (!policies.streamedStores) {
    return;
  }
  llvm::DenseSet<Value> loaded;
  int64_t bytesLoaded = 0, bytesStored = 0;
  for (Operation &op : kernel.getBody().front()) {
    if (auto load = dyn_cast<tile::LoadAccess>(op)) {
      loaded.insert(rootPointer(load.getPtr()));
      bytesLoaded += tile::getBytes(load.getType());
    } else if (auto store = dyn_cast<tile::StoreAccess>(op)) {
      streamed.insert(rootPointer(store.getPtr()));
      bytesStored += tile::getBytes(store.getValue().getType());
    } else if (!tile::isElementwise(&op) &&
               !isa<arith::ConstantOp, tile::RangeOp, tile::SplatOp,
                    tile::BroadcastOp, tile::ExpandDimsOp, tile::ProgramIdOp,
                    tile::NumProgramsOp, tilegpu::BarrierOp, func::ReturnOp>(
                   op)) {
      streamed.clear();
      return;
    }
  }
  streamed.erase(Value());
  bool loadsFromAny = loaded.contains(Value());
  if (loadsFromAny || bytesStored >= bytesLoaded) {
    streamed.clear();
  }
  for (Value array : loaded) {
    streamed.erase(array);
  }
}

void KernelEmitter::createEntry() {
  MLIRContext *context = b.getContext();
  findStreamed();
  b.setInsertionPoint(kernel);
  auto sharedType = LLVM::LLVMPointerType::get(context, 3);
  LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         "nereid_shared", Attribute(), /*alignment=*/128,
                         /*addrSpace=*/3);
  SmallVector<Type> parameters;
  for (Type type : kernel.getArgumentTypes()) {
    parameters.push_back(parameterType(type));
  }
  bool checks =
      kernel
          ->walk([](Operation *op) {
            bool reports =
                isa<tile::AssertOp, tile::CheckBoundsOp, tile::CheckNanOp>(op);
            return reports && !op->hasAttr(trapsAttr) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
          })
          .wasInterrupted();
  if (checks) {
    parameters.push_back(LLVM::LLVMPointerType::get(context));
  }
  std::string name = kernel.getSymName().str();
  kernel.setSymName(name + ".tile");
  entry = LLVM::LLVMFuncOp::create(
      b, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  parameters));
  machine->markKernel(entry, target.lanes * (warps + producerWarps));
  for (BlockArgument argument : kernel.getArguments()) {
    if (isa<tilegpu::TensorMapType>(argument.getType())) {
      machine->markTensorMap(entry, argument.getArgNumber());
    }
  }
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  thread = machine->threadNumber();
  lane = arith::AndIOp::create(b, loc, thread, ops().i32(target.lanes - 1));
  warp = arith::ShRUIOp::create(b, loc, thread, ops().i32(target.laneBits()));
  for (unsigned axis = 0; axis < 3; ++axis) {
    programId.push_back(machine->programId(axis));
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    gridSize.push_back(machine->gridSize(axis));
  }
  sharedBase = LLVM::PtrToIntOp::create(
      b, loc, b.getI32Type(),
      LLVM::AddressOfOp::create(b, loc, sharedType, "nereid_shared"));
  for (auto [argument, value] :
       llvm::zip(kernel.getArguments(), block->getArguments())) {
    Value bound = value;
    if (argument.getType().isInteger(1)) {
      bound = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                    ops().integer(b.getI8Type(), 0));
    }
    scalars[argument] = bound;
  }
  if (checks) {
    faultRecord = block->getArguments().back();
  }
}

void KernelEmitter::surveyMemory(GpuKernelInfo &info) {
  info.writtenParameters.assign(kernel.getNumArguments(), false);
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (auto map = kernel.getArgAttrOfType<tilegpu::TensorMapSourceAttr>(
            i, tilegpu::tensorMapAttr)) {
      info.tensorMaps.push_back(map);
      info.writtenParameters.pop_back();
    }
  }
  kernel.walk([&](Operation *op) {
    auto assembly = dyn_cast<tile::InlineAsmOp>(op);
    auto access = dyn_cast<tile::MemoryAccess>(op);
    if (!(assembly && !assembly.getPure()) && !(access && access.writes())) {
      return;
    }
    // Where assembly writes is not known.
    Value root = access ? rootPointer(access.getPtr()) : Value();
    for (BlockArgument argument : kernel.getArguments()) {
      if (isa<tile::PtrType>(argument.getType()) &&
          (!root || root == argument)) {
        info.writtenParameters[argument.getArgNumber()] = true;
      }
    }
  });
}

/// Addresses and masks of all registers are made, few are used: the stages
/// after this one need not see them.
void KernelEmitter::eraseDead() {
  entry->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op)) {
      op->erase();
    }
  });
}

FailureOr<GpuKernelInfo> KernelEmitter::run() {
  GpuKernelInfo info;
  surveyMemory(info);
  createEntry();
  emitBlock(kernel.getBody().front());
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  if (hasFailed) {
    return mlir::failure();
  }
  eraseDead();
  info.entry = entry.getSymName().str();
  info.threads = target.lanes * (warps + producerWarps);
  if (auto bytes =
          kernel->getAttrOfType<IntegerAttr>(tilegpu::sharedBytesAttr)) {
    info.sharedBytes = bytes.getInt();
  }
  info.hasFaultRecord = faultRecord != nullptr;
  kernel.erase();
  return info;
}

} // namespace nereid::togpu
