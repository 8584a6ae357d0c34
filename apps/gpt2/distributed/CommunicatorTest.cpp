//===- CommunicatorTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Communicator.h"
#include "apps/gpt2/distributed/ControlChannel.h"
#include "apps/gpt2/distributed/GlooContext.h"
#include "apps/gpt2/distributed/testing/Ranks.h"

#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <latch>
#include <mutex>
#include <thread>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

class HostRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Communicator, HostRanks, testing::Values(1, 2, 3, 4));

/// Of numbers whose sums fp32 has: in bf16 a sum that is rounded at each
/// addition has other bits than one that is rounded once.
TEST_P(HostRanks, sumsAreRoundedOnce) {
  int n = GetParam();
  forRanks(n, [&](Communicator &all) {
    for (DType dtype : {f32, f64, bf16, f16, i8, i16, i32, i64, u8}) {
      for (int64_t count : {0, 1, 7, 4099, 300000}) {
        auto valuesOf = [&](int rank) {
          std::vector<double> values;
          for (int64_t i = 0; i < count; ++i) {
            values.push_back(double((i * 37 + rank * 11) % 257 - 128) /
                             (isFloat(dtype) ? 64 : 8));
          }
          return Tensor::fromVector(values).to(dtype);
        };
        std::vector<double> expected(size_t(count), 0.0);
        for (int r = 0; r < n; ++r) {
          std::vector<double> values = valuesOf(r).toFloat64();
          for (size_t i = 0; i < expected.size(); ++i) {
            expected[i] += values[i];
          }
        }
        Tensor own = valuesOf(all.rank()).clone();
        all.allReduce(own);
        all.join();
        EXPECT_EQ(own.toFloat64(),
                  Tensor::fromVector(expected).to(dtype).toFloat64())
            << own.str();
      }
    }
  });
}

/// Whatever the order of the additions is, it is one.
TEST_P(HostRanks, sumsHaveTheSameBitsEverywhereAndAlways) {
  int n = GetParam();
  std::mutex mutex;
  std::vector<std::vector<double>> sums;
  for (int round = 0; round < 2; ++round) {
    forRanks(n, [&](Communicator &all) {
      Tensor own = randn({n, 70001}, f32, Device::cpu(), uint64_t(all.rank()));
      Tensor scattered = own.clone();
      all.allReduce(own);
      Tensor part = scattered.select(0, all.rank());
      all.reduceScatter(scattered, part);
      all.allGather(part, scattered);
      all.join();
      std::lock_guard lock(mutex);
      sums.push_back(own.toFloat64());
      EXPECT_EQ(sums.back(), sums.front());
      std::vector<double> ofParts = scattered.toFloat64();
      double largest = 0;
      for (size_t i = 0; i < ofParts.size(); ++i) {
        largest = std::max(largest, std::abs(ofParts[i] - sums.front()[i]));
      }
      EXPECT_LT(largest, 1e-5);
    });
  }
}

/// The parts of a sum that goes elsewhere stay what they are.
TEST_P(HostRanks, scatteredSumsMayLieElsewhere) {
  int n = GetParam();
  for (DType dtype : {f32, bf16}) {
    forRanks(n, [&](Communicator &all) {
      Tensor parts = full({n, 33}, all.rank() + 1, dtype, Device::cpu());
      Tensor sum = zeros({33}, dtype, Device::cpu());
      all.reduceScatter(parts, sum);
      all.join();
      EXPECT_EQ(sum.at({32}), n * (n + 1) / 2.0);
      EXPECT_EQ(parts.at({n - 1, 0}), all.rank() + 1);
    });
  }
}

TEST_P(HostRanks, scatteredSumsOfNarrowNumbersMayBeWide) {
  int n = GetParam();
  forRanks(n, [&](Communicator &all) {
    // Of 1 and 2^-10 bf16 has no sum.
    Tensor parts =
        full({n, 33}, all.rank() == 0 ? 1 : 0x1p-10, bf16, Device::cpu());
    Tensor sum = zeros({33}, f32, Device::cpu());
    all.reduceScatter(parts, sum);
    all.join();
    EXPECT_EQ(sum.at({32}), 1 + (n - 1) * 0x1p-10);
    EXPECT_THAT(errorOf([&] { all.reduceScatter(sum, parts); }),
                HasSubstr("reduceScatter: expected"));
  });
}

