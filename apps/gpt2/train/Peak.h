//===- Peak.h - What the processes of a run could compute -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_PEAK_H
#define NEREID_APPS_GPT2_TRAIN_PEAK_H

#include "apps/gpt2/distributed/Processes.h"
#include "apps/gpt2/model/GptConfig.h"

namespace nereid::gpt2 {

/// Operations a second of all processes; 0 where it is not known. Of a GPU what
/// its data sheet says; of a CPU fp32 alone, measured once and kept, as the
/// roofline of `nereid bench`.
double peakOf(const GptConfig &config, Device device,
              const Processes &processes);

/// How often a process's peak fits: processes of one machine may have more
/// threads than that has cores.
double peaksOf(const Processes &processes, int threads, int cores);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_PEAK_H
