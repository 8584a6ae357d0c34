//===- Instructions.h - What the emitter asks of a processor ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The seam between what every GPU does and whose instructions do it. The
// emitter computes with arith, math and scf; what these lack it asks for here,
// and gets an operation of the vendor's dialect. Addresses are i64 of global
// memory, i32 of shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_INSTRUCTIONS_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_INSTRUCTIONS_H

#include "nereid/Conversion/TileGPUToLLVM/AccessShape.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

#include "mlir/IR/DialectRegistry.h"

#include <memory>

namespace nereid::togpu {

using Values = llvm::SmallVector<mlir::Value>;

enum class Space { Global, Shared };

/// One access of the words of `shape`.
struct Access {
  Space space;
  mlir::Value address;
  int64_t offset; ///< bytes that the instruction adds
  AccessShape shape;
  mlir::Value predicate; ///< null: always
};

/// What the source says of an access to global memory.
struct AccessHints {
  tile::CacheModifier cache = tile::CacheModifier::None;
  tile::EvictionPolicy evict = tile::EvictionPolicy::Normal;
  bool isVolatile = false;
  bool isStreamed = false; ///< leaves the first-level cache to others
};

/// What an atomic operation does to `element`s of global memory.
struct AtomicUpdate {
  tile::AtomicKind kind;
  mlir::Type element;
  tile::MemSemantic semantic;
  tile::MemScope scope;
};

enum class LaneReduction {
  Add,
  And,
  Or,
  Xor,
  Greatest,
  Least,
  GreatestUnsigned,
  LeastUnsigned
};

enum class IntegerRounding { Nearest, Zero, Down, Up };

/// C += A * B of one instruction's block, as its fragments have it: words of 32
/// bits, or elements of 32 and 64; sums one by one.
struct MatrixProduct {
  const tilegpu::MatrixInstruction &instruction;
  /// Of the words: bytes with a sign or without, and floats.
  mlir::Type leftType, rightType;
  Values left, right, sums;
};

class Instructions {
public:
  virtual ~Instructions() = default;

  /// Says that `entry` is what a launch starts, with that many threads.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp entry, unsigned threads) = 0;
  /// Says that a parameter is a tensor map, whose address `copyBox` takes.
  virtual void markTensorMap(mlir::LLVM::LLVMFuncOp entry, unsigned number) = 0;
  /// Does an instruction of this processor define every bit of its results,
  /// and `op` is one?
  virtual bool isInstruction(mlir::Operation *op) = 0;

  /// Can a kernel print, by a function that the driver links to it?
  virtual bool hasPrints() = 0;

  // Where a thread is: i32, the timer i64.
  virtual mlir::Value threadNumber() = 0;
  virtual mlir::Value programId(unsigned axis) = 0;
  virtual mlir::Value gridSize(unsigned axis) = 0;
  virtual mlir::Value processorId() = 0;
  virtual mlir::Value processorCount() = 0;
  virtual mlir::Value globalTimer() = 0;

  // Between threads.
  /// Of all threads of the block. They see what the others did to shared memory
  /// before, and to global memory if it is to be in order, too.
  virtual void barrier(bool ordersGlobal) = 0;
  /// Of the first `threads` of the block, which is all that compute.
  virtual void barrierOf(unsigned threads) = 0;
  /// Of the lanes of a warp.
  virtual void barrierOfWarp() = 0;
  /// Waits for `takeTurn`'s counterpart: `threads` of two groups take part; the
  /// group that gives goes on. `number` of the group that takes.
  virtual void takeTurn(mlir::Value number, unsigned threads) = 0;
  virtual void giveTurn(mlir::Value number, unsigned threads) = 0;
  /// The word of the lane whose number differs by `laneMask`.
  virtual mlir::Value shuffleXor(mlir::Value word, unsigned laneMask) = 0;
  virtual mlir::Value shuffleIndex(mlir::Value word, mlir::Value lane) = 0;
  /// An i32 of every lane of the warp, combined: TargetInfo::hasWarpReductions.
  virtual mlir::Value reduceLanes(LaneReduction kind, mlir::Value word) = 0;
  /// Is it true in any lane of the warp?
  virtual mlir::Value anyLane(mlir::Value condition) = 0;
  /// Waits for the launch before this one, or lets the next one begin.
  virtual void gridDependency(bool waits) = 0;

  // Memory.
  /// Where the predicate is false `others`, or zeros if there are none.
  virtual Values load(const Access &access, llvm::ArrayRef<mlir::Value> others,
                      const AccessHints &hints = {}) = 0;
  virtual void store(const Access &access, llvm::ArrayRef<mlir::Value> words,
                     const AccessHints &hints = {}) = 0;
  /// As an atomic operation reads it; 0 where the predicate is false.
  virtual mlir::Value loadRelaxed(mlir::Value address, mlir::Type word,
                                  mlir::Value predicate,
                                  tile::MemScope scope) = 0;
  /// What is at `address` in global memory, after `value` has taken its place
  /// where it was `compare`. Of 16, 32 or 64 bits.
  virtual mlir::Value compareAndSwap(mlir::Value address, mlir::Value compare,
                                     mlir::Value value, mlir::Value predicate,
                                     tile::MemSemantic semantic,
                                     tile::MemScope scope) = 0;
  /// Updates words at once, and what was there before: zeros where the
  /// predicate is false. Nothing where it is not used.
  virtual Values atomicUpdate(const Access &access,
                              llvm::ArrayRef<mlir::Value> words,
                              const AtomicUpdate &update, bool isUsed) = 0;
  /// What this thread did to memory before comes before what it does after.
  virtual void fence(tile::MemScope scope) = 0;
  /// Adds one to a word of shared memory, at once.
  virtual void countShared(mlir::Value address, mlir::Value predicate) = 0;
  /// Starts to copy 4, 8 or 16 bytes from global to shared memory; of them
  /// `read` (null: all) are read, the others zeros.
  virtual void copyAsync(const Access &to, mlir::Value from, int64_t fromOffset,
                         mlir::Value read) = 0;
  /// Closes a group of copies; waits until at most `pending` groups are left.
  virtual void commitCopies() = 0;
  virtual void waitForCopies(unsigned pending) = 0;
  /// Asks for bytes of global memory in the last cache.
  virtual void prefetch(mlir::Value address, mlir::Value bytes,
                        mlir::Value predicate) = 0;

