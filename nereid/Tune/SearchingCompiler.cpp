//===- SearchingCompiler.cpp - A search that needs no list ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/SearchingCompiler.h"

namespace nereid::tune {

Expected<KernelDescription>
SearchingCompiler::describe(const Source &source, const std::string &kernel) {
  Expected<KernelDescription> described = compiler->describe(source, kernel);
  if (described.ok() && described->configs.empty()) {
    ConfigDescription config;
    for (const std::string &name : openParameters(*described, given)) {
      config.values[name] = firstGuess(name, values);
    }
    described->configs = {config};
    for (const ParameterDescription &parameter : described->parameters) {
      if (!parameter.isStatic && !parameter.isPointer) {
        described->tuneKey.push_back(parameter.name);
      }
    }
  }
  return described;
}

} // namespace nereid::tune
