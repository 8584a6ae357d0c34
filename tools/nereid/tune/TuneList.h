//===- TuneList.h - What a file's decorators say of tuning -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_TUNE_TUNELIST_H
#define NEREID_TOOLS_NEREID_TUNE_TUNELIST_H

#include "tools/nereid/KernelArguments.h"

namespace nereid {

/// Prints, as JSON, what @triton.autotune and @triton.heuristics say of the
/// kernel, or of all kernels of the file; with arguments, also what their
/// functions make of these.
void listTuning(const std::string &kernel,
                const std::vector<std::string> &bindings,
                const RunArguments &arguments, Device device);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_TUNE_TUNELIST_H
