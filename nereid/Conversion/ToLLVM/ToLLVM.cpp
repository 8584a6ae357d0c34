//===- ToLLVM.cpp - Scalars and vectors to the LLVM dialect ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/ToLLVM/ToLLVM.h"

#include "nereid/Conversion/Lanes/StructuredControl.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid {

Status convertToLLVM(ModuleOp module, ArrayRef<StringRef> machineDialects) {
  MLIRContext *context = module.getContext();
  lanes::lowerStructuredControl(module);
  LowerToLLVMOptions options(context);
  LLVMTypeConverter types(context, options);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  for (StringRef dialect : machineDialects) {
    target.addLegalDialect(dialect);
  }
  target.addLegalOp<ModuleOp>();
  RewritePatternSet patterns(context);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (failed(applyFullConversion(module, target, std::move(patterns)))) {
    return {ErrorCode::Internal, "conversion to the LLVM dialect: " + message};
  }
  return {};
}

} // namespace nereid
