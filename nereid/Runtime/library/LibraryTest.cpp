//===- LibraryTest.cpp - Kernels compiled ahead of time -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/testing/LibraryFixture.h"

#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/library/Precompiled.h"
#include "nereid/Support/CpuLevels.h"
#include "nereid/Support/Knobs.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

namespace {
class Libraries : public testing::Test {
protected:
  Kernel kernel(const std::string &name = "add") {
    return Kernel::fromLibrary(lib.library(), name, context);
  }
  template <typename F>
  static std::string errorOf(F f) {
    try {
      f();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  TestLibrary lib;
  Context context{nullptr, ContextOptions{"/nonexistent", 0}};
  Tensor x = full({100}, 1, f32, Device::cpu()),
         y = full({100}, 2, f32, Device::cpu()),
         out = zeros({100}, f32, Device::cpu());
};
} // namespace

TEST_F(Libraries, RunWithoutACompiler) {
  lib.addHost(lib.plain(), addEntry<0>);
  Kernel add = kernel();
  EXPECT_EQ(add.name(), "add");
  EXPECT_TRUE(add.isAheadOfTime());
  add[2](x, y, out, 100);
  EXPECT_THAT(out.toVector<float>(), Each(3));
  // A constant may be repeated, and a grid may ask for it.
  add[([](const Meta &m) { return Grid{cdiv(m["n"], m["BLOCK_SIZE"])}; })](
      x, y, out, 100, "BLOCK_SIZE"_a = 64);
  // 1 is not compiled in here.
  out.zero();
  add[1](x, y, out, 1);
  EXPECT_EQ(out.at({0}), 3);
  EXPECT_EQ(out.at({1}), 0);
}

TEST_F(Libraries, TellWhereCodeCameFrom) {
  lib.addHost(lib.plain(), addEntry<0>);
  Kernel add = kernel("");
  LaunchArgument arguments[] = {x, y, out, 100};
  CompiledInfo info = add.compile(arguments);
  EXPECT_EQ(info.origin, CompiledInfo::Origin::Library);
  EXPECT_EQ(info.image.target, "x86-64");
  EXPECT_EQ(add.compile(arguments).origin, CompiledInfo::Origin::Memory);
  LaunchArgument others[] = {x, y, out,
                             96}; // another specialization, the same code
  EXPECT_EQ(add.compile(others).origin, CompiledInfo::Origin::Memory);
}

TEST_F(Libraries, AddressesInPlaceOfTensors) {
  lib.addHost(lib.plain(), addEntry<0>);
  std::vector<float> a(100, 1), b(100, 5), c(100);
  kernel().on(Device::cpu())[2](Pointer(a.data()), Pointer(b.data()),
                                Pointer(c.data()), 100);
  EXPECT_THAT(c, Each(6));
  EXPECT_THAT(errorOf([&] {
                std::vector<int> wrong(4);
                kernel().on(Device::cpu())[1](Pointer(wrong.data()),
                                              Pointer(b.data()),
                                              Pointer(c.data()), 4);
              }),
              AllOf(HasSubstr("argument 'x_ptr': expected a pointer to fp32, "
                              "got the address 0x"),
                    HasSubstr(" of i32s")));
}

TEST_F(Libraries, TheSignatureThatPromisesMostIsTaken) {
  auto p = TestLibrary::pointer(f32), p16 = TestLibrary::pointer(f32, true);
  auto n = TestLibrary::number(i32), n16 = TestLibrary::number(i32, true);
  auto &plain = lib.signature({p, p, p, n, StaticValue(64)});
  lib.addHost(plain, addEntry<0>);
  auto &aligned = lib.signature({p16, p16, p16, n16, StaticValue(64)});
  lib.addHost(aligned, addEntry<10>);
  auto &wide =
      lib.signature({p, p, p, TestLibrary::number(i64), StaticValue(64)});
  lib.addHost(wide, addEntry<20, int64_t>);
  Kernel add = kernel();
  add[2](x, y, out, 96);
  EXPECT_EQ(out.at({0}), 13);
  add[2](x, y, out, 97);
  EXPECT_EQ(out.at({0}), 3);
  add[1](x.slice(0, 1), y, out, 96);
  EXPECT_EQ(out.at({0}), 3);
  add[1](x, y, out, int64_t{1} << 40);
  EXPECT_EQ(out.at({0}), 23);
  add[1](x, y, out, 1); // one more kind of argument: a constant elsewhere
  EXPECT_EQ(out.at({0}), 3);
}

TEST_F(Libraries, ConstantsChooseASignature) {
  auto p = TestLibrary::pointer(f32);
  auto n = TestLibrary::number(i32);
  auto &small = lib.signature({p, p, p, n, StaticValue(64)});
  lib.addHost(small, addEntry<0>);
  auto &large = lib.signature({p, p, p, n, StaticValue(128)});
  lib.addHost(large, addEntry<10>);
  Kernel add = kernel();
  add[1](x, y, out, 50, 128);
  EXPECT_EQ(out.at({0}), 13);
  add[1](x, y, out, 50, "BLOCK_SIZE"_a = 64);
  EXPECT_EQ(out.at({0}), 3);
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, 50); }),
              HasSubstr("missing argument 'BLOCK_SIZE'"));
  EXPECT_THAT(
      errorOf([&] { add[1](x, y, out, 50, 32); }),
      AllOf(HasSubstr("the arguments fit none of its signatures:"),
            HasSubstr("(x_ptr=*fp32, y_ptr=*fp32, out_ptr=*fp32, n=i32, "
                      "BLOCK_SIZE=64): argument 'BLOCK_SIZE': expected 64, "
                      "which is compiled in, got the int 32"),
            HasSubstr("expected 128, which is compiled in")));
}

