//===- LibraryBuilder.cpp - Kernels into one object file ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/LibraryBuilder.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/Pipeline/PackImages.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"
#include "nereid/Target/NVPTX/Ptxas.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace nereid {

static bool isGpu(const std::string &target) {
  return nvptx::isArchitecture(target) || amdgpu::isArchitecture(target);
}

Status LibraryBuilder::addTarget(const std::string &target) {
  if (target == "interp") {
    return {ErrorCode::InvalidArgument,
            "the target 'interp' needs the compiler at run time; expected cpu, "
            "x86-64-v3 or another CPU level, or sm_90a, gfx942 or another GPU"};
  }
  Expected<std::string> resolved = compiler.resolveTarget(target);
  if (!resolved.ok()) {
    return resolved.status();
  }
  if (std::find(targets.begin(), targets.end(), *resolved) == targets.end()) {
    targets.push_back(*resolved);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Signatures of one kernel
//===----------------------------------------------------------------------===//

static bool isRunTime(const ArgumentSpec &spec) {
  return std::holds_alternative<RuntimeArgument>(spec);
}

/// Launches tell signatures apart by types, divisibility, and the constants 1
/// and None; by other constants only where every signature has one.
static std::string conflict(const ArgumentSpec &a, const ArgumentSpec &b) {
  if (isRunTime(a) != isRunTime(b)) {
    const auto &value = std::get<StaticValue>(isRunTime(a) ? b : a);
    const auto &number = std::get<RuntimeArgument>(isRunTime(a) ? a : b);
    std::string constant =
        "is the constant " + value.str() + " in one signature and ";
    if (!value.isNone() && !(value == StaticValue(1))) {
      return constant + "passed at run time in another; only 1 and none may be "
                        "both";
    }
    // The types that a number has when nothing fixes its type.
    return number.isPointer || number.dtype == DType::Int1 ||
                   number.dtype == DType::Int32 ||
                   number.dtype == DType::Int64 ||
                   number.dtype == DType::Float32
               ? ""
               : constant + str(ArgumentSpec(number)) +
                     " in another; beside a constant a number must be i32, "
                     "i64, fp32 or i1";
  }
  if (!isRunTime(a)) {
    return "";
  }
  const auto &x = std::get<RuntimeArgument>(a);
  const auto &y = std::get<RuntimeArgument>(b);
  auto isSignedWord = [](DType dtype) {
    return dtype == DType::Int32 || dtype == DType::Int64;
  };
  bool together = x.isPointer == y.isPointer &&
                  (x.isPointer || x.dtype == y.dtype ||
                   (isSignedWord(x.dtype) && isSignedWord(y.dtype)));
  return together ? ""
                  : "is " + str(a) + " in one signature and " + str(b) +
                        " in another; a number keeps its type (or is i32 in "
                        "one and i64 in another), a pointer stays one";
}

static Status checkTogether(const LibraryKernel &kernel,
                            const LibrarySignature &added) {
  for (const LibrarySignature &other : kernel.signatures) {
    if (other.arguments == added.arguments &&
        isSameTuning(other.options, added.options)) {
      return {ErrorCode::InvalidArgument,
              "kernel '" + kernel.name + "': the signature (" +
                  str(kernel, added) + ") is given twice"};
    }
    for (size_t i = 0; i < added.arguments.size(); ++i) {
      std::string why = conflict(other.arguments[i], added.arguments[i]);
      if (!why.empty()) {
        return {ErrorCode::InvalidArgument,
                "kernel '" + kernel.name + "': parameter '" +
                    kernel.parameters[i].name + "' " + why};
      }
    }
  }
  return Status::success();
}

LibraryKernel &LibraryBuilder::kernelOf(const Source &source,
                                        const KernelDescription &description) {
  for (LibraryKernel &kernel : kernels) {
    if (kernel.name == description.name) {
      return kernel;
    }
  }
  LibraryKernel &kernel = kernels.emplace_back();
  kernel.name = description.name;
  kernel.path = source.path;
  kernel.location = description.location;
  for (const ParameterDescription &p : description.parameters) {
    kernel.parameters.push_back({p.name, p.isStatic, p.location});
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

void LibraryBuilder::warnOnce(const std::string &message) {
  for (const Diagnostic &known : allWarnings) {
    if (known.message == message) {
      return;
    }
  }
  Diagnostic warning;
  warning.severity = Severity::Warning;
  warning.message = message;
  allWarnings.push_back(std::move(warning));
}

void LibraryBuilder::addImage(KernelImage image, std::optional<size_t> function,
                              LibrarySignature &signature) {
  // Equal sources give equal bytes.
  image.stageTimes.clear();
  image.warnings.clear();
  // A promise that a GPU's code makes nothing of gives the same code.
  auto next = static_cast<uint32_t>(allImages.size());
  if (!function) {
    auto [known, isNew] = imageOfBytes.emplace(encodeImage(image), next);
    if (!isNew) {
      signature.images.push_back(known->second);
      return;
    }
  }
  signature.images.push_back(next);
  allImages.push_back(std::move(image));
  functionOfImage.push_back(function);
}

Status LibraryBuilder::addCpu(CompileResult result, const std::string &suffix,
                              LibrarySignature &signature) {
  std::string name = symbol + suffix + "_" + result.image.target;
  std::replace(name.begin(), name.end(), '-', '_');
  functions.push_back({std::move(result.stage), result.image.entry, name});
  addImage(std::move(result.image), functions.size() - 1, signature);
  return Status::success();
}

Status LibraryBuilder::addGpu(CompileResult result,
                              LibrarySignature &signature) {
  if (amdgpu::isArchitecture(result.image.target)) { // linked already
    addImage(std::move(result.image), std::nullopt, signature);
    return Status::success();
  }
  std::vector<std::byte> &code = result.image.code;
  std::string ptx = nvptx::removeSourceLines(
      {reinterpret_cast<const char *>(code.data()), code.size()});
  code.resize(ptx.size());
  std::memcpy(code.data(), ptx.data(), ptx.size());

  Expected<std::string> ptxas = nvptx::findPtxas();
  if (!ptxas.ok()) {
    warnOnce("only PTX is kept, which the driver assembles when a kernel is "
             "first launched: " +
             ptxas.failure().message);
    addImage(std::move(result.image), std::nullopt, signature);
    return Status::success();
  }
  KernelImage machine = result.image;
  Status status =
      nvptx::assemble(*ptxas, machine, signature.options.maxRegisters);
  if (status.ok()) {
    addImage(std::move(machine), std::nullopt, signature);
    if (ptxTargets && std::ranges::find(*ptxTargets, result.image.target) ==
                          ptxTargets->end()) {
      return Status::success();
    }
  } else if (status.failure().code == ErrorCode::Unsupported) {
    warnOnce("only PTX is kept for " + machine.target + ": " +
             status.failure().message);
  } else {
    return status;
  }
  addImage(std::move(result.image), std::nullopt, signature);
  return Status::success();
}

Status LibraryBuilder::keepPtxOf(std::vector<std::string> only) {
  for (const std::string &target : only) {
    if (std::ranges::find(targets, target) == targets.end() ||
        !nvptx::isArchitecture(target)) {
      std::string list;
      for (const std::string &each : targets) {
        if (nvptx::isArchitecture(each)) {
          list += (list.empty() ? "" : ", ") + each;
        }
      }
      return {ErrorCode::InvalidArgument,
              "--ptx " + target +
                  ": expected one of the targets that have PTX, " +
                  (list.empty() ? "of which there are none" : list)};
    }
  }
  ptxTargets = std::move(only);
  return Status::success();
}

Status LibraryBuilder::add(const Source &source,
                           const KernelDescription &description,
                           LibrarySignature signature, Processors processors) {
  std::vector<std::string> wanted;
  std::ranges::copy_if(
      targets, std::back_inserter(wanted), [&](const std::string &target) {
        return processors == Processors::All ||
               isGpu(target) == (processors == Processors::Gpu);
      });
  if (wanted.empty() && !targets.empty()) {
    return Status::success();
  }
  LibraryKernel &kernel = kernelOf(source, description);
  Status status = checkTogether(kernel, signature);
  if (!status.ok()) {
    return status;
  }
  std::string suffix =
      "_" + kernel.name + "_" + std::to_string(kernel.signatures.size());
  for (const std::string &target : wanted) {
    CompileRequest request;
    request.source = source;
    request.kernel = kernel.name;
    request.arguments = signature.arguments;
    request.options = signature.options;
    // There would be no other form for tensors that no map describes.
    request.options.tensorMaps = false;
    request.target = target;
    // Code for the CPU is generated at the end, for all levels at once.
    request.emit = isGpu(target) ? "" : "llvm";
    Expected<CompileResult> result = compiler.compile(request);
    if (!result.ok()) {
      return result.status();
    }
    if (target == wanted.front()) {
      for (Diagnostic &warning : result->image.warnings) {
        allWarnings.push_back(std::move(warning));
      }
    }
    status = isGpu(target) ? addGpu(std::move(*result), signature)
                           : addCpu(std::move(*result), suffix, signature);
    if (!status.ok()) {
      return status;
    }
  }
  kernel.signatures.push_back(std::move(signature));
  return Status::success();
}

void LibraryBuilder::addChoice(const std::string &name, LibraryChoice choice) {
  for (LibraryKernel &kernel : kernels) {
    if (kernel.name == name) {
      kernel.choices.push_back(std::move(choice));
      return;
    }
  }
}

Expected<std::string> LibraryBuilder::object() const {
  cpu::LibraryObject library;
  library.symbol = symbol;
  library.index = encodeLibraryIndex(kernels);
  Expected<PackedImages> packed = packImages(allImages);
  if (!packed.ok()) {
    return packed.failure();
  }
  for (size_t i = 0; i < allImages.size(); ++i) {
    const PackedImages::Image &image = packed->images[i];
    library.images.push_back({image.bytes, functionOfImage[i], image.block,
                              image.begin, image.codeSize});
  }
  library.blocks = std::move(packed->blocks);
  for (const Function &function : functions) {
    library.functions.push_back(
        {function.llvmText, function.entry, function.name});
  }
  return cpu::emitLibrary(library);
}

} // namespace nereid
