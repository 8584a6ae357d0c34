//===- LibraryBuilder.h - Kernels into one object file ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ahead-of-time compilation: each signature of each kernel for each target. Of
// a GPU both the PTX is kept, which newer GPUs and older drivers can use, and
// the machine code, where there is a ptxas to make it, unless `keepPtxOf` says
// less. docs/AheadOfTime.md.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_LIBRARYBUILDER_H
#define NEREID_PIPELINE_LIBRARYBUILDER_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/ABI/LibraryIndex.h"

#include <unordered_map>

namespace nereid {

class LibraryBuilder {
public:
  enum class Processors { All, Cpu, Gpu };

  /// `symbol` is the KernelLibrary's, and begins the names of its functions.
  LibraryBuilder(KernelCompiler &compiler, std::string symbol)
      : compiler(compiler), symbol(std::move(symbol)) {}

  /// "cpu", "x86-64-v3", "sm_90a"; the same one twice counts once.
  Status addTarget(const std::string &target);

  /// Beside machine code, PTX is kept of these targets alone. InvalidArgument
  /// for one that was not added.
  Status keepPtxOf(std::vector<std::string> only);

  /// Compiles a signature for every target, or those of some processors.
  /// InvalidArgument for one that was there before, or does not go together
  /// with another of the kernel. Kernels of two sources must have different
  /// names.
  Status add(const Source &source, const KernelDescription &kernel,
             LibrarySignature signature,
             Processors processors = Processors::All);

  /// What a launch of the kernel chooses among its signatures by; each fits
  /// one.
  void addChoice(const std::string &kernel, LibraryChoice choice);

  const LibraryIndex &index() const { return kernels; }
  const std::vector<KernelImage> &images() const { return allImages; }
  /// Warnings of the compilations, and why an image is not there.
  const std::vector<Diagnostic> &warnings() const { return allWarnings; }

  Expected<std::string> object() const;

private:
  struct Function {
    std::string llvmText, entry, name;
  };
  LibraryKernel &kernelOf(const Source &source,
                          const KernelDescription &description);
  Status addCpu(CompileResult result, const std::string &suffix,
                LibrarySignature &signature);
  Status addGpu(CompileResult result, LibrarySignature &signature);
  void addImage(KernelImage image, std::optional<size_t> function,
                LibrarySignature &signature);
  void warnOnce(const std::string &message);

  KernelCompiler &compiler;
  std::string symbol;
  std::vector<std::string> targets;
  std::optional<std::vector<std::string>> ptxTargets; ///< absent: all
  LibraryIndex kernels;
  std::vector<KernelImage> allImages;
  std::vector<std::optional<size_t>> functionOfImage;
  std::unordered_map<std::string, uint32_t> imageOfBytes; ///< of GPUs
  std::vector<Function> functions;
  std::vector<Diagnostic> allWarnings;
};

} // namespace nereid

#endif // NEREID_PIPELINE_LIBRARYBUILDER_H
