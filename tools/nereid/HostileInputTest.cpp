//===- HostileInputTest.cpp - Inputs that are invalid, and limits ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

#include "nereid/CommandLine/ExitStatus.h"

#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace nereid;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {
class HostileInput : public Command {
protected:
  void sparse(const std::string &name) {
    ASSERT_TRUE(replaceFile(root + "/" + name, "").ok());
    ASSERT_EQ(::truncate((root + "/" + name).c_str(), off_t{3} << 30), 0);
  }
  /// Under a limit of memory, in KiB. Stacks and arenas of threads take
  /// addresses, too: their number is not to depend on the machine's cores.
  CommandResult limited(const std::string &arguments, int kib) {
    return run(arguments, "NEREID_NUM_THREADS=2 MALLOC_ARENA_MAX=2 bash -c "
                          "'ulimit -s 8192; ulimit -v " +
                              std::to_string(kib) + "; exec \"$@\"' limited ");
  }
  /// Whether a small launch fits: not with a sanitizer, which takes more than
  /// any limit leaves, and not where a shell may set none.
  bool hasRoomIn(int kib) {
    return limited("run k.py:scale" + arrays, kib).code == 0;
  }
  const std::string arrays =
      " --grid 1 x_ptr=zeros:f32[4] y_ptr=zeros:f32[4] n=4 a=1 ";
};
} // namespace

TEST_F(HostileInput, FilesThatAreNone) {
  constexpr int kib = 3 << 20;
  bool isLimited = hasRoomIn(kib);
  sparse("sparse");
  ASSERT_EQ(::mkfifo((root + "/fifo").c_str(), 0600), 0);
  const std::pair<const char *, const char *> files[] = {
      {"/dev/zero", "expected a file, got a device"},
      {"fifo", "nothing is written to this pipe"},
      {".", "expected a file, got a folder"},
      {"sparse", "expected"}};
  for (auto [file, reason] : files) {
    std::string name = file;
    for (const std::string &arguments :
         {"run " + name + ":k" + arrays,
          "compile " + name + ":k --signature i32",
          "compile " + name + " --emit header -o h.h --signature 'k(i32)'",
          "run k.py:scale --grid 1 x_ptr=@" + name +
              " y_ptr=zeros:f32[4] n=4 a=1",
          "run --launch " + name, "run --launch " + name + " " + name}) {
      CommandResult r = isLimited ? limited(arguments, kib) : run(arguments);
      EXPECT_THAT(r.code, testing::AnyOf(1, 2)) << arguments << "\n" << r.err;
      EXPECT_THAT(r.err, AllOf(HasSubstr(name), HasSubstr(reason)))
          << arguments;
    }
  }
}

TEST_F(HostileInput, ProcessSubstitutionIsAFile) {
  std::string script =
      "exec " NEREID_BINARY " run <(cat k.py):scale" + arrays + "--print y_ptr";
  ASSERT_TRUE(replaceFile(root + "/script", script).ok());
  int state =
      std::system(("cd " + root + " && bash script > out 2> err").c_str());
  EXPECT_EQ(state, 0) << *readFile(root + "/err");
}

/// An empty entry in the program's search path would be the working folder.
TEST_F(HostileInput, LibrariesOfTheWorkingFolderAreNotLoaded) {
  for (const char *name : {"libtbb.so.12", "libz.so.1", "libstdc++.so.6"}) {
    ASSERT_TRUE(writeFileAtomically(root + "/" + name, "no library").ok());
  }
  EXPECT_EQ(run("builtins exp2").code, 0);
  ASSERT_EQ(::mkfifo((root + "/libdriver.so").c_str(), 0600), 0);
  CommandResult doctor =
      run("doctor", "NEREID_CUDA_DRIVER=libdriver.so timeout 60");
  EXPECT_NE(doctor.code, 124);
}

