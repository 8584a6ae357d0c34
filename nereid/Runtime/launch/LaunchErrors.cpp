//===- LaunchErrors.cpp - What a wrong launch is answered with ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/LaunchErrors.h"

#include "nereid/Runtime/launch/LaunchOptions.h"
#include "nereid/Support/EditDistance.h"

#include <atomic>

namespace nereid {

static std::atomic<HintStyle> hintStyle = HintStyle::Cpp;

void setHintStyle(HintStyle style) { hintStyle = style; }

/// One of two hints.
static std::string worded(const std::string &cpp, const std::string &command) {
  return hintStyle == HintStyle::Cpp ? cpp : command;
}

static Diagnostic pointAt(const KernelState &kernel,
                          const SourceLocation &location, std::string message,
                          std::string hint) {
  Diagnostic d;
  d.severity = Severity::Note;
  d.location = location;
  d.message = std::move(message);
  d.hint = std::move(hint);
  d.sourceLine = kernel.sourceLine(location.line);
  return d;
}

Failure launchFailure(const KernelState &kernel, std::string message,
                      std::string hint) {
  return {ErrorCode::InvalidArgument,
          kernel.description.name + ": " + std::move(message),
          {pointAt(kernel, kernel.description.location, kernel.signature(),
                   std::move(hint))}};
}

Failure parameterFailure(const KernelState &kernel, size_t parameter,
                         std::string message, std::string hint) {
  const ParameterDescription &p = kernel.description.parameters[parameter];
  return {ErrorCode::InvalidArgument,
          kernel.description.name + ": " + std::move(message),
          {pointAt(kernel, p.location, "parameter '" + p.name + "'",
                   std::move(hint))}};
}

static std::string quoted(const std::string &name) { return "'" + name + "'"; }

Failure missingArguments(const LaunchBinding &binding) {
  const KernelState &kernel = binding.kernel;
  const auto &parameters = kernel.description.parameters;
  std::vector<size_t> missing;
  std::string names;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!binding.get(i)) {
      missing.push_back(i);
      names += (names.empty() ? "" : ", ") + quoted(parameters[i].name);
    }
  }
  const ParameterDescription &first = parameters[missing[0]];
  std::string message = missing.size() == 1
                            ? "missing argument " + names + " (parameter " +
                                  std::to_string(missing[0] + 1) + " of " +
                                  std::to_string(parameters.size()) +
                                  (first.isStatic ? ", tl.constexpr)" : ")")
                            : "missing arguments " + names;
  std::string array = first.name + "=zeros:f32[1024]";
  bool maybeArray = !first.isStatic && (first.isPointer || !first.dtype);
  Failure failure = parameterFailure(
      kernel, missing[0], std::move(message),
      worded("pass it by name, as \"" + first.name +
                 "\"_a = ..., or by position in " + kernel.signature(),
             "pass it by name, as " + first.name + "=1024" +
                 (maybeArray ? " or " + array : "") + ", of " +
                 kernel.signature()));
  // Its own host code would have said, were it known.
  const std::vector<Diagnostic> &unknown = kernel.description.unknown;
  failure.diagnostics.insert(failure.diagnostics.end(), unknown.begin(),
                             unknown.end());
  return failure;
}

Failure tooManyArguments(const KernelState &kernel, size_t given) {
  size_t expected = kernel.description.parameters.size();
  return launchFailure(kernel, "too many arguments: expected at most " +
                                   std::to_string(expected) + ", got " +
                                   std::to_string(given));
}

Failure unexpectedKeyword(const KernelState &kernel, std::string_view name) {
  std::vector<std::string> known;
  for (const ParameterDescription &p : kernel.description.parameters) {
    known.push_back(p.name);
  }
  for (const std::string &option : launchOptionNames()) {
    known.push_back(option);
  }
  return launchFailure(kernel,
                       "no parameter or launch option is named '" +
                           std::string(name) + "'" + didYouMean(name, known),
                       "launch options are num_warps, num_stages, num_ctas, "
                       "maxnreg, minnreg, waves_per_eu, "
                       "matrix_instr_nonkdim, kpack, enable_fp_fusion, debug, "
                       "launch_cooperative_grid and launch_pdl");
}

Failure givenTwice(const KernelState &kernel, size_t parameter) {
  const std::string &name = kernel.description.parameters[parameter].name;
  return parameterFailure(kernel, parameter,
                          "argument '" + name +
                              "' is given twice; expected it "
                              "once",
                          "it is filled by position and again by name");
}

Failure missingGrid(const KernelState &kernel) {
  const std::string &name = kernel.description.name;
  return launchFailure(kernel, "no grid was given",
                       worded("write " + name +
                                  "[{programs}](...), with one to "
                                  "three sizes between the brackets",
                              "say --grid, with one to three sizes"));
}

/// "an int32", "a pointer to float16": what an annotation asks for.
static std::string annotated(const ParameterDescription &p) {
  std::string name(languageName(*p.dtype));
  std::string article = name[0] == 'i' ? "an " : "a ";
  return p.isPointer ? "a pointer to " + name : article + name;
}

Failure mismatchFailure(const KernelState &kernel, size_t parameter,
                        const Argument &argument, ArgumentMismatch mismatch,
                        const std::string &place) {
  const ParameterDescription &p = kernel.description.parameters[parameter];
  std::string got = argument.describe();
  std::string head = "argument '" + p.name + place + "': expected ";
  auto fail = [&](std::string expected, std::string hint) {
    return parameterFailure(kernel, parameter, head + expected + ", got " + got,
                            std::move(hint));
  };
  switch (mismatch) {
  case ArgumentMismatch::ConstexprGotTensor:
    return fail("a compile-time value (the parameter is tl.constexpr)",
                "pass a number, bool, string, dtype, tuple or None");
  case ArgumentMismatch::UndefinedTensor:
    return fail("a tensor with memory",
                worded("allocate it with empty, zeros or another maker; pass "
                       "none for a pointer that the kernel does not use",
                       "pass an array, or none for a pointer that the kernel "
                       "does not use"));
  case ArgumentMismatch::PointerGotScalar:
    return fail(annotated(p),
                worded("pass a tensor of this dtype",
                       "pass an array of this dtype, as in " + p.name +
                           "=zeros:" + std::string(languageName(*p.dtype)) +
                           "[1024]"));
  case ArgumentMismatch::ScalarGotTensor:
    return fail(annotated(p), worded("pass a number; tensor.item() reads one",
                                     "pass a number"));
  case ArgumentMismatch::PointeeMismatch:
    return fail(
        "a tensor of " + std::string(languageName(*p.dtype)) +
            " (the annotation fixes it)",
        worded("convert it with tensor.to(dtype), or drop the annotation",
               "make the array of this dtype, as in " + p.name +
                   "=zeros:" + std::string(languageName(*p.dtype)) + "[1024]"));
  case ArgumentMismatch::IntegerGotFloat:
    return fail(annotated(p), "pass an integer");
  case ArgumentMismatch::NumberExpected:
    return fail(annotated(p), "pass a number");
  case ArgumentMismatch::OutOfRange:
    return fail(p.dtype ? annotated(p) : std::string("an integer of 64 bits"),
                "the value does not fit this type");
  case ArgumentMismatch::StringGiven:
    return fail("a tensor or a number",
                "only a tl.constexpr parameter takes a string");
  case ArgumentMismatch::None:
    break;
  }
  return launchFailure(kernel, "internal: mismatch without a reason");
}

} // namespace nereid
