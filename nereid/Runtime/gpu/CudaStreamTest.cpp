//===- CudaStreamTest.cpp - Streams, events and graphs --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"
#include "nereid/Runtime/testing/ScriptedChooser.h"

#include <atomic>
#include <thread>

using namespace nereid;
using testing::Each;
using testing::HasSubstr;

namespace {
class CudaStreams : public CudaFixture {
protected:
  Tensor x = full({64}, 1, f32, gpu), y = full({64}, 2, f32, gpu),
         out = zeros({64}, f32, gpu);
};
} // namespace

TEST_F(CudaStreams, AGuardMakesAStreamCurrent) {
  Stream side(gpu), before = Stream::current(gpu);
  EXPECT_NE(side.handle(), before.handle());
  EXPECT_EQ(side.device(), gpu);
  {
    StreamGuard guard(side);
    EXPECT_EQ(Stream::current(gpu).handle(), side.handle());
    EXPECT_NE(Stream::current(other).handle(), side.handle());
    kernel("add")[1](x, y, out, 64);
  }
  EXPECT_EQ(Stream::current(gpu).handle(), before.handle());
  Event done(gpu);
  done.record(side);
  EXPECT_FALSE(done.isDone());
  before.wait(done);
  EXPECT_THAT(out.toVector<float>(), Each(3));
  EXPECT_TRUE(done.isDone());
}

TEST_F(CudaStreams, HostDevicesHaveNone) {
  EXPECT_THAT(errorOf([] { Stream stream(Device::cpu()); }),
              HasSubstr("the device cpu has no contexts, streams"));
  synchronize(Device::cpu());
  emptyCache(Device::cpu());
  EXPECT_EQ(memoryUse(Device::interp()).total, 0u);
}

TEST_F(CudaStreams, EventsMeasureTheDevicesTime) {
  driver().functions["add"].milliseconds = 2.5;
  Event start(gpu), end(gpu);
  start.record();
  kernel("add")[1](x, y, out, 64);
  kernel("add")[1](x, y, out, 64);
  end.record();
  EXPECT_FLOAT_EQ(static_cast<float>(end.millisecondsSince(start)), 5);
}

TEST_F(CudaStreams, FreedMemoryWaitsForOtherStreams) {
  Stream side(gpu);
  Tensor result = zeros({64}, f32, gpu);
  synchronize(gpu);
  {
    // Used on the side stream, freed, and given to the default stream.
    Tensor input = full({64}, 5, f32, gpu);
    synchronize(gpu);
    StreamGuard guard(side);
    kernel("add")[1](input, input, result, 64);
  }
  Tensor reused = full({64}, 9, f32, gpu);
  Stream::current(gpu).synchronize();
  side.synchronize();
  EXPECT_THAT(result.toVector<float>(), Each(10));
}

TEST_F(CudaStreams, BorrowedStreamsAreTheCallers) {
  Stream owner(gpu);
  {
    Stream borrowed = Stream::borrow(owner.handle(), gpu);
    StreamGuard guard(borrowed);
    kernel("add")[1](x, y, out, 64);
  }
  owner.synchronize();
  Stream legacy = Stream::borrow(nullptr, gpu);
  {
    StreamGuard guard(legacy);
    kernel("add")[1](x, out, out, 64);
    EXPECT_THAT(out.toVector<float>(), Each(4));
  }
}

TEST_F(CudaStreams, BorrowingForOthersArraysIsNoPartOfARecording) {
  Stream recorded(gpu), side(gpu);
  Kernel add = kernel("add");
  add[1](x, y, out, 64);
  synchronize(gpu);
  gpu::DeviceState &device = *valueOrThrow(gpu::DeviceState::get(gpu));
  auto handle = static_cast<gpu::StreamHandle>(recorded.handle());
  // Another library records its stream, and launches there.
  ASSERT_EQ(device.driver.streamBeginCapture(handle, 0), gpu::Success);
  {
    StreamGuard guard(
        Stream::borrow(recorded.handle(), gpu, StreamMemory::None));
    add[1](out, y, out, 64);
  }
  gpu::GraphHandle graph = nullptr;
  ASSERT_EQ(device.driver.streamEndCapture(handle, &graph), gpu::Success);
  size_t count = 0;
  ASSERT_EQ(device.driver.graphGetNodes(graph, nullptr, &count), gpu::Success);
  EXPECT_EQ(count, 1u);
  EXPECT_THAT(out.toVector<float>(), Each(3)) << "recorded, not run";
  device.driver.graphDestroy(graph);
}

