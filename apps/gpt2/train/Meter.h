//===- Meter.h - How fast steps are -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_METER_H
#define NEREID_APPS_GPT2_TRAIN_METER_H

#include "apps/gpt2/Options.h"
#include "apps/gpt2/model/GptConfig.h"
#include "apps/gpt2/train/Log.h"
#include "apps/gpt2/train/Trainer.h"

#include <algorithm>
#include <chrono>

namespace nereid::gpt2 {

/// Averages over the steps since the last line.
class Meter {
public:
  /// `peak`: operations a second; 0: not known.
  Meter(const GptConfig &config, const Options &options, Device device,
        double peak)
      : device(device), tokens(double(options.gradientAccumulationSteps *
                                      options.batchSize * options.blockSize)),
        operations(operationsPerToken(config, options.blockSize)), peak(peak) {}

  void begin() {
    start = std::chrono::steady_clock::now();
    steps = 0;
  }
  void count() {
    ++steps;
    // What a step compiles, the first one does.
    if (counted++ == 0) {
      warm = std::chrono::steady_clock::now();
    }
  }
  /// The device has finished all steps, and `left` are to come.
  void finish(StepLine &line, int64_t left) {
    if (counted > 1) {
      std::chrono::duration<double> all =
          std::chrono::steady_clock::now() - warm;
      line.secondsLeft = all.count() / double(counted - 1) * double(left);
    }
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    double seconds = elapsed.count() / double(std::max<int64_t>(steps, 1));
    line.milliseconds = seconds * 1e3;
    line.tokensPerSecond = tokens / seconds;
    if (peak > 0) {
      line.mfu = line.tokensPerSecond * operations / peak;
    }
    if (device.isHost()) {
      line.flops = line.tokensPerSecond * operations;
    }
    line.memoryBytes = memoryBytes(device);
    begin();
  }

private:
  Device device;
  double tokens, operations, peak;
  std::chrono::steady_clock::time_point start, warm;
  int64_t steps = 0, counted = 0;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_METER_H
