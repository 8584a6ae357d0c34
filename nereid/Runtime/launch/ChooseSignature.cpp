//===- ChooseSignature.cpp - Arguments against signatures -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/library/Precompiled.h"

namespace nereid {

/// 1024 given where 1024.0 is compiled in is the same number.
static bool isConstant(const Argument &argument, const StaticValue &value) {
  auto *real = std::get_if<double>(&value.value);
  if (real && argument.kind == Argument::Kind::Int) {
    return static_cast<double>(argument.integer) == *real;
  }
  bool isAddress = argument.kind == Argument::Kind::Tensor ||
                   argument.kind == Argument::Kind::Pointer;
  return !isAddress && argument.toStatic() == value;
}

/// Can a parameter of type `wanted` take what specialize() made `got` of? An
/// integer of 32 bits fits 64, its slot being the wider number already.
static bool holds(DType wanted, DType got) {
  return wanted == got || (wanted == DType::Int64 && got == DType::Int32);
}

/// Does the argument keep what the signature says of it?
static bool keeps(const ArgumentSpec &spec, const Argument &argument,
                  const Specialized &given) {
  if (auto *value = std::get_if<StaticValue>(&spec)) {
    return isConstant(argument, *value);
  }
  const auto &wanted = std::get<RuntimeArgument>(spec);
  RuntimeArgument got = given.runtime;
  if (given.isStatic) {
    // The only number that is compiled in at run time is the integer 1.
    if (argument.kind != Argument::Kind::Int) {
      return false;
    }
    got.dtype = DType::Int32;
  }
  return wanted.isPointer == got.isPointer &&
         (wanted.isPointer ? wanted.dtype == got.dtype
                           : holds(wanted.dtype, got.dtype)) &&
         (!wanted.divisibleBy16 || given.slot % 16 == 0);
}

/// How much the code may assume: constants first, then what is divisible.
static int promises(const LibrarySignature &signature) {
  int count = 0;
  for (const ArgumentSpec &spec : signature.arguments) {
    auto *argument = std::get_if<RuntimeArgument>(&spec);
    count += !argument ? 100 : argument->divisibleBy16;
    // The narrower integer is the faster one.
    count += argument && argument->dtype == DType::Int32;
  }
  return count;
}

/// "a pointer to fp32, divisible by 16", "an i32".
static std::string describe(const ArgumentSpec &spec) {
  if (auto *value = std::get_if<StaticValue>(&spec)) {
    return value->str() + ", which is compiled in";
  }
  const auto &wanted = std::get<RuntimeArgument>(spec);
  std::string dtype(shortName(wanted.dtype));
  std::string text = wanted.isPointer ? "a pointer to " + dtype : dtype;
  return text + (wanted.divisibleBy16 ? " divisible by 16" : "");
}

/// "argument 'n': expected i32 divisible by 16, got the int 1000".
static std::string firstMisfit(const LaunchBinding &binding,
                               const PrecompiledKernel &precompiled,
                               const LibrarySignature &signature,
                               std::span<const Specialized> arguments,
                               size_t &parameter) {
  for (parameter = 0; parameter < binding.size(); ++parameter) {
    const Argument &argument = *binding.get(parameter);
    const ArgumentSpec &spec = signature.arguments[parameter];
    if (keeps(spec, argument, arguments[parameter])) {
      continue;
    }
    std::string got = argument.describe();
    auto *wanted = std::get_if<RuntimeArgument>(&spec);
    if (wanted && wanted->isPointer &&
        argument.kind == Argument::Kind::Tensor &&
        argument.tensor->dtype() == wanted->dtype) {
      // The address is what is wrong, not what it is the address of.
      got +=
          " at " +
          Argument(Pointer(argument.tensor->data(), wanted->dtype)).describe();
    }
    return "argument '" + precompiled.kernel.parameters[parameter].name +
           "': expected " + describe(spec) + ", got " + got;
  }
  return "";
}

static Failure noSignature(const LaunchBinding &binding,
                           const PrecompiledKernel &precompiled,
                           std::span<const Specialized> arguments) {
  const auto &signatures = precompiled.kernel.signatures;
  std::string hint = "it was compiled ahead of time for certain arguments; "
                     "compile a signature that promises less, or keep the "
                     "promise";
  size_t parameter = 0;
  if (signatures.size() == 1) {
    std::string mismatch =
        firstMisfit(binding, precompiled, signatures[0], arguments, parameter);
    return parameterFailure(binding.kernel, parameter, mismatch, hint);
  }
  std::string text = "the arguments fit none of its signatures:";
  for (const LibrarySignature &signature : signatures) {
    text += "\n  (" + str(precompiled.kernel, signature) + "): " +
            firstMisfit(binding, precompiled, signature, arguments, parameter);
  }
  return launchFailure(binding.kernel, text, hint);
}

Expected<size_t> chooseSignature(const LaunchBinding &binding,
                                 const PrecompiledKernel &precompiled,
                                 std::span<const Specialized> arguments) {
  const auto &signatures = precompiled.kernel.signatures;
  std::optional<size_t> best;
  for (size_t s = 0; s < signatures.size(); ++s) {
    bool fits = precompiled.kernel.choices.empty() ||
                isSameTuning(signatures[s].options, binding.options);
    for (size_t i = 0; i < binding.size() && fits; ++i) {
      fits = keeps(signatures[s].arguments[i], *binding.get(i), arguments[i]);
    }
    if (fits &&
        (!best || promises(signatures[s]) > promises(signatures[*best]))) {
      best = s;
    }
  }
  if (!best) {
    return noSignature(binding, precompiled, arguments);
  }
  return *best;
}

} // namespace nereid
