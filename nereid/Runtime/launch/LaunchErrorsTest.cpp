//===- LaunchErrorsTest.cpp - Every wrong launch and its message ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/Npy.h"
#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Support/Files.h"

#include <filesystem>
#include <functional>

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class LaunchErrors : public LaunchFixture {
protected:
  LaunchErrors() {
    FakeKernel typed = addKernel();
    typed.description.name = "typed";
    typed.description.parameters[0].dtype = f16;
    typed.description.parameters[0].isPointer = true;
    typed.description.parameters[3].dtype = i8;
    typed.program = [](const FakeCall &) {}; // reads no float16 as float32
    world->kernels["typed"] = typed;
  }
  Tensor x = zeros({64}, f32), y = zeros({64}, f32), out = zeros({64}, f32);

  template <typename... Args>
  std::string launchError(const std::string &name, const Args &...args) {
    Kernel k = kernel(name);
    return errorOf([&] { k[1](args...); });
  }
};
} // namespace

TEST_F(LaunchErrors, MissingArguments) {
  std::string text = launchError("add", x, y, out);
  EXPECT_THAT(text, AllOf(HasSubstr("add: missing argument 'n'"),
                          HasSubstr("parameter 4 of 5"),
                          HasSubstr("add.py:2:30"), HasSubstr("\"n\"_a")));
  // The caret stands under the parameter.
  EXPECT_THAT(text, HasSubstr("def add(x_ptr, y_ptr, out_ptr, n"));
  EXPECT_THAT(launchError("add", x, "n"_a = 4),
              HasSubstr("missing arguments 'y_ptr', 'out_ptr'"));
  world->kernels["add"].description.parameters[4].defaultValue.reset();
  EXPECT_THAT(launchError("add", x, y, out, 4),
              HasSubstr("missing argument 'BLOCK_SIZE' (parameter 5 of 5, "
                        "tl.constexpr)"));
}

TEST_F(LaunchErrors, TooManyArguments) {
  EXPECT_THAT(launchError("add", x, y, out, 1, 2, 3),
              HasSubstr("add: too many arguments: expected at most 5, got 6"));
}

TEST_F(LaunchErrors, UnexpectedKeyword) {
  EXPECT_THAT(
      launchError("add", x, y, out, 4, "BLOCKSIZE"_a = 4),
      AllOf(HasSubstr("'BLOCKSIZE'"), HasSubstr("did you mean 'BLOCK_SIZE'")));
  EXPECT_THAT(launchError("add", x, y, out, 4, "num_wraps"_a = 4),
              HasSubstr("did you mean 'num_warps'"));
  EXPECT_THAT(launchError("add", x, y, out, 4, "zzz"_a = 4),
              HasSubstr("launch options are num_warps"));
}

TEST_F(LaunchErrors, GivenTwiceAndOrder) {
  EXPECT_THAT(launchError("add", x, y, out, 4, "n"_a = 4),
              HasSubstr("argument 'n' is given twice"));
  EXPECT_THAT(launchError("add", x, "y_ptr"_a = y, out),
              HasSubstr("positional argument follows a named one"));
}

TEST_F(LaunchErrors, WrongTypes) {
  EXPECT_THAT(launchError("add", x, y, out, 4, "BLOCK_SIZE"_a = x),
              AllOf(HasSubstr("'BLOCK_SIZE': expected a compile-time value"),
                    HasSubstr("the tensor fp32[64]")));
  EXPECT_THAT(launchError("add", x, y, out, "many"),
              AllOf(HasSubstr("'n': expected a tensor or a number"),
                    HasSubstr("the string 'many'"),
                    HasSubstr("only a tl.constexpr")));
  EXPECT_THAT(launchError("add", Tensor(), y, out, 4),
              AllOf(HasSubstr("'x_ptr': expected a tensor with memory"),
                    HasSubstr("undefined")));
}

