//===- OperatorTable.cpp - Which types each operator takes ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NereidOperatorTable DEVICE calls each operator with floats of each type, and
// differentiates it: a line an operator, its types with a gradient, and those
// without, with tabs between. Linked with the compiler, and once more with
// kernels compiled ahead of time; scripts/update-docs makes
// docs/operators/Types.md of both. Status 77: kernels compiled ahead of time
// begin at a level that this processor lacks.
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorCalls.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <cstdio>

using namespace nereid;
using namespace nereid::kernels;

enum class Answer { Refused, Value, Gradient };

static Answer ask(const OperatorCall &one, DType type, Device device) {
  std::vector<Variable> arguments;
  for (const Shape &shape : one.arguments) {
    arguments.emplace_back(full(shape, 0.5, type, device), true);
  }
  Variable y;
  try {
    y = one.call(arguments);
    y.value().toFloat64();
  } catch (const Error &) {
    return Answer::Refused;
  }
  if (!y.requiresGrad()) {
    return Answer::Value;
  }
  try {
    y.backward(full(y.shape(), 1, y.dtype(), y.device()));
  } catch (const Error &) {
    return Answer::Value;
  }
  return Answer::Gradient;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: NereidOperatorTable DEVICE\n");
    return 2;
  }
  if (!hasCompiler() && !__builtin_cpu_supports("x86-64-v3")) {
    std::printf("skipped: a processor below x86-64-v3\n");
    return 77;
  }
  gpu::installSimulator();
  try {
    Device device = Device::parse(argv[1]);
    for (const OperatorCall &one : operatorCalls()) {
      std::string with, without;
      for (DType type : {f32, bf16, f16, f64}) {
        Answer answer = ask(one, type, device);
        if (answer == Answer::Refused && type == f32 && hasCompiler()) {
          std::fprintf(stderr, "%s is refused of fp32\n", one.name);
          return 1;
        }
        std::string &list = answer == Answer::Gradient ? with : without;
        if (answer != Answer::Refused) {
          list += (list.empty() ? "" : " ") + std::string(shortName(type));
        }
      }
      std::printf("%s\t%s\t%s\n", one.name, with.c_str(), without.c_str());
    }
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return 1;
  }
  return 0;
}
