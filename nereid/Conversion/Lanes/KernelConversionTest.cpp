//===- KernelConversionTest.cpp - What conversions of kernels share -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/KernelConversion.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

TEST(KernelConversion, LoadsWhatIsRegistered) {
  mlir::MLIRContext context;
  EXPECT_FALSE(context.getLoadedDialect<mlir::math::MathDialect>());
  lanes::loadDialects(&context, [](mlir::DialectRegistry &registry) {
    registry.insert<mlir::math::MathDialect>();
  });
  EXPECT_TRUE(context.getLoadedDialect<mlir::math::MathDialect>());
}

TEST(KernelConversion, FailuresNameTargetReasonAndPlace) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, "k.py", 3, 5));
  Failure failure = lanes::cannotRun("GPU", *module, "no form of 'x'");
  EXPECT_EQ(failure.code, ErrorCode::Unsupported);
  EXPECT_EQ(failure.message, "the GPU target cannot run this kernel: no form "
                             "of 'x' at loc(\"k.py\":3:5)");
}

} // namespace
