//===- Peak.cpp -----------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Peak.h"

#include "nereid/Bench/Roofline.h"
#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::gpt2;

double gpt2::peaksOf(const Processes &processes, int threads, int cores) {
  double fit = std::max(1.0, double(cores) / std::max(threads, 1));
  double here = std::min(double(processes.localSize), fit);
  return here * processes.size / std::max(processes.localSize, 1);
}

double gpt2::peakOf(const GptConfig &config, Device device,
                    const Processes &processes) {
  if (!device.isHost()) {
    return peakOperations(properties(device).name, config.dtype) *
           processes.size;
  }
  if (config.dtype != f32) {
    return 0;
  }
  constexpr double tera = 1e12;
  return bench::floatRateOf(device) * tera *
         peaksOf(processes, numThreads(), availableCores());
}
