//===- CompileCommand.cpp - nereid compile --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"
#include "Commands.h"
#include "LibraryCommand.h"
#include "OptionText.h"
#include "SignatureText.h"
#include "SourceLines.h"
#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Explain/Chip.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/NVPTX/Nvdisasm.h"
#include "nereid/Target/NVPTX/Ptxas.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

namespace nereid {
namespace {

struct CompileCommandOptions : LibraryCommandOptions {
  std::string emit;
  bool noFpFusion = false;
  std::vector<std::string> checks;
};

const std::vector<std::string> &stages() {
  static const std::vector<std::string> names = {
      "ast",     "tile", "tile-opt", "cpu",   "llvm", "asm",
      "tilegpu", "gpu",  "ptx",      "cubin", "sass", "amdgcn",
      "hsaco",   "obj",  "lines",    "header"};
  return names;
}

/// What only one kind of processor has, and what is asked for without --emit.
struct ProcessorStages {
  std::vector<std::string> names;
  const char *usual;
};

const std::vector<std::string> &sharedStages() {
  static const std::vector<std::string> names = {"ast", "tile", "tile-opt",
                                                 "llvm"};
  return names;
}

const ProcessorStages &stagesOf(const std::string &target) {
  static const ProcessorStages nvidia = {{"tilegpu", "gpu", "ptx", "cubin",
                                          "sass"},
                                         "ptx"},
                               amd = {{"tilegpu", "gpu", "amdgcn", "hsaco"},
                                      "amdgcn"},
                               host = {{"cpu", "asm", "obj", "lines"}, "asm"};
  return target.starts_with("sm_")        ? nvidia
         : amdgpu::isArchitecture(target) ? amd
                                          : host;
}

} // namespace

/// "h100" is what people know, and no target: its architecture is.
static void requireArchitecture(const std::string &target) {
  Expected<explain::Chip> chip = explain::findChip(target);
  if (!chip.ok()) {
    std::string lower = target;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    });
    chip = explain::findChip(lower);
  }
  if (chip.ok()) {
    usageError("--target: '" + target +
               "' is a chip; expected its architecture, " +
               std::string(chip->target));
  }
}

static void addChecks(CompileCommandOptions &options) {
  for (const std::string &check : options.checks) {
    uint32_t flag = check == "oob"        ? CheckBounds
                    : check == "nan"      ? CheckNan
                    : check == "assert"   ? CheckAsserts
                    : check == "overflow" ? CheckOverflow
                                          : 0;
    if (!flag) {
      usageError("--instrument: expected oob, nan, assert or overflow, got '" +
                 check + "'");
    }
    options.options.checks |= flag;
  }
}

