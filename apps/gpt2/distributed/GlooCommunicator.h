//===- GlooCommunicator.h - Tensors of hosts, over Gloo --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_GLOOCOMMUNICATOR_H
#define NEREID_APPS_GPT2_DISTRIBUTED_GLOOCOMMUNICATOR_H

#include "apps/gpt2/distributed/Communicator.h"

namespace nereid::gpt2 {

std::unique_ptr<Communicator> makeGlooCommunicator(const Processes &processes);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_GLOOCOMMUNICATOR_H