TEST_F(Libraries, OneAndNoneMayBeConstantInSomeSignatures) {
  auto p = TestLibrary::pointer(f32);
  auto &one = lib.signature({p, p, p, StaticValue(1), StaticValue(64)});
  lib.addHost(one, [](const void *, LaunchFrame *f, int64_t, int64_t) {
    *reinterpret_cast<float *>(f->arguments[2]) = 77;
  });
  auto &none = lib.signature(
      {p, StaticValue(), p, TestLibrary::number(i32), StaticValue(64)});
  lib.addHost(none, [](const void *, LaunchFrame *f, int64_t, int64_t) {
    *reinterpret_cast<float *>(f->arguments[1]) = 88;
  });
  lib.addHost(lib.plain(), addEntry<0>);
  Kernel add = kernel();
  add[1](x, y, out, 1);
  EXPECT_EQ(out.at({0}), 77);
  add[1](x, y, out, 2);
  EXPECT_EQ(out.at({0}), 3);
  add[1](x, nereid::none, out, 2);
  EXPECT_EQ(out.at({0}), 88);
}

TEST_F(Libraries, BrokenPromisesAreNamed) {
  auto p = TestLibrary::pointer(f32), p16 = TestLibrary::pointer(f32, true);
  auto n16 = TestLibrary::number(i32, true);
  auto &only = lib.signature({p16, p, p, n16, StaticValue(64)});
  lib.addHost(only, addEntry<0>);
  Kernel add = kernel();
  add[1](x, y, out, 32);
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, 33); }),
              AllOf(HasSubstr("add: argument 'n': expected i32 divisible by "
                              "16, got the int 33"),
                    HasSubstr("compiled ahead of time")));
  EXPECT_THAT(errorOf([&] { add[1](x.slice(0, 1), y, out, 32); }),
              AllOf(HasSubstr("argument 'x_ptr': expected a pointer to fp32 "
                              "divisible by 16, got the tensor fp32[99] at "
                              "the address 0x")));
  EXPECT_THAT(errorOf([&] { add[1](x, y.to(f64), out, 32); }),
              HasSubstr("argument 'y_ptr': expected a pointer to fp32, got "
                        "the tensor fp64[100]"));
  EXPECT_THAT(errorOf([&] { add[1](x, 5, out, 32); }),
              HasSubstr("argument 'y_ptr': expected a pointer to fp32, got "
                        "the int 5"));
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, 3.5); }),
              HasSubstr("argument 'n': expected an int32, got the float 3.5"));
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, int64_t{1} << 40); }),
              HasSubstr("the value does not fit this type"));
}