/// What CLI11 finds out is said in the words of every other refusal.
TEST_F(HostileInput, WrongCommandLinesSayWhatWasExpected) {
  std::pair<const char *, const char *> cases[] = {
      {"", "expected one of the commands run, explain, bench, tune, compile, "
           "doctor, builtins, got none"},
      {"explain k.py:scale --grid 1 --chip h2000",
       "no chip 'h2000'; expected one of h200"},
      {"explain --grid 1",
       "expected FILE:KERNEL and --grid, got no FILE:KERNEL"},
      {"explain k.py:scale --grid 1 --programs -1", "--programs"},
      {"run --zzz", "expected an option or argument of nereid run, got "
                    "'--zzz'"},
      {"run k.py:scale --gird 1", "got '--gird'; did you mean '--grid'?"},
      {"doctor extra", "expected an option or argument of nereid doctor, got "
                       "'extra'"},
      {"run --results out.json", "--results: expected --launch beside it, got "
                                 "none"},
      {"run k.py:scale --launch l.json",
       "expected either kernel or --launch, got both"},
      {"compile k.py --emit asm --emit ptx",
       "--emit: expected at most 1 of it, got 2"},
      {"compile k.py --emit", "--emit: expected a value, got none"},
      {"run --seed -1", "--seed: expected an integer from 0 to"},
      {"run k.py:scale", "expected FILE:KERNEL and --grid, or --launch FILE, "
                         "got no --grid"},
      {"compile k.py --instrument all",
       "--instrument: expected oob, nan, assert or overflow, got "
       "'all'"},
  };
  for (const auto &[words, message] : cases) {
    CommandResult result = run(words);
    EXPECT_EQ(result.code, 2) << words;
    EXPECT_THAT(result.err, testing::StartsWith("error: ")) << words;
    EXPECT_THAT(result.err, HasSubstr(message)) << words;
  }
}

/// The command says why, not only that the file has no kernel.
TEST_F(HostileInput, WhatIsThereAndNoKernelIsToldApart) {
  std::pair<const char *, const char *> cases[] = {
      {"@triton.jit\nasync def k(p):\n  pass\n", "write 'def' without 'async'"},
      {"class C:\n  @triton.jit\n  def k(p):\n    pass\n",
       "member of the class 'C': move it out of the class"},
      {"import numba\n@numba.jit\ndef k(p):\n  pass\n",
       "'@numba.jit' is not known here"},
      {"k = triton.jit(lambda p: tl.store(p, 1))\n",
       "expected a function, got a lambda"},
      {"k = 3\n", "'k' is not a kernel: it is int 3"},
      {"def other(p):\n  pass\n", "no kernel 'k'"},
  };
  for (const auto &[text, message] : cases) {
    ASSERT_TRUE(writeFileAtomically(root + "/no.py",
                                    std::string("import triton\nimport "
                                                "triton.language as tl\n") +
                                        text)
                    .ok());
    CommandResult result = run("run no.py:k --grid 1 p=zeros:i32[4]");
    EXPECT_NE(result.code, 0) << text;
    EXPECT_THAT(result.err, HasSubstr(message)) << text;
  }
}

/// A message ends at a byte that is 0 for readers in C.
TEST_F(HostileInput, AByteThatIsZeroDoesNotCutTheMessage) {
  std::string text = "import triton\nx = \"";
  text += std::string("\0\0", 2) + "\"\n";
  ASSERT_TRUE(writeFileAtomically(root + "/zero.py", text).ok());
  CommandResult result = run("compile zero.py:k --emit tile");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("zero.py:2:6: error: source code "
                                          "cannot contain null bytes"),
                                HasSubstr("\n       ^"),
                                HasSubstr("hint: expected text, got a byte")));
}

TEST_F(HostileInput, NumbersThatWouldBeCutOff) {
  const std::pair<const char *, const char *> cases[] = {
      {"--seed -1", "expected an integer from 0 to 18446744073709551615, got "
                    "'-1'"},
      {"--seed 1.5", "got '1.5'"},
      {"--seed 18446744073709551616", "got '18446744073709551616'"},
      {"--tolerance nan", "expected a finite number from 0 on, got 'nan'"},
      {"--tolerance inf", "got 'inf'"},
      {"--tolerance -1", "got '-1'"},
      {"--repeat 0", "expected an integer from 1"},
      {"--repeat -3", "got '-3'"}};
  for (auto [option, expected] : cases) {
    CommandResult r = run("run k.py:scale" + arrays + option);
    EXPECT_EQ(r.code, 2) << option;
    EXPECT_THAT(r.err, HasSubstr(expected)) << option;
  }
  for (const char *option : {"--num-warps -1", "--num-warps 0",
                             "--num-warps 4294967297", "--num-stages -1"}) {
    CommandResult r =
        run(std::string("compile k.py:scale --emit ast ") + option);
    EXPECT_EQ(r.code, 2) << option;
    EXPECT_THAT(r.err, HasSubstr("expected an integer from")) << option;
  }
}

