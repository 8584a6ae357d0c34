//===- LibraryCommandTest.cpp - Ahead of time, as a user does it ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

using namespace nereid;
using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {
class LibraryCommand : public Command {
protected:
  /// An assembler that copies its input and says what `said` says.
  std::string fakePtxas(const std::string &said, int status = 0) {
    std::string path = root + "/ptxas";
    std::string text = "#!/bin/sh\nset -e\ncat <<'EOF' >&2\n" + said +
                       "\nEOF\ncp \"$5\" \"$4\"\nexit " +
                       std::to_string(status) + "\n";
    EXPECT_TRUE(writeFileAtomically(path, text).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return "NEREID_PTXAS=" + path;
  }
  /// A disassembler that prints `said`.
  std::string fakeNvdisasm(const std::string &said, int status = 0) {
    std::string path = root + "/nvdisasm";
    std::string text = "#!/bin/sh\ncat <<'EOF'\n" + said + "\nEOF\nexit " +
                       std::to_string(status) + "\n";
    EXPECT_TRUE(writeFileAtomically(path, text).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return "NEREID_NVDISASM=" + path + " ";
  }
  std::string file(const std::string &name) {
    auto text = readFile(root + "/" + name);
    return text.ok() ? *text : "";
  }

  const std::string scale =
      "compile k.py:scale --signature '*fp32:16, *fp32:16, i32, fp32' ";
  const std::string resources =
      "ptxas info    : Used 200 registers, used 1 barriers, 388 bytes cmem[0]\n"
      "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads";
  const std::string none = "NEREID_PTXAS=none NEREID_CUDA_DRIVER=none";
};
} // namespace

TEST_F(LibraryCommand, ChoicesThatDoNotFit) {
  auto compile = [&](const std::string &json, const std::string &signature) {
    EXPECT_TRUE(writeFileAtomically(root + "/tuned.json", json).ok());
    return run("compile k.py:scale --emit header -o k.h --target x86-64 "
               "--tuned tuned.json --signature '" +
               signature + "'");
  };
  auto record = [](const std::string &config) {
    return R"({"nereid_tuned": 1, "tuned": [{"kernel": "scale", "source_hash": "",
      "device": "", "driver": "", "key": {}, "dtypes": {"x_ptr": "fp16"},
      "candidates": "search", "config": )" +
           config + "}]}";
  };
  CommandResult types = compile(record(R"({"BLOCK_SIZE": 128})"),
                                "scale(*fp32, *fp32, i32, fp32)");
  EXPECT_NE(types.code, 0);
  EXPECT_THAT(types.err, HasSubstr("no choice for these types"));
  CommandResult name =
      compile(record(R"({"BLOCK": 128})"), "scale(*fp16, *fp16, i32, fp32)");
  EXPECT_NE(name.code, 0);
  EXPECT_THAT(name.err, HasSubstr("has no parameter 'BLOCK'"));
  CommandResult broken = compile("{", "scale(*fp16, *fp16, i32, fp32)");
  EXPECT_NE(broken.code, 0);
  EXPECT_THAT(broken.err, HasSubstr("tuned.json: "));
  EXPECT_FALSE(std::filesystem::exists(root + "/k.h"));
}

TEST_F(LibraryCommand, CubinByPtxas) {
  CommandResult r =
      run(scale + "--target sm_90a --emit cubin -v", fakePtxas(resources));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(file("scale.cubin"), HasSubstr(".visible .entry scale"));
  EXPECT_THAT(
      r.err,
      EndsWith("scale [sm_90a]: 200 registers, 16 bytes spilled, 8 "
               "local, 0 shared, 128 threads, 2 blocks a multiprocessor, "
               "occupancy 12 %, limited by registers\n"));
  EXPECT_THAT(r.err, StartsWith("nereid: dispatch: scale [sm_90a]:\nk.py:8:"));
  r = run(scale + "--target sm_90a --emit cubin -o c.bin",
          fakePtxas(resources));
  EXPECT_EQ(r.err, "");
  EXPECT_NE(file("c.bin"), "");
}

TEST_F(LibraryCommand, MachineCodeStandsBehindItsSourceLines) {
  CommandResult r =
      run(scale + "--target sm_90a --emit sass",
          fakeNvdisasm(".text.scale:\n"
                       "        /*0000*/                   LDC R1, c[0x0] ;\n"
                       "\t//## File \"" +
                       root +
                       "/k.py\", line 1\n"
                       "        /*0010*/              @!P0 LDG.E R6, [R2] ;\n"
                       ".L_x_1:\n"
                       "        /*0020*/                   EXIT ;\n"
                       "\t//## File \"/nonexistent/other.py\", line 7\n"
                       "        /*0030*/                   NOP ;") +
              fakePtxas(resources));
  EXPECT_EQ(r.code, 0) << r.err;
  std::string first = file("k.py").substr(0, file("k.py").find('\n'));
  EXPECT_EQ(r.out, "// of no line\n"
                   "    LDC R1, c[0x0]\n"
                   "// k.py:1: " +
                       first +
                       "\n"
                       "    @!P0 LDG.E R6, [R2]\n"
                       ".L_x_1:\n"
                       "    EXIT\n"
                       "// /nonexistent/other.py:7: \n"
                       "    NOP\n");
}

/// The line table has one path, the user another.
TEST_F(LibraryCommand, MachineCodeIsOfTheFileHoweverItIsNamed) {
  std::string tools = fakeNvdisasm(".text.scale:\n//## File \"" + root +
                                   "/k.py\", line 1\n/*0010*/ EXIT ;") +
                      fakePtxas(resources);
  std::filesystem::create_directory(root + "/sub dir");
  for (const char *name : {"./k.py", "sub dir/../k.py"}) {
    std::string kernel = "'" + std::string(name) + ":scale'";
    CommandResult r =
        run("compile " + kernel +
                " --signature '*fp32:16, *fp32:16, i32, fp32' --target sm_90a "
                "--emit sass",
            tools);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(r.out, StartsWith("// " + std::string(name) + ":1: "));
    r = run("explain " + kernel +
                " x_ptr=rand:f32[64] y_ptr=empty:f32[64] n=64 a=2.0 --grid 1 "
                "--json page.json",
            tools);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(file("page.json"),
                HasSubstr("\"file\": \"" + std::string(name) + "\""));
    EXPECT_THAT(file("page.json"), Not(HasSubstr("\"" + root + "/k.py")));
  }
}

TEST_F(LibraryCommand, DisassemblersThatFail) {
  std::string sass = scale + "--target sm_90a --emit sass";
  CommandResult r = run(sass, "NEREID_NVDISASM=none");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("--emit sass: expected nvdisasm"),
                           HasSubstr("got none; hint: install"),
                           HasSubstr("NEREID_NVDISASM")));
  r = run(sass, "NEREID_NVDISASM=/nonexistent/nvdisasm");
  EXPECT_THAT(r.err,
              HasSubstr("NEREID_NVDISASM: expected a program that can be "
                        "run, got '/nonexistent/nvdisasm'; hint: "));
  r = run("doctor", "NEREID_NVDISASM=/nonexistent/nvdisasm " + none);
  EXPECT_THAT(r.out, ContainsRegex("nvdisasm +NEREID_NVDISASM: expected a "
                                   "program that can be run, got"));
  r = run(sass, fakeNvdisasm("") + none);
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("--emit sass: there is no ptxas"));
  r = run(sass, fakeNvdisasm("", 255) + fakePtxas(resources));
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err,
              AllOf(HasSubstr("expected the machine code of kernel 'scale' "
                              "for sm_90a from "),
                    HasSubstr("got status 255; hint: one of the CUDA "
                              "version")));
  // One that succeeds, and has nothing to say.
  for (const char *said : {"", "hello", ".text.scale:"}) {
    r = run(sass, fakeNvdisasm(said) + fakePtxas(resources));
    EXPECT_EQ(r.code, 1) << said;
    EXPECT_THAT(r.err, HasSubstr("got no instruction; hint: one of the CUDA"));
  }
}

