//===- NVInstructions.cpp - NVIDIA's instructions -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/InstructionEnums.h"
#include "nereid/Dialect/NV/IR/NV.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace nereid::togpu {

static nv::Cache toNV(tile::CacheModifier cache) {
  switch (cache) {
  case tile::CacheModifier::None:
    return nv::Cache::Default;
  case tile::CacheModifier::CA:
    return nv::Cache::CA;
  case tile::CacheModifier::CG:
    return nv::Cache::CG;
  case tile::CacheModifier::CS:
    return nv::Cache::CS;
  case tile::CacheModifier::CV:
    return nv::Cache::CV;
  case tile::CacheModifier::WB:
    return nv::Cache::WB;
  case tile::CacheModifier::WT:
    return nv::Cache::WT;
  }
  llvm_unreachable("all cache modifiers are handled");
}

/// A cache operator excludes eviction priorities, which are less than it says.
static nv::Eviction evictionOf(const AccessHints &hints) {
  if (hints.cache != tile::CacheModifier::None) {
    return nv::Eviction::Normal;
  }
  switch (hints.evict) {
  case tile::EvictionPolicy::Normal:
    return nv::Eviction::Normal;
  case tile::EvictionPolicy::First:
    return nv::Eviction::First;
  case tile::EvictionPolicy::Last:
    return nv::Eviction::Last;
  }
  llvm_unreachable("all eviction policies are handled");
}

static nv::Scope toNV(tile::MemScope scope) {
  switch (scope) {
  case tile::MemScope::Block:
    return nv::Scope::Block;
  case tile::MemScope::Device:
    return nv::Scope::Device;
  case tile::MemScope::System:
    return nv::Scope::System;
  }
  llvm_unreachable("all scopes are handled");
}

static NVVM::ReduxKind toNVVM(LaneReduction kind) {
  using K = LaneReduction;
  switch (kind) {
  case K::Add:
    return NVVM::ReduxKind::ADD;
  case K::And:
    return NVVM::ReduxKind::AND;
  case K::Or:
    return NVVM::ReduxKind::OR;
  case K::Xor:
    return NVVM::ReduxKind::XOR;
  case K::Greatest:
    return NVVM::ReduxKind::MAX;
  case K::Least:
    return NVVM::ReduxKind::MIN;
  case K::GreatestUnsigned:
    return NVVM::ReduxKind::UMAX;
  case K::LeastUnsigned:
    return NVVM::ReduxKind::UMIN;
  }
  llvm_unreachable("all reductions are handled");
}

static nv::Space toNV(Space space) {
  return space == Space::Global ? nv::Space::Global : nv::Space::Shared;
}

namespace {

class NVInstructions : public Instructions {
public:
  NVInstructions(OpBuilder &b, const Location &loc,
                 const tilegpu::TargetInfo &target)
      : b(b), loc(loc), target(target) {}

