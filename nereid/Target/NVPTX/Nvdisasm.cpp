//===- Nvdisasm.cpp - NVIDIA's disassembler as a program ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/Nvdisasm.h"

#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Target/NVPTX/Ptxas.h"
#include "nereid/Target/NVPTX/TemporaryFolder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <charconv>
#include <optional>

namespace nereid::nvptx {

Expected<std::string> findNvdisasm() {
  const std::string &named = knobs().nvdisasm;
  if (!named.empty() && named != "none") {
    if (llvm::sys::fs::can_execute(named)) {
      return named;
    }
    return {ErrorCode::NotFound,
            "NEREID_NVDISASM: expected a program that can be run, got '" +
                named +
                "'; hint: name NVIDIA's nvdisasm, or leave the variable out to "
                "have it looked for"};
  }
  if (named.empty()) {
    Expected<std::string> ptxas = findPtxas();
    std::string beside =
        ptxas.ok() ? llvm::sys::path::parent_path(*ptxas).str() : "";
    const llvm::StringRef folders[] = {beside, "/usr/local/cuda/bin"};
    for (llvm::ArrayRef<llvm::StringRef> some :
         {llvm::ArrayRef<llvm::StringRef>(), llvm::ArrayRef(folders)}) {
      if (auto found = llvm::sys::findProgramByName("nvdisasm", some)) {
        return *found;
      }
    }
  }
  return {ErrorCode::NotFound,
          "expected nvdisasm, which prints machine code of GPUs, got none; "
          "hint: install NVIDIA's package cuda-nvdisasm, or pip's "
          "nvidia-cuda-nvdisasm, and have nvdisasm in PATH, or name it in "
          "NEREID_NVDISASM"};
}

/// Cut off in front of `text`, with blanks after it.
static bool take(std::string_view &text, std::string_view word) {
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return true;
}

/// `//## File "/tmp/k.py", line 6`, with more after it for inlined code.
static void readPlace(std::string_view text, MachineLine &place) {
  size_t end = text.find("\", line ");
  if (!text.starts_with("\"") || end == text.npos || end == 0) {
    return;
  }
  place.file = text.substr(1, end - 1);
  std::string_view number = text.substr(end + 8);
  place.line = 0;
  std::from_chars(number.data(), number.data() + number.size(), place.line);
}

std::vector<MachineLine> parseDisassembly(std::string_view text) {
  std::vector<MachineLine> lines;
  MachineLine place;
  bool isInCode = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.starts_with(".text.") && line.ends_with(":")) {
      isInCode = true;
      place = {};
    } else if (line.starts_with(".section")) {
      isInCode = false;
    } else if (take(line, "//## File")) {
      readPlace(line, place);
    } else if (isInCode && line.starts_with("/*")) {
      line.remove_prefix(std::min(line.find("*/"), line.size() - 2) + 2);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      line = line.substr(0, line.find_last_not_of(" ;") + 1);
      if (!line.empty()) {
        lines.push_back({std::string(line), false, place.file, place.line});
      }
    } else if (isInCode && line.starts_with(".L_") && line.ends_with(":")) {
      lines.push_back({std::string(line), true, place.file, place.line});
    }
  }
  // Labels after the last instruction are no place in the function.
  while (!lines.empty() && lines.back().isLabel) {
    lines.pop_back();
  }
  return lines;
}

Expected<std::vector<MachineLine>> disassemble(const std::string &nvdisasm,
                                               const KernelImage &image) {
  TemporaryFolder folder("nereid-nvdisasm");
  if (folder.failed) {
    return {ErrorCode::IoError, "expected a temporary folder for nvdisasm, got "
                                "none; hint: TMPDIR names "
                                "one that can be written to"};
  }
  std::string input = folder.file("kernel.cubin");
  std::string output = folder.file("kernel.sass"), log = folder.file("log");
  Status written = writeFileAtomically(
      input,
      {reinterpret_cast<const char *>(image.code.data()), image.code.size()});
  if (!written.ok()) {
    return written;
  }
  llvm::StringRef arguments[] = {nvdisasm, "-c", "-g", input};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), output, log};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(nvdisasm, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/600,
                                         /*MemoryLimit=*/0, &error);
  Expected<std::string> text = readFile(output, UINT64_MAX);
  std::string expectedCode = "expected the machine code of kernel '" +
                             image.kernel + "' for " + image.target + " from " +
                             nvdisasm + ", got ";
  std::string hint = "; hint: one of the CUDA version that ptxas has, or a "
                     "newer one, may print it, named by NEREID_NVDISASM";
  if (status != 0 || !text.ok()) {
    Expected<std::string> said = readFile(log);
    return {ErrorCode::Unsupported,
            expectedCode + "status " + std::to_string(status) + hint + "\n" +
                (said.ok() ? *said : std::string()) + error};
  }
  std::vector<MachineLine> lines = parseDisassembly(*text);
  if (lines.empty()) {
    return {ErrorCode::Unsupported, expectedCode + "no instruction" + hint};
  }
  return lines;
}

} // namespace nereid::nvptx
