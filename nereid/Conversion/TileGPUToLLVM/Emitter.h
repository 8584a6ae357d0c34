//===- Emitter.h - State of one kernel's lowering ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a kernel block by block and emits what one thread does. A tensor is a
// list of registers; those that hold padding in every thread are null and no
// code is emitted for them. Registers that hold padding in some threads hold
// garbage there; memory, reductions, scans and dots mask it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_EMITTER_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_EMITTER_H

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Analysis/ConstantStrides.h"
#include "nereid/Analysis/Scratch.h"
#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Conversion/TileGPUToLLVM/Instructions.h"
#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
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

/// Bytes that each column of `part` (flattened indices) adds to an offset,
/// where bit i of an index adds `offsetOfBit[i]` elements.
std::vector<uint32_t> bytesOf(llvm::ArrayRef<uint32_t> part,
                              llvm::ArrayRef<uint32_t> offsetOfBit,
                              unsigned bytes);
/// The exclusive or of the columns that `bits` selects.
uint32_t sumOfColumns(llvm::ArrayRef<uint32_t> columns, unsigned bits);

/// Register numbers by what they add to the index of a thread's first element.
std::map<uint32_t, unsigned> registersByIndex(const TileInfo &tile);

struct Partial; // Partial.h
/// By their place in the tile that is left when the axis is reduced.
using Partials = std::map<uint32_t, Partial>;

class KernelEmitter {
public:
  /// What may be left out (NEREID_DISABLE) or not be done (fp-fusion).
  struct Policies {
    bool fpFusion, streamedStores, loopedProducts;
  };
  KernelEmitter(mlir::func::FuncOp kernel, const tilegpu::TargetInfo &target,
                const InstructionSet &instructions, Policies policies,
                const AxisInfoAnalysis &axes);

  /// Fails with an error at the operation that there is no form of.
  mlir::FailureOr<GpuKernelInfo> run();

private:
  // Entry.cpp
  void findStreamed();
  void createEntry();
  void surveyMemory(GpuKernelInfo &info);
  void eraseDead();

  // Control.cpp
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitWhile(mlir::scf::WhileOp loop);
  void bindArguments(mlir::ValueRange from, mlir::ValueRange to);
  llvm::SmallVector<mlir::Value> flat(mlir::ValueRange values);
  llvm::SmallVector<mlir::Type> flatTypes(mlir::TypeRange types);

public:
  // What the forms of operations (Forms.h) are made of.
  void fail(mlir::Operation *op, const llvm::Twine &message);

  // Elementwise.cpp
  void emitElementwise(mlir::Operation *op);
  mlir::Value combineLanes(mlir::Operation *op,
                           llvm::ArrayRef<mlir::Value> operands,
                           unsigned result);
  /// tile.convert_float to and from 8 bits; null for other operations, and
  /// where there is no instruction.
  mlir::Value convertFloat8(mlir::Operation *op, mlir::Value x);
  // Math.cpp
  /// `op` of f32 by an instruction for it; null where there is none.
  mlir::Value hardwareMath(mlir::Operation *op,
                           llvm::ArrayRef<mlir::Value> operands);
  mlir::Value errorFunction(mlir::Value x);
  /// arith.fptosi and fptoui; null for other operations.
  mlir::Value toInteger(mlir::Operation *op, mlir::Value x);
  mlir::Value addPointer(tile::AddPtrOp op, mlir::Value pointer,
                         mlir::Value offset);
  void emitConstant(mlir::arith::ConstantOp op);
  void emitTable(mlir::arith::ConstantOp op, mlir::DenseElementsAttr values);

  // UserFunctions.cpp
  void emitMap(tile::MapOp op);
  void emitInlineAsm(tile::InlineAsmOp op);
  /// Elements of one run: the operands and the results of the assembly, in
  /// registers as its constraints name them.
  llvm::SmallVector<Registers>
  runAssembly(tile::InlineAsmOp op,
              llvm::ArrayRef<llvm::SmallVector<mlir::Value>> inputs);
  /// A scalar that threads may have seen differently, as the first one saw it.
  mlir::Value agreed(mlir::Value value);

