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
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace nereid::gpt2 {

/// Longer than any test: a test that waits for others ends with them.
constexpr double forEver = 3600;

/// What process 0 of `n` listens at: open from the beginning, so that nothing
/// else gets its port and the others find it. `Processes` takes a copy.
class MeetingPlace {
public:
  Processes processes(int rank, int n) const {
    Processes all;
    all.rank = all.localRank = rank;
    all.size = all.localSize = n;
    all.host = "127.0.0.1";
    all.port = port();
    all.meetSeconds = forEver;
    if (rank == 0) {
      all.listeningSocket = ::dup(listener.get());
    }
    return all;
  }
  int port() const { return listener.localPort(); }
  /// In place of process 0.
  Socket accept() const {
    Socket socket;
    while (!socket.isOpen()) {
      pollfd one = {listener.get(), POLLIN, 0};
      poll(&one, 1, -1);
      socket = acceptNow(listener);
    }
    return socket;
  }

private:
  Socket listener = listenAt("127.0.0.1", 0);
};

/// "" where `work` throws nothing.
inline std::string errorOf(const std::function<void()> &work) {
  try {
    work();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

using DeviceOfRank = std::function<Device(int)>;

/// Runs `work` as `n` processes would; by rank, what each has thrown.
inline std::vector<std::string> errorsOfRanks(
    int n, const std::function<void(Communicator &)> &work,
    const DeviceOfRank &deviceOf = [](int) { return Device::cpu(); }) {
  std::vector<std::string> errors(static_cast<size_t>(n));
  std::vector<std::thread> threads;
  MeetingPlace meeting;
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      errors[size_t(r)] = errorOf([&] {
        std::unique_ptr<Communicator> communicator =
            makeCommunicator(meeting.processes(r, n), deviceOf(r));
        work(*communicator);
      });
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return errors;
}

inline void forRanks(
    int n, const std::function<void(Communicator &)> &work,
    const DeviceOfRank &deviceOf = [](int) { return Device::cpu(); }) {
  for (const std::string &error : errorsOfRanks(n, work, deviceOf)) {
    EXPECT_EQ(error, "");
  }
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_TESTING_RANKS_H
