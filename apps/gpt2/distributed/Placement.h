//===- Placement.h - Processes and devices of a run ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_PLACEMENT_H
#define NEREID_APPS_GPT2_DISTRIBUTED_PLACEMENT_H

#include "apps/gpt2/Options.h"
#include "apps/gpt2/distributed/Processes.h"

#include <optional>

namespace nereid::gpt2 {

/// Starts the processes that --gpus or --processes asks for, and waits for
/// them: the exit status. Nothing where this process is to train itself, alone
/// or as one of a run that is started already. Throws Error where the options,
/// the machine or the libraries do not allow it.
std::optional<int> startProcesses(const Options &options);

/// This process's place. Throws InvalidArgument where the environment
/// contradicts itself or the options.
Processes processesOf(const Options &options);

/// This process's device: of several on a machine, each has a GPU of its own.
Device deviceOf(const Options &options, const Processes &processes);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_PLACEMENT_H