/// The page of a launch says what is missing, and the JSON, too.
TEST_F(LibraryCommand, ExplainSaysWhyThereIsNoMachineCode) {
  const std::string explain =
      "explain k.py:scale x_ptr=rand:f32[64] y_ptr=empty:f32[64] n=64 a=2.0 "
      "--grid 1 --html page.html";
  EXPECT_EQ(run(explain, "NEREID_NVDISASM=none " + fakePtxas(resources)).code,
            0);
  EXPECT_THAT(file("page.html"),
              HasSubstr("No machine code: expected nvdisasm"));
  EXPECT_EQ(run(explain, none).code, 0);
  EXPECT_THAT(file("page.html"), HasSubstr("No machine code: there is no "
                                           "ptxas"));
  EXPECT_EQ(run(explain, fakeNvdisasm("") + "NEREID_PTXAS=/bin/false").code, 0);
  EXPECT_THAT(file("page.html"),
              HasSubstr("No machine code: ptxas did not assemble"));
  EXPECT_EQ(run(explain, fakeNvdisasm("") + fakePtxas(resources)).code, 0);
  EXPECT_THAT(file("page.html"),
              HasSubstr("No machine code: expected the machine code of"));
  // What it says may be of any bytes.
  EXPECT_EQ(run("explain k.py:scale x_ptr=rand:f32[64] y_ptr=empty:f32[64] "
                "n=64 a=2.0 --grid 1 --json page.json",
                fakeNvdisasm("\xff", 3) + fakePtxas(resources))
                .code,
            0);
  EXPECT_THAT(file("page.json"), HasSubstr("got status 3"));
  EXPECT_EQ(run("explain k.py:scale x_ptr=rand:f32[64] y_ptr=empty:f32[64] "
                "n=64 a=2.0 --grid 1 --json page.json",
                fakeNvdisasm(".text.scale:\n/*0000*/ NOP\xff ;") +
                    fakePtxas(resources))
                .code,
            0);
  EXPECT_THAT(file("page.json"), HasSubstr("NOP\xef\xbf\xbd"));
}

