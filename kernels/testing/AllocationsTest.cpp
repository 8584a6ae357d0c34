//===- AllocationsTest.cpp - What a call of an operator allocates ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small operators cost what the host does for them. Its time depends on the
// machine; the number of its allocations does not, and a text that is written,
// a list that grows or a plan that is made at each call shows in it. The bounds
// are what calls need, in the steady state (docs/design/HostTime.md).
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/OperatorTest.h"
#include "nereid/kernels.h"
#include "nereid/nereid.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>

using namespace nereid;
using namespace nereid::kernels;

static thread_local int64_t allocations = 0;

static void *counted(void *memory) {
  if (!memory) {
    throw std::bad_alloc();
  }
  ++allocations;
  return memory;
}

void *operator new(size_t size) {
  return counted(std::malloc(size ? size : 1));
}
void *operator new(size_t size, std::align_val_t alignment) {
  auto align = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(
      align, (std::max(size, size_t{1}) + align - 1) & -align));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

struct Call {
  const char *name;
  std::function<Variable()> run;
  /// Allocations without a tape, and of a call and its backward together.
  int64_t usual, usualWithBackward;
};

/// A level of the processor with another plan of a product may need a few more.
int64_t atMost(int64_t usual) { return usual + usual / 4 + 2; }

class Allocations : public ::testing::Test {
protected:
  static Tensor random(Shape shape, uint64_t seed) {
    return rand(std::move(shape), f32, Device::cpu(), seed);
  }
  static Variable leaf(Shape shape, uint64_t seed) {
    return Variable(random(std::move(shape), seed), true);
  }

  /// With one thread: the time of a launch decides nothing.
  static ContextOptions ownOptions() {
    Knobs settings = knobs();
    settings.numThreads = 1;
    return {.settings = settings};
  }
  std::vector<Call> calls() const;

  Context context = Context(createKernelCompiler(), ownOptions());
  ContextScope scope = ContextScope(context);
  // Few enough that one program, on this thread, computes most of them.
  Variable x = leaf({4, 16}, 1), z = leaf({4, 16}, 2), w = leaf({16, 16}, 3),
           row = leaf({16}, 4), bias = leaf({16}, 5),
           images = leaf({1, 16, 2, 2}, 6), q = leaf({1, 1, 4, 16}, 7);
  Tensor ids = Tensor::fromVector(std::vector<int64_t>{1, 0, 3, 2},
                                  std::nullopt, Device::cpu());
};

std::vector<Call> Allocations::calls() const {
  return {
      {"x + z", [&] { return Variable(x + z); }, 13, 76},
      {"x * 1.1", [&] { return Variable(x * 1.1); }, 12, 63},
      {"gelu(x + row)", [&] { return Variable(gelu(x + row)); }, 28, 215},
      {"silu(x) * z", [&] { return Variable(silu(x) * z); }, 18, 114},
      {"view", [&] { return x.reshape({2, 32}); }, 5, 31},
      {"linear", [&] { return linear(x, w, bias); }, 12, 68},
      {"linear, gelu", [&] { return linear(x, w, bias, Activation::GeluTanh); },
       12, 81},
      {"matmul", [&] { return matmul(x, w); }, 22, 84},
      {"layerNorm", [&] { return layerNorm(x, row, bias); }, 7, 62},
      {"addLayerNorm", [&] { return addLayerNorm(x, z, row, bias).first; }, 12,
       79},
      {"rmsNorm", [&] { return rmsNorm(x, row); }, 6, 43},
      {"groupNorm", [&] { return groupNorm(images, 4, row, bias); }, 10, 61},
      {"softmax", [&] { return softmax(x); }, 6, 26},
      {"attention", [&] { return attention(q, q, q); }, 6, 48},
      {"embedding", [&] { return embedding(ids, w); }, 8, 64},
      {"crossEntropy", [&] { return crossEntropy(x, ids); }, 17, 37},
  };
}

} // namespace

TEST_F(Allocations, ofACallAreFew) {
  for (const Call &call : calls()) {
    NoGrad off;
    int64_t made = 0;
    for (int round = 0; round < 3; ++round) {
      int64_t before = allocations;
      call.run();
      made = allocations - before;
    }
    EXPECT_LE(made, atMost(call.usual)) << call.name;
    RecordProperty(call.name, std::to_string(made));
  }
}

TEST_F(Allocations, ofACallAndItsBackwardAreFew) {
  for (const Call &call : calls()) {
    Tensor gradient = rand(call.run().shape(), f32, Device::cpu(), 9);
    int64_t made = 0;
    for (int round = 0; round < 3; ++round) {
      for (const Variable &leaf : {x, z, w, row, bias, images, q}) {
        leaf.zeroGrad();
      }
      int64_t before = allocations;
      call.run().backward(gradient);
      made = allocations - before;
    }
    EXPECT_LE(made, atMost(call.usualWithBackward)) << call.name;
    RecordProperty(call.name, std::to_string(made));
  }
}

/// Sizes that were not met before need no other kernel, nor a longer way to it.
TEST_F(Allocations, ofAnExpressionDoNotDependOnItsSizes) {
  NoGrad off;
  auto ofCall = [](int64_t rows) {
    Variable a(rand({rows, 48}, f32, Device::cpu(), 1));
    int64_t before = allocations;
    Variable sum = a * 1.5 + a;
    return allocations - before;
  };
  ofCall(16);
  int64_t first = ofCall(16);
  EXPECT_EQ(ofCall(32), first);
  EXPECT_EQ(ofCall(64), first);
}