TEST_F(LaunchErrors, AnnotatedTypes) {
  Tensor half = zeros({64}, f16);
  EXPECT_THAT(launchError("typed", x, y, out, 4),
              AllOf(HasSubstr("typed: argument 'x_ptr': expected a tensor of "
                              "float16 (the annotation fixes it), got the "
                              "tensor fp32[64]"),
                    HasSubstr("tensor.to(dtype)")));
  EXPECT_THAT(launchError("typed", 3, y, out, 4),
              HasSubstr("expected a pointer to float16, got the int 3"));
  EXPECT_THAT(launchError("typed", half, y, out, x),
              HasSubstr("'n': expected an int8, got the tensor fp32[64]"));
  EXPECT_THAT(launchError("typed", half, y, out, 1.5),
              HasSubstr("expected an int8, got the float 1.5"));
  EXPECT_THAT(launchError("typed", half, y, out, 200),
              AllOf(HasSubstr("expected an int8, got the int 200"),
                    HasSubstr("does not fit")));
  EXPECT_THAT(launchError("typed", half, y, out, f16),
              HasSubstr("expected an int8, got fp16"));
  EXPECT_EQ(launchError("typed", half, y, out, 100), "");
}

TEST_F(LaunchErrors, MixedDevices) {
  EXPECT_THAT(launchError("add", x, y.to(Device::interp()), out, 4),
              AllOf(HasSubstr("'y_ptr' is on interp, but 'x_ptr' is on cpu"),
                    HasSubstr("tensor.to(device)")));
}

TEST_F(LaunchErrors, Grids) {
  Kernel add = kernel("add");
  auto gridError = [&](Grid grid) {
    return errorOf([&] { add[grid](x, y, out, 4); });
  };
  EXPECT_THAT(errorOf([&] { add(x, y, out, 4); }),
              AllOf(HasSubstr("add: no grid was given"),
                    HasSubstr("write add[{programs}](...)")));
  EXPECT_THAT(gridError({}), HasSubstr("no grid was given"));
  EXPECT_EQ(world->compiles, 0);
  EXPECT_THAT(gridError({4, -2}),
              HasSubstr("grid dimension 1 is -2; expected at least 0"));
  EXPECT_THAT(gridError({int64_t{1} << 31}),
              HasSubstr("grid dimension 0 is 2147483648; the limit is "
                        "2147483647"));
  int64_t large = INT32_MAX;
  EXPECT_THAT(gridError({large, large, large}), HasSubstr("2^62 programs"));
  EXPECT_THAT(gridError({1, 1, 1, 1}), HasSubstr("4 dimensions"));
}

TEST_F(LaunchErrors, GridFunctions) {
  Kernel add = kernel("add");
  auto error = [&](auto grid, auto... more) {
    return errorOf([&] { add[grid](x, y, out, 4, more...); });
  };
  EXPECT_THAT(error([](const Meta &m) { return m["BLOCK"]; }),
              HasSubstr("the grid asks for 'BLOCK', which is no argument"));
  EXPECT_THAT(error([](const Meta &m) { return m["BLOCK_SIZ"]; }),
              HasSubstr("did you mean 'BLOCK_SIZE'"));
  EXPECT_THAT(error([](const Meta &m) { return m["BLOCK_SIZE"]; },
                    "BLOCK_SIZE"_a = 1.5),
              AllOf(HasSubstr("uses 'BLOCK_SIZE' as an integer"),
                    HasSubstr("the float 1.5")));
  EXPECT_THAT(error([](const Meta &m) { return m["x_ptr"]; }),
              HasSubstr("the tensor fp32[64]"));
  EXPECT_THAT(error([](const Meta &) { return cdiv(3, 0); }),
              HasSubstr("division by zero"));
  EXPECT_EQ(error([](const Meta &m) { return m["num_warps"]; }), "");
}

