//===- CpuTargetTest.cpp - Machine code out of the LLVM dialect -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Support/Host.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <fstream>
#include <thread>

#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

using namespace nereid;
using testing::HasSubstr;

/// y[i] = 3 x[i] + 1 for 16 floats; arguments {x, y}.
static const char *affineKernel = R"mlir(
llvm.func @entry(%self: !llvm.ptr, %frame: !llvm.ptr, %b: i64, %e: i64) {
  %args = llvm.load %frame : !llvm.ptr -> !llvm.ptr
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %slot = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %y = llvm.load %slot : !llvm.ptr -> !llvm.ptr
  %v = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %three = llvm.mlir.constant(dense<3.0> : vector<16xf32>) : vector<16xf32>
  %one = llvm.mlir.constant(dense<1.0> : vector<16xf32>) : vector<16xf32>
  %m = llvm.fmul %v, %three {fastmathFlags = #llvm.fastmath<contract>}
      : vector<16xf32>
  %r = llvm.fadd %m, %one {fastmathFlags = #llvm.fastmath<contract>}
      : vector<16xf32>
  llvm.store %r, %y {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  llvm.return
})mlir";

namespace {

class CpuTargetTest : public testing::Test {
protected:
  CpuTargetTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::LLVM::LLVMDialect>();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  static cpu::CpuTarget target(const char *name) { return *cpu::resolve(name); }

  mlir::MLIRContext context;
};

} // namespace

/// A fatal error of LLVM skips destructors, which the leak sanitizer reports.
struct LeaksAllowed {
#if __has_feature(address_sanitizer)
  __lsan::ScopedDisabler disabler;
#else
  ~LeaksAllowed() {}
#endif
};

static void expectAffine(const HostCode &code) {
  float x[16], y[16] = {};
  for (int i = 0; i < 16; ++i) {
    x[i] = static_cast<float>(i) - 3.5f;
  }
  uint64_t arguments[2] = {reinterpret_cast<uint64_t>(x),
                           reinterpret_cast<uint64_t>(y)};
  LaunchFrame frame = {};
  frame.arguments = arguments;
  code.entry(code.self, &frame, 0, 1);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(y[i], 3 * x[i] + 1) << i;
  }
}

/// Support/CpuLevels.cpp asks the processor itself; LLVM asks the same for each
/// feature of a level.
TEST_F(CpuTargetTest, LlvmFindsTheSameLevelOnThisMachine) {
  static const std::vector<std::vector<const char *>> features = {
      {"sse2", "cx8", "fxsr"},
      {"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"},
      {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"},
      {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
      {"avx512vnni", "avx512bf16"},
      {"amx-tile", "amx-bf16", "amx-int8"}};
  ASSERT_EQ(features.size(), cpu::levels().size());
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  bool has = true;
  for (const cpu::CpuTarget &level : cpu::levels()) {
    for (const char *feature : features[level.level - 1]) {
      has &= host.lookup(feature);
    }
    // The system, too, must allow a process its tiles.
    has &= !level.hasTiles || mayUseTiles();
    EXPECT_EQ(cpu::runsHere(level), has) << level.name;
  }
}

TEST_F(CpuTargetTest, LibrariesHoldFunctionsOfSeveralLevels) {
  auto module = parse(affineKernel);
  cpu::LibraryObject library;
  library.symbol = "the_library";
  library.index = "index";
  for (const char *name : {"x86-64", "x86-64-v4"}) {
    auto text = cpu::emitLlvmText(*module, target(name));
    ASSERT_TRUE(text.ok());
    library.images.push_back({"bytes", library.functions.size()});
    library.functions.push_back(
        {*text, "entry", std::string("entry of ") + name});
  }
  library.images.push_back({"of a GPU", std::nullopt});
  auto object = cpu::emitLibrary(library);
  ASSERT_TRUE(object.ok()) << object.failure().message;
  EXPECT_THAT(*object, HasSubstr("the_library"));
  EXPECT_THAT(*object, HasSubstr("entry of x86-64-v4"));
  EXPECT_THAT(*object, HasSubstr("of a GPU"));
  EXPECT_EQ(*object, *cpu::emitLibrary(library));
  library.functions[0].entry = "another";
  EXPECT_THAT(cpu::emitLibrary(library).failure().message,
              HasSubstr("cannot read the code of 'another'"));
}

TEST_F(CpuTargetTest, RunsOnEveryLevelOfThisMachine) {
  auto module = parse(affineKernel);
  for (const char *name : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4",
                           "x86-64-v4-bf16", "x86-64-v4-amx"}) {
    SCOPED_TRACE(name);
    auto object = cpu::emitObject(*module, target(name));
    ASSERT_TRUE(object.ok()) << object.failure().str();
    if (!cpu::runsHere(target(name))) {
      continue;
    }
    auto code = cpu::loadObject(*object, "entry");
    ASSERT_TRUE(code.ok()) << code.failure().str();
    expectAffine(*code);
  }
}

TEST_F(CpuTargetTest, AssemblyUsesTheTarget) {
  auto module = parse(affineKernel);
  auto v4 = cpu::emitAssembly(*module, target("x86-64-v4"));
  EXPECT_THAT(*v4, HasSubstr("zmm"));
  EXPECT_THAT(*v4, HasSubstr("vfmadd"));
  EXPECT_THAT(*v4, testing::Not(HasSubstr(".eh_frame")));
  auto v3 = cpu::emitAssembly(*module, target("x86-64-v3"));
  EXPECT_THAT(*v3, HasSubstr("ymm"));
  auto v2 = cpu::emitAssembly(*module, target("x86-64-v2"));
  EXPECT_THAT(*v2, HasSubstr("mulps"));
}

TEST_F(CpuTargetTest, OnlyContractFlagsFuse) {
  std::string text = affineKernel;
  const std::string flag = "{fastmathFlags = #llvm.fastmath<contract>}";
  for (size_t at; (at = text.find(flag)) != std::string::npos;) {
    text.erase(at, flag.size());
  }
  auto assembly = cpu::emitAssembly(*parse(text), target("x86-64-v4"));
  EXPECT_THAT(*assembly, testing::Not(HasSubstr("vfmadd")));
}

TEST_F(CpuTargetTest, LlvmTextNamesTheCpuAndTimesAreReported) {
  auto module = parse(affineKernel);
  StageTimes times;
  auto text = cpu::emitLlvmText(*module, target("x86-64-v4"), {}, &times);
  EXPECT_THAT(*text, HasSubstr("\"target-cpu\"=\"x86-64-v4\""));
  EXPECT_THAT(*text, HasSubstr("\"prefer-vector-width\"=\"512\""));
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].first, "translate");
  EXPECT_EQ(times[2].first, "codegen");
}

