//===- LibraryHeader.h - A C++ function for each kernel ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_LIBRARYHEADER_H
#define NEREID_TOOLS_NEREID_LIBRARYHEADER_H

#include "nereid/ABI/LibraryIndex.h"

namespace nereid {

struct LibraryHeader {
  const LibraryIndex &kernels;
  const std::vector<KernelImage> &images; ///< what is written, and targets
  std::string symbol;                     ///< of the KernelLibrary
  std::string space;                      ///< the namespace, "a" or "a::b"
};

/// The text of the header.
std::string writeHeader(const LibraryHeader &header);

/// Throws Error(InvalidArgument) for a namespace that no compiler takes.
void checkNamespace(const std::string &space);

/// `text` with what cannot stand in a C++ identifier as '_'.
std::string identifier(const std::string &text);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_LIBRARYHEADER_H
