//===- TemporaryFolder.h - Files of a program that is run -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_TEMPORARYFOLDER_H
#define NEREID_TARGET_NVPTX_TEMPORARYFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <string>

namespace nereid::nvptx {

/// A folder that goes with what is in it.
class TemporaryFolder {
public:
  explicit TemporaryFolder(const char *prefix) {
    failed =
        static_cast<bool>(llvm::sys::fs::createUniqueDirectory(prefix, path));
  }
  ~TemporaryFolder() {
    if (!failed) {
      llvm::sys::fs::remove_directories(path);
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const char *name) const {
    llvm::SmallString<128> full = path;
    llvm::sys::path::append(full, name);
    return full.str().str();
  }
  bool failed = false;

private:
  llvm::SmallString<128> path;
};

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_TEMPORARYFOLDER_H