TEST_F(CpuTargetTest, CallsTheMathLibraryAndNothingElse) {
  auto calling = [](const std::string &name) {
    return "llvm.func @" + name + R"mlir((f64) -> f64
      llvm.func @entry(%self: !llvm.ptr, %frame: !llvm.ptr, %b: i64, %e: i64) {
        %args = llvm.load %frame : !llvm.ptr -> !llvm.ptr
        %x = llvm.load %args : !llvm.ptr -> f64
        %y = llvm.call @)mlir" +
           name + R"mlir((%x) : (f64) -> f64
        llvm.store %y, %args : f64, !llvm.ptr
        llvm.return
      })mlir";
  };
  auto object = cpu::emitObject(*parse(calling("lgamma")), target("x86-64"));
  ASSERT_TRUE(object.ok()) << object.failure().str();
  auto code = cpu::loadObject(*object, "entry");
  ASSERT_TRUE(code.ok()) << code.failure().str();
  double value = 5;
  uint64_t argument;
  memcpy(&argument, &value, 8);
  LaunchFrame frame = {};
  frame.arguments = &argument;
  code->entry(nullptr, &frame, 0, 1);
  memcpy(&value, &argument, 8);
  EXPECT_NEAR(value, std::log(24.0), 1e-12);

  object = cpu::emitObject(*parse(calling("system")), target("x86-64"));
  ASSERT_TRUE(object.ok());
  code = cpu::loadObject(*object, "entry");
  ASSERT_FALSE(code.ok());
  EXPECT_THAT(code.failure().message, HasSubstr("system"));
}

TEST_F(CpuTargetTest, RoundingsWithoutInstructionsAreCalls) {
  for (const char *rounding :
       {"floor", "ceil", "trunc", "round", "roundeven", "rint", "nearbyint"}) {
    for (const char *type : {"f32", "f64"}) {
      SCOPED_TRACE(std::string(rounding) + " of " + type);
      std::string text = R"mlir(
        llvm.func @entry(%self: !llvm.ptr, %frame: !llvm.ptr, %b: i64,
                         %e: i64) {
          %args = llvm.load %frame : !llvm.ptr -> !llvm.ptr
          %x = llvm.load %args : !llvm.ptr -> TYPE
          %y = llvm.intr.ROUNDING(%x) : (TYPE) -> TYPE
          llvm.store %y, %args : TYPE, !llvm.ptr
          llvm.return
        })mlir";
      for (auto [from, to] :
           {std::pair("TYPE", type), std::pair("ROUNDING", rounding)}) {
        for (size_t at; (at = text.find(from)) != std::string::npos;) {
          text.replace(at, std::strlen(from), to);
        }
      }
      auto object = cpu::emitObject(*parse(text), target("x86-64"));
      ASSERT_TRUE(object.ok()) << object.failure().str();
      auto code = cpu::loadObject(*object, "entry");
      ASSERT_TRUE(code.ok()) << code.failure().str();
    }
  }
}

