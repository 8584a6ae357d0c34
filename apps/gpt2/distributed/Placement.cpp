//===- Placement.cpp - Processes and devices of a run ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Placement.h"

#include "apps/gpt2/distributed/BatchSlice.h"
#include "apps/gpt2/distributed/Launcher.h"
#include "apps/gpt2/distributed/Nccl.h"
#include "apps/gpt2/train/Interrupt.h"
#include "apps/gpt2/train/Run.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cstdlib>

using namespace nereid;
using namespace nereid::gpt2;

[[noreturn]] static void refuse(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

static int gpusOfMachine() {
  return int(std::ranges::count(Device::available(), Device::Kind::Cuda,
                                &Device::kind));
}

static void checkGpus(const Options &o) {
  int there = gpusOfMachine();
  if (there == 0) {
    Expected<Device> device = Device::tryParse("cuda");
    refuse("gpus: expected a machine with GPUs, got none" +
           (device.ok() ? "" : " (" + device.failure().message + ")") +
           "; hint: --device=cpu --processes=" + std::to_string(o.gpus));
  }
  if (o.gpus > there) {
    refuse("gpus: expected at most " + std::to_string(there) +
           ", those of this machine, got " + std::to_string(o.gpus));
  }
  if (o.device != "cuda") {
    refuse("gpus: expected --device=cuda with several GPUs, got '" + o.device +
           "'");
  }
  valueOrThrow(openNccl());
}

std::optional<int> gpt2::startProcesses(const Options &o) {
  int64_t size = std::max(o.gpus, o.processes);
  if (size == 1 || isLaunched()) {
    return std::nullopt;
  }
  if (o.gpus > 1 && o.processes > 1) {
    refuse("expected --gpus or --processes, got both");
  }
  checkOptions(o);
  sliceOf(o, 0, int(size));
  if (o.gpus > 1) {
    checkGpus(o);
  } else if (o.device.starts_with("cuda") && gpusOfMachine() > 0) {
    refuse("processes: expected --device=cpu, got '" + o.device +
           "'; hint: --gpus=" + std::to_string(size) + " for as many GPUs");
  }
  Interrupt untilTheEnd; // after `launch`, too
  return launch({"", {}, int(size)});
}

Processes gpt2::processesOf(const Options &o) {
  Processes all = processesFromEnvironment();
  int64_t asked = std::max(o.gpus, o.processes);
  if (asked > 1 && asked != all.size && asked != all.localSize) {
    refuse(std::string(o.gpus > 1 ? "gpus" : "processes") + ": expected " +
           std::to_string(all.localSize) + ", as many as " + all.source +
           "'s starter has started on this machine, or none of this option, "
           "got " +
           std::to_string(asked));
  }
  return all;
}

Device gpt2::deviceOf(const Options &o, const Processes &all) {
  bool wantsGpu = o.device == "cuda" || o.device.starts_with("cuda:");
  if (all.size == 1 || !wantsGpu) {
    return deviceOf(o.device);
  }
  int there = gpusOfMachine();
  if (there == 0) {
    // Once is enough.
    return all.rank == 0 ? deviceOf(o.device) : Device::cpu();
  }
  if (o.device != "cuda") {
    refuse("device: expected 'cuda' with several processes, each with a GPU of "
           "its own, got '" +
           o.device + "'");
  }
  // A scheduler may show each process its own GPU alone.
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  int index = there == 1 && visible && *visible ? 0 : all.localRank;
  if (index >= there) {
    refuse("process " + std::to_string(all.rank) + " of " +
           std::to_string(all.size) + ": expected a GPU for each of " +
           std::to_string(all.localSize) + " processes of this machine, got " +
           std::to_string(there));
  }
  return Device::cuda(index);
}