  // Clamped.cpp
  /// A shift, defined for every amount; null for other operations.
  mlir::Value clamped(mlir::Operation *op,
                      llvm::ArrayRef<mlir::Value> operands);
  mlir::Value clampedShift(mlir::Operation *op, mlir::Value x,
                           mlir::Value amount);

  // Memory.cpp
  void emitLoad(tile::LoadAccess op);
  void emitStore(tile::StoreAccess op);
  /// Addresses of a thread's elements: few registers, and distances from them.
  struct GlobalAddresses {
    mlir::Value pointers;
    std::vector<int64_t> strides; ///< 0: no constant distance along it
    std::map<std::vector<uint32_t>, std::pair<unsigned, mlir::Value>> starts;
  };
  GlobalAddresses globalAddresses(mlir::Value pointers);
  /// i64, and a constant number of bytes to add.
  std::pair<mlir::Value, int64_t> globalAddress(GlobalAddresses &places,
                                                unsigned r);
  /// Registers that one access moves.
  AccessWidth accessWidth(mlir::Value pointers, mlir::Value mask);
  void reportAccess(llvm::StringRef subject, mlir::Value pointers,
                    mlir::Value mask, AccessWidth width);
  /// True where the access of register r may happen; null if always.
  mlir::Value accessMask(mlir::Value pointers, mlir::Value mask, unsigned r);
  /// The same for what lies inside the shape.
  mlir::Value maskInside(mlir::Value pointers, mlir::Value mask, unsigned r);

  // Atomic.cpp
  void emitAtomic(mlir::Operation *op);
  AccessWidth atomicWidth(tile::AtomicRMWOp op, mlir::Type element);
  void reportAtomic(mlir::Operation *op, AccessWidth width, bool loops);
  mlir::Value updateInLoop(tile::AtomicRMWOp op, mlir::Value address,
                           mlir::Value value, mlir::Value active);

  // Reduce.cpp
  void emitReduce(tile::ReduceOp op);
  void reportReduce(tile::ReduceOp op, unsigned running);
  Registers combine(mlir::Region &region, llvm::ArrayRef<mlir::Value> left,
                    llvm::ArrayRef<mlir::Value> right);
  /// Where one does not count, the other is the result.
  Partial combine(mlir::Region &region, const Partial &left,
                  const Partial &right);
  Partial combineTree(mlir::Region &region, llvm::ArrayRef<Partial> list);
  /// A lane's own with that of the lane whose number differs by this bit.
  Partial combineLanes(mlir::Region &region, const Partial &own,
                       unsigned distance);
  class WarpReduction;
  /// All lanes of a warp by instructions made for it, where there are such.
  bool reduceWarp(tile::ReduceOp op, Partial &partial);
  void reduceWarps(tile::ReduceOp op, uint32_t axisLanes, const WarpParts &plan,
                   Partials &partials);

  // Scan.cpp
  class ScanEmitter;
  void emitScan(tile::ScanOp op);

  // ConvertLayout.cpp
  void emitConvertLayout(tilegpu::ConvertLayoutOp op);
  void reportConversion(tilegpu::ConvertLayoutOp, std::string how,
                        bool isCheap);
  /// Layouts of one tile of 2^bits elements.
  struct Exchange {
    TileLayout from, to;
    unsigned bits;
    mlir::Type element; ///< Tile element type
    mlir::Value own;    ///< the warp's place, if its elements stay in the warp
  };
  Registers exchange(const Exchange &tile, llvm::ArrayRef<mlir::Value> source,
                     const std::vector<bool> &dead);

  // Prefetch.cpp
  void emitPrefetch(tilegpu::PrefetchOp op);
  void emitMultiprocessors(tilegpu::MultiprocessorsOp op);