TEST_F(CudaStreams, GraphsReplayWhatWasRecorded) {
  Kernel add = kernel("add");
  add[1](x, y, out, 64);
  Graph graph = Graph::capture(gpu, [&] {
    Tensor twice = empty({64}, f32, gpu); // the graph's from now on
    add[1](x, x, twice, 64);
    add[1](twice, y, out, 64);
    out.slice(0, 0, 32).zero();
  });
  EXPECT_EQ(graph.nodes(), 3u);
  EXPECT_THAT(out.toVector<float>(), Each(3)) << "recorded, not run";
  Tensor taker = full({64}, 77, f32, gpu); // not the graph's memory
  graph.replay();
  EXPECT_EQ(out.at({0}), 0);
  EXPECT_EQ(out.at({40}), 4);
  x.fill(10);
  graph.replay(Stream::current(gpu));
  EXPECT_EQ(out.at({40}), 22);
  EXPECT_THAT(taker.toVector<float>(), Each(77));
  uint64_t used = memoryUse(gpu).used;
  graph = Graph();
  EXPECT_LT(memoryUse(gpu).used, used);
  EXPECT_THAT(errorOf([&] { graph.replay(); }), HasSubstr("is empty"));
}

TEST_F(CudaStreams, RecordedWorkUsesItsMemoryAgain) {
  Kernel add = kernel("add");
  Tensor sum = zeros({1 << 20}, f32, gpu), first;
  add[1](sum, sum, sum, 64);
  auto bytesOf = [&](int temporaries) {
    uint64_t before = memoryUse(gpu).used;
    Graph graph = Graph::capture(gpu, [&] {
      for (int i = 0; i < temporaries; ++i) {
        Tensor temporary = empty(sum.shape(), f32, gpu);
        EXPECT_TRUE(temporary.isUnique()) << "as outside of a recording";
        add[1](sum, sum, temporary, 64);
        add[1](temporary, sum, sum, 64);
      }
    });
    EXPECT_EQ(graph.nodes(), size_t(2 * temporaries));
    return memoryUse(gpu).used - before;
  };
  EXPECT_GT(bytesOf(1), 0u);
  EXPECT_EQ(bytesOf(1), bytesOf(5));
  // What is still held is not handed out again.
  Graph graph = Graph::capture(gpu, [&] {
    first = empty(sum.shape(), f32, gpu);
    EXPECT_NE(empty(sum.shape(), f32, gpu).data(), first.data());
  });
}

TEST_F(CudaStreams, MemoryOfAJoinedStreamDoesNotEndARecording) {
  Kernel add = kernel("add");
  Stream side(gpu);
  Event begin(gpu), end(gpu);
  Shape shape = {1 << 20};
  // Marked by both streams, when it is freed.
  add[1](x, y, empty(shape, f32, gpu), 64);
  Graph graph = Graph::capture(gpu, [&] {
    Stream recorded = Stream::current(gpu);
    begin.record();
    side.wait(begin);
    {
      StreamGuard guard(side);
      Tensor sum = empty(shape, f32, gpu);
      add[1](x, y, sum, 64);
      add[1](sum, y, out, 64);
    }
    end.record(side);
    recorded.wait(end);
  });
  EXPECT_EQ(graph.nodes(), 2u);
  graph.replay();
  EXPECT_THAT(out.toVector<float>(), Each(5));
}

TEST_F(CudaStreams, AGraphKeepsWhatAJoinedStreamHasAllocated) {
  Kernel add = kernel("add");
  Stream side(gpu);
  Event begin(gpu), end(gpu);
  Tensor sum;
  Graph graph = Graph::capture(gpu, [&] {
    Stream recorded = Stream::current(gpu);
    begin.record();
    side.wait(begin);
    {
      StreamGuard guard(side);
      sum = empty({64}, f32, gpu);
      EXPECT_TRUE(sum.isUnique());
      add[1](x, y, sum, 64);
    }
    end.record(side);
    recorded.wait(end);
  });
  const void *memory = sum.data();
  sum = Tensor();
  EXPECT_NE(empty({64}, f32, gpu).data(), memory) << "it is the graph's";
}

// Memory that is cached is given back to the driver without waiting.
TEST_F(CudaStreams, ARecordingGoesOnWhereMemoryRunsOut) {
  {
    Tensor cached = empty({1 << 20}, f32, gpu);
  }
  Graph graph = Graph::capture(gpu, [&] {
    emptyCache(gpu);
    kernel("add")[1](x, y, out, 64);
  });
  EXPECT_EQ(graph.nodes(), 1u);
}

