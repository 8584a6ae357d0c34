//===- ExpandMath.cpp - Elementary functions as arithmetic ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMathRemainder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace nereid::tile;
using namespace nereid::tile::expand;

using UnaryExpansion = Float (*)(Float);
using BinaryExpansion = Float (*)(Float, Float);

static UnaryExpansion unaryExpansion(Operation *op) {
  return llvm::TypeSwitch<Operation *, UnaryExpansion>(op)
      .Case([](math::ExpOp) { return expandExp; })
      .Case([](math::Exp2Op) { return expandExp2; })
      .Case([](math::ExpM1Op) { return expandExpm1; })
      .Case([](math::SinhOp) { return expandSinh; })
      .Case([](math::CoshOp) { return expandCosh; })
      .Case([](math::TanhOp) { return expandTanh; })
      .Case([](math::LogOp) { return expandLog; })
      .Case([](math::Log2Op) { return expandLog2; })
      .Case([](math::Log10Op) { return expandLog10; })
      .Case([](math::Log1pOp) { return expandLog1p; })
      .Case([](math::AsinhOp) { return expandAsinh; })
      .Case([](math::AcoshOp) { return expandAcosh; })
      .Case([](math::AtanhOp) { return expandAtanh; })
      .Case([](math::SinOp) { return expandSin; })
      .Case([](math::CosOp) { return expandCos; })
      .Case([](math::TanOp) { return expandTan; })
      .Case([](math::AsinOp) { return expandAsin; })
      .Case([](math::AcosOp) { return expandAcos; })
      .Case([](math::AtanOp) { return expandAtan; })
      .Case([](math::ErfOp) { return expandErf; })
      .Case([](math::ErfcOp) { return expandErfc; })
      .Case([](math::CbrtOp) { return expandCbrt; })
      .Case([](math::RsqrtOp) { return expandRsqrt; })
      .Default([](Operation *) { return nullptr; });
}

static BinaryExpansion binaryExpansion(Operation *op) {
  return llvm::TypeSwitch<Operation *, BinaryExpansion>(op)
      .Case([](math::Atan2Op) { return expandAtan2; })
      .Case([](math::PowFOp) { return expandPow; })
      .Default([](Operation *) { return nullptr; });
}

/// The format of a scalar or vector that can be expanded, or null.
static FloatType floatFormat(Type type) {
  if (isa<VectorType>(type)) {
    type = cast<VectorType>(type).getElementType();
  }
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type)
             ? cast<FloatType>(type)
             : FloatType();
}

static bool isExpandable(Operation *op) {
  return (unaryExpansion(op) || binaryExpansion(op) ||
          isa<math::SincosOp, math::FPowIOp, math::IsInfOp>(op)) &&
         floatFormat(op->getOperand(0).getType());
}

/// The operand in the emitter's format.
static Float operand(Operation *op, unsigned index, Emitter &emitter) {
  Value value = op->getOperand(index);
  if (value.getType() == emitter.floatType) {
    return emitter.wrap(value);
  }
  return emitter.wrap(arith::ExtFOp::create(emitter.builder, emitter.location,
                                            emitter.floatType, value));
}

static Value inResultType(Float result, Type type) {
  if (result.value.getType() == type) {
    return result.value;
  }
  Emitter &e = *result.emitter;
  return arith::TruncFOp::create(e.builder, e.location, type, result.value);
}

/// x^n with an integer n: as a float it is exact up to 2^24 (f32), and beyond
/// that only |x| = 1 gives a result that is neither 0, 1 nor infinite.
static Float expandFPowI(math::FPowIOp op, Emitter &e) {
  Value power = op.getRhs();
  Type powerElement = getElementTypeOrSelf(power.getType());
  Type evenOdd = e.intType;
  unsigned width = powerElement.getIntOrFloatBitWidth();
  Value sized = power;
  if (width < e.element.getWidth()) {
    sized = arith::ExtSIOp::create(e.builder, e.location, evenOdd, power);
  } else if (width > e.element.getWidth()) {
    sized = arith::TruncIOp::create(e.builder, e.location, evenOdd, power);
  }
  Float x = operand(op, 0, e);
  Float n = e.wrap(
      arith::SIToFPOp::create(e.builder, e.location, e.floatType, power));
  // The float nearest to a large odd n is even: the sign comes from n itself.
  Float magnitude = expandPow(abs(x), n);
  Mask odd = testBit(e.wrapInt(sized), 0);
  return select(odd, copysign(magnitude, x), magnitude);
}

