//===- HostCommunicator.cpp - Tensors of hosts, over sockets --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/HostCommunicator.h"

#include "apps/gpt2/distributed/Sums.h"
#include "apps/gpt2/distributed/TensorChecks.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cstring>

using namespace nereid;
using namespace nereid::gpt2;

static std::byte *bytesOf(const Tensor &tensor) {
  return static_cast<std::byte *>(tensor.data());
}

HostCommunicator::HostCommunicator(const Processes &processes)
    : Communicator(processes.rank, processes.size), peers(processes),
      mesh(peers) {
  peers.watch([this] { mesh.shutDown(); });
  thread = std::thread([this] { run(); });
}

HostCommunicator::~HostCommunicator() {
  {
    std::lock_guard lock(mutex);
    stops = true;
    // While an exception is on its way the others may wait for what is queued
    // here, or this process for them.
    if (std::uncaught_exceptions() > 0) {
      mesh.shutDown();
    }
  }
  changed.notify_all();
  thread.join();
}

std::string HostCommunicator::describe() const {
  return std::to_string(size()) + " processes over sockets";
}

void HostCommunicator::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stops || !works.empty(); });
    if (works.empty()) {
      return;
    }
    if (!error) {
      lock.unlock();
      std::exception_ptr thrown;
      try {
        works.front()();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      error = thrown;
    }
    works.pop_front();
    changed.notify_all();
  }
}

void HostCommunicator::queue(std::function<void()> work) {
  peers.check();
  {
    std::lock_guard lock(mutex);
    works.push_back(std::move(work));
  }
  changed.notify_all();
}

void HostCommunicator::join() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return works.empty(); });
  if (error) {
    std::rethrow_exception(error); // it stays: nothing works after it
  }
}

void HostCommunicator::check() {
  peers.check();
  std::lock_guard lock(mutex);
  if (error) {
    std::rethrow_exception(error);
  }
}

void HostCommunicator::barrier() {
  Tensor one = zeros({1}, i32, Device::cpu());
  allReduce(one);
  join();
}

/// Sends part j of `tensor` to process j; adds what has come for this one.
void HostCommunicator::sumPart(const char *what, const Tensor &tensor,
                               int64_t partSize, void *out) {
  auto element = int64_t(byteSize(tensor.dtype()));
  auto part = [&](int r) {
    int64_t begin = std::min(r * partSize, tensor.numel());
    return std::pair(begin, std::min(begin + partSize, tensor.numel()) - begin);
  };
  auto [begin, count] = part(rank());
  auto bytes = size_t(count * element);
  scratch.resize(bytes * size_t(size()));
  std::vector<Mesh::Message> messages(static_cast<size_t>(size()));
  std::vector<const void *> parts(static_cast<size_t>(size()));
  for (int r = 0; r < size(); ++r) {
    auto [first, number] = part(r);
    void *into = scratch.data() + size_t(r) * bytes;
    messages[size_t(r)] = {bytesOf(tensor) + first * element,
                           size_t(number * element), into, bytes};
    parts[size_t(r)] = into;
  }
  parts[size_t(rank())] = bytesOf(tensor) + begin * element;
  mesh.exchange(what, std::move(messages));
  sumInOrder(tensor.dtype(), parts, out, count);
}

void HostCommunicator::allReduce(const Tensor &tensor) {
  checkSummed("allReduce", tensor, true);
  queue([this, tensor] {
    int64_t partSize = (tensor.numel() + size() - 1) / size();
    auto element = int64_t(byteSize(tensor.dtype()));
    int64_t begin = std::min(rank() * partSize, tensor.numel());
    std::byte *own = bytesOf(tensor) + begin * element;
    sumPart("all-reduce", tensor, partSize, own);
    std::vector<Mesh::Message> messages;
    int64_t count = std::min(begin + partSize, tensor.numel()) - begin;
    for (int r = 0; r < size(); ++r) {
      int64_t first = std::min(r * partSize, tensor.numel());
      int64_t number = std::min(first + partSize, tensor.numel()) - first;
      messages.push_back({own, size_t(count * element),
                          bytesOf(tensor) + first * element,
                          size_t(number * element)});
    }
    mesh.exchange("all-reduce, sums", std::move(messages));
  });
}

void HostCommunicator::reduceScatter(const Tensor &parts, const Tensor &sum) {
  checkSummed("reduceScatter", parts, true);
  checkParts("reduceScatter", sum, parts, size(), true);
  queue([this, parts, sum] {
    sumPart("reduce-scatter", parts, sum.numel(), sum.data());
  });
}

void HostCommunicator::allGather(const Tensor &part, const Tensor &all) {
  checkParts("allGather", part, all, size(), true);
  queue([this, part, all] {
    std::byte *own = bytesOf(all) + int64_t(rank()) * part.bytes();
    if (own != part.data()) {
      std::memmove(own, part.data(), size_t(part.bytes()));
    }
    std::vector<Mesh::Message> messages;
    for (int r = 0; r < size(); ++r) {
      messages.push_back({own, size_t(part.bytes()),
                          bytesOf(all) + int64_t(r) * part.bytes(),
                          size_t(part.bytes())});
    }
    mesh.exchange("all-gather", std::move(messages));
  });
}

void HostCommunicator::broadcast(const Tensor &tensor, int root) {
  checkRoot(tensor, root, size(), true);
  queue([this, tensor, root] {
    std::vector<Mesh::Message> messages(static_cast<size_t>(size()));
    auto bytes = size_t(tensor.bytes());
    for (size_t r = 0; r < messages.size(); ++r) {
      if (rank() == root) {
        messages[r].send = tensor.data();
        messages[r].sendBytes = bytes;
      } else if (int(r) == root) {
        messages[r].receive = tensor.data();
        messages[r].receiveBytes = bytes;
      }
    }
    mesh.exchange("broadcast", std::move(messages));
  });
}
