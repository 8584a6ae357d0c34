//===- OutputFaultsTest.cpp - Every write of every command fails ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of commands by faults. Each command writes somewhere; each fault
// keeps it from doing so. Whatever the pair: the exit status tells, the message
// names the place and the reason, and what was there is there.
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

#include <sys/stat.h>

using namespace nereid;
using testing::HasSubstr;

namespace {

/// OUT stands for the file that is written.
struct Writer {
  const char *name, *command;
};
constexpr Writer fileWriters[] = {
    {"compile -o", "compile k.py:scale --signature '*fp32, *fp32, i32, fp32' "
                   "--emit llvm -o OUT"},
    {"compile obj", "compile k.py:scale --signature '*fp32, *fp32, i32, fp32' "
                    "--emit obj -o OUT"},
    {"compile header -o",
     "compile k.py:scale --signature 'scale(*fp32, *fp32, i32, fp32)' --emit "
     "header -o OUT --object other.o"},
    {"compile header --object",
     "compile k.py:scale --signature 'scale(*fp32, *fp32, i32, fp32)' --emit "
     "header -o other.h --object OUT"},
    {"run --out", "run k.py:scale --grid 1 x_ptr=zeros:f32[1000] "
                  "y_ptr=zeros:f32[4] n=4 a=1 --out x_ptr=OUT"},
    {"bench --html", "bench k.py:scale --grid 1 x_ptr=zeros:f32[64] "
                     "y_ptr=zeros:f32[64] n=64 a=1 --seconds 0 --times-only "
                     "--html OUT"},
    {"run --trace", "run k.py:scale --grid 1 x_ptr=zeros:f32[64] "
                    "y_ptr=zeros:f32[64] n=64 a=1 --trace OUT"},
    {"bench --trace", "bench k.py:scale --grid 1 x_ptr=zeros:f32[64] "
                      "y_ptr=zeros:f32[64] n=64 a=1 --seconds 0 --times-only "
                      "--trace OUT"},
    {"run --launch out", "run --launch writes.json"},
    {"run --results",
     "run --launch reads.json reads.json reads.json reads.json reads.json "
     "reads.json reads.json reads.json reads.json reads.json reads.json "
     "reads.json reads.json reads.json reads.json --results OUT"},
};
constexpr Writer printers[] = {
    {"compile", "compile k.py:scale --signature '*fp32, *fp32, i32, fp32' "
                "--emit llvm"},
    {"compile -o -", "compile k.py:scale --signature '*fp32, *fp32, i32, "
                     "fp32' --emit asm -o -"},
    {"compile -o /dev/stdout",
     "compile k.py:scale --signature '*fp32, *fp32, i32, fp32' --emit asm -o "
     "/dev/stdout"},
    {"run --print", "run k.py:scale --grid 1 x_ptr=zeros:f32[4] "
                    "y_ptr=zeros:f32[4] n=4 a=1 --print y_ptr"},
    {"run --check", "run k.py:scale --grid 1 x_ptr=zeros:f32[4] "
                    "y_ptr=zeros:f32[4] n=4 a=1 --check"},
    {"run --repeat", "run k.py:scale --grid 1 x_ptr=zeros:f32[4] "
                     "y_ptr=zeros:f32[4] n=4 a=1 --repeat 1"},
    {"bench", "bench k.py:scale --grid 1 x_ptr=zeros:f32[64] "
              "y_ptr=zeros:f32[64] n=64 a=1 --seconds 0 --times-only"},
    {"bench --csv -", "bench k.py:scale --grid 1 x_ptr=zeros:f32[64] "
                      "y_ptr=zeros:f32[64] n=64 a=1 --seconds 0 --times-only "
                      "--csv -"},
    {"run --launch lines", "run --launch reads.json reads.json"},
    {"builtins", "builtins"},
    {"builtins --json", "builtins --json"},
    {"builtins --markdown", "builtins --markdown"},
    {"builtins --host", "builtins --host"},
    {"doctor", "doctor"},
    {"doctor --knobs-markdown", "doctor --knobs-markdown"},
    {"--help", "--help"},
    {"run --help", "run --help"},
    {"--version", "--version"},
};

class OutputFaults : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    write("reads.json", launchFile(""));
    std::filesystem::create_directory(root + "/folder");
  }
  void write(const std::string &name, const std::string &text) {
    ASSERT_TRUE(replaceFile(root + "/" + name, text).ok());
  }
  static std::string launchFile(const std::string &out) {
    return R"({"kernel": "k.py:scale", "grid": 1, "storages": [{"bytes": 4000)" +
           (out.empty() ? "" : ", \"out\": \"" + out + "\"") +
           R"(}], "arguments": {"x_ptr": {"tensor": {"dtype": "fp32", "shape": [4], "storage": 0}},
           "y_ptr": {"tensor": {"dtype": "fp32", "shape": [4], "storage": 0}}, "n": 4, "a": 1}})";
  }
  /// `line` of a shell in the test's folder; NEREID stands for the program.
  CommandResult shell(std::string line) {
    auto replaceAll = [&](const std::string &from, const std::string &to) {
      for (size_t at = 0; (at = line.find(from, at)) != std::string::npos;
           at += to.size()) {
        line.replace(at, from.size(), to);
      }
    };
    replaceAll("NEREID", NEREID_BINARY);
    std::string script = "cd " + root + " && export NEREID_CACHE_DIR=" + root +
                         "/cache && exec 2> err && " + line;
    write("script", script);
    int state = std::system(("bash " + root + "/script").c_str());
    return {WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), "",
            *readFile(root + "/err")};
  }
  std::string commandFor(const Writer &writer, const std::string &out) {
    write("writes.json", launchFile(out));
    std::string command = writer.command;
    size_t at = command.find("OUT");
    return at == std::string::npos ? command : command.replace(at, 3, out);
  }
  size_t temporaries() const {
    size_t count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(root)) {
      count += isTemporaryName(entry.path().filename().string());
    }
    return count;
  }
  void expectTold(const Writer &writer, const char *fault,
                  const CommandResult &r, const std::string &place,
                  const std::string &reason, int code = 1) {
    std::printf("%-26s %-20s status %d: %s\n", writer.name, fault, r.code,
                r.err.substr(0, r.err.find('\n')).c_str());
    EXPECT_EQ(r.code, code) << writer.name << ", " << fault << ": " << r.err;
    EXPECT_THAT(r.err, HasSubstr(place)) << writer.name << ", " << fault;
    EXPECT_THAT(r.err, HasSubstr(reason)) << writer.name << ", " << fault;
    EXPECT_EQ(temporaries(), 0u) << writer.name << ", " << fault;
  }
};

} // namespace

