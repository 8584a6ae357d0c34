//===- Executor.h - What can run a Tile program -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_EXECUTOR_H
#define NEREID_TEST_FUZZ_EXECUTOR_H

#include "nereid/ABI/LaunchABI.h"
#include "nereid/ABI/Status.h"
#include "test/fuzz/Launch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nereid::fuzz {

/// A program made ready by an executor.
struct Prepared {
  HostCode code;
  uint64_t scratchBytes = 0;
  /// Runs the program in place of `code`.
  std::function<Status(Arguments &)> run;
  /// Atomic float additions happen in any order: another sum is no failure.
  bool hasFreeOrder = false;
  /// Compiled, and not to be run: there is nothing to run it on.
  bool compileOnly = false;
  /// What it was compiled to, if that is for a GPU: PTX or a code object.
  std::string assembly;
};

/// FOLDER/NAME.ptx or .hsaco of what has an assembly, with the number of the
/// executor from the second one on; nothing without a folder.
void saveAssembly(const Prepared &prepared, const std::string &folder,
                  const std::string &name, unsigned executor);

class Executor {
public:
  virtual ~Executor() = default;
  virtual std::string name() const = 0;
  /// `module` is the executor's own to change; it outlives the result.
  virtual Expected<Prepared> prepare(mlir::ModuleOp module,
                                     const std::string &kernel) = 0;
};

/// "interp"; the flag of a Tile pass or pipeline ("tile-simplify"), which is
/// the interpreter after it; "cpu" and its targets. NotFound with the list for
/// any other name.
Expected<std::unique_ptr<Executor>> makeExecutor(const std::string &name);

/// Those of `names` that this machine can run, for programs: an unknown
/// name ends the process with status 2; where it can run none, with 77.
std::vector<std::unique_ptr<Executor>>
executorsOrExit(const std::vector<std::string> &names);
/// A line for each of `names` that executorsOrExit leaves out, with the reason.
void announceSkipped(const std::vector<std::string> &names);

/// What makeExecutor takes.
std::vector<std::string> executorNames();

/// Tile passes, loops, machine code. NotFound for an unknown target,
/// Unsupported for one that this machine cannot run.
///
/// "TARGET:fault=INSTRUCTION" plants a fault in what the conversion made: each
/// such instruction multiplies its left operand by itself. A program that shows
/// it has reached that conversion, and is a failure. Where this machine cannot
/// run the target, having the instruction is enough.
Expected<std::unique_ptr<Executor>> makeCpuExecutor(const std::string &target);

/// "cuda:WARPS" and "hip:WARPS" run programs on the first GPU of that kind with
/// that many warps; "sm_90a:WARPS" and "gfx942:WARPS" compile them for an
/// architecture.
/// ":STAGES" after it says how far loads of loops are copied ahead; without
/// it, the program's seed. Unsupported where there is no such GPU.
Expected<std::unique_ptr<Executor>> makeGpuExecutor(const std::string &name);

/// The dialects that executors create, for the context of a program.
void registerExecutorDialects(mlir::DialectRegistry &registry);

/// Does the simulator know every instruction of this PTX?
Status isSimulated(const std::string &ptx);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_EXECUTOR_H
