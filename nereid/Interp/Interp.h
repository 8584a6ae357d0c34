//===- Interp.h - The reference executor of Tile IR -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a kernel as it is written: one program after the other, one operation
// after the other, each on all its elements. Nothing is fused, reordered or
// vectorised; docs/Interp.md lists the choices made where the language leaves
// one. It is the oracle of the passes and of the back ends, and the device
// `interp`.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_INTERP_H
#define NEREID_INTERP_INTERP_H

#include "nereid/ABI/LaunchABI.h"
#include "nereid/ABI/Status.h"
#include "nereid/Interp/Oracle.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <mutex>
#include <string_view>

namespace nereid::interp {

struct Program;

struct Options {
  FloatMode mode = FloatMode::Declared;
  /// Give up a program after that many operations; 0: never.
  uint64_t stepLimit = 0;
  /// Where given, every run is one with bounds and fills it.
  Oracle *oracle = nullptr;
};

/// One kernel, ready to run.
class Interpreter {
public:
  /// `module` must outlive the result and not change. Operations that call
  /// the runtime (print, assert, checks) must carry their `tile.site`
  /// (tile-assign-sites). NotFound if there is no such function; Unsupported
  /// for operations and types outside of the dialect.
  static Expected<std::unique_ptr<Interpreter>>
  create(mlir::ModuleOp module, std::string_view kernel, Options options = {});
  ~Interpreter();

  /// Programs [begin, end) of the frame's grid, in order. Calls from several
  /// threads take turns, so that read-modify-writes are atomic. Sets
  /// frame->programId. Fails with Internal where the step limit was met.
  Status run(LaunchFrame *frame, int64_t begin, int64_t end) const;

  /// As `run` in the mode Float64WithBounds, filling `oracle`.
  Status runOracle(LaunchFrame *frame, int64_t begin, int64_t end,
                   Oracle &oracle) const;

  /// A HostEntry; `self` is an Interpreter.
  static void entry(const void *self, LaunchFrame *frame, int64_t begin,
                    int64_t end);

private:
  Interpreter(std::unique_ptr<Program> program, Options options);

  std::unique_ptr<Program> program;
  Options options;
  mutable std::mutex turn;
};

/// Host code of the kernel `entry` of a module in textual form (an image of
/// the format TileIR). The result owns the parsed module.
Expected<HostCode> load(std::string_view moduleText, std::string_view entry,
                        Options options = {});

} // namespace nereid::interp

#endif // NEREID_INTERP_INTERP_H
