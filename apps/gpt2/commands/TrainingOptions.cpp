//===- TrainingOptions.cpp --------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/TrainingOptions.h"

#include "nereid/Runtime/Error.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

TrainingOptions::TrainingOptions(CLI::App &command) {
  command.add_option("config", files,
                     "files of lines 'name = value', as nanoGPT's");
  for (const OptionRow &row : optionRows()) {
    CLI::Option *option =
        command.add_option("--" + row.name, values[row.name], row.help);
    option->group(row.group)->type_name("");
    if (row.isFlag) {
      option->expected(0, 1);
    }
    options[row.name] = option;
  }
}

bool TrainingOptions::isGiven(const std::string &name) const {
  return options.at(name)->count() > 0;
}

Options TrainingOptions::read() const {
  Options result;
  for (const std::string &file : files) {
    for (const std::string &name : readConfig(result, file)) {
      std::fprintf(stderr, "note: %s: %s has no effect here\n", file.c_str(),
                   name.c_str());
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
