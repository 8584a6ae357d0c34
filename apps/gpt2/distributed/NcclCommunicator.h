//===- NcclCommunicator.h - Tensors of GPUs --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_NCCLCOMMUNICATOR_H
#define NEREID_APPS_GPT2_DISTRIBUTED_NCCLCOMMUNICATOR_H

#include "apps/gpt2/distributed/Communicator.h"

namespace nereid::gpt2 {

/// `device`: this process's GPU. Throws as makeCommunicator.
std::unique_ptr<Communicator> makeNcclCommunicator(const Processes &processes,
                                                   Device device);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_NCCLCOMMUNICATOR_H
