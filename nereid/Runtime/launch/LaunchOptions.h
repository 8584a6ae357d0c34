//===- LaunchOptions.h - Named arguments that are no parameters -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every option that Triton's launches take is known here: it has an effect, or
// is a hint that changes no result and is ignored, or is refused with a reason.
// docs/Runtime.md has the table.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_LAUNCHOPTIONS_H
#define NEREID_RUNTIME_LAUNCH_LAUNCHOPTIONS_H

#include "nereid/Runtime/launch/KernelState.h"

namespace nereid {

/// Options that a configuration of @triton.autotune also has; those that the
/// launch names go before it.
enum GivenOption : uint32_t {
  GivenWarps = 1,
  GivenStages = 2,
  GivenCtas = 4,
  GivenMaxRegisters = 8,
  GivenMinRegisters = 16,
  GivenWavesPerUnit = 32,
  GivenMatrixSize = 64,
  GivenNoOverflow = 128, ///< sanitize_overflow=False
};

/// Sets the option, and its bit in `given`. What is no option is a misspelt
/// parameter.
Status setOption(const KernelState &kernel, const LaunchArgument &argument,
                 CompileOptions &options, uint32_t &given);

/// Those that have an effect.
std::span<const std::string> launchOptionNames();

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_LAUNCHOPTIONS_H
