//===- LinkObject.cpp - Code objects of relocatable ones ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/LinkObject.h"

#include "nereid/Support/Files.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace nereid::amdgpu {

namespace {
/// A folder that goes with what is in it.
class LinkFolder {
public:
  LinkFolder()
      : isMade(!llvm::sys::fs::createUniqueDirectory("nereid-link", path)) {}
  ~LinkFolder() {
    if (isMade) {
      llvm::sys::fs::remove_directories(path);
    }
  }
  LinkFolder(const LinkFolder &) = delete;
  LinkFolder &operator=(const LinkFolder &) = delete;

  std::string file(const char *name) const {
    llvm::SmallString<128> full = path;
    llvm::sys::path::append(full, name);
    return full.str().str();
  }

private:
  llvm::SmallString<128> path;

public:
  const bool isMade;
};
} // namespace

Expected<std::string> linkObject(const std::string &object) {
  LinkFolder folder;
  if (!folder.isMade) {
    return {ErrorCode::Internal, "no temporary folder to link in"};
  }
  std::string input = folder.file("kernel.o"), output = folder.file("kernel");
  if (Status status = writeFileAtomically(input, object); !status.ok()) {
    return status;
  }
  std::string messages;
  {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    llvm::raw_string_ostream stream(messages);
    const char *arguments[] = {"ld.lld",         "-shared", "--threads=1",
                               "--no-undefined", "-o",      output.c_str(),
                               input.c_str()};
    bool isLinked = lld::elf::link(arguments, stream, stream,
                                   /*exitEarly=*/false,
                                   /*disableOutput=*/false);
    lld::CommonLinkerContext::destroy();
    if (!isLinked) {
      return {ErrorCode::Internal,
              "internal error: linking a code object: " + messages};
    }
  }
  return readFile(output);
}

} // namespace nereid::amdgpu
