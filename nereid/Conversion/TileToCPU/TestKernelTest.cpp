//===- TestKernelTest.cpp - Tile text to callable code, for tests ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/ToLLVM/ToLLVM.h"

#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Dialect/Tile/testing/OtherAccesses.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CodeEmission.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>

using namespace mlir;

namespace nereid {

static void recordFailure(const LaunchFrame *frame, uint32_t site,
                          int64_t element, uint64_t value);
static void recordPrint(const LaunchFrame *frame, uint32_t site,
                        const void *elements, int64_t count);
static uint8_t inBounds(const LaunchFrame *, uint64_t address, uint32_t) {
  return address >= 4096;
}
static void wait(const LaunchFrame *) {}
static const HostServices services = {recordPrint, recordFailure, inBounds,
                                      wait};

namespace {
struct Compiled {
  std::shared_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  CpuKernelInfo info;
  std::string error;
};
} // namespace

/// One for many kernels: loading dialects takes as long as compiling a small
/// one. Types stay in a context, so it is left after a number of kernels.
static std::shared_ptr<MLIRContext> sharedContext() {
  constexpr int mostUses = 256;
  static std::shared_ptr<MLIRContext> context;
  static int uses = 0;
  if (!context || ++uses == mostUses) {
    DialectRegistry registry;
    registerTileToCPUDialects(registry);
    registry.insert<tile::testing::OtherDialect>();
    target::registerTranslations(registry);
    context = std::make_shared<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    uses = 0;
  }
  return context;
}

static Compiled compile(const std::string &text, const cpu::CpuTarget &target,
                        bool toLlvm) {
  Compiled result;
  result.context = sharedContext();
  ScopedDiagnosticHandler handler(result.context.get(),
                                  [&](mlir::Diagnostic &diagnostic) {
                                    result.error += diagnostic.str() + "\n";
                                    return success();
                                  });
  result.module = parseSourceString<ModuleOp>(text, result.context.get());
  if (!result.module) {
    result.error += "the test's text does not parse";
    return result;
  }
  PassManager passes(result.context.get());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*result.module))) {
    result.error += "passes failed";
    return result;
  }
  auto info = convertTileToCPU(*result.module, target);
  if (!info.ok()) {
    result.error = info.failure().str();
    return result;
  }
  result.info = *info;
  if (failed(verify(*result.module))) {
    std::string dump;
    llvm::raw_string_ostream(dump) << *result.module;
    result.error += "invalid loops\n" + dump;
    return result;
  }
  tile::expandMath(*result.module, mathOptionsOf(target));
  if (toLlvm) {
    Status status = convertToLLVM(*result.module);
    if (!status.ok()) {
      result.error = status.failure().str();
    }
  }
  return result;
}

TestKernel::TestKernel(const std::string &text, const std::string &name) {
  auto target = cpu::resolve(name);
  if (!target.ok()) {
    failure = target.failure().str();
    return;
  }
  auto start = std::chrono::steady_clock::now();
  Compiled compiled = compile(text, *target, true);
  failure = compiled.error;
  if (!failure.empty()) {
    return;
  }
  kernelInfo = compiled.info;
  auto object = cpu::emitObject(*compiled.module, *target);
  if (!object.ok()) {
    failure = object.failure().str();
    return;
  }
  bytes = object->size();
  auto loaded = cpu::loadObject(*object, kernelInfo.entry);
  if (!loaded.ok()) {
    failure = loaded.failure().str();
    return;
  }
  code = *loaded;
  ms = std::chrono::duration<double, std::milli>(
           std::chrono::steady_clock::now() - start)
           .count();
}

namespace {
struct TestFrame : LaunchFrame {
  const TestKernel *kernel = nullptr;
};
} // namespace

static void note(const LaunchFrame *frame, const std::string &message) {
  static_cast<const TestFrame *>(frame)->kernel->messages.push_back(message);
}
static void recordFailure(const LaunchFrame *frame, uint32_t site,
                          int64_t element, uint64_t) {
  note(frame, "fail site " + std::to_string(site) + " element " +
                  std::to_string(element) + " program " +
                  std::to_string(frame->programId[0]));
}
static void recordPrint(const LaunchFrame *frame, uint32_t site,
                        const void *elements, int64_t count) {
  std::string message = "print site " + std::to_string(site) + ":";
  for (int64_t i = 0; i < count; ++i) {
    int32_t value;
    std::memcpy(&value, static_cast<const char *>(elements) + 4 * i, 4);
    message += " " + std::to_string(value);
  }
  note(frame, message);
}

void TestKernel::launch(std::array<int, 3> grid,
                        const std::vector<uint64_t> &slots, uint32_t flags,
                        int64_t begin, int64_t end) const {
  TestFrame frame;
  frame.kernel = this;
  frame.arguments = slots.data();
  frame.grid[0] = grid[0];
  frame.grid[1] = grid[1];
  frame.grid[2] = grid[2];
  frame.flags = flags;
  static thread_local std::vector<std::byte> memory;
  if (memory.size() < kernelInfo.scratchBytes + 128) {
    // NaN of every type: what is read uninitialised is noticed.
    memory.assign(kernelInfo.scratchBytes + 128, std::byte(0xff));
  }
  auto base = reinterpret_cast<uintptr_t>(memory.data());
  frame.scratch = memory.data() + (64 - base % 64) % 64;
  frame.services = &services;
  if (end < 0) {
    end = static_cast<int64_t>(grid[0]) * grid[1] * grid[2];
  }
  code.entry(code.self, &frame, begin, end);
}

std::vector<std::string> runnable(const std::vector<std::string> &names) {
  std::vector<std::string> result;
  for (const std::string &name : names) {
    auto target = cpu::resolve(name);
    if (target.ok() && cpu::runsHere(*target)) {
      result.push_back(name);
    }
  }
  return result;
}

std::vector<std::string> runnableTargets() {
  std::vector<std::string> names;
  for (const cpu::CpuTarget &target : cpu::levels()) {
    names.push_back(target.name);
  }
  return runnable(names);
}

std::string stageText(const std::string &text, const std::string &stage,
                      const std::string &name) {
  auto target = cpu::resolve(name);
  Compiled compiled = compile(text, *target, stage != "loops");
  if (!compiled.error.empty()) {
    return "error: " + compiled.error;
  }
  if (stage == "ll" || stage == "asm") {
    auto result = stage == "ll" ? cpu::emitLlvmText(*compiled.module, *target)
                                : cpu::emitAssembly(*compiled.module, *target);
    return result.ok() ? *result : result.failure().str();
  }
  std::string result;
  llvm::raw_string_ostream(result) << *compiled.module;
  return result;
}

} // namespace nereid
