//===- Check.cpp - Does an executor agree with the oracle? ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Check.h"

#include "nereid/Interp/Interp.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace nereid::fuzz {

namespace {

/// Programs neither print nor fail. One at a time runs: to wait is to go on.
const HostServices services = {
    [](const LaunchFrame *, uint32_t, const void *, int64_t) {},
    [](const LaunchFrame *, uint32_t, int64_t, uint64_t) {},
    [](const LaunchFrame *, uint64_t, uint32_t) -> uint8_t { return 1; },
    [](const LaunchFrame *) {}};

LaunchFrame makeFrame(const Arguments &arguments, std::byte *scratch) {
  LaunchFrame frame{};
  frame.arguments = arguments.slots.data();
  std::copy(std::begin(arguments.grid), std::end(arguments.grid), frame.grid);
  frame.scratch = scratch;
  frame.services = &services;
  return frame;
}

uint64_t readElement(const Arguments::Buffer &buffer, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, buffer.array->data() + i * buffer.element.bytes,
              buffer.element.bytes);
  return bits;
}

std::string where(const Arguments::Buffer &buffer, int64_t i) {
  return "parameter " + std::to_string(buffer.parameter) + ", element " +
         std::to_string(i) + ": ";
}

/// Where `actual` is not what the oracle allows; empty if it is.
std::string compareFloat(const interp::FloatBound &bound, double actual) {
  if (std::isinf(bound.error)) {
    return "";
  }
  bool equal =
      std::isnan(bound.value) ? std::isnan(actual) : actual == bound.value;
  if (equal || std::fabs(actual - bound.value) <= bound.error) {
    return "";
  }
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << "expected " << bound.value << " +- " << bound.error << ", got "
       << actual;
  return text.str();
}

std::string compareBuffer(const Arguments::Buffer &expected,
                          const Arguments::Buffer &actual,
                          const interp::Oracle &oracle) {
  uint64_t base = reinterpret_cast<uint64_t>(expected.array->data());
  for (int64_t i = 0; i < expected.count; ++i) {
    uint64_t want = readElement(expected, i), got = readElement(actual, i);
    if (want == got) {
      continue;
    }
    auto stored = oracle.stored.find(base + i * expected.element.bytes);
    if (stored != oracle.stored.end() && std::isinf(stored->second.error)) {
      continue;
    }
    if (!expected.element.isFloat() || stored == oracle.stored.end()) {
      std::ostringstream text;
      text << where(expected, i) << "expected 0x" << std::hex << want
           << ", got 0x" << got
           << (stored == oracle.stored.end() && expected.element.isFloat()
                   ? " where nothing is stored"
                   : "");
      return text.str();
    }
    std::string difference = compareFloat(
        stored->second, interp::decode(*expected.element.format, got));
    if (!difference.empty()) {
      return where(expected, i) + difference;
    }
  }
  return "";
}

/// Memory of 64-byte alignment for LaunchFrame::scratch.
class Scratch {
public:
  explicit Scratch(uint64_t bytes) : array((bytes + 64) / 64 * 64, 64) {}
  std::byte *data() { return array.data(); }

private:
  GuardedArray array;
};

Arguments runOnce(mlir::func::FuncOp function, const Prepared &prepared,
                  std::string &message) {
  Arguments arguments = makeArguments(function);
  if (prepared.run) {
    Status status = prepared.run(arguments);
    message = status.ok() ? "" : status.failure().str();
    return arguments;
  }
  Scratch scratch(prepared.scratchBytes);
  LaunchFrame frame = makeFrame(arguments, scratch.data());
  prepared.code.entry(prepared.code.self, &frame, 0, arguments.programs());
  return arguments;
}

/// The reference: fills `arguments` and `oracle`.
Verdict runReference(mlir::ModuleOp module, Arguments &arguments,
                     interp::Oracle &oracle) {
  interp::Options options;
  options.stepLimit = 100'000;
  auto interpreter = interp::Interpreter::create(
      module, kernelOf(module).getName().str(), options);
  if (!interpreter.ok()) {
    return {Verdict::Kind::Undefined, interpreter.failure().str()};
  }
  for (const Arguments::Buffer &buffer : arguments.buffers) {
    uint64_t begin = reinterpret_cast<uint64_t>(buffer.array->data());
    oracle.log.arrays.push_back(
        {begin, begin + buffer.array->size(), buffer.isOutput});
  }
  LaunchFrame frame = makeFrame(arguments, nullptr);
  Status status =
      (*interpreter)->runOracle(&frame, 0, arguments.programs(), oracle);
  if (!status.ok()) {
    return {Verdict::Kind::TooLong, status.failure().message, Reason::TooLong};
  }
  if (!oracle.undefined.empty()) {
    return {Verdict::Kind::Undefined, oracle.undefined};
  }
  return {};
}

std::string compareGuards(const Arguments &arguments) {
  for (const Arguments::Buffer &buffer : arguments.buffers) {
    if (!buffer.array->guardsIntact()) {
      return where(buffer, -1) + "written in front of the array";
    }
  }
  return "";
}

std::string compareRuns(const Arguments &first, const Arguments &second) {
  for (auto [a, b] : llvm::zip_equal(first.buffers, second.buffers)) {
    for (int64_t i = 0; i < a.count; ++i) {
      if (readElement(a, i) != readElement(b, i)) {
        return where(a, i) + "two runs differ";
      }
    }
  }
  return "";
}

} // namespace

Reference::Reference(mlir::ModuleOp module, bool judgesUpstream)
    : module(module), expected(makeArguments(kernelOf(module))) {
  oracle.judgesUpstream = judgesUpstream;
  outcome = runReference(module, expected, oracle);
  if (outcome.kind == Verdict::Kind::Agrees && oracle.undecided) {
    outcome.kind = Verdict::Kind::Undecided;
  }
}

Verdict
Reference::compare(Executor &executor,
                   llvm::function_ref<void(const Prepared &)> look) const {
  mlir::func::FuncOp function = kernelOf(module);
  mlir::OwningOpRef<mlir::ModuleOp> own(
      mlir::cast<mlir::ModuleOp>(mlir::ModuleOp(module)->clone()));
  Expected<Prepared> prepared =
      executor.prepare(*own, function.getName().str());
  if (!prepared.ok()) {
    return {Verdict::Kind::Refused, prepared.failure().str()};
  }
  if (look) {
    look(*prepared);
  }
  if (prepared->compileOnly) {
    return {Verdict::Kind::Undecided, "compiled, not run", Reason::NotRun};
  }
  std::string message;
  Arguments first = runOnce(function, *prepared, message);
  if (!message.empty()) {
    return {Verdict::Kind::Differs, message};
  }
  Arguments second = runOnce(function, *prepared, message);
  if (message.empty()) {
    message = compareGuards(first);
  }
  if (message.empty()) {
    message = compareRuns(first, second);
  }
  for (size_t i = 0; message.empty() && i < expected.buffers.size(); ++i) {
    if (!oracle.undecided || !expected.buffers[i].isOutput) {
      message = compareBuffer(expected.buffers[i], first.buffers[i], oracle);
    }
  }
  if (!message.empty()) {
    return {prepared->hasFreeOrder ? Verdict::Kind::Undecided
                                   : Verdict::Kind::Differs,
            message, Reason::FreeOrder};
  }
  return outcome;
}

Verdict check(mlir::ModuleOp module, Executor &executor,
              llvm::function_ref<void(const Prepared &)> look) {
  Reference reference(module);
  return reference.isDefined() ? reference.compare(executor, look)
                               : reference.verdict();
}

} // namespace nereid::fuzz
