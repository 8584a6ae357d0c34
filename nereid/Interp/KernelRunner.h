//===- KernelRunner.h - Kernels as text, run on vectors: for tests --*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_KERNELRUNNER_H
#define NEREID_INTERP_KERNELRUNNER_H

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/AssignSites.h"
#include "nereid/Dialect/Tile/testing/OtherAccesses.h"
#include "nereid/Interp/Interp.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <bit>
#include <cstring>
#include <string>

namespace nereid::interp {

/// One kernel and the arguments of a launch, in order.
class KernelRunner {
public:
  /// `body` of `func.func @k(parameters)`, without the return.
  KernelRunner(const std::string &parameters, const std::string &body,
               Options options = {}) {
    context.loadDialect<tile::TileDialect, tile::testing::OtherDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @k(" + parameters + ") {\n" + body + "\nreturn\n}\n",
        mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << body;
    sites = tile::assignSites(*module->getOps<mlir::func::FuncOp>().begin());
    auto created = Interpreter::create(*module, "k", options);
    EXPECT_TRUE(created.ok()) << (created.ok() ? "" : created.failure().str());
    interpreter = std::move(*created);
  }

  template <typename T>
  KernelRunner &pass(std::vector<T> &buffer) {
    arguments.push_back(reinterpret_cast<uint64_t>(buffer.data()));
    return *this;
  }
  template <typename T>
  KernelRunner &pass(T scalar) {
    uint64_t slot = 0xabababababababab; // the rest of a slot is unspecified
    std::memcpy(&slot, &scalar, sizeof(T));
    arguments.push_back(slot);
    return *this;
  }

  void run(int32_t x = 1, int32_t y = 1, int32_t z = 1) {
    LaunchFrame frame = makeFrame(x, y, z);
    Interpreter::entry(interpreter.get(), &frame, 0, int64_t{x} * y * z);
  }

  LaunchFrame makeFrame(int32_t x, int32_t y, int32_t z) {
    return {arguments.data(), {x, y, z}, 0, nullptr, services, {0, 0, 0}};
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ImageSite> sites;
  std::unique_ptr<Interpreter> interpreter;
  std::vector<uint64_t> arguments;
  const HostServices *services = nullptr;
};

} // namespace nereid::interp

#endif // NEREID_INTERP_KERNELRUNNER_H
