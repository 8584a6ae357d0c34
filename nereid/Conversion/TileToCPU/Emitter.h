//===- Emitter.h - State of one kernel's conversion -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a kernel block by block and emits the entry function. Scalars are
// emitted where they are first asked for; tensors by the nests that want them
// (Nest.h) or into buffers.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_EMITTER_H
#define NEREID_CONVERSION_TILETOCPU_EMITTER_H

#include "nereid/Analysis/IntegerRanges.h"
#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Conversion/TileToCPU/Plan.h"
#include "nereid/Conversion/TileToCPU/Scratch.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace nereid::tocpu {

/// A tensor in memory, row-major or a view of it. Elements have their lane
/// type; i1 is stored as a byte. Strides count elements.
struct Buffer {
  mlir::Value base;   ///< !llvm.ptr
  mlir::Type element; ///< Tile element type
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides;
  uint64_t scratchOffset = ~0ull; ///< of a buffer that is owned
};

class ElementEmitter;
struct Packing;

class LoopEmitter {
public:
  LoopEmitter(mlir::func::FuncOp kernel, const cpu::CpuTarget &target,
              bool fpFusion);

  Expected<CpuKernelInfo> run();

  // What nests ask.
  mlir::Value scalar(mlir::Value tile);
  /// Null if `tile` is not in memory.
  const Buffer *buffer(mlir::Value tile);
  bool canStream(tile::StoreAccess store) const;
  /// An array of the function's frame, for lanes that are walked one by one.
  mlir::Value stackArray(mlir::Type element, int64_t count);
  /// Calls the function at byte `offset` of HostServices with the frame, the
  /// site of `op` (if not null) and `arguments`.
  mlir::Value callService(unsigned offset, mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> arguments,
                          mlir::Type result = {});
  /// Calls the runtime if the `index`-th element that `op` checks is wrong.
  void checkElement(mlir::Operation *op, mlir::Value element,
                    mlir::Value index);
  /// One atomic element operation at `address`; the old value.
  mlir::Value atomicElement(mlir::Operation *op, mlir::Value address,
                            mlir::Value value, mlir::Value compare);
  void fail(mlir::Operation *op, const llvm::Twine &message);

  /// Where scalars and the preambles of nests go: the end of the block that
  /// is being emitted, or before the nest in it.
  void setTop(mlir::OpBuilder::InsertPoint point) { top = point; }
  mlir::OpBuilder::InsertPoint getTop() const { return top; }
  void toTop() { b.restoreInsertionPoint(top); }
  LaneOps ops() { return LaneOps(b, loc, laneTarget); }

  /// Writes `value` to `buffer` by a nest of its own.
  void copyInto(mlir::Value value, const Buffer &buffer,
                bool isUnsigned = false, bool flipsSign = false);
  /// The same as words, laid out as `packing` says (Pack.cpp). Strides of
  /// `words` count words; along the dimension of `packing.rows`, where the
  /// block is not turned, they are those of one element.
  void pack(mlir::Value value, const Buffer &words, const Packing &packing,
            bool isUnsigned = false, bool flipsSign = false);
  /// Emits `body` for where `condition` is false.
  void emitUnless(mlir::Value condition, llvm::function_ref<void()> body);
  Buffer allocate(mlir::Type element, llvm::ArrayRef<int64_t> shape,
                  int64_t innerPadding = 1);
  void release(const Buffer &buffer);
  void bind(mlir::Value tile, const Buffer &buffer) { buffers[tile] = buffer; }
  void unbind(mlir::Value tile) { buffers.erase(tile); }
  void bindScalar(mlir::Value tile, mlir::Value value) {
    scalars[tile] = value;
  }
  /// The buffer that `value`, computed now, goes to: a yield target's or a new
  /// one. It is `buffer(value)` after `bindResult`.
  Buffer resultBuffer(mlir::Value value);
  void bindResult(mlir::Value value);
  /// The operands of a join or cat are written one after the other, in any
  /// order: true at the second.
  bool isLastPart(mlir::Operation *op) { return !halfDone.insert(op).second; }
  /// Where operand `index` of the block's terminator goes; `throughCopy`: to a
  /// second buffer that the end of the block copies from.
  Buffer yieldBuffer(unsigned index, bool throughCopy);

