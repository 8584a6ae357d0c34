//===- PrintArithmetic.cpp - Assembly of conversions, approximations ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/AssemblyWriter.h"
#include "nereid/Dialect/NV/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nv {

/// One instruction: a result of its operands, nothing else.
static void printPure(Operation *op, const std::string &name) {
  AssemblyWriter w(op);
  std::string text = name + " $0";
  for (Value operand : op->getOperands()) {
    text += ", " + w.use(operand);
  }
  w.write(text + ";", false);
}

static void print(FloatToIntOp op) {
  auto target = cast<IntegerType>(op.getTarget());
  printPure(op, "cvt." + stringifyRounding(op.getRounding()).str() +
                    (target.isSigned() ? ".s" : ".u") +
                    std::to_string(target.getWidth()) +
                    (op.getSource().getType().isF64() ? ".f64" : ".f32"));
}

/// The instruction names the upper half first.
static void print(PackFloatsOp op) {
  AssemblyWriter w(op);
  std::string low = w.use(op.getLow()), high = w.use(op.getHigh());
  w.write(std::string("cvt.rn.") +
              (op.getTarget().isBF16() ? "bf16x2" : "f16x2") + ".f32 $0, " +
              high + ", " + low + ";",
          false);
}

static std::string pairOf(Type element) {
  return isa<Float8E5M2Type>(element) ? "e5m2x2" : "e4m3x2";
}

/// sm_90 has these from PTX 7.8 on, sm_89 from 8.1 on.
static void markVersion(AssemblyWriter &w, MLIRContext *context) {
  w.mark(ptxVersionAttr, Builder(context).getI32IntegerAttr(81));
}

static void print(PackFloat8Op op) {
  AssemblyWriter w(op);
  std::string low = w.use(op.getLow()), high = w.use(op.getHigh());
  markVersion(w, op.getContext());
  w.write("cvt.rn.satfinite." + pairOf(op.getTarget()) + ".f32 $0, " + high +
              ", " + low + ";",
          false);
}

static void print(UnpackFloat8Op op) {
  AssemblyWriter w(op);
  std::string half = w.use(op.getHalf());
  markVersion(w, op.getContext());
  w.write("cvt.rn.f16x2." + pairOf(op.getSource()) + " $0, " + half + ";",
          false);
}

static void print(PackSaturatedOp op) {
  AssemblyWriter w(op);
  std::string x0 = w.use(op.getX0()), x1 = w.use(op.getX1());
  std::string x2 = w.use(op.getX2()), x3 = w.use(op.getX3());
  std::string pack = op.getTarget().isSignedInteger(8)
                         ? "cvt.pack.sat.s8.s32.b32"
                         : "cvt.pack.sat.u8.s32.b32";
  w.write("{\n\t.reg .b32 upper;\n\t" + pack + " upper, " + x3 + ", " + x2 +
              ", 0;\n\t" + pack + " $0, " + x1 + ", " + x0 + ", upper;\n\t}",
          false);
}

static void print(RoundTf32Op op) { printPure(op, "cvt.rna.tf32.f32"); }

static void print(ApproximateOp op) {
  switch (op.getFunction()) {
  case Function::Exp2:
    return printPure(op, "ex2.approx.ftz.f32");
  case Function::Rsqrt:
    return printPure(op, "rsqrt.approx.f32");
  case Function::Tanh:
    return printPure(op, "tanh.approx.f32");
  }
}

static void print(DivideFullOp op) { printPure(op, "div.full.f32"); }

static void print(ShiftRightOp op) { printPure(op, "shr.s32"); }

static void print(UserAssemblyOp op) {
  AssemblyWriter w(op);
  w.useAsTheyAre(op.getInputs());
  w.write(op.getTextAttr(), op.getConstraintsAttr(), !op.getPure());
}

bool printArithmetic(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<FloatToIntOp, PackFloatsOp, PackFloat8Op, UnpackFloat8Op,
            PackSaturatedOp, RoundTf32Op, ApproximateOp, DivideFullOp,
            ShiftRightOp, UserAssemblyOp>([](auto typed) {
        print(typed);
        return true;
      })
      .Default(false);
}

} // namespace nereid::nv