  void markKernel(LLVM::LLVMFuncOp entry, unsigned threads) override {
    entry->setAttr("nvvm.kernel", b.getUnitAttr());
    entry->setAttr("nvvm.reqntid",
                   b.getDenseI32ArrayAttr({static_cast<int32_t>(threads)}));
  }
  void markTensorMap(LLVM::LLVMFuncOp entry, unsigned number) override {
    constexpr unsigned mapBytes = 128, mapAlignment = 64;
    entry.setArgAttr(
        number, LLVM::LLVMDialect::getByValAttrName(),
        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), mapBytes)));
    entry.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                     b.getI64IntegerAttr(mapAlignment));
    entry.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(),
                     b.getUnitAttr());
  }
  bool isInstruction(Operation *op) override {
    return isa<nv::NVDialect>(op->getDialect());
  }

  bool hasPrints() override { return true; }

  Value threadNumber() override { return special<NVVM::ThreadIdXOp>(); }
  Value programId(unsigned axis) override {
    return axis == 0   ? special<NVVM::BlockIdXOp>()
           : axis == 1 ? special<NVVM::BlockIdYOp>()
                       : special<NVVM::BlockIdZOp>();
  }
  Value gridSize(unsigned axis) override {
    return axis == 0   ? special<NVVM::GridDimXOp>()
           : axis == 1 ? special<NVVM::GridDimYOp>()
                       : special<NVVM::GridDimZOp>();
  }
  Value processorId() override { return special<NVVM::SmIdOp>(); }
  Value processorCount() override { return special<NVVM::SmDimOp>(); }
  Value globalTimer() override {
    return NVVM::GlobalTimerOp::create(b, loc, b.getI64Type());
  }

  void barrier(bool) override { NVVM::BarrierOp::create(b, loc); }
  void barrierOf(unsigned threads) override {
    constexpr int computing = 1; // 0 is that of all threads
    NVVM::BarrierOp::create(b, loc, TypeRange(), i32(computing), i32(threads),
                            NVVM::BarrierReductionAttr(), Value());
  }
  void barrierOfWarp() override { NVVM::SyncWarpOp::create(b, loc, i32(-1)); }
  /// Named barriers: 0 of all threads, 1 of those that compute, then turns.
  Value turnBarrier(Value number) {
    constexpr int turns = 2;
    return arith::AddIOp::create(b, loc, number, i32(turns));
  }
  void takeTurn(Value number, unsigned threads) override {
    NVVM::BarrierOp::create(b, loc, TypeRange(), turnBarrier(number),
                            i32(threads), NVVM::BarrierReductionAttr(),
                            Value());
  }
  void giveTurn(Value number, unsigned threads) override {
    nv::NamedArriveOp::create(b, loc, turnBarrier(number), threads);
  }
  void initBarrier(Value address, unsigned arrivals, Value predicate) override {
    nv::MbarrierInitOp::create(b, loc, address, arrivals, predicate);
  }
  void publishBarriers() override { NVVM::FenceMbarrierInitOp::create(b, loc); }
  void expectBytes(Value address, unsigned bytes) override {
    nv::MbarrierExpectTxOp::create(b, loc, address, i32(bytes), Value());
  }
  void arriveAtBarrier(Value address, Value predicate) override {
    nv::MbarrierArriveOp::create(b, loc, address, Value(), predicate);
  }
  void waitBarrier(Value address, Value parity) override {
    nv::MbarrierWaitOp::create(b, loc, address, parity);
  }
  void prefetchMap(Value map, Value predicate) override {
    Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), map);
    nv::PrefetchTensormapOp::create(b, loc, address, predicate);
  }
  void copyBox(Value to, Value map, ArrayRef<Value> coordinates,
               Value barrier) override {
    Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), map);
    nv::TmaLoadOp::create(b, loc, to, address, coordinates, barrier, Value(),
                          Value(), Value());
  }
  void setRegisters(unsigned count, bool increase) override {
    NVVM::SetMaxRegisterOp::create(b, loc, count,
                                   increase
                                       ? NVVM::SetMaxRegisterAction::increase
                                       : NVVM::SetMaxRegisterAction::decrease);
  }
  Value shuffleXor(Value word, unsigned laneMask) override {
    return shuffle(NVVM::ShflKind::bfly, word, i32(laneMask));
  }
  Value shuffleIndex(Value word, Value lane) override {
    return shuffle(NVVM::ShflKind::idx, word, lane);
  }
  Value reduceLanes(LaneReduction kind, Value word) override {
    return NVVM::ReduxOp::create(b, loc, word.getType(), word, toNVVM(kind),
                                 i32(allLanes));
  }
  Value anyLane(Value condition) override {
    return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), i32(allLanes),
                                    condition, NVVM::VoteSyncKind::any);
  }
  /// Where there is none launches follow one another.
  void gridDependency(bool waits) override {
    if (target.hasGridDependency) {
      NVVM::GriddepcontrolOp::create(
          b, loc,
          waits ? NVVM::GridDepActionKind::wait
                : NVVM::GridDepActionKind::launch_dependents);
    }
  }

  Values load(const Access &access, ArrayRef<Value> others,
              const AccessHints &hints) override {
    SmallVector<Type> words(access.shape.words,
                            b.getIntegerType(access.shape.registerBits()));
    bool isVolatile = hints.isVolatile;
    return nv::LoadOp::create(
               b, loc, words, toNV(access.space), access.address, access.offset,
               access.predicate, others,
               isVolatile ? nv::Cache::Default : toNV(hints.cache),
               isVolatile ? nv::Eviction::Normal : evictionOf(hints),
               isVolatile ? nv::Order::Volatile : nv::Order::Weak,
               nv::ScopeAttr(), access.shape.wordBits == 8)
        .getResults();
  }
  void store(const Access &access, ArrayRef<Value> words,
             const AccessHints &hints) override {
    nv::StoreOp::create(
        b, loc, toNV(access.space), access.address, access.offset, words,
        access.predicate, toNV(hints.cache),
        hints.isStreamed ? nv::Eviction::NoAllocate : evictionOf(hints),
        access.shape.wordBits == 8);
  }
  Value loadRelaxed(Value address, Type word, Value predicate,
                    tile::MemScope scope) override {
    return nv::LoadOp::create(
               b, loc, word, nv::Space::Global, address, /*offset=*/0,
               predicate, ValueRange(), nv::Cache::Default,
               nv::Eviction::Normal, nv::Order::Relaxed,
               nv::ScopeAttr::get(b.getContext(), toNV(scope)), /*byte=*/false)
        .getResult(0);
  }
  Value compareAndSwap(Value address, Value compare, Value value,
                       Value predicate, tile::MemSemantic semantic,
                       tile::MemScope scope) override {
    return nv::CompareAndSwapOp::create(b, loc, address, compare, value,
                                        predicate, orderAs<nv::Order>(semantic),
                                        toNV(scope));
  }
  Values atomicUpdate(const Access &access, ArrayRef<Value> words,
                      const AtomicUpdate &update, bool isUsed) override {
    bool isSum = update.kind == tile::AtomicKind::FAdd;
    Type element =
        isSum
            ? update.element
            : b.getIntegerType(words.front().getType().getIntOrFloatBitWidth());
    SmallVector<Type> old;
    if (isUsed) {
      old.assign(words.size(), words.front().getType());
    }
    return nv::AtomicOp::create(
               b, loc, old, updateAs<nv::Update>(update.kind), access.address,
               access.offset, words, access.predicate, element,
               orderAs<nv::Order>(update.semantic), toNV(update.scope))
        .getResults();
  }
  void fence(tile::MemScope scope) override {
    nv::FenceOp::create(b, loc, toNV(scope));
  }
  void countShared(Value address, Value predicate) override {
    nv::CountSharedOp::create(b, loc, address, /*by=*/1, predicate);
  }
  void copyAsync(const Access &to, Value from, int64_t fromOffset,
                 Value read) override {
    nv::CopyAsyncOp::create(b, loc, to.address, to.offset, from, fromOffset,
                            to.shape.words * to.shape.wordBits / 8, read,
                            to.predicate);
  }
  void commitCopies() override { NVVM::CpAsyncCommitGroupOp::create(b, loc); }
  void waitForCopies(unsigned pending) override {
    NVVM::CpAsyncWaitGroupOp::create(b, loc, pending);
  }
  void prefetch(Value address, Value bytes, Value predicate) override {
    nv::PrefetchBulkOp::create(b, loc, address, bytes, predicate);
  }

  bool hasOwnProducts() override { return true; }
  Values multiply(const MatrixProduct &) override {
    llvm_unreachable("NV/Mma.cpp emits products");
  }

  Value exp2(Value x) override {
    return nv::ApproximateOp::create(b, loc, nv::Function::Exp2, x);
  }
  Value rsqrt(Value x) override {
    return nv::ApproximateOp::create(b, loc, nv::Function::Rsqrt, x);
  }
  Value divide(Value x, Value y) override {
    return nv::DivideFullOp::create(b, loc, x, y);
  }
  Value shiftRightSigned(Value x, Value amount) override {
    return nv::ShiftRightOp::create(b, loc, x, amount);
  }
  Value toInteger(Value x, IntegerRounding rounding, bool isSigned,
                  unsigned width) override {
    Type target = IntegerType::get(b.getContext(), width,
                                   isSigned ? IntegerType::Signed
                                            : IntegerType::Unsigned);
    Type word = b.getIntegerType(std::max(width, 16u));
    return nv::FloatToIntOp::create(
        b, loc, word, roundingAs<nv::Rounding>(rounding), x, target);
  }
  Value toFloat8(Value x, Type element) override {
    if (!target.hasFloat8Conversions) {
      return {};
    }
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value half = nv::PackFloat8Op::create(b, loc, x, zero, element);
    return arith::TruncIOp::create(b, loc, b.getI8Type(), half);
  }
  Value fromFloat8(Value bits, Type element) override {
    if (!target.hasFloat8Conversions) {
      return {};
    }
    Value half = arith::ExtUIOp::create(b, loc, b.getI16Type(), bits);
    Value word = nv::UnpackFloat8Op::create(b, loc, half, element);
    Value low = arith::TruncIOp::create(b, loc, b.getI16Type(), word);
    return arith::BitcastOp::create(b, loc, b.getF16Type(), low);
  }
  Value packFloat8(ArrayRef<Value> elements) override;
  Value packRounded(Value low, Value high, Type element) override {
    return !target.hasPackedRounding
               ? Value()
               : nv::PackFloatsOp::create(b, loc, low, high, element);
  }
  Value packSaturated(ArrayRef<Value> elements) override;

  Values userAssembly(StringRef text, StringRef constraints, bool isPure,
                      ArrayRef<Value> operands,
                      ArrayRef<Type> results) override {
    return nv::UserAssemblyOp::create(b, loc, results, text, constraints,
                                      isPure, operands)
        .getResults();
  }

