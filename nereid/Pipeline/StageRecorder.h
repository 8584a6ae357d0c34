//===- StageRecorder.h - Times, dumps and overrides of stages -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every compilation walks a short list of named stages. After each, its text
// may be dumped to a numbered file, replaced from an edited one, or returned to
// the caller. The files of one specialization of a kernel are in a folder of
// their own: dump/add_kernel-1f2e3d4c/10.tile.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_STAGERECORDER_H
#define NEREID_PIPELINE_STAGERECORDER_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

/// A stage's name as --emit takes it, its number and ending in a dump.
struct Stage {
  const char *name;
  const char *file;        ///< "10.tile.mlir"
  bool isOnDemand = false; ///< made for --emit only, never dumped
};

/// In the order of compilation.
inline constexpr Stage astStage = {"ast", "00.ast.txt"};
inline constexpr Stage tileStage = {"tile", "10.tile.mlir"};
inline constexpr Stage tileOptStage = {"tile-opt", "20.tile-opt.mlir"};
inline constexpr Stage cpuStage = {"cpu", "30.cpu.mlir"};
inline constexpr Stage tileGpuStage = {"tilegpu", "30.tilegpu.mlir"};
inline constexpr Stage gpuStage = {"gpu", "35.gpu.mlir"};
inline constexpr Stage llvmDialectStage = {"llvm-dialect", "40.llvm.mlir"};
inline constexpr Stage llvmStage = {"llvm", "50.ll"};
inline constexpr Stage asmStage = {"asm", "60.s"};
inline constexpr Stage ptxStage = {"ptx", "60.ptx"};
inline constexpr Stage amdgcnStage = {"amdgcn", "60.amdgcn.s"};
inline constexpr Stage hsacoStage = {"hsaco", "70.hsaco"};
inline constexpr Stage objectStage = {"obj", "70.o"};
/// The lines of the object.
inline constexpr Stage linesStage = {"lines", "75.lines.txt", true};
inline constexpr const Stage *allStages[] = {
    &astStage,    &tileStage,        &tileOptStage, &cpuStage,  &tileGpuStage,
    &gpuStage,    &llvmDialectStage, &llvmStage,    &asmStage,  &ptxStage,
    &amdgcnStage, &hsacoStage,       &objectStage,  &linesStage};

struct EditedStage {
  std::string path, text;
};

class StageRecorder {
public:
  /// `folder` is the name of the specialization's folder; `emit` names the
  /// stage whose text is wanted, or is empty.
  StageRecorder(std::string folder, std::string emit);

  /// Is the text of `stage` wanted by anybody? Printing costs time.
  bool wants(const Stage &stage) const;
  /// Dumps and keeps the text.
  void record(const Stage &stage, const std::string &text);
  /// The file of a stage that somebody has edited: the first whose text is not
  /// what the compiler made, `own()`. Those of later stages are made from it.
  /// Fails where NEREID_OVERRIDE is no folder, or the file cannot be read.
  Expected<std::optional<EditedStage>>
  takeEdited(const Stage &stage, llvm::function_ref<std::string()> own);
  /// Is `emit` an earlier stage than the next, so that nothing more is needed?
  bool isDone() const { return done; }

  /// Runs `body` and adds its time under `name`.
  template <typename Body>
  auto timed(const char *name, Body &&body) {
    Timer timer{*this, name, std::chrono::steady_clock::now()};
    return body();
  }
  void addTime(std::string name, double ms) {
    times.emplace_back(std::move(name), ms);
  }

  std::string takeText() { return std::move(text); }
  StageTimes times;

private:
  struct Timer {
    StageRecorder &recorder;
    const char *name;
    std::chrono::steady_clock::time_point start;
    ~Timer() {
      std::chrono::duration<double, std::milli> ms =
          std::chrono::steady_clock::now() - start;
      recorder.addTime(name, ms.count());
    }
  };

  std::string folder, emit, text;
  bool done = false, isRestarted = false;
};

} // namespace nereid

#endif // NEREID_PIPELINE_STAGERECORDER_H
