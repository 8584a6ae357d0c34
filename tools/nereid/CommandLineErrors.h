//===- CommandLineErrors.h - Wrong command lines, explained ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_COMMANDLINEERRORS_H
#define NEREID_TOOLS_NEREID_COMMANDLINEERRORS_H

#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace nereid {

/// "expected X, got Y" for what CLI11 refuses, with the place of the help.
std::string explainParseError(const CLI::App &app,
                              const CLI::ParseError &error);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_COMMANDLINEERRORS_H
