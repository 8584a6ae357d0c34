//===- IRGenTesting.h - Source files to Tile IR, for tests ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_TESTING_IRGENTESTING_H
#define NEREID_IRGEN_TESTING_IRGENTESTING_H

#include "nereid/IRGen/IRGen.h"

#include "llvm/ADT/StringRef.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nereid::irgen {

/// "*fp32", "*const fp16", "i32"; "=64", "=1.5", "=None", "=True", "='text'".
inline ArgumentSpec argumentOf(llvm::StringRef text) {
  text = text.trim();
  if (text.consume_front("=")) {
    int64_t integer;
    double number;
    if (text == "None") {
      return StaticValue();
    }
    if (text == "True" || text == "False") {
      return StaticValue(text == "True");
    }
    if (text.consume_front("'")) {
      return StaticValue(text.drop_back().str());
    }
    if (!text.getAsInteger(10, integer)) {
      return StaticValue(integer);
    }
    if (!text.getAsDouble(number)) {
      return StaticValue(number);
    }
    return StaticValue(parseDType(std::string_view(text)).value());
  }
  RuntimeArgument argument;
  argument.isPointer = text.consume_front("*");
  argument.isConst = text.consume_front("const ");
  argument.dtype = parseDType(std::string_view(text)).value();
  return argument;
}

struct Compiled {
  std::string tile; ///< Tile IR; empty on failure
  Failure failure;  ///< of a failed compilation
  std::vector<Diagnostic> warnings;

  /// The text that the first error's caret is under.
  std::string marked() const {
    if (failure.diagnostics.empty()) {
      return {};
    }
    const Diagnostic &first = failure.diagnostics.front();
    if (first.location.endLine != first.location.line) {
      return first.sourceLine;
    }
    return first.sourceLine.substr(first.location.column - 1,
                                   first.location.endColumn -
                                       first.location.column);
  }
};

inline Compiled compileRequest(const CompileRequest &request) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Compiled result;
  auto module = generate(context, request, result.warnings);
  if (module.ok()) {
    llvm::raw_string_ostream(result.tile) << **module;
  } else {
    result.failure = module.failure();
  }
  return result;
}

/// Compiles kernel `k` of a file; `arguments` as for argumentOf, separated by
/// commas.
inline Compiled compileFile(llvm::StringRef text, llvm::StringRef arguments,
                            std::string path = "kernel.py",
                            uint32_t checks = 0) {
  CompileRequest request;
  request.source = {std::move(path), text.str(), {}};
  request.kernel = "k";
  request.options.checks = checks;
  llvm::SmallVector<llvm::StringRef> items;
  arguments.split(items, ',', -1, false);
  for (llvm::StringRef item : items) {
    request.arguments.push_back(argumentOf(item));
  }
  return compileRequest(request);
}

/// The imports that every kernel file begins with: three lines.
inline constexpr const char *prelude = "import triton\n"
                                       "import triton.language as tl\n"
                                       "from triton.language.extra import "
                                       "libdevice\n";

/// Compiles prelude + text.
inline Compiled compile(llvm::StringRef text, llvm::StringRef arguments) {
  return compileFile(prelude + text.str(), arguments);
}

/// The Tile IR of a file that must compile.
inline std::string tileOfFile(llvm::StringRef text, llvm::StringRef arguments) {
  Compiled compiled = compile(text, arguments);
  EXPECT_FALSE(compiled.tile.empty()) << compiled.failure.str();
  return compiled.tile;
}

} // namespace nereid::irgen

#endif // NEREID_IRGEN_TESTING_IRGENTESTING_H
