//===- RunConfig.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Run.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"

#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

Device gpt2::deviceOf(const std::string &name) {
  Expected<Device> device = Device::tryParse(name);
  if (device.ok()) {
    return *device;
  }
  bool wantsGpu = name == "cuda" || name.starts_with("cuda:");
  if (!wantsGpu) {
    raise({device.failure().code,
           "no device '" + name +
               "'; expected cpu, cuda or cuda:N (the CPU where there is no "
               "GPU)",
           {}});
  }
  std::vector<Device> all = Device::available();
  if (!all.front().isHost()) {
    raise(device.failure());
  }
  std::fprintf(stderr, "note: there is no GPU (%s); the CPU is used\n",
               device.failure().message.c_str());
  return Device::cpu();
}

DType gpt2::dtypeOf(const Options &options, Device device) {
  if (options.dtype == "auto") {
    return device.isHost() ? f32 : bf16;
  }
  return options.dtype == "float32"   ? f32
         : options.dtype == "float16" ? f16
                                      : bf16;
}

GptConfig gpt2::configOf(const Options &o, int64_t vocabulary, Device device) {
  GptConfig config;
  config.layers = o.layers;
  config.heads = o.heads;
  config.width = o.width;
  config.context = o.blockSize;
  // Products of whole blocks are faster; characters are few enough as they are.
  config.vocabulary = o.vocabulary        ? o.vocabulary
                      : vocabulary > 1000 ? (vocabulary + 63) / 64 * 64
                                          : vocabulary;
  config.bias = o.bias;
  config.tanhGelu = o.tanhGelu;
  config.dropout = o.dropout;
  config.dtype = dtypeOf(o, device);
  return config;
}

std::string gpt2::describeKernels(const GptConfig &config, Device device,
                                  bool isCaptured) {
  std::string text =
      "layer norm: one kernel with residual sum" +
      std::string(config.dropout > 0 ? " and dropout" : "") +
      "; attention: blocks of keys with online softmax, no matrix of scores; ";
  text += device.isHost() ? "kernels compiled for this processor"
          : isCaptured    ? "the step is one CUDA graph"
                          : "kernels are launched one by one";
  return text;
}