TEST_F(HostileInput, GeneratorsWhoseNumbersDoNotFit) {
  const std::pair<const char *, const char *> cases[] = {
      {"full:300:i8[4]", "expected an integer from -128 to 127, which int8 "
                         "holds, got '300'"},
      {"full:-129:i8[4]", "got '-129'"},
      {"full:-1:u32[4]", "expected an integer from 0 to 4294967295"},
      {"full:1.5:i32[4]", "got '1.5'"},
      {"full:2:i1[4]", "expected an integer from 0 to 1"},
      {"full:18446744073709551615:i64[4]", "got '18446744073709551615'"},
      {"arange:i8[300]", "expected at most 128 elements, whose numbers int8 "
                         "holds, got 300"},
      {"arange:u8[16,17]", "expected at most 256 elements"},
      {"arange:i1[3]", "expected at most 2 elements"},
      {"zeros:i8[-1]", "expected sizes from 0 on, got [-1]"},
      {"randint:9:0:i8[4]", "expected a low bound below the high one"},
      {"randint:0:1000:i8[4]", "expected numbers that int8 holds"}};
  for (auto [text, expected] : cases) {
    CommandResult r =
        run(std::string("run k.py:scale --grid 0 y_ptr=zeros:f32[1] "
                        "n=1 a=1 x_ptr=") +
            text);
    EXPECT_EQ(r.code, 2) << text;
    EXPECT_THAT(r.err, AllOf(HasSubstr(text), HasSubstr(expected))) << text;
  }
  auto first = [&](const char *text) {
    CommandResult r =
        run(std::string(
                "run k.py:scale --grid 0 y_ptr=zeros:f32[1] n=1 a=1 x_ptr=") +
            text + " --out x_ptr=x.npy");
    EXPECT_EQ(r.code, 0) << r.err;
    return loadNpy(root + "/x.npy");
  };
  EXPECT_EQ(first("full:-128:i8[4]").toVector<int>()[3], -128);
  EXPECT_EQ(first("full:9007199254740993:i64[1]").toVector<int64_t>()[0],
            9007199254740993);
  EXPECT_EQ(first("full:18446744073709551615:u64[1]").toVector<uint64_t>()[0],
            UINT64_MAX);
  EXPECT_EQ(first("arange:i8[128]").toVector<int>()[127], 127);
}

TEST_F(HostileInput, ErrorsOfTheGridShowWhatWasTyped) {
  std::string head = "run k.py:scale x_ptr=zeros:f32[4] y_ptr=zeros:f32[4] "
                     "n=4 a=1 --grid ";
  CommandResult r = run(head + "'n + m'");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("--grid:1:5: error: "), HasSubstr("'m'"),
                           HasSubstr("  n + m\n"), Not(HasSubstr("(n + m"))));
  r = run(head + "'n, m'");
  EXPECT_THAT(r.err, AllOf(HasSubstr("--grid:1:4"), HasSubstr("  n, m\n")));
  for (const char *grid :
       {"1", "1,", "'n, 1'", "'(n, 1, 1)'", "'cdiv(n, 2)'"}) {
    EXPECT_EQ(run(head + grid).code, 0) << grid << run(head + grid).err;
  }
}

TEST_F(HostileInput, HintsSpeakOfTheCommand) {
  for (const char *arguments :
       {"run k.py:scale --grid 1", "run k.py:scale --grid 1 x_ptr=none",
        "run k.py:scale --grid 1 x_ptr=1 y_ptr=2 n=3"}) {
    CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_THAT(r.err, AllOf(HasSubstr("=1024"), Not(HasSubstr("_a")),
                             Not(HasSubstr("[{"))));
  }
}

TEST_F(HostileInput, ControlCharactersAreShownAndNotSent) {
  for (const char *arguments :
       {"run $'k.py:sc\\x1b[31male' --grid 1", "run $'--\\x1b[2J'",
        "run k.py:scale --grid $'n\\x1b[1m'", "$'\\x1b]0;title\\x07'",
        "run k.py:scale --grid 1 $'x_ptr=\\x9b31m'",
        "run k.py:scale --grid 1 $'\\x1b=1'"}) {
    ASSERT_TRUE(replaceFile(root + "/script",
                            std::string("exec " NEREID_BINARY " ") + arguments)
                    .ok());
    int state =
        std::system(("cd " + root + " && bash script > out 2> err").c_str());
    std::string err = *readFile(root + "/err");
    EXPECT_NE(state, 0) << arguments;
    EXPECT_EQ(err.find('\x1b'), std::string::npos) << err;
    EXPECT_EQ(err.find('\x07'), std::string::npos) << err;
    EXPECT_FALSE(err.empty());
  }
}