TEST_F(OutputFaults, FilesThatCannotBeWritten) {
  const std::string old(3000, 'o');
  for (const Writer &writer : fileWriters) {
    auto told = [&](const char *fault, const std::string &out,
                    const std::string &reason, const std::string &before = "") {
      std::string command = commandFor(writer, out);
      CommandResult r = shell(before + "NEREID " + command + " > stdout");
      // Of a pair the object comes first, and meets the limit first.
      bool byOther = !before.empty() && command.find("other.o") != command.npos;
      expectTold(writer, fault, r, byOther ? "other.o" : out, reason);
    };
    told("missing folder", "none/f", "there is no folder");
    told("a folder", "folder", "got a folder");
    told("file as a folder", "k.py/f", "Not a directory");
    told("not for users", "/proc/f", "/proc/f");
    told("full device", "/dev/full", "No space left on device");

    write("old", old);
    ::chmod((root + "/old").c_str(), 0444);
    told("read-only file", "old", "read-only");
    EXPECT_EQ(*readFile(root + "/old"), old) << writer.name;
    ::chmod((root + "/old").c_str(), 0600);
    // One block has 1024 bytes; the lines of --results, which appear one by
    // one, are longer together.
    told("file size limit", "old", "File too large", "ulimit -f 1; ");
    if (std::string(writer.name) != "run --results") {
      EXPECT_EQ(*readFile(root + "/old"), old) << writer.name;
    }
    ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
    told("pipe without reader", "pipe", "no process reads from this pipe");
    std::filesystem::remove(root + "/pipe");
  }
}

TEST_F(OutputFaults, WhatIsReadIsNotWrittenTo) {
  saveNpy(root + "/x.npy", zeros({1000}, f32, Device::cpu()));
  std::filesystem::create_symlink("k.py", root + "/link");
  for (const Writer &writer : fileWriters) {
    for (const char *out : {"k.py", "link", "./k.py"}) {
      CommandResult r =
          shell("NEREID " + commandFor(writer, out) + " > stdout");
      const char *name = out[0] == 'l' ? "link" : "k.py";
      expectTold(writer, "its own source", r, name, "this command reads it");
      ASSERT_EQ(*readFile(root + "/k.py"), commandKernels) << writer.name;
    }
  }
  Writer array{"run --out", "run k.py:scale --grid 1 x_ptr=@x.npy "
                            "y_ptr=zeros:f32[4] n=4 a=1 --out y_ptr=x.npy"};
  expectTold(array, "its own array",
             shell(std::string("NEREID ") + array.command), "x.npy",
             "this command reads it");
  EXPECT_EQ(npy("x.npy").size(), 1000u);
  // An imported file is an input, too.
  write("helper.py", "VALUE = 3\n");
  write("imports.py",
        "import triton\nimport triton.language as tl\nfrom helper import "
        "VALUE\n\n@triton.jit\ndef k(x):\n    tl.store(x, VALUE)\n");
  Writer import{"compile -o", "compile imports.py:k --signature '*i32' --emit "
                              "llvm -o helper.py"};
  expectTold(import, "an imported file",
             shell(std::string("NEREID ") + import.command), "helper.py",
             "this command reads it");
  EXPECT_EQ(*readFile(root + "/helper.py"), "VALUE = 3\n");
}