TEST_F(LibraryCommand, CubinByADriver) {
  std::string environment =
      "NEREID_PTXAS=none NEREID_CUDA_DRIVER=" NEREID_FAKE_DRIVER;
  for (const char *target : {"sm_90a", "sm_80"}) {
    CommandResult r =
        run(scale + "--emit cubin -o - --target " + target, environment);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(r.out, AllOf(StartsWith("CUBIN"), HasSubstr(target)));
  }
  CommandResult r = run(scale + "--emit cubin --target sm_89", environment);
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("this machine has no sm_89"));
}

TEST_F(LibraryCommand, ResourcesInTheLog) {
  CommandResult r = run(scale + "--target sm_80 --emit ptx",
                        "NEREID_LOG=compile " + fakePtxas(resources));
  EXPECT_THAT(r.err,
              HasSubstr("nereid: compile: scale [sm_80]: 200 registers"));
  EXPECT_THAT(r.out, HasSubstr(".entry scale"));
  r = run(scale + "--target sm_80 --emit ptx -v", none);
  EXPECT_EQ(r.code, 0);
  EXPECT_THAT(r.err, HasSubstr("registers and occupancy are not known: there "
                               "is no ptxas"));
  EXPECT_THAT(r.err, HasSubstr("; this machine has no sm_80"));
  r = run(scale + "--target x86-64-v3 --emit obj -v");
  EXPECT_THAT(r.err, HasSubstr("scale [x86-64-v3]: 0 bytes of scratch"));
}

TEST_F(LibraryCommand, AssemblersThatFail) {
  CommandResult r = run(scale + "--target sm_90a --emit cubin", none);
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("--emit cubin: there is no ptxas"),
                           HasSubstr("cuda-nvcc"), HasSubstr("NEREID_PTXAS"),
                           HasSubstr("--emit ptx needs neither")));
  r = run(scale + "--target sm_90a --emit ptx -v",
          "NEREID_PTXAS=/nonexistent/ptxas");
  EXPECT_THAT(r.err, HasSubstr("NEREID_PTXAS: '/nonexistent/ptxas' is no "
                               "program that can be run"));
  r = run(scale + "--target sm_90a --emit cubin",
          "TMPDIR=/nonexistent " + fakePtxas(resources));
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("cannot make a temporary folder for ptxas"));
  r = run(scale + "--target sm_70 --emit cubin",
          fakePtxas("ptxas fatal   : Value 'sm_70' is not defined for option "
                    "'gpu-name'",
                    1));
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("does not know sm_70"),
                           HasSubstr("another CUDA version")));
  r = run(scale + "--target sm_80 --emit cubin",
          fakePtxas("line 3; error: Unknown symbol", 255));
  EXPECT_EQ(r.code, 3);
  EXPECT_THAT(r.err,
              AllOf(HasSubstr("internal error: assembling kernel 'scale' "
                              "for sm_80"),
                    HasSubstr("failed with status 255"),
                    HasSubstr("line 3; error: Unknown symbol")));
}

