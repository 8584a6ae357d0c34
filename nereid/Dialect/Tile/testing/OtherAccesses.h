//===- OtherAccesses.h - Accesses that no pass knows by name ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load and a store of a dialect of their own, with their operands in other
// orders than `tile.load` and `tile.store` have them. With them, tests show
// that passes and executors ask tile::MemoryAccess.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TESTING_OTHERACCESSES_H
#define NEREID_DIALECT_TILE_TESTING_OTHERACCESSES_H

#include "nereid/Dialect/Tile/IR/Tile.h"

namespace nereid::tile::testing {

template <typename Effect>
inline void
addEffect(llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(Effect::get());
}

/// `%x = "other.fetch"(%mask, %pointers)`
class FetchOp
    : public mlir::Op<
          FetchOp, mlir::OpTrait::ZeroRegions, mlir::OpTrait::OneResult,
          mlir::OpTrait::ZeroSuccessors, mlir::OpTrait::NOperands<2>::Impl,
          mlir::MemoryEffectOpInterface::Trait, MemoryAccess::Trait> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "other.fetch"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }

  mlir::Value getMask() { return getOperand(0); }
  mlir::Value getPtr() { return getOperand(1); }
  void getEffects(
      llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects) {
    addEffect<mlir::MemoryEffects::Read>(effects);
  }
};

/// `"other.put"(%mask, %value, %pointers)`
class PutOp
    : public mlir::Op<
          PutOp, mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroResults,
          mlir::OpTrait::ZeroSuccessors, mlir::OpTrait::NOperands<3>::Impl,
          mlir::MemoryEffectOpInterface::Trait, MemoryAccess::Trait> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "other.put"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }

  mlir::Value getMask() { return getOperand(0); }
  mlir::Value getValue() { return getOperand(1); }
  mlir::Value getPtr() { return getOperand(2); }
  void getEffects(
      llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects) {
    addEffect<mlir::MemoryEffects::Write>(effects);
  }
};

class OtherDialect : public mlir::Dialect {
public:
  explicit OtherDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                mlir::TypeID::get<OtherDialect>()) {
    addOperations<FetchOp, PutOp>();
  }
  static llvm::StringRef getDialectNamespace() { return "other"; }
};

/// Of 100 elements: `y[i] = fetch(x[i]) + 1` where `i < n`.
inline constexpr const char *increment = R"mlir(
  %i = tile.range 0, 100 : tensor<100xi32>
  %ns = tile.splat %n : i32 -> tensor<100xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<100xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<100x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<100x!tile.ptr<f32>>, tensor<100xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<100x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<100x!tile.ptr<f32>>, tensor<100xi32>
  %a = "other.fetch"(%m, %xp) : (tensor<100xi1>, tensor<100x!tile.ptr<f32>>) -> tensor<100xf32>
  %one = arith.constant dense<1.0> : tensor<100xf32>
  %b = arith.addf %a, %one : tensor<100xf32>
  "other.put"(%m, %b, %yp) : (tensor<100xi1>, tensor<100xf32>, tensor<100x!tile.ptr<f32>>) -> ()
)mlir";

} // namespace nereid::tile::testing

#endif // NEREID_DIALECT_TILE_TESTING_OTHERACCESSES_H
