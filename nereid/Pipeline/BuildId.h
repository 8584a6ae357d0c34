//===- BuildId.h - Which build of the compiler this is -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_BUILDID_H
#define NEREID_PIPELINE_BUILDID_H

#include <string>

namespace nereid {

/// Changes with every change of the compiler's code: the linker's build id of
/// the program or library that holds it, with the version of LLVM. A part of
/// every cache key.
std::string getBuildId();

} // namespace nereid

#endif // NEREID_PIPELINE_BUILDID_H
