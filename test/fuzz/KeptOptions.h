//===- KeptOptions.h - Options of a command line that stay ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_KEPTOPTIONS_H
#define NEREID_TEST_FUZZ_KEPTOPTIONS_H

namespace nereid::fuzz {

/// Makes what the command line says the default of each option. lld, which
/// links code objects for AMD, gives every llvm::cl::opt its default again.
template <typename... Options>
void keepOptions(Options &...options) {
  (options.setInitialValue(options.getValue()), ...);
}

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_KEPTOPTIONS_H