TEST_F(LaunchErrors, LaunchOptions) {
  auto error = [&](const LaunchArgument &option) {
    Kernel add = kernel("add");
    std::vector<LaunchArgument> arguments = {x, y, out, 4, option};
    return errorOf([&] { add.launch(Grid(1), arguments); });
  };
  EXPECT_THAT(error("num_warps"_a = 3),
              HasSubstr("'num_warps': expected a power of two from 1 to 32, "
                        "got the int 3"));
  EXPECT_THAT(error("num_warps"_a = 64), HasSubstr("from 1 to 32"));
  EXPECT_THAT(error("num_warps"_a = "4"), HasSubstr("the string '4'"));
  EXPECT_THAT(error("num_stages"_a = -1), HasSubstr("from 0 to 64"));
  EXPECT_THAT(error("num_ctas"_a = 3), HasSubstr("power of two"));
  EXPECT_THAT(error("maxnreg"_a = 300), HasSubstr("from 1 to 255"));
  EXPECT_THAT(error("minnreg"_a = 0), HasSubstr("from 1 to 255"));
  EXPECT_THAT(error("waves_per_eu"_a = 17), HasSubstr("from 0 to 16"));
  EXPECT_THAT(error("matrix_instr_nonkdim"_a = 8),
              HasSubstr("expected 0, 16 or 32, got the int 8"));
  EXPECT_THAT(error("kpack"_a = 4),
              HasSubstr("expected 1 or 2, got the int 4"));
  EXPECT_EQ(error("kpack"_a = none), "");
  EXPECT_THAT(error("debug"_a = "yes"), HasSubstr("true or false"));
  EXPECT_EQ(error("maxnreg"_a = none), "");
  EXPECT_EQ(error("minnreg"_a = none), "");
  EXPECT_EQ(world->requests.back().options.minRegisters, 0u);
  EXPECT_EQ(error("enable_fp_fusion"_a = false), "");
  EXPECT_FALSE(world->requests.back().options.fpFusion);
  EXPECT_EQ(error("debug"_a = true), "");
  EXPECT_EQ(world->requests.back().options.checks,
            uint32_t{CheckAsserts | CheckOverflow});
}

TEST_F(LaunchErrors, Loading) {
  EXPECT_THAT(errorOf([&] { kernel("ad"); }),
              AllOf(HasSubstr("no kernel 'ad'"), HasSubstr("add, count"),
                    HasSubstr("did you mean 'add'")));
  EXPECT_THAT(
      errorOf([&] { kernel(""); }),
      AllOf(HasSubstr("add.py has the kernels add"), HasSubstr("name one")));
  EXPECT_THAT(errorOf([&] { Kernel::load("/no/such.py", "k", context); }),
              AllOf(HasSubstr("/no/such.py"), HasSubstr("No such file")));
  world->kernels.erase("count");
  world->kernels.erase("typed");
  EXPECT_EQ(kernel("").name(), "add");
  EXPECT_THAT(errorOf([] { Kernel()[1](); }), HasSubstr("Kernel::load"));
}

TEST_F(LaunchErrors, WithoutACompiler) {
  Context bare(nullptr, {"/nonexistent", 0});
  std::string text =
      errorOf([&] { Kernel::fromSource(Source{"k.py", "", {}}, "k", bare); });
  EXPECT_THAT(text, AllOf(HasSubstr("k.py needs the compiler"),
                          HasSubstr("its context was made without one"),
                          HasSubstr("nereid/nereid.h")));
  // This program includes Runtime headers only.
  EXPECT_EQ(Context::shared().compiler(), nullptr);
  EXPECT_THAT(errorOf([] { Kernel::fromSource("text", "k"); }),
              AllOf(HasSubstr("needs the compiler, and this program has none"),
                    HasSubstr("a library that a program opens calls "
                              "nereid::installDefaults()")));
}

TEST_F(LaunchErrors, CompileErrorsComeThrough) {
  world->kernels["add"].refuse = [](const CompileRequest &) {
    return "undefined name 'tll'";
  };
  Kernel add = kernel("add");
  try {
    add[1](x, y, out, 4);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::CompileError);
    EXPECT_THAT(error.what(), HasSubstr("undefined name 'tll'"));
  }
}

