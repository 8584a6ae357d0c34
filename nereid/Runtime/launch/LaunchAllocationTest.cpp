//===- LaunchAllocationTest.cpp - What launches and contexts allocate -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time depends on the machine, and half of what a launch takes would not be
// noticed; the number of allocations does not, and it has to be 0. Nor does the
// number of those that are left, and a context that is gone has none left.
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Runtime/testing/ScriptedChooser.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <new>

using namespace nereid;
using namespace nereid::literals;

static thread_local int64_t allocations = 0;
/// Not yet freed, of all threads.
static constinit std::atomic<int64_t> held = 0;

static void *counted(void *memory) {
  if (!memory) {
    throw std::bad_alloc();
  }
  ++allocations;
  ++held;
  return memory;
}

void *operator new(size_t size) {
  return counted(std::malloc(size ? size : 1));
}
/// Of what is aligned to a cache line.
void *operator new(size_t size, std::align_val_t alignment) {
  auto align = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(
      align, (std::max(size, size_t{1}) + align - 1) & -align));
}
void operator delete(void *memory) noexcept {
  held -= memory != nullptr;
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept { operator delete(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  operator delete(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  operator delete(memory);
}

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

  /// Of the second of two rounds of launches in so many specializations.
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

TEST_F(LaunchAllocation, OfAlignedObjectsIsCounted) {
  static_assert(alignof(Specialization) > __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  int64_t before = allocations, heldBefore = held;
  auto one = std::make_unique<Specialization>();
  EXPECT_EQ(allocations - before, 1);
  EXPECT_EQ(held - heldBefore, 1);
  one.reset();
  EXPECT_EQ(held - heldBefore, 0);
}

TEST_F(LaunchAllocation, None) { EXPECT_EQ(ofForms(1), 0); }

/// More specializations than a kernel has plans for: every launch goes the slow
/// path.
TEST_F(LaunchAllocation, NoneOnTheSlowPath) { EXPECT_EQ(ofForms(16), 0); }

TEST_F(LaunchAllocation, NoneOfAKernelOfContexts) {
  KernelOfContexts kernel;
  auto launch = [&] {
    kernel.in(context.state(), [&](Context &owner) {
      return Kernel::fromSource("", "empty", owner);
    })[{1}](x, x, x, 1000, "BLOCK_SIZE"_a = 16);
  };
  launch();
  int64_t before = allocations;
  long users = context.state().weak_from_this().use_count();
  launch();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(context.state().weak_from_this().use_count(), users);
}

//===----------------------------------------------------------------------===//
// Contexts that come and go
//===----------------------------------------------------------------------===//

namespace {

size_t entries(const char *folder) {
  std::filesystem::directory_iterator all(folder);
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

class ContextsThatGo : public LaunchFixture {
protected:
  /// Opens one with everything of its own, launches, and closes it.
  void openAndClose() {
    Knobs settings;
    settings.numThreads = 3;
    settings.cacheSize = 0;
    Context own(std::make_unique<FakeCompiler>(world),
                {.chooser = std::make_shared<ScriptedChooser>(),
                 .clock = clock,
                 .settings = settings,
                 .observer = std::make_shared<Observer>()});
    ContextScope scope(own);
    Kernel::fromSource("", "add", own)[4](x, x, x, 200);
    auto make = [](Context &context) {
      return Kernel::fromSource("", "count", context);
    };
    Kernel::keptBy(own, "count", make)[4](counts);
    ofContexts.in(own.state(), make)[4](counts);
    parallelRanges(100, 1, [](int64_t, int64_t) {}); // wakes its pool
    std::lock_guard lock(world->mutex);
    world->requests.clear();
    world->requests.shrink_to_fit();
  }

  std::shared_ptr<Clock> clock = std::make_shared<ManualClock>();
  KernelOfContexts ofContexts;
  Tensor x = zeros({256}, f32, Device::cpu()),
         counts = zeros({4}, i32, Device::cpu());
};

} // namespace

TEST_F(ContextsThatGo, AThousandLeaveNothing) {
  openAndClose(); // texts that the process keeps, and its workers, once
  long users = world.use_count();
  int64_t before = held;
  for (int i = 0; i < 1000; ++i) {
    openAndClose();
  }
  EXPECT_EQ(held - before, 0) << "allocations are left";
  EXPECT_EQ(world.use_count(), users) << "compilers are left";
  EXPECT_EQ(counts.at({3}), 2 * 1001);
}

TEST_F(ContextsThatGo, AThousandPoolsLeaveNoThreadsAndFiles) {
  size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  for (int i = 0; i < 1000; ++i) {
    Knobs settings;
    settings.numThreads = 3;
    Context own(nullptr, {.cacheBytes = 0, .settings = settings});
    ContextScope scope(own);
    std::atomic<int64_t> done = 0;
    parallelRanges(100, 1,
                   [&](int64_t begin, int64_t end) { done += end - begin; });
    ASSERT_EQ(done, 100);
  }
  EXPECT_EQ(entries("/proc/self/fd"), files);
  // Workers are oneTBB's, for all pools: two beside this thread.
  EXPECT_LE(entries("/proc/self/task"), threads + 2);
}
