//===- FakeNccl.cpp - NCCL between threads of a process -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/testing/FakeNccl.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using namespace nereid::gpt2;

namespace {

using Bytes = std::vector<unsigned char>;

/// ncclResult_t.
enum Result {
  Success = 0,
  UnhandledCudaError = 1,
  InvalidArgument = 4,
  InvalidUsage = 5
};

/// What a rank's call is, and what it reads.
struct Call {
  std::string what; ///< alike in all ranks
  const void *from = nullptr;
  std::vector<Bytes> sends; ///< by the rank that receives them
};

using Calls = std::vector<std::shared_ptr<const Call>>;

/// The ranks of a communicator, and where they meet.
struct Group {
  explicit Group(int size) : size(size), calls(size_t(size)) {}

  /// Waits until all ranks are here. False where one has given up.
  bool meet() {
    std::unique_lock lock(mutex);
    uint64_t round = rounds;
    if (++arrived == size) {
      arrived = 0;
      ++rounds;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return rounds != round || isEnded; });
    return !isEnded;
  }

  void end() {
    std::lock_guard lock(mutex);
    isEnded = true;
    changed.notify_all();
  }

  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  uint64_t rounds = 0;
  bool isEnded = false;
  Calls calls; ///< of this meeting, by rank
  std::atomic<int> error = Success;
};

FakeNcclEnqueue enqueue = nullptr;
std::mutex groupsMutex;
std::map<std::string, std::shared_ptr<Group>> groups;
std::atomic<int> ids = 0;

struct Id {
  char bytes[128];
};

} // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
  int rank = 0;
};

namespace {

/// ncclSend and ncclRecv between ncclGroupStart and ncclGroupEnd.
struct Message {
  bool isSend;
  void *memory;
  size_t bytes;
  int peer;
  ncclComm *comm;
  void *stream;
};
thread_local std::vector<Message> messages;
thread_local int groupDepth = 0;

size_t bytesOf(int type) {
  static constexpr size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && type < int(std::size(sizes)) ? sizes[type] : 0;
}

template <typename T>
void addTyped(unsigned char *sum, const unsigned char *other, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, sum + i * sizeof(T), sizeof(T));
    std::memcpy(&b, other + i * sizeof(T), sizeof(T));
    a = T(a + b);
    std::memcpy(sum + i * sizeof(T), &a, sizeof(T));
  }
}

/// False for 16-bit floats, which Nereid adds itself.
bool add(unsigned char *sum, const unsigned char *other, size_t count,
         int type) {
  switch (type) {
  case 0:
  case 1:
    addTyped<uint8_t>(sum, other, count);
    return true;
  case 2:
  case 3:
    addTyped<uint32_t>(sum, other, count);
    return true;
  case 4:
  case 5:
    addTyped<uint64_t>(sum, other, count);
    return true;
  case 7:
    addTyped<float>(sum, other, count);
    return true;
  case 8:
    addTyped<double>(sum, other, count);
    return true;
  default:
    return false;
  }
}

/// `make` has what the call leaves, of the calls of all ranks; it is written
/// to `to` when all have read.
int queue(ncclComm *comm, void *stream, Call call, void *to,
          std::function<Bytes(const Calls &)> make) {
  auto work = [group = comm->group, rank = comm->rank,
               call = std::make_shared<const Call>(std::move(call)), to,
               make = std::move(make)] {
    group->calls[size_t(rank)] = call;
    if (!group->meet()) {
      return 0;
    }
    if (group->calls[0]->what != call->what) {
      group->error = InvalidUsage;
      group->end();
      return 0;
    }
    Bytes result = make(group->calls);
    if (group->meet() && !result.empty()) {
      std::memcpy(to, result.data(), result.size());
    }
    return 0;
  };
  return enqueue(stream, std::move(work)) ? UnhandledCudaError : Success;
}

std::string text(const char *name, size_t count, int type) {
  return std::string(name) + " " + std::to_string(count) + " of type " +
         std::to_string(type);
}

/// Elements from `begin` on, of all ranks.
Bytes sumOf(const Calls &calls, size_t begin, size_t count, int type) {
  size_t unit = bytesOf(type);
  auto at = [&](const std::shared_ptr<const Call> &call) {
    return static_cast<const unsigned char *>(call->from) + begin * unit;
  };
  Bytes sum(at(calls[0]), at(calls[0]) + count * unit);
  for (size_t r = 1; r < calls.size(); ++r) {
    add(sum.data(), at(calls[r]), count, type);
  }
  return sum;
}

} // namespace