static bool contains(const std::vector<std::string> &names,
                     const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

static void checkStage(CompileCommandOptions &options) {
  const ProcessorStages &own = stagesOf(options.targets[0]);
  if (options.emit.empty()) {
    options.emit = own.usual;
  }
  const auto &names = stages();
  if (std::find(names.begin(), names.end(), options.emit) == names.end()) {
    std::string list;
    for (const std::string &name : names) {
      list += (list.empty() ? "" : ", ") + name;
    }
    usageError("--emit: expected one of " + list + ", got '" + options.emit +
               "'" + didYouMean(options.emit, names));
  }
  if (options.emit == "header") {
    return;
  }
  auto expectOne = [&](const char *flag, size_t count) {
    if (count > 1) {
      usageError(std::string(flag) + ": expected one, got " +
                 std::to_string(count) + "; only --emit header takes several");
    }
  };
  expectOne("FILE:KERNEL", options.files.size());
  expectOne("--target", options.targets.size());
  expectOne("--signature", options.signatures.size());
  requireArchitecture(options.targets[0]);
  // A GPU has no stages of a CPU, and the reverse: asking for one would compile
  // everything and print nothing.
  const std::vector<std::string> &shared = sharedStages();
  if (!contains(shared, options.emit) && !contains(own.names, options.emit)) {
    std::string list;
    for (const std::string &name : own.names) {
      bool isLast = &name == &own.names.back();
      list += (list.empty() ? "" : isLast ? " and " : ", ") + name;
    }
    usageError("--emit: expected a stage of the target '" + options.targets[0] +
               "', which are ast, tile, tile-opt, llvm, " + list + ", got '" +
               options.emit + "'");
  }
}

/// By ptxas, else by the driver of a GPU of that architecture.
static void assembleImage(KernelImage &image, uint32_t maxRegisters,
                          const std::string &emit) {
  Expected<std::string> ptxas = nvptx::findPtxas();
  if (ptxas.ok()) {
    return throwIfFailed(nvptx::assemble(*ptxas, image, maxRegisters));
  }
  auto device = gpu::deviceOfTarget(image.target);
  if (device.ok()) {
    return throwIfFailed(gpu::assemble(**device, image, maxRegisters));
  }
  raise({ErrorCode::NotFound,
         "--emit " + emit + ": " + ptxas.failure().message +
             ". (A GPU's driver could do it, but " + device.failure().message +
             ".) --emit ptx needs neither",
         {}});
}

/// Instructions after the source line that they come from, in the order of the
/// code: a line whose instructions are apart is there several times.
static std::string sassText(const std::string &nvdisasm,
                            const KernelImage &image, const Source &source) {
  std::vector<nvptx::MachineLine> code =
      valueOrThrow(nvptx::disassemble(nvdisasm, image));
  SourceLines lines;
  std::error_code error;
  std::string own =
      std::filesystem::absolute(source.path, error).lexically_normal();
  std::string text;
  const nvptx::MachineLine *before = nullptr;
  for (const nvptx::MachineLine &one : code) {
    bool isSame =
        before && before->file == one.file && before->line == one.line;
    if (!one.isLabel && !isSame) {
      std::string file =
          std::filesystem::path(one.file).lexically_normal() == own
              ? source.path
              : one.file;
      text += one.file.empty() ? "// of no line\n"
                               : "// " + file + ":" + std::to_string(one.line) +
                                     ": " + lines(one.file, one.line) + "\n";
      before = &one;
    }
    text += one.isLabel ? one.text + "\n" : "    " + one.text + "\n";
  }
  return text;
}

static bool isBinary(const std::string &emit) {
  return emit == "obj" || emit == "cubin" || emit == "hsaco";
}

/// Where the result goes, once the kernel's name and what it reads are known.
static void chooseOutput(CompileCommandOptions &options,
                         const std::string &kernel) {
  if (options.output.empty() && isBinary(options.emit)) {
    options.output =
        kernel + (options.emit == "obj" ? ".o" : "." + options.emit);
  }
  if (!options.output.empty() && options.output != "-") {
    throwIfFailed(OutputFiles().add("-o", options.output));
  }
}

/// Before anything is compiled for it; empty for other stages.
static std::string requireNvdisasm(const std::string &emit) {
  if (emit != "sass") {
    return "";
  }
  Expected<std::string> nvdisasm = nvptx::findNvdisasm();
  if (!nvdisasm.ok()) {
    raise({ErrorCode::NotFound,
           "--emit sass: " + nvdisasm.failure().message,
           {}});
  }
  return *nvdisasm;
}

static CompileResult compileKernel(CompileCommandOptions &options) {
  std::string nvdisasm = requireNvdisasm(options.emit);
  auto [path, kernelName] = splitKernel(options.files[0]);
  Source source{path, valueOrThrow(readFile(path)),
                parseBindings(options.bindings)};
  // Loading finds the kernel, or says which there are.
  Kernel kernel = Kernel::fromSource(source, kernelName);
  printWarnings(kernel.description());
  chooseOutput(options, kernel.name());
  CompileRequest request;
  request.source = std::move(source);
  request.kernel = kernel.name();
  request.options = options.options;
  request.target = options.targets[0];
  bool needsCode = options.emit == "cubin" || options.emit == "sass";
  request.emit = needsCode ? "" : options.emit;
  if (options.emit != "ast") {
    request.arguments = parseSignature(
        options.signatures.empty() ? "" : options.signatures[0],
        kernel.description(), request.source.text, request.options);
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
    printDiagnostic(warning);
  }
  if (needsCode) {
    assembleImage(result.image, request.options.maxRegisters, options.emit);
  }
  if (options.emit == "sass") {
    result.stage = sassText(nvdisasm, result.image, request.source);
  }
  return result;
}

/// -v, as NEREID_LOG=dispatch does.
static void logDecisions() {
  Knobs settings = knobs();
  if (!settings.logs("dispatch")) {
    settings.log.push_back("dispatch");
    exchangeKnobs(std::move(settings));
  }
}

static void compileKernelFile(CompileCommandOptions options) {
  if (options.targets.empty()) {
    options.targets = {"cpu"};
  }
  checkStage(options);
  addChecks(options);
  options.options.fpFusion = !options.noFpFusion;
  if (options.verbose) {
    logDecisions();
  }
  if (options.emit == "header") {
    return compileLibrary(options);
  }
  CompileResult result = compileKernel(options);
  std::string_view content = result.stage;
  if (isBinary(options.emit) && content.empty()) {
    content = {reinterpret_cast<const char *>(result.image.code.data()),
               result.image.code.size()};
  }
  writeResult(options.output, content);
  if (!result.image.code.empty()) {
    reportResources(std::move(result.image), options.verbose);
  }
}

void addCompileCommand(CLI::App &app) {
  auto options = std::make_shared<CompileCommandOptions>();
  CLI::App *command =
      app.add_subcommand("compile", "Compile a kernel and print a stage of it");
  command
      ->add_option("kernel", options->files,
                   "FILE:KERNEL; several files for --emit header")
      ->required();
  command
      ->add_option(
          "--signature", options->signatures,
          "An entry a parameter: '*fp32:16, i32:16, i32, 1024' or "
          "'x_ptr=*fp32, BLOCK=1024'. :16 promises divisibility by 16; a value "
          "is compiled in. For --emit header as often as there are forms, each "
          "as 'KERNEL(...)' where there are several kernels, with @cpu or @gpu "
          "after it where the form is for these targets alone")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--emit", options->emit,
          "ast, tile, tile-opt, llvm; of a CPU also cpu, asm, obj, lines; of "
          "a GPU tilegpu, gpu, ptx, cubin, sass (machine code by source "
          "line, printed by nvdisasm), of an AMD one amdgcn, hsaco; header: a "
          "C++ header and "
          "an object file for programs without the compiler")
      ->capture_default_str();
  command
      ->add_option(
          "--target", options->targets,
          "cpu (this machine; the default), x86-64, x86-64-v2, "
          "x86-64-v3, x86-64-v4, x86-64-v4-bf16, x86-64-v4-amx, interp, sm_75, "
          "sm_80, sm_90a, ..., gfx90a, gfx942, gfx950, gfx1100, gfx1201; "
          "for --emit header several, with commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option(
      "-o", options->output,
      "File; default: stdout, KERNEL.o for obj, KERNEL.cubin, KERNEL.hsaco");
  command->add_option("--object", options->object,
                      "The object file of --emit header; default: beside it");
  command
      ->add_option("--ptx", options->ptx,
                   "Of --emit header: the targets whose PTX is kept beside "
                   "machine code, with commas; default: all")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--tuned", options->tuned,
                      "Of --emit header: choices that nereid tune --export "
                      "wrote. Signatures leave the tuned parameters out, and "
                      "the program chooses by the key of each launch");
  command->add_option("--namespace", options->space,
                      "Of --emit header's functions; default: the file's name");
  command->add_flag("-v,--verbose", options->verbose,
                    "Print what accesses, products, reductions and loops "
                    "became, and why; of kernels for GPUs also registers, "
                    "spills, shared memory and occupancy");
  command->add_option("--num-warps", options->options.numWarps, "Hint")
      ->check(wholeNumber(1, 32))
      ->capture_default_str();
  command->add_option("--num-stages", options->options.numStages, "Hint")
      ->check(wholeNumber(0, 64))
      ->capture_default_str();
  command
      ->add_option("--bind", options->bindings,
                   "NAME=VALUE: a global of the file, where its own value "
                   "cannot be evaluated or is not the wanted one; of another "
                   "module as module.NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--no-fp-fusion", options->noFpFusion,
                    "Keep a * b + c as two roundings");
  command
      ->add_option("--instrument", options->checks,
                   "Compile checks in: oob, nan, assert, overflow")
      ->delimiter(',');
  command->callback([options] { compileKernelFile(*options); });
}

} // namespace nereid
