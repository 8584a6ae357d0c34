//===- AMDInstructions.cpp - AMD's instructions ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/InstructionEnums.h"
#include "nereid/Dialect/AMD/IR/AMD.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace nereid::togpu {

static amd::Scope toAMD(tile::MemScope scope) {
  switch (scope) {
  case tile::MemScope::Block:
    return amd::Scope::Workgroup;
  case tile::MemScope::Device:
    return amd::Scope::Agent;
  case tile::MemScope::System:
    return amd::Scope::System;
  }
  llvm_unreachable("all scopes are handled");
}

static amd::Space toAMD(Space space) {
  return space == Space::Global ? amd::Space::Global : amd::Space::LDS;
}

/// What is read once, or written and not read again, makes room for the rest.
static amd::Cache cacheOf(const AccessHints &hints) {
  using C = tile::CacheModifier;
  bool isStreamed = hints.isStreamed || hints.cache == C::CS ||
                    hints.cache == C::WT ||
                    hints.evict == tile::EvictionPolicy::First;
  return isStreamed ? amd::Cache::Streamed : amd::Cache::Normal;
}

namespace {

class AMDInstructions : public Instructions {
public:
  AMDInstructions(OpBuilder &b, const Location &loc,
                  const tilegpu::TargetInfo &target)
      : b(b), loc(loc), target(target) {}