extern "C" {

void nereidFakeNcclSetEnqueue(FakeNcclEnqueue given) { enqueue = given; }

int ncclGetVersion(int *version) {
  *version = 22707;
  return Success;
}

int ncclGetUniqueId(Id *id) {
  *id = {};
  std::string name = "fake " + std::to_string(++ids);
  std::memcpy(id->bytes, name.data(), name.size());
  return Success;
}

int ncclCommInitRank(ncclComm **comm, int size, Id id, int rank) {
  std::shared_ptr<Group> group;
  {
    std::lock_guard lock(groupsMutex);
    std::shared_ptr<Group> &known = groups[id.bytes];
    known = known ? known : std::make_shared<Group>(size);
    group = known;
  }
  *comm = new ncclComm{group, rank};
  group->meet();
  return Success;
}

int ncclCommAbort(ncclComm *comm) {
  comm->group->end();
  delete comm;
  return Success;
}

int ncclCommDestroy(ncclComm *comm) {
  delete comm;
  return Success;
}

int ncclCommGetAsyncError(ncclComm *comm, int *error) {
  *error = comm->group->error;
  return Success;
}

const char *ncclGetErrorString(int result) {
  return result == InvalidUsage ? "invalid usage" : "unhandled error";
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int,
                  ncclComm *comm, void *stream) {
  unsigned char none = 0;
  if (!add(&none, &none, 0, type)) {
    return InvalidArgument;
  }
  return queue(comm, stream, {text("all-reduce", count, type), from, {}}, to,
               [=](const auto &calls) { return sumOf(calls, 0, count, type); });
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int,
                      ncclComm *comm, void *stream) {
  unsigned char none = 0;
  if (!add(&none, &none, 0, type)) {
    return InvalidArgument;
  }
  size_t begin = count * size_t(comm->rank);
  return queue(
      comm, stream, {text("reduce-scatter", count, type), from, {}}, to,
      [=](const auto &calls) { return sumOf(calls, begin, count, type); });
}

int ncclAllGather(const void *from, void *to, size_t count, int type,
                  ncclComm *comm, void *stream) {
  size_t bytes = count * bytesOf(type);
  return queue(comm, stream, {text("all-gather", count, type), from, {}}, to,
               [=](const auto &calls) {
                 Bytes all;
                 for (const std::shared_ptr<const Call> &call : calls) {
                   const auto *part =
                       static_cast<const unsigned char *>(call->from);
                   all.insert(all.end(), part, part + bytes);
                 }
                 return all;
               });
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
                  ncclComm *comm, void *stream) {
  size_t bytes = count * bytesOf(type);
  return queue(comm, stream, {text("broadcast", count, type), from, {}}, to,
               [=](const auto &calls) {
                 const auto *part = static_cast<const unsigned char *>(
                     calls[size_t(root)]->from);
                 return Bytes(part, part + bytes);
               });
}

int ncclGroupStart() {
  ++groupDepth;
  return Success;
}

int ncclSend(const void *from, size_t count, int type, int peer, ncclComm *comm,
             void *stream) {
  messages.push_back({true, const_cast<void *>(from), count * bytesOf(type),
                      peer, comm, stream});
  return groupDepth ? Success : InvalidUsage;
}

int ncclRecv(void *to, size_t count, int type, int peer, ncclComm *comm,
             void *stream) {
  messages.push_back({false, to, count * bytesOf(type), peer, comm, stream});
  return groupDepth ? Success : InvalidUsage;
}

/// One message to each rank and from each, as an exchange has them.
int ncclGroupEnd() {
  if (--groupDepth || messages.empty()) {
    return Success;
  }
  std::vector<Message> all = std::move(messages);
  messages.clear();
  ncclComm *comm = all[0].comm;
  auto work = [all, group = comm->group, rank = comm->rank] {
    auto call = std::make_shared<Call>();
    call->what = "exchange";
    call->sends.resize(size_t(group->size));
    for (const Message &message : all) {
      if (message.isSend) {
        const auto *begin = static_cast<const unsigned char *>(message.memory);
        call->sends[size_t(message.peer)].assign(begin, begin + message.bytes);
      }
    }
    group->calls[size_t(rank)] = call;
    if (!group->meet()) {
      return 0;
    }
    for (const Message &message : all) {
      const Call &other = *group->calls[size_t(message.peer)];
      if (other.what != call->what ||
          (!message.isSend &&
           other.sends[size_t(rank)].size() != message.bytes)) {
        group->error = InvalidUsage;
        group->end();
        return 0;
      }
      if (!message.isSend) {
        std::memcpy(message.memory, other.sends[size_t(rank)].data(),
                    message.bytes);
      }
    }
    group->meet(); // what was sent lives until all have it
    return 0;
  };
  return enqueue(all[0].stream, std::move(work)) ? UnhandledCudaError : Success;
}

} // extern "C"
