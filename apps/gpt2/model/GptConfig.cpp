//===- GptConfig.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/model/GptConfig.h"

#include "nereid/Runtime/Error.h"

using namespace nereid;
using namespace nereid::gpt2;

[[noreturn]] static void refuse(const std::string &name,
                                const std::string &expected,
                                const std::string &got) {
  raise({ErrorCode::InvalidArgument,
         name + ": expected " + expected + ", got " + got,
         {}});
}

void gpt2::checkConfig(const GptConfig &c) {
  struct Size {
    const char *name;
    int64_t value, most;
  };
  for (const Size &size : {Size{"n_layer", c.layers, 1 << 12},
                           {"n_head", c.heads, 1 << 12},
                           {"n_embd", c.width, 1 << 16},
                           {"block_size", c.context, 1 << 20},
                           {"vocab_size", c.vocabulary, 1 << 24}}) {
    if (size.value < 1 || size.value > size.most) {
      refuse(size.name, "a number from 1 to " + std::to_string(size.most),
             std::to_string(size.value));
    }
  }
  if (c.width % c.heads != 0) {
    refuse("n_head", "a divisor of n_embd (" + std::to_string(c.width) + ")",
           std::to_string(c.heads));
  }
  if (c.width / c.heads > 256) {
    refuse("n_embd", "heads of at most 256 elements (n_embd / n_head)",
           std::to_string(c.width / c.heads));
  }
  if (!(c.dropout >= 0 && c.dropout < 1)) {
    refuse("dropout", "a probability from 0 to below 1",
           std::to_string(c.dropout));
  }
}

int64_t gpt2::parameterCount(const GptConfig &c, bool positions) {
  int64_t w = c.width, biases = c.bias ? 1 : 0;
  int64_t norm = w * (1 + biases);
  int64_t layer = 2 * norm + 12 * w * w + biases * 9 * w;
  return c.vocabulary * w + (positions ? c.context * w : 0) + c.layers * layer +
         norm;
}

double gpt2::operationsPerToken(const GptConfig &c, int64_t block) {
  return 6 * double(parameterCount(c, false)) +
         12 * double(c.layers) * double(c.width) * double(block);
}

namespace {
/// NVIDIA's data sheets: dense, bf16; fp32 outside the tensor cores; memory.
struct Peak {
  const char *part;
  double bf16, fp32, bandwidth;
};
} // namespace

static const Peak *peakOf(const std::string &name) {
  static constexpr Peak peaks[] = {{"H200", 989e12, 67e12, 4.8e12},
                                   {"H100 PCIe", 756e12, 51e12, 2.0e12},
                                   {"H100", 989e12, 67e12, 3.35e12},
                                   {"A100", 312e12, 19.5e12, 2.04e12},
                                   {"B200", 2250e12, 80e12, 8.0e12},
                                   {"L40S", 362e12, 91.6e12, 0.864e12},
                                   {"RTX 4090", 165e12, 82.6e12, 1.008e12}};
  for (const Peak &peak : peaks) {
    if (name.find(peak.part) != std::string::npos) {
      return &peak;
    }
  }
  return nullptr;
}

double gpt2::peakOperations(const std::string &name, DType dtype) {
  const Peak *peak = peakOf(name);
  return !peak ? 0 : dtype == f32 ? peak->fp32 : peak->bf16;
}

double gpt2::peakBandwidth(const std::string &name) {
  const Peak *peak = peakOf(name);
  return peak ? peak->bandwidth : 0;
}
