//===- HostCommunicator.h - Tensors of hosts, over sockets -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum is cut into one part a process, which gets that part of all the others,
// adds them in the order of the ranks, and sends the sum back: each process
// sends and receives 2 (n - 1) / n of a tensor, as in a ring, but the order of
// the additions is fixed, and there are two steps instead of 2 (n - 1).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_HOSTCOMMUNICATOR_H
#define NEREID_APPS_GPT2_DISTRIBUTED_HOSTCOMMUNICATOR_H

#include "apps/gpt2/distributed/Communicator.h"
#include "apps/gpt2/distributed/Mesh.h"

#include <condition_variable>
#include <deque>

namespace nereid::gpt2 {

class HostCommunicator final : public Communicator {
public:
  explicit HostCommunicator(const Processes &processes);
  ~HostCommunicator() override;

  std::string describe() const override;
  void allReduce(const Tensor &tensor) override;
  void reduceScatter(const Tensor &parts, const Tensor &sum) override;
  void allGather(const Tensor &part, const Tensor &all) override;
  void broadcast(const Tensor &tensor, int root) override;
  void join() override;
  void barrier() override;
  void check() override;

private:
  void queue(std::function<void()> work);
  void run();
  void sumPart(const char *what, const Tensor &tensor, int64_t partSize,
               void *out);

  Peers peers;
  Mesh mesh;
  std::vector<char> scratch;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> works; ///< the first one is being done
  std::exception_ptr error;
  bool stops = false;
  std::thread thread;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_HOSTCOMMUNICATOR_H