TEST_F(OutputFaults, TwoOutputsAreTwoFiles) {
  const Writer pairs[] = {
      {"run --out", "run k.py:scale --grid 1 x_ptr=zeros:f32[4] "
                    "y_ptr=zeros:f32[4] n=4 a=1 --out x_ptr=f --out y_ptr=./f"},
      {"compile --object",
       "compile k.py:scale --signature 'scale(*fp32, *fp32, i32, fp32)' --emit "
       "header -o f --object f"}};
  for (const Writer &pair : pairs) {
    CommandResult r = shell(std::string("NEREID ") + pair.command);
    expectTold(pair, "one file for two", r, "expected a file of its own", "f'",
               2);
    EXPECT_FALSE(std::filesystem::exists(root + "/f")) << pair.name;
  }
}

TEST_F(OutputFaults, OfAPairNoneIsReplacedAlone) {
  write("old.h", "old");
  CommandResult r =
      shell("NEREID " + commandFor(fileWriters[2], "old.h") +
            "; ulimit -f 1; NEREID " + commandFor(fileWriters[2], "old.h"));
  EXPECT_EQ(r.code, 1);
  std::string header = *readFile(root + "/old.h");
  std::string object = *readFile(root + "/other.o");
  EXPECT_THAT(header, testing::StartsWith("// Made by"));
  EXPECT_GT(object.size(), 1024u);
  EXPECT_EQ(temporaries(), 0u);
}

TEST_F(OutputFaults, LinksAndModesStay) {
  for (const Writer &writer : fileWriters) {
    write("real", "old");
    ::chmod((root + "/real").c_str(), 0600);
    std::filesystem::remove(root + "/out-link");
    std::filesystem::create_symlink("real", root + "/out-link");
    CommandResult r =
        shell("NEREID " + commandFor(writer, "out-link") + " > stdout");
    EXPECT_EQ(r.code, 0) << writer.name << r.err;
    EXPECT_TRUE(std::filesystem::is_symlink(root + "/out-link")) << writer.name;
    EXPECT_NE(*readFile(root + "/real"), "old") << writer.name;
    struct stat info;
    ASSERT_EQ(::stat((root + "/real").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << writer.name;
  }
}

TEST_F(OutputFaults, StandardOutputThatTakesNothing) {
  for (const Writer &printer : printers) {
    std::string command = std::string("NEREID ") + printer.command;
    bool byName = std::string(printer.command).ends_with("/dev/stdout");
    const char *place = byName ? "/dev/stdout" : "standard output";
    expectTold(printer, "full device", shell(command + " > /dev/full"), place,
               "No space left on device");
    expectTold(printer, "closed", shell(command + " >&-"), place, "");
    // The reader is gone before anything is written.
    expectTold(printer, "closed pipe",
               shell("exec 3> >(true); wait $!; " + command + " >&3 3>&-"),
               place, "Broken pipe");
  }
}

TEST_F(OutputFaults, ACacheThatCannotBeWrittenIsAWarning) {
  const char *command =
      "NEREID run k.py:scale --grid 1 x_ptr=zeros:f32[4] y_ptr=zeros:f32[4] "
      "n=4 a=1 --print y_ptr > stdout";
  CommandResult r = shell(std::string("ulimit -f 1; ") + command);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("warning: compiled kernels are not kept"));
  EXPECT_THAT(r.err, HasSubstr("File too large"));
  EXPECT_THAT(*readFile(root + "/stdout"), HasSubstr("y_ptr: fp32[4]"));
}

TEST_F(OutputFaults, ADescriptorThatIsClosedIsNotGivenToAFile) {
  CommandResult r =
      shell("NEREID run k.py:scale --grid 1 x_ptr=zeros:f32[4] "
            "y_ptr=zeros:f32[4] n=4 a=1 --out y_ptr=y.npy --print y_ptr >&- "
            "<&-");
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(npy("y.npy").size(), 4u) << "nothing was printed into it";
}