  // AsyncCopies.cpp
  void emitCopyAsync(tilegpu::CopyAsyncOp op);
  /// Places of a slot: where a thread's part begins, and which bits of a byte
  /// offset must be exclusive-ored into it. The others are added.
  struct SlotPlaces {
    mlir::Value slot;    ///< i32, address of the slot
    mlir::Value threads; ///< i32, bytes
    uint32_t reach = 0;  ///< bits that `threads` may have
    f2::Span span;       ///< what `threads` may be
    uint32_t end = 0;    ///< bytes of the slot; 0: everything lies inside
    std::map<std::pair<uint32_t, uint32_t>, mlir::Value> starts;
  };
  mlir::Value slotAddress(mlir::Value buffer, mlir::Value slot);
  /// `threadColumns`: bytes that each bit of the thread number adds.
  SlotPlaces placesAt(mlir::Value start,
                      llvm::ArrayRef<uint32_t> threadColumns);
  /// Of a buffer's slot.
  SlotPlaces placesIn(tilegpu::BufferType buffer, mlir::Value start,
                      llvm::ArrayRef<uint32_t> threadColumns);
  /// A place in shared memory: an address, and bytes that the instruction adds.
  struct SharedPlace {
    SharedPlace(mlir::Value start, uint32_t offset = 0)
        : start(start), offset(offset) {}
    mlir::Value start;
    uint32_t offset;
  };
  /// Of what lies at `own` ^ `threads`.
  SharedPlace place(SlotPlaces &places, uint32_t own);
  /// The same for an access of `bytes` that may read anything where it would
  /// reach beyond the slot, but must stay inside.
  SharedPlace placeToRead(SlotPlaces &places, uint32_t own, unsigned bytes);

  /// A tile from registers to `start`, where a slot of `buffer` begins.
  void storeTile(mlir::Value tensor, tilegpu::BufferType buffer,
                 mlir::Value start);
  void emitLocalStore(tilegpu::LocalStoreOp op);

  // LocalLoad.cpp
  void emitLocalLoad(tilegpu::LocalLoadOp op);
  struct BufferReader; // BufferReader.h
  BufferReader openBuffer(mlir::Value loaded);
  mlir::Value read(BufferReader &reader, unsigned r);

  // NV/Fragments.cpp
  struct Fragment; // NV/Fragment.h
  Fragment openFragment(tilegpu::LocalLoadOp op);
  mlir::Value fragmentWord(Fragment &fragment, unsigned word);

  // NV/WarpgroupDot.cpp
  void emitWarpgroupMma(tile::DotOp op);
  std::map<uint32_t, int32_t>
  packLeftWords(const TileInfo &tile, const Registers &registers,
                llvm::SmallVectorImpl<mlir::Value> &words);
  void emitWaitProducts(tilegpu::WaitProductsOp op);
  void emitWaitOlderProducts(tilegpu::WaitOlderProductsOp op);
  struct WarpgroupOperand;
  WarpgroupOperand openWarpgroupOperand(tile::DotOp op, unsigned index);
  /// A tile from registers to scratch, as a buffer of one slot would hold it.
  std::pair<tilegpu::BufferType, mlir::Value> stage(tile::DotOp op,
                                                    unsigned index);
  /// What was written to shared memory becomes visible to products of four
  /// warps at the next barrier.
  void fenceForWarpgroups();

  // Dot.cpp
  void emitDot(tile::DotOp op);
  void emitFma(tile::DotOp op);

  // Product.cpp
  class FragmentProduct;
  /// One warp's, by Instructions::multiply.
  void emitProduct(tile::DotOp op);

  // NV/Mma.cpp
  class WarpProduct;
  void emitMma(tile::DotOp op);

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