  void markKernel(LLVM::LLVMFuncOp entry, unsigned threads) override {
    std::string count = std::to_string(threads);
    entry->setAttr("rocdl.kernel", b.getUnitAttr());
    entry->setAttr(
        "rocdl.reqd_work_group_size",
        b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
    entry->setAttr("rocdl.flat_work_group_size",
                   b.getStringAttr(count + "," + count));
  }
  bool isInstruction(Operation *op) override {
    return isa<amd::AMDDialect>(op->getDialect());
  }
  bool hasPrints() override { return false; }

  Value threadNumber() override { return special<ROCDL::ThreadIdXOp>(); }
  Value programId(unsigned axis) override {
    return axis == 0   ? special<ROCDL::BlockIdXOp>()
           : axis == 1 ? special<ROCDL::BlockIdYOp>()
                       : special<ROCDL::BlockIdZOp>();
  }
  Value gridSize(unsigned axis) override {
    return amd::GridSizeOp::create(b, loc, b.getI32Type(), axis);
  }
  /// HW_ID of CDNA (the bits of unit, array and engine), HW_ID1 of RDNA. The
  /// numbers have gaps; on a chip of several dies they are those of the die.
  Value processorId() override {
    bool isRdna = hasRows();
    return isRdna
               ? amd::HardwareRegisterOp::create(b, loc, b.getI32Type(),
                                                 /*number=*/23, /*offset=*/10,
                                                 /*size=*/11)
               : amd::HardwareRegisterOp::create(b, loc, b.getI32Type(),
                                                 /*number=*/4, /*offset=*/8,
                                                 /*size=*/8);
  }
  Value globalTimer() override {
    return amd::TimerOp::create(b, loc, b.getI64Type());
  }

  void barrier(bool ordersGlobal) override {
    if (ordersGlobal) {
      ROCDL::BarrierOp::create(b, loc);
    } else {
      amd::LdsBarrierOp::create(b, loc);
    }
  }
  Value shuffleXor(Value word, unsigned laneMask) override;
  /// DS_BPERMUTE takes the number modulo the wave; what reads it as it is (an
  /// emulator) must find a lane there, too.
  Value shuffleIndex(Value word, Value lane) override {
    Value inWave = arith::AndIOp::create(b, loc, lane, i32(target.lanes - 1));
    return ROCDL::DsBpermuteOp::create(
        b, loc, b.getI32Type(),
        arith::ShLIOp::create(b, loc, inWave, i32(2)).getResult(), word);
  }
  Value anyLane(Value condition) override {
    Type mask = b.getIntegerType(target.lanes);
    Value lanes = ROCDL::BallotOp::create(b, loc, mask, condition);
    Value none = arith::ConstantOp::create(b, loc, b.getIntegerAttr(mask, 0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, lanes, none);
  }
  /// Launches of a stream follow one another.
  void gridDependency(bool) override {}

  Values load(const Access &access, ArrayRef<Value> others,
              const AccessHints &hints) override {
    SmallVector<Type> words(access.shape.words,
                            b.getIntegerType(access.shape.registerBits()));
    bool isVolatile =
        hints.isVolatile || hints.cache == tile::CacheModifier::CV;
    return amd::LoadOp::create(
               b, loc, words, toAMD(access.space), access.address,
               access.offset, access.predicate, others, cacheOf(hints),
               isVolatile ? amd::Order::Volatile : amd::Order::Weak,
               amd::ScopeAttr(), access.shape.wordBits == 8)
        .getResults();
  }
  void store(const Access &access, ArrayRef<Value> words,
             const AccessHints &hints) override {
    amd::StoreOp::create(b, loc, toAMD(access.space), access.address,
                         access.offset, words, access.predicate, cacheOf(hints),
                         access.shape.wordBits == 8);
  }
  Value loadRelaxed(Value address, Type word, Value predicate,
                    tile::MemScope scope) override {
    return amd::LoadOp::create(
               b, loc, word, amd::Space::Global, address, /*offset=*/0,
               predicate, ValueRange(), amd::Cache::Normal, amd::Order::Relaxed,
               amd::ScopeAttr::get(b.getContext(), toAMD(scope)),
               /*byte=*/false)
        .getResult(0);
  }
  Value compareAndSwap(Value address, Value compare, Value value,
                       Value predicate, tile::MemSemantic semantic,
                       tile::MemScope scope) override {
    return amd::CompareAndSwapOp::create(
        b, loc, address, compare, value, predicate,
        orderAs<amd::Order>(semantic), toAMD(scope));
  }
  Values atomicUpdate(const Access &access, ArrayRef<Value> words,
                      const AtomicUpdate &update, bool isUsed) override {
    assert(words.size() == 1 && "TargetInfo::atomicSumBytes is a word");
    Value value = words.front();
    bool isSum = update.kind == tile::AtomicKind::FAdd;
    Type element =
        isSum ? update.element
              : b.getIntegerType(value.getType().getIntOrFloatBitWidth());
    auto atomic = amd::AtomicOp::create(
        b, loc, isUsed ? value.getType() : Type(),
        updateAs<amd::Update>(update.kind), access.address, access.offset,
        value, access.predicate, element, orderAs<amd::Order>(update.semantic),
        toAMD(update.scope));
    return isUsed ? Values{atomic.getOld()} : Values();
  }
  void fence(tile::MemScope scope) override {
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acq_rel,
                          scope == tile::MemScope::Block    ? "workgroup"
                          : scope == tile::MemScope::Device ? "agent"
                                                            : "");
  }
  void countShared(Value address, Value predicate) override {
    amd::CountSharedOp::create(b, loc, address, /*by=*/1, predicate);
  }

  bool hasOwnProducts() override { return false; }
  Values multiply(const MatrixProduct &product) override;

  Value exp2(Value x) override {
    return amd::ApproximateOp::create(b, loc, amd::Function::Exp2, x);
  }
  Value rsqrt(Value x) override {
    return amd::ApproximateOp::create(b, loc, amd::Function::Rsqrt, x);
  }
  Value divide(Value x, Value y) override {
    return arith::DivFOp::create(b, loc, x, y);
  }
  Value shiftRightSigned(Value x, Value amount) override {
    // The instruction takes the low five bits; to LLVM more is poison.
    Value atMost = arith::MinUIOp::create(b, loc, amount, i32(31));
    return arith::ShRSIOp::create(b, loc, x, atMost);
  }
  Value toInteger(Value x, IntegerRounding rounding, bool isSigned,
                  unsigned width) override {
    Type type = IntegerType::get(b.getContext(), width,
                                 isSigned ? IntegerType::Signed
                                          : IntegerType::Unsigned);
    Type word = b.getIntegerType(std::max(width, 16u));
    return amd::FloatToIntOp::create(
        b, loc, word, roundingAs<amd::Rounding>(rounding), x, type);
  }
  Value toFloat8(Value, Type) override { return {}; }
  Value fromFloat8(Value, Type) override { return {}; }
  Value packFloat8(ArrayRef<Value>) override { return {}; }
  Value packRounded(Value, Value, Type) override { return {}; }
  Value packSaturated(ArrayRef<Value>) override { return {}; }

  // What TargetInfo says there is not.
  void markTensorMap(LLVM::LLVMFuncOp, unsigned) override { notThere(); }
  Value processorCount() override { notThere(); }
  void barrierOf(unsigned) override { notThere(); }
  void barrierOfWarp() override { notThere(); }
  Value reduceLanes(LaneReduction, Value) override { notThere(); }
  void copyAsync(const Access &, Value, int64_t, Value) override { notThere(); }
  void commitCopies() override { notThere(); }
  void waitForCopies(unsigned) override { notThere(); }
  void prefetch(Value, Value, Value) override { notThere(); }
  void initBarrier(Value, unsigned, Value) override { notThere(); }
  void publishBarriers() override { notThere(); }
  void expectBytes(Value, unsigned) override { notThere(); }
  void arriveAtBarrier(Value, Value) override { notThere(); }
  void waitBarrier(Value, Value) override { notThere(); }
  void takeTurn(Value, unsigned) override { notThere(); }
  void giveTurn(Value, unsigned) override { notThere(); }
  void prefetchMap(Value, Value) override { notThere(); }
  void copyBox(Value, Value, ArrayRef<Value>, Value) override { notThere(); }
  void setRegisters(unsigned, bool) override { notThere(); }
  /// Assembly that a kernel has is another vendor's, and has become tiles.
  Values userAssembly(StringRef, StringRef, bool, ArrayRef<Value>,
                      ArrayRef<Type>) override {
    notThere();
  }

private:
  [[noreturn]] void notThere() {
    llvm_unreachable("TargetInfo says that there is no such instruction");
  }
  /// Of 32 lanes: two rows of 16, which PERMLANEX16 and the masks of DPP16 know
  /// (RDNA).
  bool hasRows() const { return target.lanes == 32; }

  Value i32(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  template <typename Op>
  Value special() {
    return Op::create(b, loc, b.getI32Type());
  }
  /// Moves lanes inside rows of 16 as `control` says (DPP_CTRL of the ISA
  /// documents).
  Value moveInRow(Value word, uint32_t control) {
    constexpr uint32_t all = 15;
    return ROCDL::DPPUpdateOp::create(b, loc, b.getI32Type(), word, word,
                                      control, all, all,
                                      /*boundCtrl=*/true);
  }

  OpBuilder &b;
  const Location &loc;
  const tilegpu::TargetInfo &target;
};

} // namespace

/// Inside rows of 16 lanes by DPP, which the vector unit does in passing; to
/// the other row of 32 by PERMLANEX16 or DS_SWIZZLE, and to the other half of
/// 64 through the LDS's crossbar.
Value AMDInstructions::shuffleXor(Value word, unsigned laneMask) {
  constexpr uint32_t rowXor = 0x160, rowRotateBy8 = 0x128, halfMirror = 0x141;
  constexpr unsigned row = 16, half = 32;
  if (laneMask & half) {
    return shuffleIndex(
        word, arith::XOrIOp::create(b, loc, threadNumber(), i32(laneMask)));
  }
  unsigned inRow = laneMask % row;
  if (inRow && hasRows()) {
    word = moveInRow(word, rowXor + inRow);
  } else if (inRow) {
    if (inRow & 8) {
      word = moveInRow(word, rowRotateBy8);
    }
    unsigned inQuad = inRow & 3;
    if (inRow & 4) { // a mirror of 8 lanes changes the three lowest bits
      word = moveInRow(word, halfMirror);
      inQuad ^= 3;
    }
    if (inQuad) {
      uint32_t control = 0;
      for (unsigned i = 0; i < 4; ++i) {
        control |= (i ^ inQuad) << (2 * i);
      }
      word = moveInRow(word, control);
    }
  }
  if (!(laneMask & row)) {
    return word;
  }
  if (hasRows()) {
    return ROCDL::PermlaneX16Op::create(b, loc, b.getI32Type(), word, word,
                                        i32(0x76543210), i32(0xfedcba98),
                                        /*fi=*/false, /*boundControl=*/true);
  }
  constexpr uint32_t keepLane = 0x1f, xorPlace = 10;
  return ROCDL::DsSwizzleOp::create(b, loc, b.getI32Type(), word,
                                    i32(row << xorPlace | keepLane));
}

/// A lane holds neighbours of a column of the instruction's sums, and a result
/// should have neighbours of a row: it is computed transposed, with the right
/// operand in A's place. What a product leaves is then what the next one wants
/// of its left operand.
Values AMDInstructions::multiply(const MatrixProduct &product) {
  const tilegpu::MatrixInstruction &one = product.instruction;
  assert(one.m == one.n && "transposed");
  if (hasRows()) {
    return Values(amd::WmmaOp::create(b, loc, one.m, one.k, product.rightType,
                                      product.right, product.leftType,
                                      product.left, product.sums)
                      .getResults());
  }
  return Values(amd::MfmaOp::create(b, loc, one.m, one.k, product.rightType,
                                    product.right, product.leftType,
                                    product.left, product.sums)
                    .getResults());
}

InstructionSet amdInstructionSet() {
  static constexpr StringRef dialects[] = {"amd", "rocdl"};
  return {
      "amd",
      [](OpBuilder &b, const Location &loc,
         const tilegpu::TargetInfo &target) -> std::unique_ptr<Instructions> {
        return std::make_unique<AMDInstructions>(b, loc, target);
      },
      dialects,
      [](DialectRegistry &registry) {
        registry.insert<ROCDL::ROCDLDialect, amd::AMDDialect>();
      }};
}

} // namespace nereid::togpu
