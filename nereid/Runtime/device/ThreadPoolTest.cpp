//===- ThreadPoolTest.cpp - The threads of a child ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/ThreadPool.h"

#include "nereid/Runtime/Observer.h"

#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;

namespace {

int64_t coveredBy(ThreadPool &pool, int64_t count) {
  std::atomic<int64_t> covered = 0;
  pool.runRanges(count, 1,
                 [&](int64_t begin, int64_t end) { covered += end - begin; });
  return covered;
}

/// What `work` gives in a child of this process.
template <typename Work>
int inChild(const Work &work) {
  pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ThreadPool, AChildOfAProcessWithWorkersDoesItsWork) {
  ThreadPool &pool = ThreadPool::ofProcess();
  pool.setThreads(4);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(coveredBy(pool, 1000), 1000);
    EXPECT_EQ(inChild([&] {
                bool isRight = coveredBy(pool, 1000) == 1000;
                // And its children do.
                return isRight && !inChild([&] {
                         return coveredBy(pool, 1000) == 1000 ? 0 : 1;
                       })
                           ? 0
                           : 1;
              }),
              0);
  }
  EXPECT_EQ(coveredBy(pool, 1000), 1000);
  pool.setThreads(0);
}

/// Keeps what threads say of their shares.
class Shares final : public Observer {
public:
  void share(const Activity &work, int64_t beginNs, int64_t endNs) override {
    std::lock_guard lock(mutex);
    isOrdered &= beginNs <= endNs;
    names.emplace(std::this_thread::get_id(), work.name);
  }
  std::map<std::thread::id, std::string> names;
  bool isOrdered = true;

private:
  std::mutex mutex;
};

TEST(ThreadPool, EachThreadTellsItsShare) {
  ThreadPool &pool = ThreadPool::ofProcess();
  pool.setThreads(2);
  Shares shares;
  Activity work;
  work.name = "k";
  SharesWatch watch{shares, work};
  // Neither thread can do both ranges.
  std::barrier bothAreThere(2);
  pool.runRanges(
      2, 1, [&](int64_t, int64_t) { bothAreThere.arrive_and_wait(); }, &watch);
  pool.setThreads(0);
  EXPECT_TRUE(shares.isOrdered);
  ASSERT_EQ(shares.names.size(), 2u);
  EXPECT_EQ(shares.names[std::this_thread::get_id()], "k");
}

} // namespace