TEST_F(CudaStreams, ARecordingUsesItsMemoryAgainBesideAStreamThatAllowsIt) {
  Kernel add = kernel("add");
  Tensor sum = zeros({1 << 20}, f32, gpu);
  add[1](sum, sum, sum, 64);
  for (StreamMemory memory :
       {StreamMemory::FreedAfterJoin, StreamMemory::Any}) {
    Stream side(gpu, memory);
    auto bytesOf = [&](int temporaries) {
      uint64_t before = memoryUse(gpu).used;
      Graph graph = Graph::capture(gpu, [&] {
        for (int i = 0; i < temporaries; ++i) {
          add[1](sum, sum, empty(sum.shape(), f32, gpu), 64);
        }
      });
      return memoryUse(gpu).used - before;
    };
    EXPECT_EQ(bytesOf(1) == bytesOf(5), memory != StreamMemory::Any);
  }
}

TEST_F(CudaStreams, ARecordingTakesWhatWasFreedBeforeIt) {
  for (bool hasSide : {false, true}) {
    std::optional<Stream> side;
    if (hasSide) {
      side.emplace(gpu);
    }
    Shape shape = {(1 + hasSide) << 20};
    void *before = empty(shape, f32, gpu).data(), *taken = nullptr;
    Graph graph =
        Graph::capture(gpu, [&] { taken = empty(shape, f32, gpu).data(); });
    EXPECT_EQ(taken, before);
    EXPECT_NE(empty(shape, f32, gpu).data(), taken) << "it is the graph's";
  }
}

TEST_F(CudaStreams, AStreamThatMayHaveJoinedKeepsRecordedMemory) {
  Stream side(gpu);
  std::vector<void *> taken;
  Graph graph = Graph::capture(gpu, [&] {
    for (int i = 0; i < 2; ++i) {
      taken.push_back(empty({1 << 20}, f32, gpu).data());
    }
  });
  EXPECT_NE(taken[0], taken[1]);
}

TEST_F(CudaStreams, AContextIsGivenBeforeTheFirstUse) {
  int anything = 0;
  EXPECT_THAT(errorOf([&] { useContext(gpu, &anything); }),
              HasSubstr("cuda:0 is in use already"));
  EXPECT_THAT(errorOf([&] { useContext(Device::cuda(9), &anything); }),
              HasSubstr("no device 'cuda:9'"));
}

TEST_F(CudaStreams, ThreadsShareAStreamAndTheMemory) {
  Kernel add = kernel("add");
  add[1](x, y, out, 64);
  std::atomic<int> wrong = 0;
  auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      Tensor result = empty({64}, f32, gpu);
      add[1](x, y, result, 64);
      wrong += result.toVector<float>() != std::vector<float>(64, 3);
      if (i % 10 == 0) {
        Stream side(gpu);
        StreamGuard guard(side);
        Tensor here = x.clone();
        add[1](here, y, result, 64);
        wrong += result.at({63}) != 3;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(work);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaStreams, WhatAGraphCannotHold) {
  EXPECT_THAT(errorOf([&] { Graph::capture(gpu, [&] { x.item(); }); }),
              HasSubstr("exactly one element"));
  EXPECT_THAT(errorOf([&] { Graph::capture(gpu, [&] { x.at({0}); }); }),
              HasSubstr("records a graph cannot be waited for"));
  // The one that is being recorded goes on.
  Graph whole = Graph::capture(gpu, [&] {
    EXPECT_THAT(errorOf([&] { Graph::capture(gpu, [] {}); }),
                HasSubstr("being recorded already"));
    kernel("add")[1](x, y, out, 64);
  });
  EXPECT_EQ(whole.nodes(), 1u);
  ScriptedChooser chooser;
  EXPECT_THAT(
      errorOf([&] {
        FakeKernel tuned = addKernel();
        tuned.description.parameters[4].defaultValue.reset();
        for (int block : {32, 64}) {
          ConfigDescription config;
          config.values["BLOCK_SIZE"] = StaticValue(block);
          tuned.description.configs.push_back(config);
        }
        world->kernels["add"] = tuned;
        setConfigChooser(&chooser);
        Graph::capture(gpu, [&] { kernel("add")[1](x, y, out, 64); });
      }),
      HasSubstr("configurations cannot be timed while a graph is recorded"));
  setConfigChooser(nullptr);
  EXPECT_EQ(chooser.asked, 0);
  world->kernels["add"] = addKernel();
  // A failed recording leaves nothing behind.
  kernel("add")[1](x, y, out, 64);
  EXPECT_THAT(out.toVector<float>(), Each(3));
}