TEST_F(LaunchErrors, EmptyGridFunctionsAreNoGrid) {
  std::function<Grid(const Meta &)> empty;
  Grid (*null)(const Meta &) = nullptr;
  Kernel add = kernel("add");
  for (const Grid &grid : {Grid(empty), Grid(null)}) {
    EXPECT_THAT(errorOf([&] { add[grid](x, y, out, 64); }),
                HasSubstr("no grid was given"));
  }
  empty = [](const Meta &) { return Grid(1); };
  EXPECT_EQ(errorOf([&] { add[empty](x, y, out, 64); }), "");
}

TEST_F(LaunchErrors, ANullStringIsNoArgument) {
  const char *null = nullptr;
  EXPECT_THAT(launchError("add", x, y, out, null),
              HasSubstr("expected a string, got a null const char *"));
}

TEST_F(LaunchErrors, ANullTextIsAnErrorOfOurs) {
  const char *null = nullptr;
  std::pair<const char *, std::function<void()>> calls[] = {
      {"load", [&] { Kernel::load(null, "k", context); }},
      {"load, name", [&] { Kernel::load("k.py", null, context); }},
      {"fromSource", [&] { Kernel::fromSource(null, "k", context); }},
      {"fromSource, name",
       [&] { Kernel::fromSource(Source{"k.py", "", {}}, null, context); }},
      {"fromLibrary",
       [&] { Kernel::fromLibrary(KernelLibrary{}, null, context); }},
      {"loadNpy", [&] { loadNpy(null); }},
      {"saveNpy", [&] { saveNpy(null, x); }},
      {"Device::parse", [&] { Device::parse(null); }},
      {"Device::tryParse", [&] { (void)Device::tryParse(null); }},
      {"Tuple::named", [&] { Tuple::named(null, {}, {}); }},
      {"FunctionName", [&] { (void)FunctionName{null}; }},
      {"LaunchArgument", [&] { LaunchArgument(null, Argument(1)); }},
      {"Meta",
       [&] {
         Kernel add = kernel("add");
         Grid grid([&](const Meta &meta) { return Grid(meta[null]); });
         add[grid](x, y, out, 64);
       }},
  };
  for (const auto &[name, call] : calls) {
    EXPECT_THAT(errorOf(call),
                HasSubstr("expected a text, got a null const char *"))
        << name;
  }
}

/// What a text may be given as.
TEST_F(LaunchErrors, TextsAreLiteralsStringsViewsAndPaths) {
  std::filesystem::path path = "/no/such.npy";
  for (const std::string &said :
       {errorOf([&] { loadNpy("/no/such.npy"); }),
        errorOf([&] { loadNpy(path.string()); }),
        errorOf([&] { loadNpy(std::string_view(path.native())); }),
        errorOf([&] { loadNpy(path); })}) {
    EXPECT_THAT(said, HasSubstr("'/no/such.npy'"));
  }
}

TEST_F(LaunchErrors, AMovedFromTensorIsNoArgument) {
  Tensor moved = std::move(x);
  EXPECT_THAT(launchError("add", x, y, out, 64),
              HasSubstr("expected a tensor with memory"));
}

/// What the command says instead of C++.
TEST_F(LaunchErrors, HintsOfTheCommandAreArgumentsAsTyped) {
  setHintStyle(HintStyle::Command);
  std::string missing = launchError("add", x, y, out);
  std::string mismatch = launchError("typed", x, y, out, 3);
  setHintStyle(HintStyle::Cpp);
  EXPECT_THAT(missing, HasSubstr("as n=1024 or n=zeros:f32[1024], of add("));
  EXPECT_THAT(missing, testing::Not(HasSubstr("_a")));
  EXPECT_THAT(mismatch, HasSubstr("x_ptr=zeros:float16[1024]"));
}
