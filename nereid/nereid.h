//===- nereid.h - The public API, with the compiler ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compile and run kernels from source. Link the library that defines
// createKernelCompiler (NereidPipeline) and the one that chooses configurations
// (NereidTune). Programs that ship compiled kernels include the headers of
// nereid/Runtime instead and need neither.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_NEREID_H
#define NEREID_NEREID_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/DLPack.h"
#include "nereid/Runtime/Device.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/FaultHandler.h"
#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/Npy.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/Tensor.h"

namespace nereid {
class ConfigChooser;
} // namespace nereid

namespace nereid::tune {
ConfigChooser &processTuner();
} // namespace nereid::tune

namespace nereid::detail {
/// Including this header is what connects the shared context to the compiler,
/// and to the tuner that chooses configurations (docs/Tune.md): only programs
/// that do so refer to them. Several files of a program define it, as weak
/// data.
[[gnu::weak, gnu::used,
  gnu::visibility(
      "default")]] extern constinit const SharedDefaults sharedDefaults = {
    &createKernelCompiler, &tune::processTuner, &useConfigTrials};
} // namespace nereid::detail

namespace nereid {
/// For a library that includes this header and that a program opens while it
/// runs (dlopen): the program had no compiler when its runtime was loaded, and
/// looks no more. From now on the shared context has the compiler and the
/// tuner. The library must stay open. A program that includes this header
/// itself need not call it.
inline void installDefaults() {
  detail::installDefaults(detail::sharedDefaults);
}
} // namespace nereid

#endif // NEREID_NEREID_H
