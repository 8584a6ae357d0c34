//===- Compile.cpp - Generated kernels as Tile IR -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/Compile.h"

#include "nereid/IRGen/IRGen.h"
#include "test/fuzz/Launch.h"

#include "mlir/IR/Builders.h"

namespace nereid::fuzz::source {

/// An integer 1 is a constant of the kernel, as every launch has it.
static bool isRunTime(const Argument &argument) {
  return argument.kind != Argument::Kind::Static &&
         !(argument.kind == Argument::Kind::Integer && argument.integer == 1);
}

static ArgumentSpec specOf(const Argument &argument) {
  if (!isRunTime(argument)) {
    return StaticValue(argument.integer);
  }
  RuntimeArgument spec;
  spec.dtype = argument.element;
  spec.isPointer = argument.kind == Argument::Kind::Array;
  spec.divisibleBy16 = spec.isPointer
                           ? argument.isAligned
                           : argument.kind == Argument::Kind::Integer &&
                                 argument.integer % 16 == 0;
  return spec;
}

static void describe(mlir::func::FuncOp function, unsigned i,
                     const Argument &argument) {
  mlir::Builder b(function.getContext());
  if (argument.kind == Argument::Kind::Array) {
    function.setArgAttr(i, countAttr, b.getI64IntegerAttr(argument.count));
    if (!argument.fill.empty()) {
      function.setArgAttr(i, fillAttr, b.getStringAttr(argument.fill));
    }
    function.setArgAttr(i, streamAttr, b.getI64IntegerAttr(argument.stream));
    if (argument.isOutput) {
      function.setArgAttr(i, outputAttr, b.getUnitAttr());
    }
    return;
  }
  mlir::Type type = function.getArgumentTypes()[i];
  mlir::Attribute value =
      argument.kind == Argument::Kind::Float
          ? mlir::Attribute(b.getFloatAttr(type, argument.number))
          : b.getIntegerAttr(type, argument.integer);
  function.setArgAttr(i, valueAttr, value);
}

Expected<mlir::OwningOpRef<mlir::ModuleOp>> compile(mlir::MLIRContext &context,
                                                    const Program &program) {
  CompileRequest request;
  request.source = {"kernel.py", print(program), {}};
  request.kernel = kernelName;
  for (const Argument &argument : program.arguments) {
    request.arguments.push_back(specOf(argument));
  }
  std::vector<Diagnostic> warnings;
  auto module = irgen::generate(context, request, warnings);
  if (!module.ok()) {
    return module.status();
  }
  mlir::func::FuncOp function = kernelOf(**module);
  unsigned i = 0;
  for (const Argument &argument : program.arguments) {
    if (isRunTime(argument)) {
      describe(function, i++, argument);
    }
  }
  mlir::Builder b(&context);
  function->setAttr(gridAttr, b.getDenseI32ArrayAttr(program.grid));
  function->setAttr(seedAttr, b.getI64IntegerAttr(int64_t(program.seed)));
  return module;
}

} // namespace nereid::fuzz::source