TEST_F(HostileInput, NamespacesThatNoCompilerTakes) {
  std::string head = "compile k.py:scale --signature '*fp32, *fp32, i32, fp32' "
                     "--emit header -o ";
  for (const char *space : {"class", "a::", "::a", "a b", "1a", "a::class",
                            "std", "a-b", "co_yield"}) {
    CommandResult r = run(head + "h.h --namespace '" + space + "'");
    EXPECT_EQ(r.code, 2) << space;
    EXPECT_THAT(r.err, AllOf(HasSubstr("--namespace: expected names of C++"),
                             HasSubstr(std::string("got '") + space + "'")));
    EXPECT_FALSE(std::filesystem::exists(root + "/h.h"));
  }
  EXPECT_EQ(run(head + "class.h").code, 0);
  EXPECT_THAT(*readFile(root + "/class.h"), HasSubstr("namespace class_ {"));
}

TEST_F(HostileInput, SettingsAreShownWithoutTheirControlCharacters) {
  CommandResult r =
      run("run k.py:scale" + arrays, "NEREID_INTERP=\"$(printf '\\033[2J')\"");
  EXPECT_THAT(r.err, AllOf(HasSubstr("NEREID_INTERP=\\x1b[2J is ignored"),
                           Not(HasSubstr("\x1b"))));
}

TEST_F(HostileInput, LaunchesThatFailAreToldBesideTheirResults) {
  ASSERT_TRUE(replaceFile(root + "/bad.json", "{}").ok());
  CommandResult r = run("run --launch bad.json bad.json --results r.jsonl");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("expected every launch to be ok, got 2 of 2"));
}

/// What the message suggests compiles, whatever the pointers are called.
TEST_F(HostileInput, TheSuggestedSignatureCompiles) {
  ASSERT_TRUE(
      replaceFile(root + "/names.py",
                  "import triton\nimport triton.language as tl\n\n"
                  "@triton.jit\ndef k(x, out, lock, n, B: tl.constexpr):\n"
                  "    i = tl.arange(0, B)\n    ptrs = x + i\n"
                  "    target = (out + n)\n    rows = target + i\n"
                  "    tl.store(rows, tl.load(ptrs, mask=i < n))\n"
                  "    tl.atomic_add(lock, 1)\n")
          .ok());
  CommandResult r = run("compile names.py:k");
  EXPECT_EQ(r.code, 2);
  size_t begin = r.err.find("--signature '");
  ASSERT_NE(begin, std::string::npos) << r.err;
  std::string signature =
      r.err.substr(begin, r.err.find("'", begin + 13) + 1 - begin);
  EXPECT_THAT(signature, HasSubstr("x=*fp32, out=*fp32, lock=*fp32, n=i32, "
                                   "B=1024"));
  r = run("compile names.py:k " + signature);
  EXPECT_EQ(r.code, 0) << signature << r.err;
}

TEST_F(HostileInput, AnOverrideOfAMissingFolder) {
  CommandResult r = run("run k.py:scale" + arrays, "NEREID_OVERRIDE=none");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("NEREID_OVERRIDE: expected a folder of stage "
                               "files, got 'none'"));
  r = run("run k.py:scale" + arrays,
          "NEREID_OVERRIDE=" + std::string(300, 'a'));
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_THAT(r.err, HasSubstr("NEREID_OVERRIDE: expected a folder"));
  std::filesystem::create_directories(root + "/empty");
  EXPECT_EQ(run("run k.py:scale" + arrays, "NEREID_OVERRIDE=empty").code, 0);
}

TEST_F(HostileInput, DeepJson) {
  std::string text(200000, '[');
  ASSERT_TRUE(replaceFile(root + "/deep.json", text).ok());
  CommandResult r = run("run --launch deep.json");
  EXPECT_EQ(r.code, 2);
  EXPECT_THAT(r.err, HasSubstr("deep.json: line 1: expected values at most"));
}

/// 200 blocks of 1024 x 1024 that are all needed at the end.
TEST_F(HostileInput, NoMemoryForTheReferenceExecutor) {
  constexpr int kib = 1 << 20;
  if (!hasRoomIn(kib)) {
    GTEST_SKIP() << "a launch does not fit the limit of memory here";
  }
  std::string text = "import triton\nimport triton.language as tl\n\n"
                     "@triton.jit\ndef many(x):\n"
                     "    i = tl.arange(0, 1024)\n"
                     "    t = i[:, None] * 1024 + i[None, :]\n";
  for (int i = 0; i < 200; ++i) {
    text += "    a" + std::to_string(i) + " = tl.load(x + t) + " +
            std::to_string(i) + "\n";
  }
  for (int i = 0; i < 200; ++i) {
    text += "    tl.store(x + t, a" + std::to_string(i) + ")\n";
  }
  ASSERT_TRUE(replaceFile(root + "/many.py", text).ok());
  CommandResult r = limited("run many.py:many --device interp --grid 1 "
                            "x=zeros:i32[1024,1024]",
                            kib);
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("memory"), Not(HasSubstr("bad_alloc")),
                           Not(HasSubstr("internal"))));
}

