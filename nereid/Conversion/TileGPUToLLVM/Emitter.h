//===- Emitter.h - State of one kernel's lowering ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a kernel block by block and emits what one thread does. A tensor is a
// list of registers; those that hold padding in every thread are null and no
// code is emitted for them. Registers that hold padding in some threads compute
// whatever they compute: only memory, reductions, scans and products look.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_EMITTER_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_EMITTER_H

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Conversion/TileGPUToLLVM/GlobalOrder.h"
#include "nereid/Conversion/TileGPUToLLVM/SharedMemory.h"
#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <map>

namespace nereid::togpu {

using namespace lanes;
using Registers = llvm::SmallVector<mlir::Value>;

/// What an emitter knows of a tensor type.
struct TileInfo {
  Shape shape;
  TileLayout layout;
  std::vector<bool> dead, partlyDead; ///< registers outside the shape
  std::vector<unsigned> shifts; ///< of each dimension in the flattened index
  mlir::Type element;           ///< Tile element type
  unsigned count() const { return layout.registerCount(); }
};

class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp kernel, const GpuLoweringInfo &target);

  Expected<GpuKernelInfo> run();

private:
  // Entry.cpp
  void createEntry();
  void surveyMemory(GpuKernelInfo &info);
  void fail(mlir::Operation *op, const llvm::Twine &message);

  // Control.cpp
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitWhile(mlir::scf::WhileOp loop);
  /// What barriers still owe at a point of the program.
  struct Pending {
    SharedMemory::State shared;
    GlobalOrder::State global;
  };
  Pending pending() const { return {shared.state(), global.state()}; }
  void restore(const Pending &state) {
    shared.restore(state.shared);
    global.restore(state.global);
  }
  void bindArguments(mlir::ValueRange from, mlir::ValueRange to);
  llvm::SmallVector<mlir::Value> flat(mlir::ValueRange values);
  llvm::SmallVector<mlir::Type> flatTypes(mlir::TypeRange types);

  // Elementwise.cpp
  void emitElementwise(mlir::Operation *op);
  mlir::Value combineLanes(mlir::Operation *op,
                           llvm::ArrayRef<mlir::Value> operands,
                           unsigned result);
  // Math.cpp
  /// `op` of one f32 by an instruction for it; null where there is none.
  mlir::Value hardwareMath(mlir::Operation *op, mlir::Value x);
  mlir::Value addPointer(tile::AddPtrOp op, mlir::Value pointer,
                         mlir::Value offset);
  void emitConstant(mlir::arith::ConstantOp op);
  void emitTable(mlir::arith::ConstantOp op, mlir::DenseElementsAttr values);

  // Shape.cpp
  void emitRange(tile::RangeOp op);
  void emitBroadcast(tile::BroadcastOp op);
  void emitJoin(tile::JoinOp op);
  void emitSplit(tile::SplitOp op);
  void emitTranspose(tile::TransposeOp op);
  void emitReshape(tile::ReshapeOp op);
  void emitCat(tile::CatOp op);
  void emitGather(tile::GatherOp op);

  // Memory.cpp
  void emitLoad(tile::LoadOp op);
  void emitStore(tile::StoreOp op);
  /// Registers that one access moves, at most `limit` bytes.
  unsigned accessWidth(mlir::Value pointers, mlir::Value mask);
  /// True where the access of register r may happen; null if always.
  mlir::Value accessMask(mlir::Value pointers, mlir::Value mask, unsigned r);

  // Atomic.cpp
  void emitAtomic(mlir::Operation *op);

  // Reduce.cpp
  void emitReduce(tile::ReduceOp op);
  Registers combine(mlir::Region &region, llvm::ArrayRef<mlir::Value> left,
                    llvm::ArrayRef<mlir::Value> right);

  // Scan.cpp
  void emitScan(tile::ScanOp op);
  void emitHistogram(tile::HistogramOp op);

  // ConvertLayout.cpp
  void emitConvertLayout(tilegpu::ConvertLayoutOp op);
  Registers throughShared(const TileInfo &from, const TileInfo &to,
                          llvm::ArrayRef<mlir::Value> registers);

  // Dot.cpp
  void emitDot(tile::DotOp op);
  void emitMma(tile::DotOp op);
  void emitFma(tile::DotOp op);

  // Debug.cpp
  void emitPrint(tile::PrintOp op);
  void emitCheck(mlir::Operation *op);
  void printElement(tile::PrintOp op, const std::string &index,
                    llvm::ArrayRef<mlir::Value> indices, mlir::Value element,
                    mlir::Value predicate);
  void callPrintf(const std::string &format,
                  llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value globalText(const std::string &text);
  void reportFault(mlir::Operation *op, mlir::Value bad, mlir::Value index,
                   mlir::Value value);
  mlir::Value isOutside(mlir::Value address, unsigned bytes);

  // Threads.cpp: places and moves between them.
  /// Bits of `columns`, one a bit of `source`, added up for this thread.
  mlir::Value spreadBits(mlir::Value source, llvm::ArrayRef<uint32_t> columns);
  /// Index along dimension `d` of register r of this thread, i32.
  mlir::Value indexOf(const TileInfo &tile, unsigned r, unsigned d);
  /// Row-major position in the true shape, i32.
  mlir::Value rowMajorIndex(const TileInfo &tile, unsigned r);
  /// The same, and the first element where the register holds padding: a place
  /// to read from in any case.
  mlir::Value safeRowMajorIndex(const TileInfo &tile, unsigned r);
  /// Null where the register is inside the shape in every thread.
  mlir::Value insideShape(const TileInfo &tile, unsigned r);
  /// True in one of the threads that hold copies; null if there are none.
  mlir::Value isFirstCopy(const TileLayout &layout);
  mlir::Value shuffleXor(mlir::Value value, unsigned laneMask);
  mlir::Value shuffleIndex(mlir::Value value, mlir::Value lane);
  template <typename Shuffle>
  mlir::Value shuffleWords(mlir::Value value, Shuffle shuffle);
  void barrier();
  /// Keeps the program order of accesses to one array.
  void orderAccess(mlir::Operation *op);

  // Shared memory.
  mlir::Value sharedAddress(mlir::Value byteOffset);
  mlir::Value sharedAddress(unsigned base, mlir::Value index,
                            mlir::Type element);
  void storeShared(mlir::Value address, llvm::ArrayRef<mlir::Value> elements,
                   mlir::Value predicate);
  Registers loadShared(mlir::Value address, mlir::Type lane, unsigned count);
  /// A region that no thread still reads; `publish` lets all threads read what
  /// was written, and marks the region read.
  SharedRegion acquire(unsigned bytes);
  void publish(const SharedRegion &region);

  // Values.
  LaneOps ops() { return LaneOps(b, loc, laneTarget); }
  const TileInfo &info(mlir::Type type);
  Registers &regs(mlir::Value tensor);
  mlir::Value scalar(mlir::Value value);
  void bind(mlir::Value tensor, Registers registers) {
    registersOf[tensor] = std::move(registers);
  }
  mlir::Value andOf(mlir::Value a, mlir::Value b); ///< null is true
  mlir::Value bitsOf(mlir::Value value);           ///< as an integer
  mlir::Value fromBits(mlir::Value bits, mlir::Type lane);
  mlir::Value roundedFrom(mlir::Value element);
  mlir::Value packRounded(mlir::Value low, mlir::Value high);
  llvm::SmallVector<mlir::Value> packWords(llvm::ArrayRef<mlir::Value> elements,
                                           unsigned wordBits);
  Registers unpackWords(llvm::ArrayRef<mlir::Value> words, mlir::Type lane,
                        unsigned count);
  /// Several results come as a struct.
  llvm::SmallVector<mlir::Value> inlineAsm(const std::string &text,
                                           const std::string &constraints,
                                           llvm::ArrayRef<mlir::Value> operands,
                                           llvm::ArrayRef<mlir::Type> results,
                                           bool hasSideEffects);

  mlir::OpBuilder b;
  mlir::Location loc;
  const GpuLoweringInfo &target;
  LaneTarget laneTarget;
  mlir::func::FuncOp kernel;
  mlir::LLVM::LLVMFuncOp entry;
  AxisInfoAnalysis axes;
  unsigned warps;
  mlir::Value thread, lane, warp; ///< i32
  mlir::Value sharedBase;         ///< !llvm.ptr<3>
  llvm::SmallVector<mlir::Value> programId, gridSize;
  mlir::Value faultRecord;
  /// Of pointers under bounds checks: which registers may be followed.
  llvm::DenseMap<mlir::Value, Registers> checkedPointers;
  unsigned textCount = 0;
  SharedMemory shared;
  GlobalOrder global;
  llvm::DenseMap<mlir::Value, Registers> registersOf;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Type, std::unique_ptr<TileInfo>> infos;
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, mlir::Value>
      threadParts;
  std::optional<Failure> failure;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_EMITTER_H