  // Threads.cpp: places, words, moves between threads.
  /// Bits of `columns`, one a bit of `source`, added up for this thread.
  mlir::Value spreadBits(mlir::Value source, llvm::ArrayRef<uint32_t> columns);
  /// The same of the thread number, once for the kernel.
  mlir::Value atEntry(const std::vector<uint32_t> &columns);
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
  /// The number of the thread's lane, with these of its bits.
  mlir::Value laneOf(uint32_t mask);
  mlir::Value shuffleXor(mlir::Value value, unsigned laneMask);
  mlir::Value shuffleIndex(mlir::Value value, mlir::Value lane);
  template <typename Shuffle>
  mlir::Value shuffleWords(mlir::Value value, Shuffle shuffle);
  /// Where all threads of the block meet.
  void barrier();

  // SharedAccess.cpp: addresses are i32.
  mlir::Value sharedAddress(unsigned byteOffset);
  mlir::Value sharedAddress(unsigned base, mlir::Value index,
                            mlir::Type element);
  /// A tile's elements in row-major order of its true shape, one by one: for
  /// operations that look elements up.
  void storeRowMajor(unsigned offset, const TileInfo &tile,
                     llvm::ArrayRef<mlir::Value> registers);
  Registers loadRowMajor(unsigned offset, const TileInfo &tile);
  /// One access of at most 16 bytes.
  void storeShared(SharedPlace at, llvm::ArrayRef<mlir::Value> elements,
                   mlir::Value predicate);
  Registers loadShared(SharedPlace at, mlir::Type lane, unsigned count);
  /// Where the next piece of the operation's scratch lies, in scratchOf()'s
  /// order; after a barrier, if there is to be one.
  unsigned acquireScratch();

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
  mlir::Value frozen(mlir::Value bits);
  mlir::Value roundedFrom(mlir::Value element);
  mlir::Value packRounded(mlir::Value low, mlir::Value high);
  bool isWhole(mlir::Value bits);
  llvm::SmallVector<mlir::Value> packWords(llvm::ArrayRef<mlir::Value> elements,
                                           unsigned wordBits);
  Registers unpackWords(llvm::ArrayRef<mlir::Value> words, mlir::Type lane,
                        unsigned count);
  /// The operands of one access, and back.
  llvm::SmallVector<mlir::Value> toWords(llvm::ArrayRef<mlir::Value> elements,
                                         const AccessShape &shape);
  Registers fromWords(llvm::SmallVector<mlir::Value> words,
                      const AccessShape &shape, mlir::Type lane,
                      unsigned count);

  mlir::OpBuilder b;
  mlir::Location loc;
  const tilegpu::TargetInfo &target;
  std::unique_ptr<Instructions> machine;
  Policies policies;
  LaneTarget laneTarget;
  mlir::func::FuncOp kernel;
  mlir::LLVM::LLVMFuncOp entry;
  const AxisInfoAnalysis &axes;
  ConstantStrides strides;
  unsigned warps, producerWarps; ///< that compute; that copy, after them
  bool ordersGlobal;             ///< barriers do, beside shared memory
  /// Arrays that an element-wise kernel stores to and never loads from, if it
  /// loads more bytes than it stores.
  llvm::DenseSet<mlir::Value> streamed;
  mlir::Value thread, lane, warp; ///< i32
  mlir::Value sharedBase; ///< i32: where the block's shared memory begins
  llvm::SmallVector<mlir::Value> programId, gridSize;
  mlir::Value faultRecord;
  /// Of pointers under bounds checks: which registers may be followed.
  llvm::DenseMap<mlir::Value, Registers> checkedPointers;
  unsigned textCount = 0;
  /// Of the last operation that has scratch, and its next piece.
  tilegpu::ScratchAttr scratchPlaces;
  unsigned nextPiece = 0;
  mlir::Operation *scratchOwner = nullptr; ///< that is being emitted
  llvm::DenseMap<mlir::Value, Registers> registersOf;
  /// The first of two elements that came as a word -> the second, the word.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, mlir::Value>> pairOf;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Type, std::unique_ptr<TileInfo>> infos;
  std::map<std::vector<uint32_t>, mlir::Value> threadParts;
  bool hasFailed = false;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_EMITTER_H