private:
  static constexpr uint32_t allLanes = ~uint32_t{0};

  Value i32(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  template <typename Op>
  Value special() {
    return Op::create(b, loc, b.getI32Type());
  }
  Value shuffle(NVVM::ShflKind kind, Value word, Value operand) {
    return NVVM::ShflOp::create(b, loc, b.getI32Type(), i32(allLanes), word,
                                operand, i32(target.lanes - 1), kind,
                                UnitAttr());
  }

  OpBuilder &b;
  const Location &loc;
  const tilegpu::TargetInfo &target;
};

} // namespace

/// The instruction that made an 8-bit float, or null.
static nv::PackFloat8Op roundedToByte(Value element) {
  auto cut = element.getDefiningOp<arith::TruncIOp>();
  return cut ? cut.getIn().getDefiningOp<nv::PackFloat8Op>()
             : nv::PackFloat8Op();
}

/// Two at once, where each has been made alone.
Value NVInstructions::packFloat8(ArrayRef<Value> elements) {
  Type format;
  for (Value element : elements) {
    nv::PackFloat8Op made = roundedToByte(element);
    if (!made || (format && made.getTarget() != format)) {
      return {};
    }
    format = made.getTarget();
  }
  auto half = [&](size_t i) {
    Value both = nv::PackFloat8Op::create(
        b, loc, roundedToByte(elements[i]).getLow(),
        roundedToByte(elements[i + 1]).getLow(), format);
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), both);
  };
  Value low = half(0), high = half(2);
  Value shifted = arith::ShLIOp::create(b, loc, high, i32(16));
  return arith::OrIOp::create(b, loc, low, shifted);
}

