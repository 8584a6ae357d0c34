//===- LibraryIndex.h - What a library of kernels holds ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels, for each the signatures that it was compiled for, for each of these
// one image a target. Written by the compiler, read once when a kernel is
// taken from the library.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_LIBRARYINDEX_H
#define NEREID_ABI_LIBRARYINDEX_H

#include "nereid/ABI/KernelCompiler.h"

#include <string_view>

namespace nereid {

/// A kernel compiled for one combination of types, promises and constants.
struct LibrarySignature {
  std::vector<ArgumentSpec> arguments; ///< one a parameter
  CompileOptions options;
  std::vector<uint32_t> images; ///< of KernelLibrary::images
};

/// What tuning chose for one key.
struct LibraryChoice {
  std::string device; ///< as nereid tune calls it
  std::map<std::string, StaticValue> key;
  std::map<std::string, DType> dtypes;
  ConfigDescription config;
};

struct LibraryParameter {
  std::string name;
  bool isStatic = false; ///< tl.constexpr
  SourceLocation location;
};

struct LibraryKernel {
  std::string name;
  std::string path; ///< of the source, for messages
  SourceLocation location;
  std::vector<LibraryParameter> parameters;
  std::vector<LibrarySignature> signatures;
  /// Where there are some, the launch leaves out what they choose.
  std::vector<LibraryChoice> choices;

  /// Does the runtime choose the parameter's value?
  bool isTuned(const std::string &parameter) const {
    return !choices.empty() && choices[0].config.values.contains(parameter);
  }
};

using LibraryIndex = std::vector<LibraryKernel>;

std::string encodeLibraryIndex(const LibraryIndex &index);
/// Nothing when the bytes are no index.
std::optional<LibraryIndex> decodeLibraryIndex(std::string_view bytes);

/// Do options of two configurations make the same code?
bool isSameTuning(const CompileOptions &a, const CompileOptions &b);

/// "*fp32:16", "i32", "1024": an entry of a signature, as it is typed.
std::string str(const ArgumentSpec &spec);
/// "x_ptr=*fp32:16, n=i32, BLOCK=1024".
std::string str(const LibraryKernel &kernel, const LibrarySignature &signature);

} // namespace nereid

#endif // NEREID_ABI_LIBRARYINDEX_H
