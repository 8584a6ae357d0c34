//===- CommunicatorTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Communicator.h"
#include "apps/gpt2/distributed/Peers.h"
#include "apps/gpt2/distributed/testing/Ranks.h"

#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>
#include <latch>
#include <thread>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

class HostRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Communicator, HostRanks, testing::Values(1, 2, 3, 4));

TEST_P(HostRanks, sumsInTheOrderOfTheRanks) {
  int n = GetParam();
  for (DType dtype : {f32, bf16, i64}) {
    for (int64_t count : {0, 1, 7, 4099}) {
      std::vector<double> expected(size_t(count), 0.0);
      for (int r = 0; r < n; ++r) {
        Tensor one = randn({count}, f32, Device::cpu(), uint64_t(r)).to(dtype);
        std::vector<double> values = one.toFloat64();
        for (size_t i = 0; i < expected.size(); ++i) {
          expected[i] = float(expected[i] + values[i]);
        }
      }
      Tensor rounded = Tensor::fromVector(expected).to(dtype);
      forRanks(n, [&](Communicator &all) {
        Tensor own =
            randn({count}, f32, Device::cpu(), uint64_t(all.rank())).to(dtype);
        own = own.clone();
        all.allReduce(own);
        all.join();
        EXPECT_EQ(own.toFloat64(), rounded.toFloat64());
      });
    }
  }
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
  EXPECT_THAT(errors[1], HasSubstr("process 0: expected call 1, broadcast of "
                                   "24 bytes, as process 1 does; got call 1, "
                                   "broadcast of 16 bytes"));
  EXPECT_THAT(errors[0], HasSubstr("process 1 of 2"));
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

TEST(Peers, oneThatIsSilentEndsTheRun) {
  MeetingPlace meeting;
  Processes all = meeting.processes(0, 2);
  all.silenceSeconds = 0.3;
  std::latch done(1);
  std::thread silent([&] {
    Met met = meet(meeting.processes(1, 2));
    done.wait();
  });
  {
    Peers peers(all);
    std::latch isCalled(1);
    peers.watch([&] { isCalled.count_down(); });
    EXPECT_THAT(errorOf([&] { peers.raiseFailure("none"); }),
                HasSubstr("process 1 of 2 has shown no sign of life"));
    isCalled.wait();
    done.count_down();
    silent.join();
  }
}

/// What waits for a process may be slow to give up: of that the others hear all
/// the same, and signs of life go on being read.
TEST(Peers, aFailureIsKnownWhileItsHandlerWaits) {
  MeetingPlace meeting;
  std::thread gone([&] { meet(meeting.processes(1, 2)); });
  std::latch isEnding(1);
  {
    Peers peers(meeting.processes(0, 2));
    gone.join();
    peers.watch([&] { isEnding.wait(); });
    EXPECT_THAT(errorOf([&] { peers.raiseFailure("none"); }),
                HasSubstr("process 1 of 2 has ended, without a goodbye"));
    isEnding.count_down();
  }
}

TEST(Peers, aProcessThatGoesOnAloneIsTold) {
  MeetingPlace meeting;
  auto peersOf = [&](int rank) {
    return std::make_unique<Peers>(meeting.processes(rank, 2));
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