/// The instruction that made an 8-bit integer of an f32, or null.
static nv::FloatToIntOp saturating(Value element) {
  auto cut = element.getDefiningOp<arith::TruncIOp>();
  auto made = cut && cut.getType().isInteger(8)
                  ? cut.getIn().getDefiningOp<nv::FloatToIntOp>()
                  : nv::FloatToIntOp();
  bool isMade = made && made.getSource().getType().isF32() &&
                made.getTarget().getIntOrFloatBitWidth() == 8 &&
                made.getRounding() == nv::Rounding::Zero;
  return isMade ? made : nv::FloatToIntOp();
}

/// Of one signedness. ptxas spends two instructions on the upper bits of each
/// 8-bit result, none on those of a word.
Value NVInstructions::packSaturated(ArrayRef<Value> elements) {
  if (!target.hasPackedSaturation) {
    return {};
  }
  Type target;
  for (Value element : elements) {
    nv::FloatToIntOp made = saturating(element);
    if (!made || (target && made.getTarget() != target)) {
      return {};
    }
    target = made.getTarget();
  }
  Values words;
  for (Value element : elements) {
    words.push_back(toInteger(saturating(element).getSource(),
                              IntegerRounding::Zero, /*isSigned=*/true, 32));
  }
  return nv::PackSaturatedOp::create(b, loc, words[0], words[1], words[2],
                                     words[3], target);
}

InstructionSet nvInstructionSet() {
  static constexpr StringRef dialects[] = {"nv", "nvvm"};
  return {
      "nv",
      [](OpBuilder &b, const Location &loc,
         const tilegpu::TargetInfo &target) -> std::unique_ptr<Instructions> {
        return std::make_unique<NVInstructions>(b, loc, target);
      },
      dialects,
      [](DialectRegistry &registry) {
        registry.insert<NVVM::NVVMDialect, nv::NVDialect>();
      }};
}

} // namespace nereid::togpu
