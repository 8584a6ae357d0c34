//===- Parse.h - Command lines, and what is wrong with them -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_COMMANDLINE_PARSE_H
#define NEREID_COMMANDLINE_PARSE_H

namespace CLI {
class App;
} // namespace CLI

namespace nereid {

/// Parses, which runs the command that is named, or prints the help; the
/// process's exit status. Throws Error, "expected X, got Y" with the place of
/// the help, for what CLI11 refuses. `app` has the program's name.
int parseCommandLine(CLI::App &app, int argc, char **argv);

} // namespace nereid

#endif // NEREID_COMMANDLINE_PARSE_H
