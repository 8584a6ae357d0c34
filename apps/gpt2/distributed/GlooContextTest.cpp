//===- GlooContextTest.cpp ------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/GlooContext.h"
#include "apps/gpt2/distributed/testing/Ranks.h"
#include "apps/gpt2/distributed/testing/Strangers.h"

#include <gloo/barrier.h>
#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>
#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>

using namespace nereid;
using namespace nereid::gpt2;
using GlooAddress = gloo::transport::tcp::Address;
using ::testing::HasSubstr;

/// Threads that this one makes inherit it.
static void blockBrokenPipes() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

TEST(GlooContext, tagsOfPairsAreOfOneAttempt) {
  auto tag = [](const std::vector<std::string> &randoms, int from, int to) {
    return GlooContext::tagOfPair("token", randoms, from, to);
  };
  std::string first = tag({"a", "b"}, 0, 1);
  EXPECT_EQ(first, tag({"a", "b"}, 0, 1));
  EXPECT_NE(first, tag({"a", "b"}, 1, 0));
  EXPECT_NE(first, tag({"c", "b"}, 0, 1));
  EXPECT_NE(first, tag({"a", "c"}, 0, 1));
}

// Newer versions (this header) have one port a process, and ask who connects by
// a number.
#if !__has_include(<gloo/common/store.h>)
/// Tells process 0 that process 1 listens at an address after its own, so that
/// process 0 waits for it; connects to where process 0 listens, in its place.
static Socket strangerInPlaceOf(ControlChannel &peers) {
  sockaddr_in far = {};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  inet_pton(AF_INET, "127.255.0.1", &far.sin_addr);
  std::vector<char> ours =
      GlooAddress(reinterpret_cast<const sockaddr *>(&far), sizeof(far))
          .bytes();
  peers.gather("a random number");
  peers.gather("the name of a host");
  std::string theirs = peers.gather(std::string(ours.begin(), ours.end()))[0];
  sockaddr_storage zero =
      GlooAddress(std::vector<char>(theirs.begin(), theirs.end()))
          .getSockaddr();
  return strangerAt(ntohs(reinterpret_cast<sockaddr_in &>(zero).sin_port),
                    StrangerKind::Rubbish);
}

TEST(GlooContext, connectsAnewWhereAStrangerCame) {
  blockBrokenPipes();
  MeetingPlace place;
  auto processOf = [&](int rank) {
    Processes all = place.processes(rank, 2);
    all.silenceSeconds = forEver;
    return all;
  };
  std::thread other([&] {
    ControlChannel peers(processOf(1));
    {
      strangerInPlaceOf(peers);
    }
    EXPECT_THAT(peers.gather("")[0], HasSubstr("process 0 of 2 at 127.0.0.1"));
    EXPECT_NE(GlooContext::connect(peers), nullptr);
    peers.gather("");
  });
  ControlChannel peers(processOf(0));
  std::shared_ptr<GlooContext> context = GlooContext::connect(peers);
  EXPECT_NE(context, nullptr);
  peers.gather(""); // both are there until here
  other.join();
}

TEST(GlooContext, givesUpAfterThreeStrangers) {
  blockBrokenPipes();
  MeetingPlace place;
  std::thread other([&] {
    ControlChannel peers(place.processes(1, 2));
    for (int i = 0; i < 3; ++i) {
      {
        strangerInPlaceOf(peers);
      }
      peers.gather("");
    }
  });
  Processes all = place.processes(0, 2);
  all.silenceSeconds = forEver;
  ControlChannel peers(all);
  EXPECT_THAT(errorOf([&] { GlooContext::connect(peers); }),
              HasSubstr("the processes cannot connect to each other: process 0 "
                        "of 2 at 127.0.0.1: "));
  other.join();
}

#endif

/// Where the other process never comes to the barrier.
TEST(GlooContext, waitsCanBeEnded) {
  blockBrokenPipes();
  MeetingPlace place;
  std::thread other([&] {
    ControlChannel peers(place.processes(1, 2));
    std::shared_ptr<GlooContext> context = GlooContext::connect(peers);
    peers.gather("");
  });
  ControlChannel peers(place.processes(0, 2));
  std::shared_ptr<GlooContext> context = GlooContext::connect(peers);
  std::thread waiting([&] {
    for (int i = 0; i < 2; ++i) { // and ends at once after that
      gloo::BarrierOptions options(context);
      options.setTimeout(std::chrono::hours(1));
      EXPECT_THROW(gloo::barrier(options), gloo::IoException);
    }
  });
  context->end();
  waiting.join();
  peers.gather("");
  other.join();
}
