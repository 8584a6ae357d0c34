//===- NoLaunchJudge.cpp - Tests without a compiler judge no launch -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/LaunchJudge.h"

using namespace nereid;
using namespace nereid::kernels;

std::unique_ptr<LaunchJudge> LaunchJudge::make(Device) { return nullptr; }
