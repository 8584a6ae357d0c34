//===- TemporaryFolder.h - A folder that goes away, for tests ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_TESTING_TEMPORARYFOLDER_H
#define NEREID_IRGEN_TESTING_TEMPORARYFOLDER_H

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace nereid::irgen {

class TemporaryFolder {
public:
  TemporaryFolder() {
    static std::atomic<int> counter{0};
    path = std::filesystem::temp_directory_path() /
           ("nereid-irgen-" + std::to_string(getpid()) + "-" +
            std::to_string(counter++));
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Writes a file, making its folders; returns its full path.
  std::string write(const std::string &name, const std::string &text) const {
    std::filesystem::path file = path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }

  std::string read(const std::string &name) const {
    std::stringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }

private:
  std::filesystem::path path;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_TESTING_TEMPORARYFOLDER_H
