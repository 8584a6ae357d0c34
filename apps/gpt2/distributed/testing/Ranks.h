//===- Ranks.h - Processes of a test, as threads ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_TESTING_RANKS_H
#define NEREID_APPS_GPT2_DISTRIBUTED_TESTING_RANKS_H

#include "apps/gpt2/distributed/Communicator.h"
#include "apps/gpt2/distributed/Socket.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

namespace nereid::gpt2 {

inline int freePort() { return listenAt(0).localPort(); }

/// "" where `work` throws nothing.
inline std::string errorOf(const std::function<void()> &work) {
  try {
    work();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

/// Runs `work` as `n` processes would; by rank, what each has thrown.
inline std::vector<std::string>
errorsOfRanks(int n, const std::function<void(Communicator &)> &work,
              Device device = Device::cpu()) {
  std::vector<std::string> errors(static_cast<size_t>(n));
  std::vector<std::thread> threads;
  int port = freePort();
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      errors[size_t(r)] = errorOf([&] {
        Processes all;
        all.rank = all.localRank = r;
        all.size = all.localSize = n;
        all.host = "127.0.0.1";
        all.port = port;
        all.meetSeconds = 20;
        std::unique_ptr<Communicator> communicator =
            makeCommunicator(all, device);
        work(*communicator);
      });
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return errors;
}

inline void forRanks(int n, const std::function<void(Communicator &)> &work,
                     Device device = Device::cpu()) {
  for (const std::string &error : errorsOfRanks(n, work, device)) {
    EXPECT_EQ(error, "");
  }
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_TESTING_RANKS_H