TEST_F(Libraries, OptionsBelongToTheSignature) {
  auto &plain = lib.plain();
  plain.options.numWarps = 8;
  lib.addHost(plain, addEntry<0>);
  EXPECT_THAT(errorOf([&] { kernel()[1](x, y, out, 9, "num_warps"_a = 8); }),
              AllOf(HasSubstr("launch option 'num_warps': the kernel was "
                              "compiled ahead of time"),
                    HasSubstr("num_warps=8'")));
  EXPECT_THAT(errorOf([&] { kernel()[1](x, y, out, 9, "num_wraps"_a = 8); }),
              HasSubstr("did you mean 'num_warps'"));
}

TEST_F(Libraries, ChecksAreThoseOfTheSignature) {
  lib.addHost(lib.plain(), addEntry<0>);
  Kernel add = kernel();
  Knobs settings = knobs();
  settings.check = {"oob"};
  Knobs old = exchangeKnobs(settings);
  testing::internal::CaptureStderr();
  add[1](x, y, out, 9);
  add[1](x, y, out, 9);
  std::string said = testing::internal::GetCapturedStderr();
  exchangeKnobs(old);
  EXPECT_EQ(said, "nereid: warning: NEREID_CHECK: kernel 'add' was compiled "
                  "ahead of time, with the checks of its signature\n");
}

TEST_F(Libraries, BoundsAreCheckedWhereTheSignatureSaysSo) {
  auto &plain = lib.plain();
  plain.options.checks = CheckBounds;
  KernelImage image = lib.imageOf(plain, "x86-64");
  image.sites.emplace_back().kind = ImageSite::Kind::Bounds;
  lib.add(plain, image, [](const void *, LaunchFrame *f, int64_t, int64_t) {
    uint64_t past = f->arguments[0] + 400;
    if (!f->services->inBounds(f, past, 4)) {
      f->services->fail(f, 0, 0, past);
    }
  });
  Kernel add = kernel();
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, 9); }),
              HasSubstr("out-of-bounds access"));
  // How far an address may be followed is not known.
  Pointer p(static_cast<float *>(x.data()));
  add.on(Device::cpu())[1](p, p, p, 9);
}

TEST_F(Libraries, DevicesWithoutAnImage) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "sm_90a", ImageFormat::GpuBinary);
  lib.addGpu(plain, "sm_80", ImageFormat::GpuAssembly);
  EXPECT_THAT(errorOf([&] { kernel()[1](x, y, out, 9); }),
              AllOf(HasSubstr("kernel 'add' was compiled ahead of time for "
                              "sm_90a, sm_80 (PTX); cpu is x86-64"),
                    HasSubstr("which runs none of these")));
  lib.addHost(plain, addEntry<0>);
  kernel()[1](x, y, out, 9);
  Knobs settings = knobs();
  settings.interp = true;
  Knobs old = exchangeKnobs(settings);
  std::string said = errorOf([&] { kernel()[1](x, y, out, 9); });
  exchangeKnobs(old);
  EXPECT_THAT(said, HasSubstr("interp needs its source and the compiler"));
}

TEST_F(Libraries, TheBestLevelOfTheHostIsTaken) {
  KernelImage image;
  image.target = "x86-64-v3";
  EXPECT_LT(rankOnHost(image, 2), 0);
  EXPECT_GE(rankOnHost(image, 3), 0);
  KernelImage base;
  base.target = "x86-64";
  EXPECT_LT(rankOnHost(base, 4), rankOnHost(image, 4));
  EXPECT_LT(rankOnHost(base, 0), 0); // no x86-64 at all
  image.target = "sm_90a";
  EXPECT_LT(rankOnHost(image, 4), 0);

  auto &plain = lib.plain();
  lib.addHost(plain, addEntry<1>, "x86-64");
  lib.addHost(plain, addEntry<2>, "x86-64-v2");
  lib.addHost(plain, addEntry<3>, "x86-64-v3");
  lib.addHost(plain, addEntry<4>, "x86-64-v4");
  lib.addHost(plain, addEntry<5>, "x86-64-v4-bf16");
  lib.addHost(plain, addEntry<6>, "x86-64-v4-amx");
  kernel()[1](x, y, out, 9);
  EXPECT_EQ(out.at({0}), 3 + cpu::deviceLevel());
}

