//===- Interp.cpp - The reference executor of Tile IR ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Interp.h"

#include "nereid/Interp/Machine.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::interp {

Interpreter::Interpreter(std::unique_ptr<Program> program, Options options)
    : program(std::move(program)), options(options) {}

Interpreter::~Interpreter() = default;

Expected<std::unique_ptr<Interpreter>>
Interpreter::create(mlir::ModuleOp module, std::string_view kernel,
                    Options options) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(
      llvm::StringRef(kernel.data(), kernel.size()));
  if (!function || function.isDeclaration()) {
    return Status(ErrorCode::NotFound, "the Tile module has no function '" +
                                           std::string(kernel) + "'");
  }
  Expected<std::unique_ptr<Program>> program = buildProgram(function);
  if (!program.ok()) {
    return program.status();
  }
  return std::unique_ptr<Interpreter>(
      new Interpreter(std::move(*program), options));
}

/// Programs [begin, end) of the order in which they run.
static Status runPrograms(Machine &machine, int64_t begin, int64_t end,
                          bool isBackward = false) {
  const int32_t *grid = machine.frame().grid;
  int64_t last = int64_t{grid[0]} * grid[1] * grid[2] - 1;
  for (int64_t i = begin; i < end; ++i) {
    int64_t p = isBackward ? last - i : i;
    if (!machine.runProgram(p)) {
      if (machine.fault()) {
        return Status::success();
      }
      return Status(ErrorCode::Internal,
                    "program " + std::to_string(p) + " met the step limit");
    }
  }
  return Status::success();
}

/// The whole grid where that fits the watch's budget, else a sample of it.
static void runWatched(Machine &machine, AccessWatch &watch) {
  constexpr int64_t few = 4;
  const int32_t *grid = machine.frame().grid;
  int64_t total = int64_t{grid[0]} * grid[1] * grid[2];
  if (total <= 0) {
    watch.isWhole = true;
    return;
  }
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (!machine.runProgram(watch.isBackward ? total - 1 - i : i)) {
        return false;
      }
    }
    return true;
  };
  int64_t first = std::min(total, few);
  if (!run(0, first)) {
    return;
  }
  double all = double(watch.spent) / double(first) * double(total);
  if (all <= double(watch.budget)) {
    watch.isWhole = run(first, total);
    return;
  }
  int64_t middle = std::max(first, total / 2);
  int64_t last = std::max(std::min(middle + few, total), total - few);
  if (run(middle, std::min(middle + few, total))) {
    run(last, total);
  }
}

Status Interpreter::run(LaunchFrame *frame, int64_t begin, int64_t end) const {
  std::optional<Machine::Fault> fault;
  Status status = Status::success();
  {
    std::unique_lock lock(turn);
    Oracle unused;
    Oracle &oracle = options.oracle ? *options.oracle : unused;
    FloatMode mode =
        options.oracle ? FloatMode::Float64WithBounds : options.mode;
    Machine machine(*program, mode, *frame, &oracle, options.stepLimit);
    machine.turn = &lock;
    machine.watch = AccessWatch::current();
    if (machine.watch) {
      runWatched(machine, *machine.watch);
    } else {
      status = runPrograms(machine, begin, end, oracle.isBackward);
    }
    fault = machine.fault();
  }
  if (fault) {
    frame->services->fail(frame, fault->site, fault->element, fault->value);
  }
  return status;
}

Status Interpreter::runOracle(LaunchFrame *frame, int64_t begin, int64_t end,
                              Oracle &oracle) const {
  std::lock_guard lock(turn);
  Machine machine(*program, FloatMode::Float64WithBounds, *frame, &oracle,
                  options.stepLimit);
  return runPrograms(machine, begin, end, oracle.isBackward);
}

void Interpreter::entry(const void *self, LaunchFrame *frame, int64_t begin,
                        int64_t end) {
  // Without a step limit, which images do not have, nothing can fail.
  (void)static_cast<const Interpreter *>(self)->run(frame, begin, end);
}

namespace {

/// What a loaded image keeps alive, in order of destruction.
struct LoadedImage {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Interpreter> interpreter;
};

} // namespace

Expected<HostCode> load(std::string_view moduleText, std::string_view entry,
                        Options options) {
  auto image = std::make_shared<LoadedImage>();
  image->context.loadDialect<tile::TileDialect, mlir::ub::UBDialect>();
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(
      &image->context, [&](mlir::Diagnostic &diagnostic) {
        llvm::raw_string_ostream(messages)
            << diagnostic.getLocation() << ": " << diagnostic << "\n";
      });
  image->module = mlir::parseSourceString<mlir::ModuleOp>(
      llvm::StringRef(moduleText.data(), moduleText.size()),
      mlir::ParserConfig(&image->context));
  if (!image->module) {
    return Status(ErrorCode::Internal, "cannot read the Tile IR of '" +
                                           std::string(entry) +
                                           "': " + messages);
  }
  auto interpreter = Interpreter::create(*image->module, entry, options);
  if (!interpreter.ok()) {
    return interpreter.status();
  }
  image->interpreter = std::move(*interpreter);
  HostCode code;
  code.entry = Interpreter::entry;
  code.self = image->interpreter.get();
  code.owner = std::move(image);
  return code;
}

} // namespace nereid::interp
