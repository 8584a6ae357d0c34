//===- Sweep.h - Variables that take values, as typed ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   N=256..32768*2      256, 512, ... up to 32768
//   N=100..1000+100     100, 200, ... up to 1000
//   N=128,200,512       these
//   dtype=fp32,bf16     texts of any kind
//
// The texts of a command's arguments may name the variables: in shapes, dtypes,
// values and grids.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_SWEEP_H
#define NEREID_TOOLS_NEREID_SWEEP_H

#include "ArgumentText.h"

namespace nereid {

struct Variable {
  std::string name;
  std::vector<std::string> values;
};

/// Throws for an empty range, a step that leads nowhere, no value.
Variable parseVariable(const std::string &text);

/// A value of each variable, in their order.
using VariableValues = std::vector<std::pair<std::string, std::string>>;

/// Every combination; the last variable changes fastest. Throws for a name that
/// is there twice, and for more than 10,000 points.
std::vector<VariableValues> pointsOf(const std::vector<Variable> &variables);

bool mentions(std::string_view text, const std::string &name);

/// With the variables' values for their names, outside of quotes.
std::string substitute(std::string_view text, const VariableValues &values);

/// parseArgument of a text that may name variables, and whose sizes and value
/// may be expressions: 'randn:dtype[4096,2*N]', 'N // 4'.
ParsedArgument parseVaried(const NamedText &text, const VariableValues &values,
                           Device device, uint64_t seed);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_SWEEP_H
