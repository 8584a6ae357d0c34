//===- KernelCases.h - kernels/<op>/cases.txt ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cases that the tests, the checks of assembled code and the benchmarks
// share (kernels/README.md).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_E2E_KERNELCASES_H
#define NEREID_TEST_E2E_KERNELCASES_H

#include "nereid/nereid.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace nereid::e2e {

struct KernelCase {
  std::string kernel, line;
  std::map<std::string, std::string> values;

  const std::string &text(const std::string &name) const {
    auto found = values.find(name);
    if (found == values.end()) {
      throw std::runtime_error("no " + name + " in the case '" + line + "'");
    }
    return found->second;
  }
  int64_t operator[](const std::string &name) const {
    return std::stoll(text(name));
  }
  int64_t valueOr(const std::string &name, int64_t otherwise) const {
    return values.count(name) ? (*this)[name] : otherwise;
  }
  DType dtype() const {
    const std::string &type = text("type");
    for (DType candidate : {DType::Float32, DType::Float16, DType::BFloat16}) {
      if (shortName(candidate) == type) {
        return candidate;
      }
    }
    throw std::runtime_error("no type of the tests in the case '" + line + "'");
  }
};

/// The cases of kernels/`op` that `user` has, in the file's order.
inline std::vector<KernelCase> kernelCases(const std::string &op,
                                           const std::string &user) {
  std::string path = SOURCE_DIR "/kernels/" + op + "/cases.txt";
  std::ifstream in(path);
  std::map<std::string, std::string> defaults;
  std::vector<KernelCase> found;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    KernelCase next;
    next.line = line;
    std::string users, word;
    if (!(words >> next.kernel) || next.kernel[0] == '#' ||
        next.kernel == "signature") {
      continue;
    }
    bool isDefault = next.kernel == "default";
    if (!isDefault) {
      words >> users;
      next.values = defaults;
    }
    while (words >> word) {
      size_t equals = word.find('=');
      (isDefault ? defaults : next.values)[word.substr(0, equals)] =
          word.substr(equals + 1);
    }
    if (("," + users + ",").find("," + user + ",") != std::string::npos) {
      found.push_back(std::move(next));
    }
  }
  if (found.empty()) {
    throw std::runtime_error("no cases of the user '" + user + "' in " + path);
  }
  return found;
}

} // namespace nereid::e2e

#endif // NEREID_TEST_E2E_KERNELCASES_H
