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

#include <memory>
#include <sys/types.h>

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

/// A Python with the script of providers, which answers one request after the
/// other. It ends with this object, and with this process.
class PythonProcess {
public:
  explicit PythonProcess(const std::string &python);
  ~PythonProcess();
  PythonProcess(const PythonProcess &) = delete;
  PythonProcess &operator=(const PythonProcess &) = delete;

  /// A line; without its end where the process ended instead. Throws where
  /// `python` is no program.
  std::string ask(const std::string &request);

private:
  const std::string python;
  int to = -1, from = -1;
  pid_t child = -1;
};

/// A Python function or a kernel of upstream Triton, timed by a process of its
/// own (provider.py) on copies of the arrays.
class PythonProvider {
public:
  /// `process`, null at first, outlives a point: to load PyTorch takes seconds.
  /// A failure ends it.
  PythonProvider(const ExternalText &text, const BenchOptions &options,
                 std::unique_ptr<PythonProcess> &process);

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
  std::unique_ptr<PythonProcess> &process;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_EXTERNALPROVIDER_H