TEST_F(LibraryCommand, HeaderAndObject) {
  std::string command =
      "compile k.py --signature 'scale(*fp32:16, *fp32:16, i32, fp32)' "
      "--signature 'scale(*fp32, *fp32, i32, fp32, num_warps=8)' "
      "--signature 'scale(*bf16, *bf16, i64, fp32, BLOCK_SIZE=128)' "
      "--signature 'fill2d(*i32, 2, 3, \"rows\")' "
      "--target x86-64,x86-64-v3,sm_80,x86-64 --emit header ";
  CommandResult r = run(command + "-o my-kernels.h", fakePtxas(resources));
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out + r.err, "");
  std::string header = file("my-kernels.h");
  EXPECT_THAT(
      header,
      AllOf(HasSubstr("#ifndef NEREID_KERNELS_MY_KERNELS_H\n"),
            HasSubstr("extern \"C\" const nereid::KernelLibrary "
                      "nereid_kernels_my_kernels;"),
            HasSubstr("namespace my_kernels {"),
            HasSubstr("inline const nereid::Kernel &scale() {"),
            HasSubstr("inline void scale(const nereid::Grid &grid, const "
                      "nereid::Tensor &x_ptr, const nereid::Tensor &y_ptr, "
                      "int64_t n, float a, int64_t BLOCK_SIZE) {")));
  EXPECT_THAT(
      header,
      AllOf(HasSubstr("inline void scale(nereid::Device device, const "
                      "nereid::Grid &grid, const float *x_ptr, float *y_ptr, "
                      "int64_t n, float a, int64_t BLOCK_SIZE) {"),
            HasSubstr("const nereid::BFloat16 *x_ptr, nereid::BFloat16 *y_ptr"),
            HasSubstr("inline void fill2d(nereid::Device device, const "
                      "nereid::Grid &grid, int32_t *y_ptr) {"),
            HasSubstr("and sm_80, sm_80 (PTX), x86-64, x86-64-v3.")));
  std::string object = file("my-kernels.o");
  EXPECT_THAT(object, AllOf(StartsWith("\x7f"
                                       "ELF"),
                            HasSubstr("nereid_kernels_my_kernels")));
  EXPECT_THAT(object, Not(HasSubstr(root))) << "where it was compiled";
  // Equal sources give equal files.
  r = run(command + "-o again/my-kernels.h --object x.o", fakePtxas(resources));
  EXPECT_EQ(r.code, 1) << "no such folder";
  std::filesystem::create_directory(root + "/again");
  r = run(command + "-o again/my-kernels.h --object x.o", fakePtxas(resources));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(file("again/my-kernels.h"), header);
  EXPECT_TRUE(file("x.o") == object);
  EXPECT_THAT(run(command + "-o n.h --namespace a::b", none).err,
              HasSubstr("only PTX is kept, which the driver assembles"));
  EXPECT_THAT(file("n.h"), AllOf(HasSubstr("namespace a::b {"),
                                 HasSubstr("::a::b::scale().launch(grid")));
}

TEST_F(LibraryCommand, PtxOfSomeTargets) {
  std::string command = scale + "--target sm_80,sm_86 --emit header -o k.h ";
  CommandResult r = run(command + "--ptx sm_86", fakePtxas(resources));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(file("k.h"), HasSubstr("sm_80, sm_86, sm_86 (PTX)."));
  EXPECT_THAT(run(command + "--ptx sm_75", fakePtxas(resources)).err,
              HasSubstr("--ptx sm_75: expected one of the targets that have "
                        "PTX, sm_80, sm_86"));
}

TEST_F(LibraryCommand, CodeObjectsOfAmd) {
  std::string command =
      scale + "--target x86-64-v3,gfx942,gfx1100 --emit header -o k.h ";
  CommandResult r = run(command + "-v", none);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(file("k.h"), HasSubstr("gfx1100, gfx942, x86-64-v3."));
  EXPECT_THAT(r.err, AllOf(HasSubstr("scale [gfx942]: "), HasSubstr(" VGPRs"),
                           Not(HasSubstr("only PTX is kept"))));
  EXPECT_THAT(run(command + "--ptx gfx942", none).err,
              HasSubstr("--ptx gfx942: expected one of the targets that have "
                        "PTX, of which there are none"));
  EXPECT_EQ(
      run(scale + "--target sm_80,gfx942 --emit header -o k.h", none).code, 0);
}

TEST_F(LibraryCommand, ArchitecturesThatPtxasDoesNotKnow) {
  CommandResult r =
      run(scale + "--target sm_70 --emit header -o k.h",
          fakePtxas("Value 'sm_70' is not defined for option 'gpu-name'", 1));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("warning: only PTX is kept for sm_70"));
}