TEST_F(HostileInput, ArraysThatDoNotFit) {
  constexpr int kib = 1 << 20;
  if (!hasRoomIn(kib)) {
    GTEST_SKIP() << "a launch does not fit the limit of memory here";
  }
  CommandResult r =
      limited("run k.py:scale --grid 1 x_ptr=zeros:f32[400000000] "
              "y_ptr=none n=1 a=1",
              kib);
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_THAT(r.err, HasSubstr("no memory for a tensor"));
}

/// Arguments and environment take a quarter of a stack at most: they are few.
TEST_F(HostileInput, AStackOfTheSmallestSize) {
  const std::string few = "env -i PATH=\"$PATH\" NEREID_CACHE_DIR=cache "
                          "bash -c 'ulimit -s 64; exec \"$@\"' limited ";
  if (std::system((few + "true").c_str()) != 0) {
    GTEST_SKIP() << "no program begins with a stack of 64 KiB here";
  }
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "a sanitizer's frames are larger";
#endif
  for (const char *device : {"cpu", "interp"}) {
    CommandResult r =
        run("run k.py:scale --device " + std::string(device) + arrays, few);
    EXPECT_EQ(r.code, 0) << r.err;
  }
}

TEST_F(HostileInput, ItsOwnOutputIsNotRead) {
  for (const char *words :
       {"run /dev/fd/1:k --grid 1", "run --launch /dev/fd/1",
        "run k.py:scale --grid 1 x_ptr=@/dev/fd/1"}) {
    std::string command = "cd " + root + " && timeout 20 " NEREID_BINARY " " +
                          words + " 2> err | cat; exit ${PIPESTATUS[0]}";
    ASSERT_TRUE(replaceFile(root + "/script", command).ok());
    int state = std::system(("bash " + root + "/script").c_str());
    EXPECT_EQ(WEXITSTATUS(state), 1) << words;
    EXPECT_THAT(*readFile(root + "/err"), HasSubstr("own output")) << words;
  }
}

/// Six numbers, whatever the size of the array.
TEST_F(HostileInput, PrintingTakesNoMemory) {
  constexpr int kib = (3 << 20) / 2;
  if (!hasRoomIn(kib)) {
    GTEST_SKIP() << "a launch does not fit the limit of memory here";
  }
  CommandResult r = limited("run k.py:scale --grid 0 x_ptr=zeros:u8[800000000] "
                            "y_ptr=zeros:f32[1] n=1 a=1 --print x_ptr",
                            kib);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "x_ptr: u8[800000000] 0 0 0 ... 0 0 0\n");
}

TEST_F(HostileInput, ExitStatusesAreThoseOfTheTable) {
  struct Case {
    const char *arguments;
    ExitStatus status;
  };
  std::string good = "run k.py:scale" + arrays;
  const Case cases[] = {
      {"--help", ExitSuccess},
      {"run --help", ExitSuccess},
      {good.c_str(), ExitSuccess},
      {"", ExitUsage},
      {"bogus", ExitUsage},
      {"run --bogus", ExitUsage},
      {"run k.py:scale --grid 1", ExitUsage}, // does not fit
      {"run k.py:scale --grid 1,1,1,1", ExitUsage},
      {"run k.py:none --grid 1", ExitFailure}, // not found
      {"run none.py:k --grid 1", ExitFailure},
      {"run k.py:wrong --grid 1 x_ptr=zeros:f32[4] BLOCK=4", ExitFailure},
      {"run k.py:scale --device cuda:99 --grid 1", ExitFailure},
      {"run k.py:scale --device hip:99 --grid 1", ExitFailure},
      {"compile k.py:scale --emit tiles", ExitUsage},
      {"run --launch none.json", ExitFailure},
      {"builtins nothing_of_the_kind", ExitUsage}};
  for (const Case &c : cases) {
    CommandResult r = run(c.arguments, "NEREID_CUDA_DRIVER=none");
    EXPECT_EQ(r.code, c.status) << c.arguments << r.err;
  }
  std::set<ErrorCode> seen;
  for (const ExitStatusRow &row : exitStatusTable()) {
    for (ErrorCode code : row.codes) {
      EXPECT_TRUE(seen.insert(code).second) << name(code) << " stands twice";
      EXPECT_EQ(exitStatusOf(code), row.status);
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(ErrorCode::Internal) + 1);
}
