//===- LaunchErrors.h - What a wrong launch is answered with ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every message names the kernel, the parameter, what was expected, what came,
// and what to do; a note points at the parameter in the source.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_LAUNCHERRORS_H
#define NEREID_RUNTIME_LAUNCH_LAUNCHERRORS_H

#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/Specialize.h"

namespace nereid {

/// How hints are worded: as the C++ that the caller writes, or as arguments of
/// the command.
enum class HintStyle { Cpp, Command };
void setHintStyle(HintStyle style);

/// InvalidArgument: "<kernel>: <message>", with the kernel's place.
Failure launchFailure(const KernelState &kernel, std::string message,
                      std::string hint = "");
/// The same, pointing at a parameter.
Failure parameterFailure(const KernelState &kernel, size_t parameter,
                         std::string message, std::string hint = "");

Failure missingArguments(const LaunchBinding &binding);
Failure tooManyArguments(const KernelState &kernel, size_t given);
Failure unexpectedKeyword(const KernelState &kernel, std::string_view name);
Failure givenTwice(const KernelState &kernel, size_t parameter);
Failure mismatchFailure(const KernelState &kernel, size_t parameter,
                        const Argument &argument, ArgumentMismatch mismatch,
                        const std::string &place = "");
Failure missingGrid(const KernelState &kernel);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_LAUNCHERRORS_H
