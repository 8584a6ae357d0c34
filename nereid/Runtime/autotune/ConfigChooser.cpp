//===- ConfigChooser.cpp - Which configuration a launch gets --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigChooser.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Support/CpuLevels.h"

#include <atomic>

namespace nereid {

static constinit std::atomic<bool> isChosen = false; ///< that of the process
static constinit std::atomic<ConfigChooser *> theChooser = nullptr;

void setConfigChooser(ConfigChooser *chooser) {
  theChooser = chooser;
  isChosen = true;
}

ConfigChooser *configChooser() {
  const detail::SharedDefaults *defaults = detail::presentDefaults();
  return isChosen || !defaults ? theChooser.load() : &defaults->chooser();
}

std::string describe(const ConfigDescription &config) {
  std::string text;
  for (const auto &[name, value] : config.values) {
    text += name + "=" + value.str() + " ";
  }
  const CompileOptions &options = config.options;
  text += "num_warps=" + std::to_string(options.numWarps) +
          " num_stages=" + std::to_string(options.numStages);
  auto add = [&](const char *name, uint32_t value, uint32_t usual) {
    if (value != usual) {
      text += " " + std::string(name) + "=" + std::to_string(value);
    }
  };
  add("num_ctas", options.numCtas, 1);
  add("maxnreg", options.maxRegisters, 0);
  add("minnreg", options.minRegisters, 0);
  add("waves_per_eu", options.wavesPerUnit, 0);
  add("matrix_instr_nonkdim", options.matrixSize, 0);
  return text;
}

std::string tuningDevice(Device device) {
  if (device.isHost()) {
    Expected<cpu::CpuTarget> target = cpu::deviceTarget();
    bool isPinned = target.ok() && target->level != cpu::machineLevel();
    return thisMachine().processor + (isPinned ? " as " + target->name : "") +
           ", " + std::to_string(numThreads()) + " threads";
  }
  auto state = gpu::DeviceState::get(device);
  if (!state.ok()) {
    return device.str();
  }
  const gpu::DeviceProperties &properties = (*state)->properties;
  return properties.name + " (" + properties.target() + ")";
}

bool isOfConfig(const Failure &failure) {
  return failure.code == ErrorCode::CompileError ||
         failure.code == ErrorCode::Unsupported ||
         failure.code == ErrorCode::OutOfMemory;
}

} // namespace nereid
