//===- CommandFixture.h - The program, as a user runs it --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the built binary (NEREID_BINARY) in a folder of its own and looks at
// output, files and exit codes.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_COMMANDFIXTURE_H
#define NEREID_TOOLS_NEREID_COMMANDFIXTURE_H

#include "nereid/Runtime/Npy.h"
#include "nereid/Support/Files.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <sys/wait.h>

namespace nereid {

inline constexpr const char *commandKernels = R"(import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, a, BLOCK_SIZE: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * a, mask=i < n)


@triton.jit
def fill2d(y_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, MODE: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1)
    if MODE == "rows":
        tl.store(y_ptr + r * COLS + c, r)
    else:
        tl.store(y_ptr + r * COLS + c, c)


@triton.jit
def wrong(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), undefined_name)
)";

struct CommandResult {
  int code;
  std::string out, err;
};

class Command : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-command-XXXXXX";
    root = ::mkdtemp(name);
    ASSERT_TRUE(writeFileAtomically(root + "/k.py", commandKernels).ok());
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  /// `arguments` as typed into a shell, in the test's folder.
  CommandResult run(const std::string &arguments,
                    const std::string &environment = "") {
    std::string command = "cd " + root + " && NEREID_CACHE_DIR=" + root +
                          "/cache " + environment + " " NEREID_BINARY " " +
                          arguments + " > out 2> err";
    int state = std::system(command.c_str());
    return {WEXITSTATUS(state), *readFile(root + "/out"),
            *readFile(root + "/err")};
  }
  std::vector<double> npy(const std::string &name) {
    return loadNpy(root + "/" + name).toFloat64();
  }
  std::string root;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_COMMANDFIXTURE_H
