//===- DataRegisters.h - What is computed from loaded values -- -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_DATAREGISTERS_H
#define NEREID_EXPLAIN_DATAREGISTERS_H

#include "nereid/Sim/Program.h"

namespace nereid::explain {

/// Registers of a program that hold what depends on loaded values, wherever
/// they stand: which places an access of such an address meets is up to the
/// data.
class DataRegisters {
public:
  explicit DataRegisters(const sim::Program &program);
  /// Is the address that the statement accesses computed from one of them?
  bool hasAddressOf(size_t statement) const;

private:
  const sim::Program &program;
  std::vector<bool> isOfData;
};

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_DATAREGISTERS_H
