//===- ForwardTest.cpp - Which kernels a forward pass launches ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/model/Model.h"

#include "nereid/Runtime/Observer.h"

#include <gtest/gtest.h>
#include <mutex>
#include <string_view>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

struct Launches : Observer {
  void launched(const char *kernel, int64_t, int64_t) override {
    std::lock_guard lock(mutex);
    all += 1;
    norms += std::string_view(kernel).starts_with("layer_norm");
    sumsWithNorms += std::string_view(kernel).starts_with("add_norm");
  }
  std::mutex mutex;
  int64_t all = 0, norms = 0, sumsWithNorms = 0;
};

std::shared_ptr<Launches> launchesOf(double dropout) {
  GptConfig config{.layers = 3,
                   .heads = 2,
                   .width = 16,
                   .context = 8,
                   .vocabulary = 30,
                   .dropout = dropout};
  Model model(config, 1, Device::cpu());
  Tensor tokens = zeros({2, 8}, i32, Device::cpu());
  auto launches = std::make_shared<Launches>();
  EXPECT_TRUE(observe(launches)) << "another observer is left";
  model.loss(tokens, tokens);
  stopObserving(*launches);
  return launches;
}

} // namespace

// Embedding and its sum, a norm, four products and an attention a layer, the
// logits, and the loss with its count and its sum.
TEST(Forward, sumsOfTheStreamAreInTheKernelsOfNorms) {
  std::shared_ptr<Launches> plain = launchesOf(0), dropped = launchesOf(0.1);
  EXPECT_EQ(plain->norms, 1);
  EXPECT_EQ(plain->sumsWithNorms, 2 * 3);
  EXPECT_EQ(dropped->norms, 0);
  EXPECT_EQ(dropped->sumsWithNorms, 2 * 3 + 1);
  EXPECT_EQ(plain->all, dropped->all);
  EXPECT_EQ(plain->all, 2 + 1 + 3 * (4 + 1 + 2) + 1 + 3);
}
