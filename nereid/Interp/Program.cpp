//===- Program.cpp - A kernel made ready to be executed -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Program.h"

#include "nereid/Interp/Handlers.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::interp {

const Handler *handlerOf(mlir::Operation &op) {
  static const HandlerTable table = [] {
    HandlerTable table;
    addArithHandlers(table);
    addConversionHandlers(table);
    addMathHandlers(table);
    addControlHandlers(table);
    addShapeHandlers(table);
    addMemoryHandlers(table);
    addAtomicHandlers(table);
    addReduceHandlers(table);
    addDotHandlers(table);
    addDebugHandlers(table);
    return table;
  }();
  auto found = table.find(op.getName().getStringRef());
  return found == table.end() ? accessHandler(op) : &found->second;
}

namespace {

class Builder {
public:
  explicit Builder(Program &program) : program(program) {}

  Status build(mlir::Block &block, Code &code) {
    for (mlir::BlockArgument argument : block.getArguments()) {
      if (Status status = define(argument, code.arguments); !status.ok()) {
        return status;
      }
    }
    for (mlir::Operation &op : block.without_terminator()) {
      Step step;
      if (Status status = build(op, step); !status.ok()) {
        return status;
      }
      code.isElementwise &= step.handler->isElementwise;
      code.steps.push_back(std::move(step));
    }
    for (mlir::Value value : block.getTerminator()->getOperands()) {
      code.yields.push_back(slotOf.lookup(value));
    }
    return Status::success();
  }

private:
  Status build(mlir::Operation &op, Step &step) {
    step.handler = handlerOf(op);
    if (!step.handler) {
      return unsupported(
          op.getLoc(), "operation '" + op.getName().getStringRef().str() + "'");
    }
    step.op = &op;
    for (mlir::Value value : op.getOperands()) {
      step.operands.push_back(slotOf.lookup(value));
    }
    for (mlir::Value value : op.getResults()) {
      if (Status status = define(value, step.results); !status.ok()) {
        return status;
      }
    }
    for (mlir::Region &region : op.getRegions()) {
      step.regions.emplace_back();
      if (region.empty()) { // an scf.if without else
        continue;
      }
      if (!region.hasOneBlock()) {
        return unsupported(op.getLoc(), "a region of several blocks");
      }
      Status status = build(region.front(), step.regions.back());
      if (!status.ok()) {
        return status;
      }
    }
    if (auto call = mlir::dyn_cast<mlir::func::CallOp>(op)) {
      return buildCallee(call, step);
    }
    return Status::success();
  }

  /// Each call has a copy of the callee's code, with slots of its own.
  Status buildCallee(mlir::func::CallOp call, Step &step) {
    auto callee =
        mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(
            call, call.getCalleeAttr());
    if (!callee || !callee.getBody().hasOneBlock()) {
      return unsupported(call.getLoc(),
                         "call of '" + call.getCallee().str() +
                             "', which has no body of one block");
    }
    if (llvm::is_contained(calls, callee)) {
      return unsupported(call.getLoc(),
                         "recursion through '" + call.getCallee().str() + "'");
    }
    calls.push_back(callee);
    llvm::scope_exit leave([&] { calls.pop_back(); });
    step.regions.emplace_back();
    return build(callee.getBody().front(), step.regions.back());
  }

  Status define(mlir::Value value, llvm::SmallVectorImpl<unsigned> &list) {
    SlotType type;
    type.element = elementOf(value.getType());
    if (type.element.bytes == 0) {
      std::string text;
      llvm::raw_string_ostream(text) << "type " << value.getType();
      return unsupported(value.getLoc(), text);
    }
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType())) {
      type.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    }
    slotOf[value] = static_cast<unsigned>(program.slots.size());
    list.push_back(slotOf[value]);
    program.slots.push_back(std::move(type));
    return Status::success();
  }

  static Status unsupported(mlir::Location loc, const std::string &what) {
    std::string text;
    llvm::raw_string_ostream(text) << "the reference executor does not know "
                                   << what << " (at " << loc << ")";
    return Status(ErrorCode::Unsupported, text);
  }

  Program &program;
  llvm::DenseMap<mlir::Value, unsigned> slotOf;
  llvm::SmallVector<mlir::func::FuncOp> calls;
};

} // namespace

Expected<std::unique_ptr<Program>> buildProgram(mlir::func::FuncOp function) {
  if (!function.getBody().hasOneBlock()) {
    return Status(ErrorCode::Unsupported,
                  "the reference executor runs functions of one block; '" +
                      function.getName().str() + "' is not one");
  }
  auto program = std::make_unique<Program>();
  program->function = function;
  Status status =
      Builder(*program).build(function.getBody().front(), program->body);
  if (!status.ok()) {
    return status;
  }
  return program;
}

} // namespace nereid::interp
