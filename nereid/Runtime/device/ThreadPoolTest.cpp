//===- ThreadPoolTest.cpp - The threads of a child ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/ThreadPool.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sys/wait.h>
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

} // namespace