TEST_P(HostRanks, scatterAndGather) {
  int n = GetParam();
  forRanks(n, [&](Communicator &all) {
    Tensor parts = arange({n, 5}, f32, Device::cpu(), all.rank());
    Tensor whole = zeros({n, 5}, f32, Device::cpu());
    Tensor own = whole.select(0, all.rank());
    all.reduceScatter(parts, own);
    all.allGather(own, whole);
    Tensor word = full({3}, all.rank(), i32, Device::cpu());
    all.broadcast(word, n - 1);
    all.join();
    all.barrier();
    all.check();
    double ranks = n * (n - 1) / 2.0;
    for (int64_t i = 0; i < 5 * n; ++i) {
      EXPECT_EQ(whole.flatten().at({i}), double(i) * n + ranks);
    }
    EXPECT_EQ(word.at({2}), n - 1);
  });
}

TEST(Communicator, refusesWhatDoesNotFit) {
  forRanks(2, [&](Communicator &all) {
    Tensor two = zeros({2}, f32, Device::cpu());
    EXPECT_THAT(errorOf([&] { all.allGather(two, two); }),
                HasSubstr("allGather: expected 2 parts like fp32[2] together"));
    EXPECT_THAT(errorOf([&] { all.allReduce(Tensor()); }),
                HasSubstr("got an undefined one"));
    EXPECT_THAT(errorOf([&] { all.broadcast(two, 2); }),
                HasSubstr("expected a process from 0 to 1, got 2"));
    EXPECT_THAT(
        errorOf([&] { all.allReduce(zeros({2}, fp8e5, Device::cpu())); }),
        HasSubstr("expected integers, or floats of 16 bits and more"));
  });
}

TEST(Communicator, processesAtDifferentCallsAreTold) {
  std::vector<std::string> errors = errorsOfRanks(2, [&](Communicator &all) {
    Tensor t = zeros({all.rank() == 0 ? 4 : 6}, f32, Device::cpu());
    all.broadcast(t, 0);
    all.join();
    if (all.rank() == 0) {
      all.barrier();
    }
  });
  for (const std::string &error : errors) {
    EXPECT_THAT(
        error, HasSubstr("process 1 of 2: expected call 1 broadcast from 0 of "
                         "16 bytes, as process 0 does; got broadcast from 0 of "
                         "24 bytes"));
  }
}

TEST(Communicator, oneThatEndsWhileOthersGoOnIsTold) {
  std::vector<std::string> errors = errorsOfRanks(2, [&](Communicator &all) {
    if (all.rank() == 1) {
      Tensor one = zeros({1}, f32, Device::cpu());
      all.allReduce(one);
      all.join();
    }
  });
  EXPECT_EQ(errors[0], "");
  EXPECT_THAT(
      errors[1],
      HasSubstr("process 1 of 2: expected call 1 barrier of 0 bytes, as "
                "process 0 does; got all-reduce of 4 bytes"));
}

/// All live, and yet a connection is gone.
TEST(Communicator, aConnectionThatBreaksIsTold) {
  MeetingPlace meeting;
  std::latch done(1);
  std::thread other([&] {
    Processes all = meeting.processes(1, 2);
    all.silenceSeconds = forEver;
    ControlChannel peers(all);
    {
      std::shared_ptr<GlooContext> context = GlooContext::connect(peers);
    }
    done.wait();
  });
  {
    Processes all = meeting.processes(0, 2);
    all.silenceSeconds = forEver;
    auto communicator = makeCommunicator(all, Device::cpu());
    Tensor one = zeros({1}, f32, Device::cpu());
    communicator->allReduce(one);
    EXPECT_THAT(errorOf([&] { communicator->join(); }),
                HasSubstr("process 0 of 2: Gloo: "));
    done.count_down();
    other.join();
  }
}

TEST(Communicator, oneThatFailsEndsTheOthers) {
  std::vector<std::string> errors = errorsOfRanks(3, [&](Communicator &all) {
    if (all.rank() == 1) {
      raise({ErrorCode::IoError, "the disk is full", {}});
    }
    for (;;) {
      all.barrier();
    }
  });
  EXPECT_EQ(errors[1], "the disk is full");
  EXPECT_THAT(errors[0], HasSubstr("process 1 of 3"));
  EXPECT_THAT(errors[2], HasSubstr("process 1 of 3"));
}

