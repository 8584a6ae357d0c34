//===- OperatorBench.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/OperatorBench.h"

#include "bench/operators/Adapters.h"
#include "nereid/Bench/PeakMemory.h"
#include "nereid/nereid.h"

#include <chrono>

using namespace nereid;
using namespace nereid::bench;

struct NereidOperatorCall {
  Adapter adapter;
  Device device;
  std::optional<Stream> stream;
  Inputs inputs;
  Numbers numbers;
  Tensor gradient;
  Outputs outputs;
  /// Of the forward pass, and of both.
  std::optional<Graph> graphs[2];
};

static thread_local std::string lastError;

template <typename F>
static auto guarded(F function, decltype(function()) onFailure) {
  try {
    return function();
  } catch (const std::exception &error) {
    lastError = error.what();
    return onFailure;
  }
}

static Tensor borrowed(const NereidBridgeArgument &argument, Device device) {
  Shape shape(argument.shape, argument.shape + argument.rank),
      strides(argument.strides, argument.strides + argument.rank);
  for (DType dtype : {f32, f16, bf16, fp8e4nv, i32, i64, i8, i1}) {
    if (argument.text == shortName(dtype) ||
        argument.text == languageName(dtype)) {
      return Tensor::borrow(argument.data, shape, dtype, device, strides);
    }
  }
  throw std::runtime_error(std::string("no element type ") + argument.text);
}

NereidOperatorCall *nereidOperatorPrepare(const char *name, const char *device,
                                          const NereidBridgeArgument *inputs,
                                          int32_t count, const double *numbers,
                                          int32_t numberCount,
                                          const NereidBridgeArgument *gradient,
                                          void *stream) {
  return guarded(
      [&]() -> NereidOperatorCall * {
        auto found = adapters().find(name);
        if (found == adapters().end()) {
          throw std::runtime_error(std::string("no operator ") + name);
        }
        auto call = std::make_unique<NereidOperatorCall>();
        call->adapter = found->second;
        call->device = Device::parse(device);
        if (stream) {
          call->stream = Stream::borrow(stream, call->device);
        }
        for (int32_t i = 0; i < count; ++i) {
          call->inputs.push_back(
              inputs[i].kind == NereidBridgeNone
                  ? Variable()
                  : Variable(borrowed(inputs[i], call->device),
                             inputs[i].integer != 0));
        }
        call->numbers.assign(numbers, numbers + numberCount);
        if (gradient->kind != NereidBridgeNone) {
          call->gradient = borrowed(*gradient, call->device);
        }
        return call.release();
      },
      nullptr);
}

namespace {
/// Work goes to the call's stream, if it has one, while this lives.
struct OnStream {
  explicit OnStream(const NereidOperatorCall &call) {
    if (call.stream) {
      guard.emplace(*call.stream);
    }
  }
  std::optional<StreamGuard> guard;
};
} // namespace

static void runOnce(NereidOperatorCall &call, bool backward) {
  call.outputs.clear(); // as PyTorch's, of the run before: memory is there
  if (!backward) {
    NoGrad off;
    call.outputs = call.adapter(call.inputs, call.numbers);
    return;
  }
  for (const Variable &input : call.inputs) {
    if (input.requiresGrad()) {
      input.zeroGrad();
    }
  }
  call.outputs = call.adapter(call.inputs, call.numbers);
  call.outputs[0].backward(call.gradient);
}

int64_t nereidOperatorRun(NereidOperatorCall *call, int32_t backward,
                          int32_t repetitions) {
  return guarded(
      [&]() -> int64_t {
        OnStream guard(*call);
        auto begin = std::chrono::steady_clock::now();
        for (int32_t i = 0; i < repetitions; ++i) {
          runOnce(*call, backward != 0);
        }
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now() - begin)
            .count();
      },
      -1);
}

int64_t nereidOperatorReplay(NereidOperatorCall *call, int32_t backward) {
  return guarded(
      [&]() -> int64_t {
        OnStream guard(*call);
        std::optional<Graph> &graph = call->graphs[backward != 0];
        if (!graph) {
          runOnce(*call, backward != 0);
          graph = Graph::capture(call->device,
                                 [&] { runOnce(*call, backward != 0); });
        }
        auto begin = std::chrono::steady_clock::now();
        graph->replay();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now() - begin)
            .count();
      },
      -1);
}

int64_t nereidOperatorMemory(NereidOperatorCall *call, int32_t backward) {
  return guarded(
      [&]() -> int64_t {
        OnStream guard(*call);
        return static_cast<int64_t>(memoryOf(call->device, [&] {
                                      runOnce(*call, backward != 0);
                                    }).peak);
      },
      -1);
}

int32_t nereidOperatorResult(NereidOperatorCall *call, int32_t gradient,
                             int32_t index, const NereidBridgeArgument *to) {
  return guarded(
      [&]() -> int32_t {
        OnStream guard(*call);
        auto place = static_cast<size_t>(index);
        borrowed(*to, call->device)
            .copyFrom(gradient ? call->inputs.at(place).grad()
                               : call->outputs.at(place).value());
        return 0;
      },
      -1);
}

void nereidOperatorFree(NereidOperatorCall *call) { delete call; }

const char *nereidOperatorError() { return lastError.c_str(); }

const char *nereidOperatorNames() {
  static const std::string names = [] {
    std::string text;
    for (const auto &[name, adapter] : adapters()) {
      text += (text.empty() ? "" : " ") + name;
    }
    return text;
  }();
  return names.c_str();
}

void nereidOperatorSetThreads(int32_t count) { setNumThreads(count); }
