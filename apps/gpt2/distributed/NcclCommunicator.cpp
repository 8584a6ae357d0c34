//===- NcclCommunicator.cpp - Tensors of GPUs -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream of its own waits for the current one at the first call after a
// `join`, and at each further call; so a bucket is summed while the kernels of
// later gradients run. All of it may be recorded in a Graph.
//
// NCCL's sum of bf16 is rounded at each addition. Here each process sends part
// j to process j, which adds the parts by one kernel in fp32 and rounds at most
// once;
// the bytes that go over the links are those of NCCL's reduceScatter.
//
// A kernel of NCCL waits for the other GPUs without end. When one is gone, a
// thread of ControlChannel aborts the communicator, which ends those kernels.
// NCCL frees an aborted communicator: all uses of it are under one lock.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/NcclCommunicator.h"

#include "apps/gpt2/distributed/ControlChannel.h"
#include "apps/gpt2/distributed/Nccl.h"
#include "apps/gpt2/distributed/TensorChecks.h"

#include "kernels/expression/Expression.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

class NcclCommunicator final : public Communicator {
public:
  NcclCommunicator(const Processes &processes, Device device,
                   std::unique_ptr<const Nccl> library);
  ~NcclCommunicator() override;

  std::string describe() const override {
    return std::to_string(size()) + " GPUs over NCCL " + nccl->version;
  }
  void allReduce(const Tensor &tensor) override;
  void reduceScatter(const Tensor &parts, const Tensor &sum) override;
  void allGather(const Tensor &part, const Tensor &all) override;
  void broadcast(const Tensor &tensor, int root) override;
  void join() override;
  size_t mark() override;
  void join(size_t mark) override;
  void barrier() override;
  void check() override;

private:
  /// `needsAll`: what the others have to do for it is not done yet.
  void begin(bool needsAll = true);
  /// Calls NCCL; throws unless that succeeds.
  template <typename Call>
  void enqueue(const char *name, const Call &call);
  std::string asyncError();
  void abort();
  void exchange(const Tensor &parts);
  void addInto(const Tensor &sum, const Tensor &rows) const;

  Device device;
  std::unique_ptr<const Nccl> nccl;
  // In front of `peers`, whose threads use both until they end.
  std::timed_mutex mutex;    ///< of `comm`
  Nccl::Comm comm = nullptr; ///< null: not yet, or no longer
  ControlChannel peers;
  Stream side;
  Event before, after;
  std::vector<Event> marks; ///< kept: each step records them again
  size_t marked = 0;        ///< of `marks`, since the last join of all
  bool isPending = false;
  std::vector<Tensor> held; ///< until `join`: what `side` reads
  Tensor received;
};

} // namespace

NcclCommunicator::NcclCommunicator(const Processes &processes, Device device,
                                   std::unique_ptr<const Nccl> library)
    : Communicator(processes.rank, processes.size), device(device),
      nccl(std::move(library)), peers(processes),
      side(device, StreamMemory::FreedAfterJoin), before(device),
      after(device) {
  NcclId id = {};
  std::string text;
  if (rank() == 0) {
    Nccl::Result result = nccl->getUniqueId(&id);
    text = result == Nccl::success
               ? std::string(id.bytes, sizeof(id.bytes))
               : "ncclGetUniqueId: " + nccl->describe(result);
  }
  std::string root = peers.gather(text)[0];
  if (root.size() != sizeof(id.bytes)) {
    raise(
        {ErrorCode::IoError, "process 0 cannot begin with NCCL: " + root, {}});
  }
  std::memcpy(id.bytes, root.data(), sizeof(id.bytes));
  // From here on another process's end is noticed: also while NCCL waits for
  // it, where nothing but the end of this process helps.
  peers.watch([this] { abort(); }, [this] { return asyncError(); });
  // NCCL takes the GPU of the thread's context, which this call has set.
  before.record();
  // A communicator that is still being made can be neither used nor aborted.
  Nccl::Comm made = nullptr;
  Nccl::Result result = nccl->commInitRank(&made, size(), id, rank());
  if (result != Nccl::success) {
    peers.raiseFailure("NCCL " + nccl->version + " cannot connect process " +
                       std::to_string(rank()) + " of " +
                       std::to_string(size()) + " on " + device.str() + ": " +
                       nccl->describe(result) +
                       "; hint: NCCL_DEBUG=INFO tells more");
  }
  std::lock_guard lock(mutex);
  comm = made;
}

