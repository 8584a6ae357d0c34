//===- BuiltinsCommand.cpp - nereid builtins ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "nereid/CommandLine/CommandProcess.h"

// Not self-contained without these.
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/Support/EditDistance.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace nereid {
namespace {
struct BuiltinsOptions {
  std::string filter;
  bool json = false, markdown = false, host = false;
};
} // namespace

static void listAll(const BuiltinsOptions &options) {
  if (options.markdown) {
    writeOutput(irgen::builtinsMarkdown());
    return;
  }
  if (options.host) {
    writeOutput(irgen::hostAnswersMarkdown());
    return;
  }
  nlohmann::json rows = nlohmann::json::array();
  std::vector<std::string> names;
  size_t shown = 0;
  for (const irgen::BuiltinListing &row : irgen::listBuiltins()) {
    std::string full = row.module + "." + row.name;
    names.push_back(row.name);
    if (full.find(options.filter) == std::string::npos) {
      continue;
    }
    ++shown;
    if (options.json) {
      rows.push_back({{"module", row.module},
                      {"name", row.name},
                      {"signature", row.signature},
                      {"summary", row.summary},
                      {"member", row.isMember}});
    } else {
      std::printf("%-12s %-60s %s\n", row.module.c_str(), row.signature.c_str(),
                  row.summary.c_str());
    }
  }
  if (options.json) {
    writeOutput(rows.dump(1) + "\n");
  }
  if (!shown) {
    usageError("expected a part of a built-in's name, got '" + options.filter +
               "'" + didYouMean(options.filter, names));
  }
}

void addBuiltinsCommand(CLI::App &app) {
  auto options = std::make_shared<BuiltinsOptions>();
  CLI::App *command = app.add_subcommand(
      "builtins", "List the functions that kernels may call");
  command->add_option("name", options->filter, "Only names that contain this");
  command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--markdown", options->markdown, "As docs/BUILTINS.md");
  command->add_flag("--host", options->host,
                    "What host code sees of the machine, as docs/HOST.md");
  command->callback([options] { listAll(*options); });
}

} // namespace nereid