TEST(ControlChannel, oneThatIsSilentEndsTheRun) {
  MeetingPlace meeting;
  Processes all = meeting.processes(0, 2);
  all.silenceSeconds = 0.3;
  std::latch done(1);
  std::thread silent([&] {
    Met met = meet(meeting.processes(1, 2));
    done.wait();
  });
  {
    ControlChannel peers(all);
    std::latch isCalled(1);
    peers.watch([&] { isCalled.count_down(); });
    EXPECT_THAT(errorOf([&] { peers.raiseFailure("none"); }),
                HasSubstr("process 1 of 2 has shown no sign of life"));
    isCalled.wait();
    done.count_down();
    silent.join();
  }
}

/// As Ctrl-Z and fg make of all of them: the other one may have stood as well.
/// Here each moment counts as a pause, and as a silence.
TEST(ControlChannel, oneThatHasStoodStillWaitsAnew) {
  MeetingPlace meeting;
  Processes all = meeting.processes(0, 2);
  all.silenceSeconds = all.pauseSeconds = 0;
  std::latch done(1);
  std::thread silent([&] {
    Met met = meet(meeting.processes(1, 2));
    done.wait();
  });
  {
    ControlChannel peers(all);
    std::latch isSeen(1);
    std::string end;
    std::atomic<bool> isFirst = true;
    auto note = [&](const char *what) {
      if (isFirst.exchange(false)) {
        end = what;
        isSeen.count_down();
      }
      return std::string();
    };
    peers.watch([&] { note("a failure"); }, [&] { return note("a round"); });
    isSeen.wait();
    EXPECT_EQ(end, "a round");
    done.count_down();
    silent.join();
  }
}

TEST(Communicator, oneThatIsSilentEndsTheOthers) {
  MeetingPlace meeting;
  std::latch done(1);
  auto places = [&](int rank) {
    Processes all = meeting.processes(rank, 2);
    // Of process 0, which counts the other as hung; not the other way round.
    all.silenceSeconds = rank == 0 ? 0.5 : forEver;
    return all;
  };
  std::thread silent([&] {
    ControlChannel peers(places(1));
    std::shared_ptr<GlooContext> context = GlooContext::connect(peers);
    done.wait();
  });
  {
    auto all = makeCommunicator(places(0), Device::cpu());
    Tensor large = zeros({1 << 20}, f32, Device::cpu());
    all->allReduce(large);
    EXPECT_THAT(errorOf([&] { all->join(); }),
                HasSubstr("process 1 of 2 has shown no sign of life"));
    done.count_down();
    silent.join();
  }
}

/// Nothing is kept of what is longer than any message.
TEST(ControlChannel, aMessageOfNoSenseEndsTheRun) {
  MeetingPlace meeting;
  std::latch done(1);
  std::thread other([&] {
    Met met = meet(meeting.processes(1, 2));
    met.sockets[0].sendNow(std::string("h\xff\xff\xff\xff", 5));
    done.wait();
  });
  ControlChannel peers(meeting.processes(0, 2));
  peers.watch([] {});
  EXPECT_THAT(errorOf([&] { peers.raiseFailure("none"); }),
              HasSubstr("process 1 of 2 has sent what is no sign of life"));
  done.count_down();
  other.join();
}

/// What waits for a process may be slow to give up: of that the others hear all
/// the same, and signs of life go on being read.
TEST(ControlChannel, aFailureIsKnownWhileItsHandlerWaits) {
  MeetingPlace meeting;
  std::thread gone([&] { meet(meeting.processes(1, 2)); });
  std::latch isEnding(1);
  {
    ControlChannel peers(meeting.processes(0, 2));
    gone.join();
    peers.watch([&] { isEnding.wait(); });
    EXPECT_THAT(errorOf([&] { peers.raiseFailure("none"); }),
                HasSubstr("process 1 of 2 has ended, without a goodbye"));
    isEnding.count_down();
  }
}

TEST(ControlChannel, aProcessThatGoesOnAloneIsTold) {
  MeetingPlace meeting;
  auto peersOf = [&](int rank) {
    return std::make_unique<ControlChannel>(meeting.processes(rank, 2));
  };
  std::thread other([&] {
    auto peers = peersOf(1);
    peers->watch([] {});
  });
  auto peers = peersOf(0);
  peers->watch([] {});
  other.join();
  std::string error;
  while (error.empty()) {
    std::this_thread::yield();
    try {
      peers->checkAllAreHere();
    } catch (const Error &thrown) {
      error = thrown.message();
    }
  }
  EXPECT_THAT(error,
              HasSubstr("process 1 of 2 has ended its run, which process "
                        "0 of 2 goes on with"));
  peers->check(); // a goodbye is no failure
}
