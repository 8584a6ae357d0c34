//===- ExternalProvider.h - Code of others, beside a kernel --- -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_EXTERNALPROVIDER_H
#define NEREID_TOOLS_NEREID_EXTERNALPROVIDER_H

#include "BenchPoint.h"

#include "nereid/Bench/Measure.h"

namespace nereid {

/// What code of others is given: arrays and numbers by the names of the bench's
/// arrays, of the kernel's parameters, and of variables.
struct ExternalValues {
  ExternalValues(const BenchPlan &plan, PointArrays &arrays);
  std::map<std::string, std::string> arrays; ///< keys of PointArrays
  std::map<std::string, StaticValue> numbers;
};

/// A function of a shared library (nereid/Bench/provider.h), called in this
/// process.
class LibraryProvider {
public:
  LibraryProvider(const ExternalText &text, const ExternalValues &values,
                  PointArrays &arrays);
  /// On the arrays' set turn % sets. Throws NotFound for a file or a function
  /// that is not there, KernelFault for another status than 0.
  void run(size_t turn);

private:
  void load();
  const std::string what;
  const ExternalValues values;
  PointArrays &arrays;
  void *function = nullptr;
};

/// A Python function or a kernel of upstream Triton, timed by a process of its
/// own (provider.py) on copies of the arrays.
class PythonProvider {
public:
  PythonProvider(const ExternalText &text, const BenchOptions &options);

  struct Answer {
    bench::Times times;
    std::vector<double> results; ///< of the arrays `written`, in order
  };
  /// A failure is in the times.
  Answer measure(const std::string &name, const ExternalValues &values,
                 const PointArrays &arrays,
                 const std::vector<std::string> &written,
                 int64_t mostCompared) const;

private:
  const ExternalText &text;
  const BenchOptions &options;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_EXTERNALPROVIDER_H
