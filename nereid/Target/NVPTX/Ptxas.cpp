//===- Ptxas.cpp - NVIDIA's assembler as a program ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/Ptxas.h"

#include "nereid/Support/AssemblerLog.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Target/NVPTX/TemporaryFolder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cstring>
#include <optional>

namespace nereid::nvptx {

Expected<std::string> findPtxas() {
  const std::string &named = knobs().ptxas;
  if (!named.empty() && named != "none") {
    if (llvm::sys::fs::can_execute(named)) {
      return named;
    }
    return {ErrorCode::NotFound,
            "NEREID_PTXAS: '" + named + "' is no program that can be run"};
  }
  if (named.empty()) {
    const llvm::StringRef toolkit[] = {"/usr/local/cuda/bin"};
    for (llvm::ArrayRef<llvm::StringRef> folders :
         {llvm::ArrayRef<llvm::StringRef>(), llvm::ArrayRef(toolkit)}) {
      if (auto found = llvm::sys::findProgramByName("ptxas", folders)) {
        return *found;
      }
    }
  }
  return {ErrorCode::NotFound,
          "there is no ptxas, which makes machine code of PTX ahead of time; "
          "install NVIDIA's package cuda-nvcc and have ptxas in PATH, or name "
          "it in NEREID_PTXAS"};
}

static Failure assemblerFailure(const std::string &ptxas,
                                const KernelImage &image, int status,
                                const std::string &log) {
  // "Value 'sm_70' is not defined for option 'gpu-name'", "... no longer
  // supported".
  if (log.find("is not defined for option") != std::string::npos ||
      log.find("no longer supported") != std::string::npos) {
    return {ErrorCode::Unsupported,
            ptxas + " does not know " + image.target +
                "; one of another CUDA version may, named by NEREID_PTXAS",
            {}};
  }
  return {ErrorCode::Internal,
          "assembling kernel '" + image.kernel + "' for " + image.target +
              ": " + ptxas + " failed with status " + std::to_string(status) +
              "\n" + log,
          {}};
}

Status assemble(const std::string &ptxas, KernelImage &image,
                uint32_t maxRegisters) {
  TemporaryFolder folder("nereid-ptxas");
  if (folder.failed) {
    return {ErrorCode::IoError, "cannot make a temporary folder for ptxas"};
  }
  std::string input = folder.file("kernel.ptx");
  std::string output = folder.file("kernel.cubin"), log = folder.file("log");
  Status written = writeFileAtomically(
      input,
      {reinterpret_cast<const char *>(image.code.data()), image.code.size()});
  if (!written.ok()) {
    return written;
  }
  std::vector<std::string> arguments = {ptxas, "-v",   "-arch=" + image.target,
                                        "-o",  output, input};
  if (maxRegisters) {
    arguments.push_back("-maxrregcount=" + std::to_string(maxRegisters));
  }
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), log, log};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(ptxas, views, std::nullopt, redirects,
                                         /*SecondsToWait=*/600,
                                         /*MemoryLimit=*/0, &error);
  Expected<std::string> said = readFile(log);
  std::string text = (said.ok() ? *said : std::string()) + error;
  Expected<std::string> cubin = readFile(output, UINT64_MAX);
  if (status != 0 || !cubin.ok()) {
    return assemblerFailure(ptxas, image, status, text);
  }
  AssemblerLog report = readAssemblerLog(text);
  image.numRegisters = report.registers;
  image.spillBytes = report.spillBytes;
  image.localBytes = report.localBytes;
  image.code.resize(cubin->size());
  std::memcpy(image.code.data(), cubin->data(), cubin->size());
  image.format = ImageFormat::GpuBinary;
  return Status::success();
}

std::string removeSourceLines(std::string_view ptx) {
  std::string result;
  while (!ptx.empty()) {
    std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(line.size() + 1, ptx.size()));
    std::string_view text = line;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    // ".section .debug_macinfo { }", on one line, says that there are lines.
    bool isLine =
        text.starts_with(".loc\t") || text.starts_with(".loc ") ||
        text.starts_with(".file\t") || text.starts_with(".file ") ||
        (text.starts_with(".section") &&
         text.find(".debug_") != std::string_view::npos && text.ends_with("}"));
    if (!isLine) {
      result.append(line).append("\n");
    }
  }
  return result;
}

} // namespace nereid::nvptx
