//===- PassTimes.h - The time of each pass ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_PASSTIMES_H
#define NEREID_PIPELINE_PASSTIMES_H

#include "nereid/Pipeline/StageRecorder.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace nereid {

/// Adds the time of every pass of a pass manager to a recorder's, under the
/// name that nereid-opt knows the pass by. One thread, no nested pass managers
/// but those that give a pass to each function.
class PassTimes : public mlir::PassInstrumentation {
public:
  explicit PassTimes(StageRecorder &recorder) : recorder(recorder) {}

private:
  void runBeforePass(mlir::Pass *, mlir::Operation *) override {
    start = std::chrono::steady_clock::now();
  }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override {
    if (pass->getArgument().empty()) {
      return; // it gives other passes to each function
    }
    std::chrono::duration<double, std::milli> ms =
        std::chrono::steady_clock::now() - start;
    recorder.addTime(pass->getArgument().str(), ms.count());
  }

  StageRecorder &recorder;
  std::chrono::steady_clock::time_point start;
};

} // namespace nereid

#endif // NEREID_PIPELINE_PASSTIMES_H
