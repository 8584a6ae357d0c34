//===- LibraryCommand.cpp - nereid compile --emit header ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCommand.h"

#include "ArgumentText.h"

#include "Commands.h"
#include "LibraryHeader.h"
#include "SignatureText.h"
#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Pipeline/LibraryBuilder.h"
#include "nereid/Runtime/gpu/GpuModule.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/AMDGPU/CodeObject.h"
#include "nereid/Target/NVPTX/Occupancy.h"
#include "nereid/Target/NVPTX/Ptxas.h"
#include "nereid/Tune/TuningRecord.h"
#include "nereid/nereid.h"

#include <cstdio>
#include <filesystem>
#include <set>

namespace nereid {

/// By ptxas and the architecture's table, else by a GPU's driver.
static Expected<std::string> resourceReport(KernelImage image) {
  if (image.format == ImageFormat::HostObject) {
    return image.kernel + " [" + image.target +
           "]: " + std::to_string(image.scratchBytes) +
           " bytes of scratch a thread";
  }
  if (amdgpu::isArchitecture(image.target)) {
    return amdgpu::resourceLine(image);
  }
  if (image.format == ImageFormat::GpuAssembly) {
    Expected<std::string> ptxas = nvptx::findPtxas();
    if (!ptxas.ok()) {
      auto byDriver = gpu::reportResources(image);
      if (!byDriver.ok()) {
        return {ErrorCode::NotFound,
                ptxas.failure().message + "; " + byDriver.failure().message};
      }
      return byDriver;
    }
    Status status = nvptx::assemble(*ptxas, image);
    if (!status.ok()) {
      return status;
    }
  }
  if (!image.numRegisters) {
    return gpu::reportResources(std::move(image)); // a driver assembled it
  }
  nvptx::Occupancy occupancy = valueOrThrow(nvptx::occupancyOf(image));
  std::string line =
      gpu::resourceLine(image, static_cast<int>(occupancy.blocks),
                        static_cast<int>(32 * occupancy.mostWarps));
  if (occupancy.warps < occupancy.mostWarps) {
    line += std::string(", limited by ") + occupancy.limit;
  }
  return line;
}

void reportResources(KernelImage image, bool verbose) {
  if (!verbose && !logEnabled(LogTopic::Compile)) {
    return;
  }
  Expected<std::string> line = resourceReport(std::move(image));
  if (!line.ok()) {
    warnOnce("registers and occupancy are not known: " +
             line.failure().message);
  } else if (verbose) {
    printError(*line + "\n");
  } else {
    logLine(LogTopic::Compile, *line);
  }
}

namespace {
/// A kernel that a signature may be for.
struct KnownKernel {
  Source source;
  KernelDescription description;
};
} // namespace

static std::vector<KnownKernel>
readKernels(const std::vector<std::string> &files,
            const std::map<std::string, StaticValue> &bindings,
            KernelCompiler &compiler) {
  std::vector<KnownKernel> known;
  for (const std::string &file : files) {
    auto [path, kernel] = splitKernel(file);
    Source source{path, valueOrThrow(readFile(path)), bindings};
    std::vector<std::string> names = valueOrThrow(compiler.listKernels(source));
    if (!kernel.empty()) {
      // Finds the kernel, or says which there are.
      names = {Kernel::fromSource(source, kernel).name()};
    }
    for (const std::string &name : names) {
      known.push_back({source, valueOrThrow(compiler.describe(source, name))});
    }
  }
  return known;
}

/// `kernel`, if no other file has one of its name.
static const KnownKernel &onlyOne(const std::vector<KnownKernel> &known,
                                  const KnownKernel &kernel) {
  for (const KnownKernel &other : known) {
    if (other.description.name == kernel.description.name &&
        other.source.path != kernel.source.path) {
      usageError("expected kernels of different names, got '" +
                 kernel.description.name + "' in " + kernel.source.path +
                 " and " + other.source.path +
                 "; compile them into libraries of their own");
    }
  }
  return kernel;
}

static const KnownKernel &findKernel(const std::vector<KnownKernel> &known,
                                     const std::string &name,
                                     const std::string &signature) {
  std::vector<std::string> names;
  std::string list;
  for (const KnownKernel &kernel : known) {
    if (kernel.description.name == name ||
        (name.empty() && known.size() == 1)) {
      return onlyOne(known, kernel);
    }
    names.push_back(kernel.description.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  if (name.empty() && !known.empty()) {
    usageError("--signature '" + signature +
               "': expected the name of one of the kernels " + list +
               " in front, as " + names[0] + "(" + signature + "), got none");
  }
  usageError("--signature '" + signature + "': there is no kernel '" + name +
             "'; there is " + (list.empty() ? "none" : list) +
             didYouMean(name, names));
}

//===----------------------------------------------------------------------===//
// Tuned kernels
//===----------------------------------------------------------------------===//

/// The file's choices for a kernel.
static std::vector<tune::TuningRecord>
choicesOf(const KernelDescription &kernel,
          const std::vector<tune::TuningRecord> &tuned,
          const std::string &file) {
  std::vector<tune::TuningRecord> choices;
  bool isOther = false;
  for (const tune::TuningRecord &record : tuned) {
    if (record.kernel == kernel.name) {
      choices.push_back(record);
      isOther |= record.sourceHash != kernel.sourceHash;
    }
  }
  if (isOther) {
    warnOnce(file + ": '" + kernel.name +
             "' has changed since it was tuned; its choices may not be the "
             "fastest any more");
  }
  return choices;
}

static bool hasParameter(const KernelDescription &kernel,
                         const std::string &name) {
  return std::any_of(
      kernel.parameters.begin(), kernel.parameters.end(),
      [&](const auto &parameter) { return parameter.name == name; });
}

/// Whether a choice was made for the types of a signature.
static bool isOfTypes(const KernelDescription &kernel,
                      const LibrarySignature &signature,
                      const tune::TuningRecord &choice) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    auto *runtime = std::get_if<RuntimeArgument>(&signature.arguments[i]);
    auto dtype = choice.dtypes.find(kernel.parameters[i].name);
    if (runtime && runtime->isPointer && dtype != choice.dtypes.end() &&
        dtype->second != runtime->dtype) {
      return false;
    }
  }
  return true;
}

/// One for each configuration that was chosen for its types.
static std::vector<LibrarySignature>
tunedSignatures(const KnownKernel &kernel, const std::string &arguments,
                const std::string &text,
                const std::vector<tune::TuningRecord> &choices,
                const LibraryCommandOptions &options) {
  std::vector<LibrarySignature> signatures;
  std::set<std::string> known;
  for (const tune::TuningRecord &choice : choices) {
    std::string with = arguments;
    for (const auto &[name, value] : choice.config.values) {
      if (!hasParameter(kernel.description, name)) {
        usageError(options.tuned + ": '" + kernel.description.name +
                   "' has no parameter '" + name +
                   "' any more; expected choices for this kernel: tune it "
                   "again");
      }
      with += (with.empty() ? "" : ", ") + name + "=" + value.str();
    }
    LibrarySignature signature;
    signature.options = options.options;
    signature.arguments = parseSignature(with, kernel.description,
                                         kernel.source.text, signature.options);
    CompileOptions own = choice.config.options;
    own.checks = signature.options.checks;
    own.fpFusion = signature.options.fpFusion;
    signature.options = own;
    if (isOfTypes(kernel.description, signature, choice) &&
        known.insert(describe(choice.config)).second) {
      signatures.push_back(std::move(signature));
    }
  }
  if (signatures.empty()) {
    usageError("--signature '" + text + "': " + options.tuned +
               " has no choice for these types; expected a signature of the "
               "types that were tuned, or nereid tune with these");
  }
  return signatures;
}

/// Cuts "@cpu" or "@gpu" off, what says that a form is for these alone.
static LibraryBuilder::Processors cutProcessors(std::string &signature) {
  using Processors = LibraryBuilder::Processors;
  for (auto [suffix, processors] : {std::pair(")@cpu", Processors::Cpu),
                                    std::pair(")@gpu", Processors::Gpu)}) {
    if (signature.ends_with(suffix)) {
      signature.resize(signature.size() - 4);
      return processors;
    }
  }
  return Processors::All;
}

void compileLibrary(const LibraryCommandOptions &options) {
  namespace fs = std::filesystem;
  if (options.output.empty()) {
    usageError("--emit header: expected a name for the header, as -o "
               "kernels.h, got none; the object file kernels.o will lie beside "
               "it");
  }
  std::string name = identifier(fs::path(options.output).stem().string());
  std::string object = options.object;
  if (object.empty()) {
    object = fs::path(options.output).replace_extension(".o").string();
  }
  std::string space = options.space.empty() ? name : options.space;
  checkNamespace(space);
  KernelCompiler &compiler = *Context::shared().compiler();
  LibraryBuilder builder(compiler, "nereid_kernels_" + name);
  for (const std::string &target : options.targets) {
    throwIfFailed(builder.addTarget(target));
  }
  if (!options.ptx.empty()) {
    throwIfFailed(builder.keepPtxOf(options.ptx));
  }
  std::vector<KnownKernel> known =
      readKernels(options.files, parseBindings(options.bindings), compiler);
  OutputFiles outputs;
  throwIfFailed(outputs.add("-o", options.output));
  throwIfFailed(outputs.add("--object", object));
  std::vector<tune::TuningRecord> tuned;
  if (!options.tuned.empty()) {
    tuned = valueOrThrow(tune::readRecords(options.tuned));
  }
  std::set<std::string> chosen; // kernels whose choices are in the library
  for (std::string text : options.signatures) {
    LibraryBuilder::Processors processors = cutProcessors(text);
    auto [kernelName, arguments] = splitSignature(text);
    const KnownKernel &kernel = findKernel(known, kernelName, text);
    const KernelDescription &description = kernel.description;
    std::vector<tune::TuningRecord> choices =
        choicesOf(description, tuned, options.tuned);
    if (choices.empty()) {
      LibrarySignature signature;
      signature.options = options.options;
      signature.arguments = parseSignature(
          arguments, description, kernel.source.text, signature.options);
      throwIfFailed(builder.add(kernel.source, description,
                                std::move(signature), processors));
      continue;
    }
    for (LibrarySignature &signature :
         tunedSignatures(kernel, arguments, text, choices, options)) {
      throwIfFailed(builder.add(kernel.source, description,
                                std::move(signature), processors));
    }
    if (chosen.insert(description.name).second) {
      for (tune::TuningRecord &choice : choices) {
        builder.addChoice(description.name, {choice.device, choice.values,
                                             choice.dtypes, choice.config});
      }
    }
  }
  if (builder.index().empty()) {
    usageError("--emit header: expected a --signature for each form of a "
               "kernel, got none" +
               (known.empty() ? std::string()
                              : "; for example: --signature '" +
                                    known[0].description.name + "(" +
                                    exampleSignature(known[0].description,
                                                     known[0].source.text) +
                                    ")'"));
  }
  for (const Diagnostic &warning : builder.warnings()) {
    printDiagnostic(warning);
  }
  for (const KernelImage &image : builder.images()) {
    if (image.format != ImageFormat::GpuAssembly) {
      reportResources(image, options.verbose);
    }
  }
  std::string header = writeHeader(
      {builder.index(), builder.images(), "nereid_kernels_" + name, space});
  // Both or none: a header that does not fit its object would still compile.
  std::string code = valueOrThrow(builder.object());
  std::string_view pieces[] = {code, header};
  StagedFile objectFile =
      valueOrThrow(StagedFile::stage(object, std::span(pieces, 1)));
  StagedFile headerFile =
      valueOrThrow(StagedFile::stage(options.output, std::span(pieces + 1, 1)));
  throwIfFailed(objectFile.commit());
  throwIfFailed(headerFile.commit());
}

} // namespace nereid
