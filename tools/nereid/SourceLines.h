//===- SourceLines.h - Lines of source files --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_SOURCELINES_H
#define NEREID_TOOLS_NEREID_SOURCELINES_H

#include "nereid/Support/Files.h"

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace nereid {

/// Lines of source files, each file read once. Empty past the last, and of a
/// file that is not there.
class SourceLines {
public:
  std::string operator()(const std::string &file, uint32_t line) {
    auto [found, isNew] = files.try_emplace(file);
    if (isNew) {
      if (Expected<std::string> text = readFile(file); text.ok()) {
        std::istringstream in(*text);
        for (std::string one; std::getline(in, one);) {
          found->second.push_back(one);
        }
      }
    }
    return line && line <= found->second.size() ? found->second[line - 1] : "";
  }

private:
  std::map<std::string, std::vector<std::string>> files;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_SOURCELINES_H
