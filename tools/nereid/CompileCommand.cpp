//===- CompileCommand.cpp - nereid compile --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "SignatureText.h"

#include "nereid/Runtime/ImageStore.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace nereid {
namespace {

struct CompileCommandOptions {
  std::string kernel, signature, emit, target = "cpu", output;
  CompileOptions options;
  bool noFpFusion = false;
  std::vector<std::string> checks;
};

const std::vector<std::string> &stages() {
  static const std::vector<std::string> names = {
      "ast", "tile",    "tile-opt", "cpu", "llvm",
      "asm", "tilegpu", "gpu",      "ptx", "obj"};
  return names;
}

} // namespace

static void addChecks(CompileCommandOptions &options) {
  for (const std::string &check : options.checks) {
    uint32_t flag = check == "oob"      ? CheckBounds
                    : check == "nan"    ? CheckNan
                    : check == "assert" ? CheckAsserts
                                        : 0;
    if (!flag) {
      usageError("--check " + check + ": expected oob, nan or assert");
    }
    options.options.checks |= flag;
  }
}

/// A GPU has no stages of a CPU, and the reverse: asking for one would compile
/// everything and print nothing.
static void checkStage(CompileCommandOptions &options) {
  bool isGpu = options.target.starts_with("sm_");
  if (options.emit.empty()) {
    options.emit = isGpu ? "ptx" : "asm";
  }
  auto isOneOf = [&](std::initializer_list<const char *> names) {
    return std::find(names.begin(), names.end(), options.emit) != names.end();
  };
  if (isGpu ? isOneOf({"cpu", "asm", "obj"})
            : isOneOf({"tilegpu", "gpu", "ptx"})) {
    usageError("--emit " + options.emit + ": the target " + options.target +
               " has no such stage; it has ast, tile, tile-opt, llvm and " +
               (isGpu ? "tilegpu, gpu, ptx" : "cpu, asm, obj"));
  }
}

static void compileKernelFile(CompileCommandOptions options) {
  checkStage(options);
  const auto &names = stages();
  if (std::find(names.begin(), names.end(), options.emit) == names.end()) {
    std::string list;
    for (const std::string &name : names) {
      list += (list.empty() ? "" : ", ") + name;
    }
    usageError("--emit " + options.emit + ": expected one of " + list +
               didYouMean(options.emit, names));
  }
  auto [path, name] = splitKernel(options.kernel);
  addChecks(options);
  options.options.fpFusion = !options.noFpFusion;
  // Loading finds the kernel, or says which there are.
  Kernel kernel = Kernel::load(path, name);
  CompileRequest request;
  request.source = Source{path, valueOrThrow(readFile(path)), {}};
  request.kernel = kernel.name();
  request.options = options.options;
  request.target = options.target;
  request.emit = options.emit;
  if (options.emit != "ast") {
    request.arguments = parseSignature(options.signature, kernel.description());
  }
  CompileResult result =
      valueOrThrow(Context::shared().compiler()->compile(request));
  if (knobs().time) {
    double total = 0;
    for (const auto &[stage, milliseconds] : result.image.stageTimes) {
      total += milliseconds;
    }
    printTimes(request.kernel, request.target, "compiled in",
               result.image.stageTimes, total);
  }
  for (const Diagnostic &warning : result.image.warnings) {
    std::fputs(render(warning).c_str(), stderr);
  }
  std::string_view content = result.stage;
  if (options.emit == "obj" && content.empty()) {
    content = {reinterpret_cast<const char *>(result.image.code.data()),
               result.image.code.size()};
  }
  if (options.output.empty() && options.emit == "obj") {
    options.output = kernel.name() + ".o";
  }
  if (options.output.empty() || options.output == "-") {
    std::fwrite(content.data(), 1, content.size(), stdout);
  } else {
    throwIfFailed(writeFileAtomically(options.output, content));
  }
}

void addCompileCommand(CLI::App &app) {
  auto options = std::make_shared<CompileCommandOptions>();
  CLI::App *command =
      app.add_subcommand("compile", "Compile a kernel and print a stage of it");
  command->add_option("kernel", options->kernel, "FILE:KERNEL")->required();
  command->add_option(
      "--signature", options->signature,
      "An entry a parameter: '*fp32:16, i32:16, i32, 1024' or 'x_ptr=*fp32, "
      "BLOCK=1024'. :16 promises divisibility by 16; a value is compiled in");
  command
      ->add_option("--emit", options->emit,
                   "ast, tile, tile-opt, llvm; of a CPU also cpu, asm, obj; of "
                   "a GPU tilegpu, gpu, ptx")
      ->capture_default_str();
  command
      ->add_option("--target", options->target,
                   "cpu (this machine), x86-64-v2, x86-64-v3, x86-64-v4, "
                   "interp, sm_75, sm_80, sm_90a, ...")
      ->capture_default_str();
  command->add_option("-o", options->output,
                      "File; default: stdout, and KERNEL.o for obj");
  command->add_option("--num-warps", options->options.numWarps, "Hint")
      ->capture_default_str();
  command->add_option("--num-stages", options->options.numStages, "Hint")
      ->capture_default_str();
  command->add_flag("--no-fp-fusion", options->noFpFusion,
                    "Keep a * b + c as two roundings");
  command
      ->add_option("--check", options->checks,
                   "Compile checks in: oob, nan, assert")
      ->delimiter(',');
  command->callback([options] { compileKernelFile(*options); });
}

} // namespace nereid
