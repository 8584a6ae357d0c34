//===- LaunchAllocationTest.cpp - Warm launches allocate nothing ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time depends on the machine, and half of what a launch takes would not be
// noticed; the number of allocations does not, and it has to be 0.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/testing/LaunchFixture.h"

#include <cstdlib>
#include <new>

using namespace nereid;
using namespace nereid::literals;

static thread_local int64_t allocations = 0;

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {

class LaunchAllocation : public LaunchFixture {
protected:
  LaunchAllocation() {
    FakeKernel kernel = addKernel();
    kernel.program = nullptr;
    kernel.entry = [](const void *, LaunchFrame *, int64_t, int64_t) {};
    world->kernels["empty"] = kernel;
    empty = Kernel::fromSource("", "empty", context);
  }

  /// Of the second of two rounds of launches in so many forms.
  int64_t ofForms(int forms) {
    int64_t before = 0;
    for (int round = 0; round < 2; ++round) {
      before = allocations;
      for (int form = 0; form < forms; ++form) {
        empty[{1}](x, x, x, 1000, "BLOCK_SIZE"_a = 16 << form);
      }
    }
    return allocations - before;
  }

  Tensor x = zeros({1024}, f32, Device::cpu());
  Kernel empty;
};

} // namespace

TEST_F(LaunchAllocation, None) { EXPECT_EQ(ofForms(1), 0); }

/// More forms than a kernel has plans for: every launch goes the long way.
TEST_F(LaunchAllocation, NoneOnTheLongWay) { EXPECT_EQ(ofForms(16), 0); }
