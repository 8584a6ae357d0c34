//===- BulkOps.h - cp.async.bulk --------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_BULKOPS_H
#define NEREID_SIM_BULKOPS_H

#include "nereid/Sim/Decoder.h"

namespace nereid::sim {

/// Copies and groups of the copy engine; not the prefetches.
void decodeBulk(Decoder &d);

} // namespace nereid::sim

#endif // NEREID_SIM_BULKOPS_H