TEST_F(LibraryCommand, NamesThatCppHasOtherUsesFor) {
  ASSERT_TRUE(writeFileAtomically(root + "/n.py",
                                  "import triton\n"
                                  "import triton.language as tl\n\n\n"
                                  "@triton.jit\n"
                                  "def new(grid, device, delete):\n"
                                  "    tl.store(grid, delete)\n")
                  .ok());
  CommandResult r = run("compile n.py --signature '*i32, none, i32' --emit "
                        "header -o n.h",
                        none);
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(
      file("n.h"),
      HasSubstr("inline void new_(nereid::Device device_, const "
                "nereid::Grid &grid_, int32_t *grid, int64_t delete_)"));
}

TEST_F(LibraryCommand, HeaderErrors) {
  ASSERT_TRUE(writeFileAtomically(root + "/other.py", commandKernels).ok());
  std::string two =
      "compile k.py --emit header -o k.h --signature 'scale(*fp32,"
      " *fp32, i32, fp32)' --signature ";
  const std::pair<std::string, const char *> cases[] = {
      {"compile k.py --emit header",
       "expected a name for the header, as -o kernels.h, got none"},
      {"compile k.py --emit header -o k.h",
       "expected a --signature for each form of a kernel, got none; for "
       "example: "
       "--signature 'scale(x_ptr=*fp32"},
      {"compile k.py --emit header -o k.h --signature '*fp32'",
       "expected the name of one of the kernels scale, fill2d, wrong in front, "
       "as scale(*fp32), got none"},
      {"compile k.py --emit header -o k.h --signature 'scal(*fp32)'",
       "there is no kernel 'scal'; there is scale, fill2d, wrong; did you mean "
       "'scale'?"},
      {"compile k.py:scal --emit header -o k.h", "did you mean 'scale'"},
      {"compile none.py --emit header -o k.h", "none.py"},
      {two + "'scale(*fp32, *fp32, i32, fp32)'",
       "the signature (x_ptr=*fp32, y_ptr=*fp32, n=i32, a=fp32, BLOCK_SIZE=64) "
       "is given twice"},
      {two + "'scale(*fp32, *fp32, 7, fp32)'",
       "parameter 'n' is the constant 7 in one signature and passed at run "
       "time "
       "in another; only 1 and none may be both"},
      {two + "'scale(*fp32, *fp32, i32, 2.5)'",
       "parameter 'a' is the constant 2.5 in one signature"},
      {"compile k.py:scale --emit header -o k.h --signature '*fp32, *fp32, "
       "u32, "
       "fp32' --signature '*fp32, *fp32, 1, fp32'",
       "parameter 'n' is the constant 1 in one signature and u32 in another; "
       "beside a constant a number must be i32, i64, fp32 or i1"},
      {two + "'scale(*fp32, *fp32, i32, fp64)'",
       "parameter 'a' is fp32 in one signature and fp64 in another"},
      {two + "'scale(*fp32, *fp32, i32, fp32, num_warps=64)'",
       "num_warps is '64'; expected an integer from 1 to 32"},
      {two + "'scale(*fp32, *fp32, i32, fp32, num_wraps=4)'",
       "got 'num_wraps'"},
      {"compile k.py other.py --emit header -o k.h --signature 'scale(*fp32, "
       "*fp32, i32, fp32)'",
       "got 'scale' in k.py and other.py"},
      {"compile k.py:scale --emit header -o k.h --target interp --signature "
       "'*fp32, *fp32, i32, fp32'",
       "the target 'interp' needs the compiler at run time"},
      {"compile k.py:scale --emit header -o k.h --target sm_91 --signature "
       "'*fp32, *fp32, i32, fp32'",
       "no GPU architecture 'sm_91'"},
      {"compile k.py:scale --emit header -o k.h --target sm_80 --signature "
       "'*fp32, *fp32, i32, fp32, num_warps=3'",
       "num_warps is 3; expected 1, 2, 4"},
      {"compile k.py k.py --emit asm", "FILE:KERNEL: expected one, got 2; only "
                                       "--emit header takes several"},
      {"compile k.py:scale --emit ptx --target sm_80,sm_90a",
       "--target: expected one, got 2"},
      {"compile k.py:scale --emit ptx --target sm_80 --signature a --signature "
       "b",
       "--signature: expected one, got 2"},
      {"compile k.py:scale --emit cubin",
       "expected a stage of the target 'cpu'"},
  };
  for (const auto &[arguments, expected] : cases) {
    CommandResult r = run(arguments, none);
    EXPECT_NE(r.code, 0) << arguments;
    EXPECT_LE(r.code, 2) << arguments << r.err;
    EXPECT_THAT(r.err, HasSubstr(expected)) << arguments;
  }
  EXPECT_EQ(file("k.h"), "");
}