  // Barriers in shared memory, and copies that arrive at them
  // (TargetInfo::hasTensorMaps).
  /// A phase ends with `arrivals`; that of parity 0 is the first.
  virtual void initBarrier(mlir::Value address, unsigned arrivals,
                           mlir::Value predicate) = 0;
  /// The engine for copies sees the barriers that this thread made; threads do
  /// after a barrier of the block.
  virtual void publishBarriers() = 0;
  /// One arrival; the phase ends when so many bytes are there, too.
  virtual void expectBytes(mlir::Value address, unsigned bytes) = 0;
  virtual void arriveAtBarrier(mlir::Value address, mlir::Value predicate) = 0;
  /// Until the phase of that parity has ended.
  virtual void waitBarrier(mlir::Value address, mlir::Value parity) = 0;
  /// `map` is wanted soon: a parameter that describes a tensor.
  virtual void prefetchMap(mlir::Value map, mlir::Value predicate) = 0;
  /// Starts to copy a box of the tensor that the parameter `map` describes.
  virtual void copyBox(mlir::Value to, mlir::Value map,
                       llvm::ArrayRef<mlir::Value> coordinates,
                       mlir::Value barrier) = 0;
  /// Of this thread, from here on; of all threads of four warps alike.
  virtual void setRegisters(unsigned count, bool increase) = 0;

  // Products of one warp.
  /// By the vendor's folder (`KernelEmitter::emitMma`); else by `multiply`.
  virtual bool hasOwnProducts() = 0;
  virtual Values multiply(const MatrixProduct &product) = 0;

  // Arithmetic.
  virtual mlir::Value exp2(mlir::Value x) = 0;
  virtual mlir::Value rsqrt(mlir::Value x) = 0;
  virtual mlir::Value divide(mlir::Value x, mlir::Value y) = 0;
  /// Of i32; by more than 31 as by 31.
  virtual mlir::Value shiftRightSigned(mlir::Value x, mlir::Value amount) = 0;
  /// An f32 or f64 at the nearest end of the range of `width` bits; less than
  /// 16 bits come in 16.
  virtual mlir::Value toInteger(mlir::Value x, IntegerRounding rounding,
                                bool isSigned, unsigned width) = 0;
  /// An f32 as the byte of an 8-bit float, and back as an f16; null if there is
  /// no instruction. NaN may lose its sign.
  virtual mlir::Value toFloat8(mlir::Value x, mlir::Type element) = 0;
  virtual mlir::Value fromFloat8(mlir::Value bits, mlir::Type element) = 0;
  /// Four bytes that `toFloat8` has made, as one word; else null.
  virtual mlir::Value packFloat8(llvm::ArrayRef<mlir::Value> elements) = 0;
  /// Two f32 as 16-bit floats of one word; null if there is no instruction.
  virtual mlir::Value packRounded(mlir::Value low, mlir::Value high,
                                  mlir::Type element) = 0;
  /// Four integers of 8 bits as one word, where `toInteger` has made them and
  /// they can saturate while they are packed; else null.
  virtual mlir::Value packSaturated(llvm::ArrayRef<mlir::Value> elements) = 0;

  /// The user's own assembly, which is text and stays text.
  virtual Values userAssembly(llvm::StringRef text, llvm::StringRef constraints,
                              bool isPure, llvm::ArrayRef<mlir::Value> operands,
                              llvm::ArrayRef<mlir::Type> results) = 0;
};

/// The instructions of one vendor.
struct InstructionSet {
  llvm::StringRef name; ///< as TargetInfo::instructions says it
  /// Made with `b` at `loc`, which both change meanwhile.
  std::unique_ptr<Instructions> (*make)(mlir::OpBuilder &b,
                                        const mlir::Location &loc,
                                        const tilegpu::TargetInfo &target);
  /// Of its operations, which the conversion to LLVM leaves as they are.
  llvm::ArrayRef<llvm::StringRef> dialects;
  void (*registerDialects)(mlir::DialectRegistry &registry);
};

/// Those that the target names; null where no vendor's folder has them.
const InstructionSet *instructionsOf(const tilegpu::TargetInfo &target);

// By vendor, each in a folder of its own.
InstructionSet nvInstructionSet();  // NV/NVInstructions.cpp
InstructionSet amdInstructionSet(); // AMD/AMDInstructions.cpp

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_INSTRUCTIONS_H
