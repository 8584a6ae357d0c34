//===- BuiltinTesting.h - Snippets to Tile IR, for tests -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_TESTING_BUILTINTESTING_H
#define NEREID_IRGEN_TESTING_BUILTINTESTING_H

#include "nereid/IRGen/IRGen.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nereid::irgen {

/// The outcome of one snippet: Tile IR or a message.
struct Generated {
  std::string tile;     ///< empty on failure
  std::string error;    ///< rendered, empty on success
  std::string warnings; ///< rendered
};

/// Compiles `body` (lines of a kernel's body, not indented). `parameters`:
/// "x: *fp32, n: i32"; a type of "*const fp32" is a constant pointer.
inline Generated generateSnippet(llvm::StringRef parameters,
                                 llvm::StringRef body, uint32_t checks = 0) {
  CompileRequest request;
  std::string names;
  llvm::SmallVector<llvm::StringRef> items;
  parameters.split(items, ',', -1, false);
  for (llvm::StringRef item : items) {
    auto [name, type] = item.split(':');
    RuntimeArgument argument;
    type = type.trim();
    argument.isPointer = type.consume_front("*");
    argument.isConst = type.consume_front("const ");
    argument.dtype = parseDType(std::string_view(type)).value();
    request.arguments.push_back(argument);
    names += (names.empty() ? "" : ", ") + name.trim().str();
    names += argument.isConst ? ": tl.const" : "";
  }
  std::string text = "import triton\nimport triton.language as tl\n"
                     "from triton.language.extra import libdevice\n"
                     "@triton.jit\ndef k(" +
                     names + "):\n";
  llvm::SmallVector<llvm::StringRef> lines;
  body.split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines) {
    text += "    " + line.str() + "\n";
  }
  request.source = {"snippet.py", text, {}};
  request.kernel = "k";
  request.options.checks = checks;

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadDialects(context);
  std::vector<Diagnostic> warnings;
  auto module = generate(context, request, warnings);
  Generated result;
  for (const Diagnostic &warning : warnings) {
    result.warnings += render(warning);
  }
  if (!module.ok()) {
    result.error = module.failure().str();
    return result;
  }
  EXPECT_TRUE(mlir::succeeded(mlir::verify(**module))) << text;
  llvm::raw_string_ostream(result.tile) << **module;
  return result;
}

/// The Tile IR of a snippet that must compile.
inline std::string tileOf(llvm::StringRef parameters, llvm::StringRef body,
                          uint32_t checks = 0) {
  Generated generated = generateSnippet(parameters, body, checks);
  EXPECT_EQ(generated.error, "") << body.str();
  return generated.tile;
}

/// The message of a snippet that must not compile.
inline std::string errorOf(llvm::StringRef parameters, llvm::StringRef body) {
  Generated generated = generateSnippet(parameters, body);
  EXPECT_NE(generated.error, "") << body.str() << "\n" << generated.tile;
  return generated.error;
}

} // namespace nereid::irgen

#endif // NEREID_IRGEN_TESTING_BUILTINTESTING_H
