//===- KernelConversion.cpp - What conversions of kernels share -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/KernelConversion.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace nereid::lanes {

void loadDialects(MLIRContext *context,
                  void (*registerDialects)(DialectRegistry &)) {
  DialectRegistry registry;
  registerDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames()) {
    context->getOrLoadDialect(name);
  }
}

Failure cannotRun(StringRef target, Operation *op, const Twine &why) {
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  return {ErrorCode::Unsupported,
          "the " + target.str() +
              " target cannot run this kernel: " + why.str() + " at " + where,
          {}};
}

} // namespace nereid::lanes