TEST_F(CpuTargetTest, WrongInputIsAFailure) {
  // An operation of another dialect.
  context.allowUnregisteredDialects();
  auto foreign = parse("llvm.func @f() { \"other.op\"() : () -> ()\n"
                       " llvm.return }");
  auto object = cpu::emitObject(*foreign, target("x86-64-v4"));
  ASSERT_FALSE(object.ok());
  EXPECT_THAT(object.failure().message, HasSubstr("other.op"));
  // A pipeline that does not parse.
  auto good = parse(affineKernel);
  object = cpu::emitObject(*good, target("x86-64-v4"), {"function(no-such)"});
  ASSERT_FALSE(object.ok());
  EXPECT_THAT(object.failure().message, HasSubstr("no-such"));
  // What the code generator refuses with a fatal error or a diagnostic.
  auto assembly = parse("llvm.func @f() { llvm.inline_asm has_side_effects "
                        "\"nop\", \"{nosuchregister}\" : () -> i32\n"
                        " llvm.return }");
  if (assembly) {
    object = cpu::emitObject(*assembly, target("x86-64-v4"));
    EXPECT_FALSE(object.ok());
  }
  // An intrinsic that this level cannot select is fatal in LLVM.
  auto missing = parse(R"mlir(
    llvm.func @f(%p: !llvm.ptr, %m: i16) {
      %v = llvm.load %p : !llvm.ptr -> vector<16xf32>
      %r = llvm.call_intrinsic "llvm.x86.avx512.rcp14.ps.512"(%v, %v, %m)
        : (vector<16xf32>, vector<16xf32>, i16) -> vector<16xf32>
      llvm.store %r, %p : vector<16xf32>, !llvm.ptr
      llvm.return
    })mlir");
  ASSERT_TRUE(missing);
  {
    LeaksAllowed untilScopeEnds;
    object = cpu::emitObject(*missing, target("x86-64-v2"));
  }
  ASSERT_FALSE(object.ok());
  EXPECT_THAT(object.failure().message, HasSubstr("x86-64-v2"));
  // And the next compilation is not disturbed.
  EXPECT_TRUE(cpu::emitObject(*good, target("x86-64-v4")).ok());
}

TEST_F(CpuTargetTest, DamagedObjectsAreFailures) {
  auto object = *cpu::emitObject(*parse(affineKernel), target("x86-64-v2"));
  EXPECT_FALSE(cpu::loadObject({}, "entry").ok());
  EXPECT_FALSE(cpu::loadObject(object, "other").ok());
  std::vector<std::byte> head(object.begin(), object.begin() + 100);
  EXPECT_FALSE(cpu::loadObject(head, "entry").ok());
}

/// Does this process have code at the address? Of mappings side by side the
/// kernel may make one.
static bool isCode(const void *address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights) == 3 &&
        begin <= at && at < end) {
      return rights[2] == 'x';
    }
  }
  return false;
}

TEST_F(CpuTargetTest, CodeIsUnmappedWithItsLastOwner) {
  auto object = *cpu::emitObject(*parse(affineKernel), target("x86-64"));
  std::vector<HostCode> held;
  std::vector<const void *> places;
  for (int i = 0; i < 50; ++i) {
    held.push_back(*cpu::loadObject(object, "entry"));
    places.push_back(reinterpret_cast<const void *>(held.back().entry));
  }
  std::vector<HostCode> copies = held;
  held.clear();
  expectAffine(copies.back());
  EXPECT_TRUE(std::all_of(places.begin(), places.end(), isCode));
  copies.clear();
  EXPECT_TRUE(std::none_of(places.begin(), places.end(), isCode));
}

TEST_F(CpuTargetTest, ManyThreadsCompileAndLoad) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      mlir::MLIRContext own(mlir::MLIRContext::Threading::DISABLED);
      own.loadDialect<mlir::LLVM::LLVMDialect>();
      for (int i = 0; i < 5; ++i) {
        auto module =
            mlir::parseSourceString<mlir::ModuleOp>(affineKernel, &own);
        auto object = cpu::emitObject(*module, *cpu::resolve("cpu"));
        ASSERT_TRUE(object.ok());
        auto code = cpu::loadObject(*object, "entry");
        ASSERT_TRUE(code.ok());
        HostCode copy = *code;
        code = HostCode{};
        expectAffine(copy);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}
