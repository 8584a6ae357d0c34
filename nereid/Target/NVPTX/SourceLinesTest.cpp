//===- SourceLinesTest.cpp - Which line an instruction comes from ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/SourceLines.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"
#include "nereid/Target/NVPTX/ScopeLabels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

using namespace nereid;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

namespace {

class SourceLinesTest : public testing::Test {
protected:
  SourceLinesTest() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::LLVM::LLVMDialect>();
    target::registerTranslations(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// PTX of a kernel at line 10 of `file` that stores a product, which is
  /// computed at `location`.
  std::string ptx(const std::string &file, const std::string &location) {
    std::string text = R"(
      llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
        %y = llvm.mul %x, %x : i32 loc()" +
                       location + R"()
        llvm.store %y, %p : i32, !llvm.ptr<1> loc("FILE":12:3 to :9)
        llvm.return loc("FILE":12:3)
      } loc("FILE":10:1))";
    for (size_t at; (at = text.find("FILE")) != std::string::npos;) {
      text.replace(at, 4, file);
    }
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto made = nvptx::emitPtx(*module, *nvptx::resolve("sm_80"));
    EXPECT_TRUE(made.ok()) << made.failure().message;
    return *made;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(SourceLinesTest, InstructionsNameTheirLine) {
  std::string text = ptx("/a/k.py", R"("/a/k.py":11:5)");
  EXPECT_THAT(text, AllOf(HasSubstr(".file\t1 \"/a/k.py\""),
                          HasSubstr(".loc\t1 10 0"),
                          ContainsRegex("\\.loc\t1 11 5\n\tmul"),
                          ContainsRegex("\\.loc\t1 12 3\n\tst\\.")));
  // Asked for twice, as for LLVM's text and for PTX.
  EXPECT_EQ(*nvptx::emitPtx(*module, *nvptx::resolve("sm_80")), text);
}

TEST_F(SourceLinesTest, CallsInlinedGiveTheInnermostLineOfAFile) {
  EXPECT_THAT(ptx("/a/k.py", R"(callsite("/a/lib.py":3:5 at "/a/k.py":11:7))"),
              AllOf(HasSubstr(".file\t2 \"/a/lib.py\""),
                    ContainsRegex("\\.loc\t2 3 5\n\tmul"),
                    HasSubstr(".loc\t1 12 3")));
  EXPECT_THAT(
      ptx("/a/k.py", R"(callsite("<nereid>/m.py":3:5 at "/a/k.py":11:7))"),
      AllOf(ContainsRegex("\\.loc\t1 11 7\n\tmul"),
            Not(HasSubstr("<nereid>"))));
  // A function that the standard library was given.
  EXPECT_THAT(ptx("/a/k.py", R"(callsite(callsite("/a/k.py":4:9 at
                                "<nereid>/m.py":3:5) at "/a/k.py":11:7))"),
              ContainsRegex("\\.loc\t1 4 9\n\tmul"));
}

TEST(SourceLines, LabelsOfScopesGoAndThoseOfBlocksStay) {
  EXPECT_EQ(
      nvptx::withoutScopeLabels("{\n$L__func_begin0:\n\t.loc 1 2 3\n"
                                "$L__tmp0:\n$L__BB0_1:\n\tbra $L__BB0_1;\n"
                                "$L__tmp1:\n$L__func_end0:\n\n}"),
      "{\n\t.loc 1 2 3\n$L__BB0_1:\n\tbra $L__BB0_1;\n\n}");
}

TEST_F(SourceLinesTest, WithoutAPositionThereIsNone) {
  EXPECT_THAT(ptx("/a/k.py", "unknown"), Not(HasSubstr(".loc\t1 11")));
}

TEST_F(SourceLinesTest, NamesAreWhatAnAssemblerReads) {
  EXPECT_THAT(ptx("/a/caf\xc3\xa9 \\\"1\\\".py", "unknown"),
              HasSubstr(".file\t1 \"/a/caf__ _1_.py\""));
}

TEST_F(SourceLinesTest, FilesThatExistHaveTheirFullName) {
  namespace fs = std::filesystem;
  std::string name = "source-lines-test.py";
  EXPECT_THAT(ptx(name, "unknown"), HasSubstr(".file\t1 \"" + name));
  std::ofstream(name) << "\n";
  EXPECT_THAT(ptx("./" + name, "unknown"),
              HasSubstr(".file\t1 \"" + (fs::current_path() / name).string()));
  fs::remove(name);
}

} // namespace
