//===- TrainingOptions.cpp --------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/TrainingOptions.h"

#include "nereid/Runtime/Error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

TrainingOptions::TrainingOptions(CLI::App &command,
                                 const std::vector<std::string> &names,
                                 Options defaults)
    : defaults(std::move(defaults)) {
  command.add_option("config", files,
                     "files of lines 'name = value', as nanoGPT's");
  for (const OptionRow &row : optionRows(this->defaults)) {
    bool isMine = names.empty() ? row.group != "sampling"
                                : std::ranges::count(names, row.name) > 0;
    if (!isMine) {
      continue;
    }
    CLI::Option *option =
        command.add_option("--" + row.name, values[row.name], row.help);
    option->group(row.group)->type_name("");
    // Of several the last, as scripts append what they override.
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (row.isFlag || row.mayBeEmpty) {
      option->expected(0, 1);
    }
    options[row.name] = option;
  }
  for (const std::string &name : ignoredOptions()) {
    options[name] = command.add_option("--" + name, values[name])
                        ->group("") // in no help
                        ->expected(0, 1)
                        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

bool TrainingOptions::isGiven(const std::string &name) const {
  auto found = options.find(name);
  return found != options.end() && found->second->count() > 0;
}

Options TrainingOptions::read() const {
  Options result = defaults;
  for (const std::string &file : files) {
    for (const std::string &name : readConfig(result, file)) {
      std::fprintf(stderr, "note: %s: %s has no effect here\n", file.c_str(),
                   name.c_str());
    }
  }
  for (const std::string &name : ignoredOptions()) {
    if (isGiven(name)) {
      std::fprintf(stderr, "note: --%s has no effect here\n", name.c_str());
    }
  }
  for (const OptionRow &row : optionRows()) {
    if (!isGiven(row.name)) {
      continue;
    }
    try {
      setOption(result, row.name, values.at(row.name));
    } catch (const Error &error) {
      raise({error.code(), "--" + error.message(), {}});
    }
  }
  return result;
}
