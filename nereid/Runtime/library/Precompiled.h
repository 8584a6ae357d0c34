//===- Precompiled.h - Choosing among images of a library -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two choices are made for the first launch with a new combination of
// arguments: the signature, by what the arguments are, and the image, by what
// the device runs. Later launches find the result in the kernel's table, as
// those of kernels compiled at run time do.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LIBRARY_PRECOMPILED_H
#define NEREID_RUNTIME_LIBRARY_PRECOMPILED_H

#include "nereid/ABI/KernelLibrary.h"
#include "nereid/ABI/LibraryIndex.h"
#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/Specialize.h"

namespace nereid {

/// One kernel of a library, which lives as long as the program.
struct PrecompiledKernel {
  const KernelLibrary &library;
  LibraryKernel kernel;
  /// What images became, by signature and placeOf(device). Guarded by
  /// `loading`.
  std::map<std::pair<size_t, int>, std::shared_ptr<const LoadedImage>> loaded;
  std::mutex loading;
};

/// The kernel `name` (or the only one), and what its description would be if
/// it had been read from source. NotFound with the names there are.
Expected<std::shared_ptr<PrecompiledKernel>>
findPrecompiled(const KernelLibrary &library, const std::string &name);
KernelDescription describePrecompiled(const LibraryKernel &kernel);
/// The choice for the most similar key of a tuned kernel.
const ConfigDescription &nearestChoice(const LibraryKernel &kernel,
                                       const TuningKey &key);

/// The signature that the arguments fit and that promises most of them.
/// InvalidArgument, with what each signature asks for, when they fit none.
Expected<size_t> chooseSignature(const LaunchBinding &binding,
                                 const PrecompiledKernel &precompiled,
                                 std::span<const Specialized> arguments);

/// The higher the better; negative: the device cannot run it. Machine code of
/// exactly the device's architecture, else of one with the same major and a
/// lower minor number, else PTX, which the driver assembles, of the newest
/// architecture up to the device's. Code for "sm_XYa" runs on that alone.
int rankOnGpu(const KernelImage &image, int major, int minor);
/// The same of a code object, which runs on its architecture alone.
int rankOnHip(const KernelImage &image, std::string_view architecture);
/// The same of "x86-64-v3" where the host has levels 1 to `level`.
int rankOnHost(const KernelImage &image, int level);

/// Loads the signature's best image, or the next one where the driver cannot
/// load that. Unsupported, with the targets there are, when there is none.
Expected<Context::State::Obtained>
obtainPrecompiled(KernelState &kernel, size_t signature, Device device);

} // namespace nereid

#endif // NEREID_RUNTIME_LIBRARY_PRECOMPILED_H