static void expandOperation(Operation *op, ConstantPool &pool,
                            const ExpandMathOptions &options) {
  OpBuilder builder(op);
  Type type = op->getOperand(0).getType();
  FloatType format = floatFormat(type);
  FloatType computed = format.isF64() ? format : builder.getF32Type();
  Emitter emitter(builder, op->getLoc(), pool, options, type, computed);
  SmallVector<Value, 2> results;
  if (UnaryExpansion unary = unaryExpansion(op)) {
    Float result = unary(operand(op, 0, emitter));
    results.push_back(inResultType(result, type));
  } else if (BinaryExpansion binary = binaryExpansion(op)) {
    Float result = binary(operand(op, 0, emitter), operand(op, 1, emitter));
    results.push_back(inResultType(result, type));
  } else if (auto power = dyn_cast<math::FPowIOp>(op)) {
    results.push_back(inResultType(expandFPowI(power, emitter), type));
  } else if (isa<math::IsInfOp>(op)) {
    results.push_back((abs(operand(op, 0, emitter)) == emitter.inf()).value);
  } else {
    auto [sine, cosine] = expandSincos(operand(op, 0, emitter));
    results.push_back(inResultType(sine, type));
    results.push_back(inResultType(cosine, type));
  }
  op->replaceAllUsesWith(results);
  op->erase();
}

/// The block that runs first whenever `op` runs: constants go there.
static Block *entryOf(Operation *op, Operation *root) {
  Operation *parent = op->getParentOp();
  while (parent != root && !parent->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    parent = parent->getParentOp();
  }
  Operation *child = op;
  while (child->getParentOp() != parent) {
    child = child->getParentOp();
  }
  return &child->getParentRegion()->front();
}

void nereid::tile::expandMath(Operation *root,
                              const ExpandMathOptions &options) {
  SmallVector<Operation *> found;
  SmallVector<arith::RemFOp> remainders;
  root->walk([&](Operation *op) {
    if (op != root && isExpandable(op)) {
      found.push_back(op);
    }
    auto remainder = dyn_cast<arith::RemFOp>(op);
    if (remainder && options.expandsRemainder &&
        (op->getResult(0).getType().isF32() ||
         op->getResult(0).getType().isF64())) {
      remainders.push_back(remainder);
    }
  });
  for (arith::RemFOp op : remainders) {
    OpBuilder b(op);
    op.replaceAllUsesWith(
        expandRemainder(b, op.getLoc(), op.getLhs(), op.getRhs()));
    op.erase();
  }
  llvm::DenseMap<Block *, ConstantPool> pools;
  for (Operation *op : found) {
    Block *entry = entryOf(op, root);
    expandOperation(op, pools.try_emplace(entry, entry).first->second, options);
  }
}

namespace {

struct ExpandMathPass : public PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)

  ExpandMathPass() = default;
  ExpandMathPass(const ExpandMathPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tile-expand-math"; }
  StringRef getDescription() const override {
    return "expand elementary functions into arithmetic";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    ExpandMathOptions options;
    options.hasFma = fma;
    options.hasScalef = scalef;
    expandMath(getOperation(), options);
  }

  Option<bool> fma{*this, "fma", llvm::cl::desc("the target has FMA"),
                   llvm::cl::init(true)};
  Option<bool> scalef{*this, "scalef",
                      llvm::cl::desc("the target has AVX-512's vscalef"),
                      llvm::cl::init(false)};
};

} // namespace

void nereid::tile::registerExpandMathPass() {
  PassRegistration<ExpandMathPass>();
}
