//===- LibraryCommand.h - nereid compile --emit header ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_LIBRARYCOMMAND_H
#define NEREID_TOOLS_NEREID_LIBRARYCOMMAND_H

#include "nereid/ABI/KernelCompiler.h"

namespace nereid {

struct LibraryCommandOptions {
  std::vector<std::string> files; ///< "k.py" or "k.py:kernel"
  std::vector<std::string> signatures, targets, bindings;
  std::vector<std::string> ptx; ///< kept of these targets; empty: of all
  std::string output;           ///< the header; the object lies beside it
  std::string object;           ///< or here
  std::string space;            ///< the namespace
  std::string tuned;            ///< a file of nereid tune --export
  CompileOptions options;
  bool verbose = false;
};

/// Writes the header and the object file.
void compileLibrary(const LibraryCommandOptions &options);

/// Prints what a GPU kernel takes of a multiprocessor, where there is an
/// assembler to tell: on stderr, or in the log NEREID_LOG=compile.
void reportResources(KernelImage image, bool verbose);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_LIBRARYCOMMAND_H
