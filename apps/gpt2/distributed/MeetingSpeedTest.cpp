//===- MeetingSpeedTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Meeting.h"
#include "apps/gpt2/distributed/testing/Ranks.h"
#include "apps/gpt2/distributed/testing/Strangers.h"

#include <algorithm>
#include <cstdio>
#include <sys/resource.h>

using namespace nereid;
using namespace nereid::gpt2;

/// Process 0 waits for process 1, which comes after 1,000 connections of each
/// kind: it meets it within a second.
TEST(MeetingSpeed, strangersDelayNobody) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t enough = 4096;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(enough, limit.rlim_max));
  setrlimit(RLIMIT_NOFILE, &limit);
  const char *names[] = {"silent", "rubbish", "a greeting without the secret"};
  for (int kind = 0; kind < 3; ++kind) {
    MeetingPlace place;
    Processes all = place.processes(0, 2), one = place.processes(1, 2);
    all.secret = one.secret = "of all that nobody knows";
    std::thread zero([&] { meet(all); });
    std::vector<Socket> strangers;
    for (int i = 0; i < 1000; ++i) {
      strangers.push_back(strangerAt(place.port(), StrangerKind(kind)));
    }
    auto begin = std::chrono::steady_clock::now();
    meet(one);
    std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    zero.join();
    std::printf("1000 connections, %s: met in %.1f ms\n", names[kind],
                took.count());
    EXPECT_LT(took.count(), 1000) << names[kind];
  }
}
