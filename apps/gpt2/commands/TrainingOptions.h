//===- TrainingOptions.h - Options on a command line ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_COMMANDS_TRAININGOPTIONS_H
#define NEREID_APPS_GPT2_COMMANDS_TRAININGOPTIONS_H

#include "apps/gpt2/Options.h"

#include <map>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace nereid::gpt2 {

/// --NAME=VALUE for each option of a command, and configuration files as
/// arguments. Must live as long as the command.
class TrainingOptions {
public:
  /// `names`: the command's options; empty: those of training.
  explicit TrainingOptions(CLI::App &command,
                           const std::vector<std::string> &names = {},
                           Options defaults = {});

  /// The defaults, then the files in their order, then the options. Throws
  /// Error.
  Options read() const;
  bool isGiven(const std::string &name) const;

private:
  Options defaults;
  std::vector<std::string> files;
  std::map<std::string, std::string> values;
  std::map<std::string, CLI::Option *> options;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_COMMANDS_TRAININGOPTIONS_H
