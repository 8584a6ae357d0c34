//===- FatalErrors.h - LLVM's fatal errors as values -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's code generators answer what they cannot select with
// report_fatal_error, which ends the process. The conversions before this
// stage are meant never to produce such input; should one slip through, a
// service with a thousand kernels must not go down with it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_FATALERRORS_H
#define NEREID_TARGET_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace nereid::target {

/// Runs `body`. False when LLVM raised a fatal error in it on this thread, with
/// its text in `message`: the stack was then cut back to here without running
/// destructors, so nothing that `body` worked on may be used or destroyed.
bool runCatchingFatalErrors(llvm::function_ref<void()> body,
                            std::string &message);

} // namespace nereid::target

#endif // NEREID_TARGET_FATALERRORS_H
