//===- Communicator.cpp - Which one, and that of one process --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Communicator.h"

#include "apps/gpt2/distributed/GlooCommunicator.h"
#include "apps/gpt2/distributed/NcclCommunicator.h"
#include "apps/gpt2/distributed/TensorChecks.h"

#include "nereid/Runtime/Stream.h"

using namespace nereid;
using namespace nereid::gpt2;

namespace {

class OneProcess final : public Communicator {
public:
  explicit OneProcess(Device device) : Communicator(0, 1), device(device) {}
  std::string describe() const override { return "one process"; }
  void allReduce(const Tensor &tensor) override {
    checkSummed("allReduce", tensor, device.isHost());
  }
  void reduceScatter(const Tensor &parts, const Tensor &sum) override {
    checkSumOfParts("reduceScatter", sum, parts, 1, device.isHost());
    copy(parts, sum);
  }
  void allGather(const Tensor &part, const Tensor &all) override {
    checkParts("allGather", part, all, 1, device.isHost());
    copy(part, all);
  }
  void broadcast(const Tensor &tensor, int root) override {
    checkRoot(tensor, root, 1, device.isHost());
  }
  void join() override {}
  size_t mark() override { return 0; }
  void join(size_t) override {}
  void barrier() override {
    if (!device.isHost()) {
      synchronize(device);
    }
  }
  void check() override {}

private:
  static void copy(const Tensor &from, const Tensor &to) {
    if (from.data() != to.data()) {
      to.flatten().copyFrom(from.flatten());
    }
  }
  Device device;
};

} // namespace

std::unique_ptr<Communicator> gpt2::makeCommunicator(const Processes &processes,
                                                     Device device) {
  if (processes.size == 1) {
    return std::make_unique<OneProcess>(device);
  }
  if (device.isHost()) {
    return makeGlooCommunicator(processes);
  }
  return makeNcclCommunicator(processes, device);
}