TEST_F(Libraries, TheLevelThatTheDeviceIsPinnedToIsTaken) {
  Knobs settings = knobs();
  settings.cpu = "x86-64";
  Knobs old = exchangeKnobs(settings);
  auto &plain = lib.plain();
  lib.addHost(plain, addEntry<1>, "x86-64");
  lib.addHost(plain, addEntry<2>, "x86-64-v2");
  kernel()[1](x, y, out, 9);
  exchangeKnobs(old);
  EXPECT_EQ(out.at({0}), 4);
}

TEST_F(Libraries, ALevelThatIsNoneIsRefused) {
  lib.addHost(lib.plain(), addEntry<1>, "x86-64");
  Knobs settings = knobs();
  settings.cpu = "x86-65";
  Knobs old = exchangeKnobs(settings);
  std::string said = errorOf([&] { kernel()[1](x, y, out, 9); });
  exchangeKnobs(old);
  EXPECT_THAT(said, HasSubstr("NEREID_CPU=x86-65: expected a level that this "
                              "machine can run"));
}

TEST_F(Libraries, MistakesWithTheLibraryItself) {
  lib.addHost(lib.plain(), addEntry<0>);
  EXPECT_THAT(errorOf([&] { kernel("ad"); }),
              HasSubstr("the library has no kernel 'ad'; it has add; did you "
                        "mean 'add'?"));
  lib.index.push_back(lib.index[0]);
  lib.index[1].name = "sub";
  EXPECT_THAT(errorOf([&] { kernel(""); }),
              HasSubstr("the library has several kernels; it has add, sub"));
  lib.library();
  lib.table.abi += 1 << 16;
  EXPECT_THAT(errorOf([&] { Kernel::fromLibrary(lib.table, "add", context); }),
              AllOf(HasSubstr("the kernel library has format " +
                              std::to_string(kernelLibraryVersion + 1) + "."),
                    HasSubstr("compile the kernels again")));
  lib.library();
  lib.table.indexSize -= 1;
  EXPECT_THAT(errorOf([&] { Kernel::fromLibrary(lib.table, "add", context); }),
              HasSubstr("the kernel library's index is damaged"));
  lib.library();
  lib.table.imageCount = 0;
  EXPECT_THAT(errorOf([&] { Kernel::fromLibrary(lib.table, "add", context); }),
              HasSubstr("the kernel library's index is damaged"));
  lib.images[0].size -= 1;
  EXPECT_THAT(errorOf([&] { kernel()[1](x, y, out, 9); }),
              HasSubstr("an image of kernel 'add' in the kernel library is "
                        "damaged"));
}

TEST(LibraryIndex, ReadsWhatItWroteAndNothingElse) {
  TestLibrary lib;
  lib.plain().options.numWarps = 8;
  lib.signature({StaticValue(), StaticValue(true), StaticValue(1.5),
                 StaticValue("text"),
                 StaticValue(StaticValue::Tuple{1, DType::Float16})});
  std::string bytes = encodeLibraryIndex(lib.index);
  auto index = decodeLibraryIndex(bytes);
  ASSERT_TRUE(index);
  EXPECT_EQ(encodeLibraryIndex(*index), bytes);
  EXPECT_EQ(index->at(0).signatures[1].arguments,
            lib.index[0].signatures[1].arguments);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decodeLibraryIndex(std::string_view(bytes).substr(0, size)));
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0x55);
    (void)decodeLibraryIndex(other); // whatever it is: no crash
  }
  EXPECT_EQ(str(lib.index[0], lib.index[0].signatures[1]),
            "x_ptr=None, y_ptr=True, out_ptr=1.5, n='text', BLOCK_SIZE=(1, "
            "fp16)");
}