NcclCommunicator::~NcclCommunicator() {
  if (std::uncaught_exceptions() > 0 || peers.hasFailed()) {
    abort();
    return;
  }
  std::lock_guard lock(mutex);
  if (comm) {
    nccl->commDestroy(std::exchange(comm, nullptr));
  }
}

void NcclCommunicator::abort() {
  // A call of NCCL may itself wait for the process that is gone; then the end
  // of this process is what helps (ControlChannel).
  std::unique_lock lock(mutex, std::defer_lock);
  if (lock.try_lock_for(std::chrono::seconds(2)) && comm) {
    nccl->commAbort(std::exchange(comm, nullptr));
  }
}

std::string NcclCommunicator::asyncError() {
  // The thread that asks shows that this process lives: it does not wait.
  std::unique_lock lock(mutex, std::try_to_lock);
  Nccl::Result error = Nccl::success;
  if (!lock.owns_lock() || !comm ||
      nccl->commGetAsyncError(comm, &error) != Nccl::success ||
      error == Nccl::success || error == Nccl::inProgress) {
    return "";
  }
  return "NCCL has failed: " + nccl->describe(error, comm);
}

template <typename Call>
void NcclCommunicator::enqueue(const char *name, const Call &call) {
  std::string wrong;
  {
    std::lock_guard lock(mutex);
    if (comm) {
      Nccl::Result result = call();
      if (result == Nccl::success) {
        return;
      }
      wrong = nccl->describe(result, comm);
    } else {
      wrong = "the connection was given up";
    }
  }
  peers.raiseFailure(std::string(name) + " of process " +
                     std::to_string(rank()) + ": " + wrong);
}

void NcclCommunicator::check() {
  peers.check();
  if (std::string wrong = asyncError(); !wrong.empty()) {
    raise({ErrorCode::IoError, wrong, {}});
  }
}

void NcclCommunicator::begin(bool needsAll) {
  needsAll ? peers.checkAllAreHere() : peers.check();
  before.record(Stream::current(device));
  side.wait(before);
  isPending = true;
}

void NcclCommunicator::join() {
  if (isPending) {
    after.record(side);
    Stream::current(device).wait(after);
    isPending = false;
    marked = 0;
    held.clear();
  }
  peers.check();
}

size_t NcclCommunicator::mark() {
  if (marked == marks.size()) {
    marks.emplace_back(device);
  }
  marks[marked].record(side);
  return marked++;
}

void NcclCommunicator::join(size_t mark) {
  Stream::current(device).wait(marks.at(mark));
}

void NcclCommunicator::barrier() {
  Tensor one = zeros({1}, i32, device);
  allReduce(one);
  join();
  synchronize(device);
  check();
}

static int typeOf(const char *call, const Tensor &tensor) {
  std::optional<int> type = Nccl::typeOf(tensor.dtype());
  if (!type) {
    raise({ErrorCode::InvalidArgument,
           std::string(call) + ": NCCL has no type for " + tensor.str(),
           {}});
  }
  return *type;
}