  mlir::scf::ForOp createFor(mlir::Value lower, mlir::Value upper,
                             mlir::Value step, mlir::ValueRange carried = {});
  /// Prefetch.cpp
  mlir::Value nextCarried(mlir::scf::ForOp loop, mlir::BlockArgument carried);
  /// Ends the body that the builder stands in.
  void yield(mlir::ValueRange values);

  mlir::OpBuilder b;
  mlir::Location loc;
  const cpu::CpuTarget &target;
  const LaneTarget laneTarget;
  const IntegerRanges ranges; ///< of the kernel
  mlir::Value frame, services, streaming;
  /// i1 and i64 that only the running program knows to be 1 and 0.
  mlir::Value opaqueTrue, opaqueZero;
  bool usesStreaming = false;
  llvm::SmallVector<mlir::Value> programId, nextProgramId;
  /// Stores whose lines are in the cache by then.
  llvm::DenseSet<mlir::Operation *> fetched;

private:
  struct BlockState {
    const Plan *plan;
    llvm::SmallVector<Buffer> targets;
    llvm::SmallVector<std::pair<unsigned, Buffer>> copies;
  };

  // Entry.cpp
  void createEntry();
  void loadArguments();
  void emitProgramLoop();
  void emitNextIds();
  void finishEntry();
  mlir::Value frameField(int64_t offset, mlir::Type type);
  void surveyMemory(CpuKernelInfo &info);

  // Control.cpp
  void emitBlock(mlir::Block *block, llvm::ArrayRef<YieldTarget> yields,
                 llvm::ArrayRef<Buffer> targets);
  void emitOp(Step &step);
  void emitCaptured(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop, Step &step);
  void emitIf(mlir::scf::IfOp branch);
  void emitWhile(mlir::scf::WhileOp loop, Step &step);
  llvm::SmallVector<mlir::Value> emitBody(mlir::Block *from, mlir::Block *to,
                                          mlir::OperandRange yielded,
                                          mlir::ValueRange arguments,
                                          llvm::ArrayRef<Buffer> targets);
  Buffer carriedBuffer(mlir::Value init, mlir::Value result, Step &step);

  // ScalarOps.cpp
  void emitScalarAccess(mlir::Operation *op);
  void emitScalarService(mlir::Operation *op);
  mlir::Value pureScalar(mlir::Operation *op, unsigned result);
  mlir::Value constant(mlir::arith::ConstantOp op);
  void emitPrint(tile::PrintOp op);
  void emitSplit(tile::SplitOp op);

  // Dot.cpp
  void emitDot(tile::DotOp op);

  mlir::func::FuncOp kernel;
  Regions regions;
  mlir::func::FuncOp entry;
  mlir::OpBuilder::InsertPoint top;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// The kernel's loop that a loop of the entry was made of.
  llvm::DenseMap<mlir::Operation *, mlir::scf::ForOp> sources;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, Buffer> pending; ///< being computed
  std::vector<BlockState> blocks;
  llvm::SmallVector<mlir::Value> grid;
  mlir::Value scratchBase;
  mlir::Block *entryBlock = nullptr;
  Scratch scratch;
  llvm::SmallPtrSet<mlir::Operation *, 4> halfDone;
  std::optional<Failure> failure;
  bool callsServices = false;
  /// Kernel arguments that are written and never read.
  llvm::DenseMap<mlir::Value, bool> streamable;
};

/// What is emitted while one lives comes of `op`, if that is not null: its
/// place in the source is where a crash is reported (Target/CPU/LineTable.h).
class SourcePlace {
public:
  SourcePlace(LoopEmitter &kernel, mlir::Operation *op)
      : kernel(kernel), outer(kernel.loc) {
    if (op) {
      kernel.loc = op->getLoc();
    }
  }
  ~SourcePlace() { kernel.loc = outer; }
  SourcePlace(const SourcePlace &) = delete;
  SourcePlace &operator=(const SourcePlace &) = delete;

private:
  LoopEmitter &kernel;
  mlir::Location outer;
};

/// The type that a dot's products are summed in.
mlir::Type dotSumType(tile::DotOp op);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_EMITTER_H
