//===- Testing.h - What tests of such files share -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_WEIGHTS_TESTING_H
#define NEREID_WEIGHTS_TESTING_H

#include "nereid/Runtime/Error.h"
#include "nereid/Weights/Safetensors.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace nereid {

/// A folder that goes with the scope.
class TestFolder {
public:
  TestFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "nereid-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  TestFolder(const TestFolder &) = delete;
  ~TestFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::string path;
};

inline std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeContent(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// The message of what `call` throws; empty where it does not.
inline std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

inline bool haveSameBits(const Tensor &a, const Tensor &b) {
  Tensor x = a.onHost().contiguous(), y = b.onHost().contiguous();
  return x.shape() == y.shape() && x.dtype() == y.dtype() &&
         (x.numel() == 0 ||
          std::memcmp(x.data(), y.data(), size_t(x.bytes())) == 0);
}

} // namespace nereid

#endif // NEREID_WEIGHTS_TESTING_H