void NcclCommunicator::allReduce(const Tensor &tensor) {
  checkSummed("allReduce", tensor, false);
  Tensor wide = tensor;
  if (isNarrow(tensor)) {
    wide = kernels::cast(tensor, f32);
    held.push_back(wide);
  }
  int type = typeOf("allReduce", wide);
  begin();
  StreamGuard guard(side);
  enqueue("ncclAllReduce", [&] {
    return nccl->allReduce(wide.data(), wide.data(), size_t(wide.numel()), type,
                           Nccl::sum, comm, side.handle());
  });
  if (isNarrow(tensor)) {
    kernels::evaluateInto(tensor, wide);
  }
}

/// The parts of all processes that belong to this one: rows of `received`.
void NcclCommunicator::exchange(const Tensor &parts) {
  int type = typeOf("reduceScatter", parts);
  int64_t count = parts.numel() / size();
  auto at = [&](const Tensor &tensor, int r) {
    return static_cast<char *>(tensor.data()) +
           r * count * int64_t(byteSize(parts.dtype()));
  };
  enqueue("an exchange by ncclSend and ncclRecv", [&] {
    Nccl::Result result = nccl->groupStart();
    for (int step = 0; step < size() && result == Nccl::success; ++step) {
      // In each step every process sends to another one and hears from another.
      int to = (rank() + step) % size(),
          from = (rank() - step + size()) % size();
      result = nccl->send(at(parts, to), size_t(count), type, to, comm,
                          side.handle());
      if (result == Nccl::success) {
        result = nccl->receive(at(received, from), size_t(count), type, from,
                               comm, side.handle());
      }
    }
    Nccl::Result end = nccl->groupEnd();
    return result == Nccl::success ? end : result;
  });
}

/// One kernel, which adds from left to right in fp32 and rounds to the type of
/// `sum`. It takes no memory: `side` may have joined a recording.
void NcclCommunicator::addInto(const Tensor &sum, const Tensor &rows) const {
  kernels::Expression total = rows.select(0, 0);
  for (int r = 1; r < size(); ++r) {
    total = total + rows.select(0, r);
  }
  kernels::evaluateInto(sum, total);
}

void NcclCommunicator::reduceScatter(const Tensor &parts, const Tensor &sum) {
  checkSummed("reduceScatter", parts, false);
  checkSumOfParts("reduceScatter", sum, parts, size(), false);
  if (isNarrow(parts) &&
      (!received.defined() || received.bytes() < parts.bytes())) {
    if (received.defined()) {
      held.push_back(received); // `side` may still read it
    }
    received = empty({parts.bytes()}, u8, device);
  }
  int type = typeOf("reduceScatter", parts);
  begin();
  StreamGuard guard(side);
  if (!isNarrow(parts)) {
    enqueue("ncclReduceScatter", [&] {
      return nccl->reduceScatter(parts.data(), sum.data(), size_t(sum.numel()),
                                 type, Nccl::sum, comm, side.handle());
    });
    return;
  }
  exchange(parts);
  Tensor rows =
      Tensor::adopt(std::make_shared<Tensor>(received), received.data(),
                    {size(), sum.numel()}, parts.dtype(), device);
  addInto(sum.flatten(), rows);
}

void NcclCommunicator::allGather(const Tensor &part, const Tensor &all) {
  checkParts("allGather", part, all, size(), false);
  int type = typeOf("allGather", part);
  begin();
  enqueue("ncclAllGather", [&] {
    return nccl->allGather(part.data(), all.data(), size_t(part.numel()), type,
                           comm, side.handle());
  });
}

void NcclCommunicator::broadcast(const Tensor &tensor, int root) {
  checkRoot(tensor, root, size(), false);
  int type = typeOf("broadcast", tensor);
  begin(/*needsAll=*/rank() == root);
  enqueue("ncclBroadcast", [&] {
    return nccl->broadcast(tensor.data(), tensor.data(), size_t(tensor.numel()),
                           type, root, comm, side.handle());
  });
}

std::unique_ptr<Communicator>
gpt2::makeNcclCommunicator(const Processes &processes, Device device) {
  return std::make_unique<NcclCommunicator>(processes, device,
                                            valueOrThrow(openNccl()));
}
