//===- FakeMachine.h - Machines that tests run on ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_MACHINE_TESTING_FAKEMACHINE_H
#define NEREID_MACHINE_TESTING_FAKEMACHINE_H

#include "nereid/Machine/Machine.h"

namespace nereid {

/// A server of two sockets: decisions that two cores never make.
inline Machine serverMachine() {
  return {"a server", 64, uint64_t{480} << 20, uint64_t{2} << 20,
          uint64_t{512} << 30};
}

/// Whose caches a test fills in no time.
inline Machine tinyMachine() {
  return {"a tiny one", 2, uint64_t{256} << 10, uint64_t{32} << 10,
          uint64_t{1} << 30};
}

} // namespace nereid

#endif // NEREID_MACHINE_TESTING_FAKEMACHINE_H
