//===- SearchingCompiler.h - A search that needs no list --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tune::TunerOptions options{.searchSeconds = 10};
//   Context context(
//       std::make_unique<tune::SearchingCompiler>(createKernelCompiler()),
//       {.chooser = std::make_shared<tune::TuningChooser>(options)});
//   Kernel::load("k.py", "matmul", context)[grid](c, a, b, M, N, K);
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_SEARCHINGCOMPILER_H
#define NEREID_TUNE_SEARCHINGCOMPILER_H

#include "nereid/ABI/ForwardingCompiler.h"
#include "nereid/Tune/Search.h"

namespace nereid::tune {

/// Gives a kernel that is not autotuned a configuration to begin a search with,
/// of the tl.constexpr parameters that launches leave open. Its key are all
/// scalars.
class SearchingCompiler : public ForwardingCompiler {
public:
  /// `given`: arguments that launches name. `values`: what is tried for a
  /// parameter, instead of powers of two.
  explicit SearchingCompiler(std::unique_ptr<KernelCompiler> compiler,
                             std::vector<std::string> given = {},
                             SearchValues values = {})
      : ForwardingCompiler(std::move(compiler)), given(std::move(given)),
        values(std::move(values)) {}

  Expected<KernelDescription> describe(const Source &source,
                                       const std::string &kernel) override;

private:
  std::vector<std::string> given;
  SearchValues values;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_SEARCHINGCOMPILER_H
