//===- Adapters.h - Operators by name ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_OPERATORS_ADAPTERS_H
#define NEREID_BENCH_OPERATORS_ADAPTERS_H

#include "nereid/Autograd/Variable.h"

#include <map>
#include <string>

namespace nereid::bench {

using Inputs = std::vector<Variable>;
using Numbers = std::vector<double>;
using Outputs = std::vector<Variable>;
using Adapter = Outputs (*)(const Inputs &inputs, const Numbers &numbers);

/// Every operator that bench/operators/compare.py has a case of.
const std::map<std::string, Adapter> &adapters();

} // namespace nereid::bench

#endif // NEREID_BENCH_OPERATORS_ADAPTERS_H
