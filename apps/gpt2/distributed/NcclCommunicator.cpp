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
// j to process j, which adds the parts by one kernel in fp32 and rounds once;
// the bytes that go over the links are those of NCCL's reduceScatter.
//
// A kernel of NCCL waits for the other GPUs without end. When one is gone, the
// thread of Peers aborts the communicator, which ends those kernels.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/NcclCommunicator.h"

#include "apps/gpt2/distributed/Nccl.h"
#include "apps/gpt2/distributed/Peers.h"
#include "apps/gpt2/distributed/TensorChecks.h"

#include "kernels/expression/Expression.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"

#include <cstring>

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
  void barrier() override;
  void check() override;

private:
  void begin();
  void require(Nccl::Result result, const char *call);
  std::string asyncError();
  void abort();
  void exchange(const Tensor &parts);
  Tensor sumOf(const Tensor &rows) const;

  Device device;
  std::unique_ptr<const Nccl> nccl;
  Peers peers;
  Nccl::Comm comm = nullptr;
  std::atomic<bool> isReady = false, isAborted = false;
  Stream side;
  Event before, after;
  bool isPending = false;
  std::vector<Tensor> held; ///< until `join`: what `side` reads
  Tensor received;
};

} // namespace

NcclCommunicator::NcclCommunicator(const Processes &processes, Device device,
                                   std::unique_ptr<const Nccl> library)
    : Communicator(processes.rank, processes.size), device(device),
      nccl(std::move(library)), peers(processes), side(device), before(device),
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
  Nccl::Result result = nccl->commInitRank(&comm, size(), id, rank());
  if (result != Nccl::success) {
    comm = nullptr;
    peers.raiseFailure("NCCL " + nccl->version + " cannot connect process " +
                       std::to_string(rank()) + " of " +
                       std::to_string(size()) + " on " + device.str() + ": " +
                       nccl->describe(result) +
                       "; hint: NCCL_DEBUG=INFO tells more");
  }
  isReady = true;
}

NcclCommunicator::~NcclCommunicator() {
  isReady = false;
  if (!comm) {
    return;
  }
  if (std::uncaught_exceptions() > 0 || peers.hasFailed()) {
    abort();
  } else if (!isAborted) {
    isAborted = true;
    nccl->commDestroy(comm);
  }
}

void NcclCommunicator::abort() {
  if (comm && !isAborted.exchange(true)) {
    nccl->commAbort(comm);
  }
}

std::string NcclCommunicator::asyncError() {
  Nccl::Result error = Nccl::success;
  if (!isReady || isAborted ||
      nccl->commGetAsyncError(comm, &error) != Nccl::success ||
      error == Nccl::success || error == Nccl::inProgress) {
    return "";
  }
  return "NCCL has failed: " + nccl->describe(error, comm);
}

void NcclCommunicator::require(Nccl::Result result, const char *call) {
  if (result != Nccl::success) {
    peers.raiseFailure(std::string(call) + " of process " +
                       std::to_string(rank()) + ": " +
                       nccl->describe(result, comm));
  }
}

void NcclCommunicator::check() {
  peers.check();
  if (std::string wrong = asyncError(); !wrong.empty()) {
    raise({ErrorCode::IoError, wrong, {}});
  }
}

void NcclCommunicator::begin() {
  peers.check();
  before.record(Stream::current(device));
  side.wait(before);
  isPending = true;
}

void NcclCommunicator::join() {
  if (isPending) {
    after.record(side);
    Stream::current(device).wait(after);
    isPending = false;
    held.clear();
  }
  peers.check();
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

static bool isNarrow(const Tensor &tensor) {
  return tensor.dtype() == bf16 || tensor.dtype() == f16;
}

void NcclCommunicator::allReduce(const Tensor &tensor) {
  checkSummed("allReduce", tensor, false);
  int type = typeOf("allReduce", tensor);
  begin();
  StreamGuard guard(side);
  Tensor wide = tensor;
  if (isNarrow(tensor)) {
    wide = kernels::cast(tensor, f32);
    type = *Nccl::typeOf(f32);
    held.push_back(wide);
  }
  require(nccl->allReduce(wide.data(), wide.data(), size_t(wide.numel()), type,
                          Nccl::sum, comm, side.handle()),
          "ncclAllReduce");
  if (isNarrow(tensor)) {
    Tensor narrow = kernels::cast(wide, tensor.dtype());
    held.push_back(narrow);
    tensor.copyFrom(narrow);
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
  require(nccl->groupStart(), "ncclGroupStart");
  for (int step = 0; step < size(); ++step) {
    // In each step every process sends to another one and hears from another.
    int to = (rank() + step) % size(), from = (rank() - step + size()) % size();
    require(
        nccl->send(at(parts, to), size_t(count), type, to, comm, side.handle()),
        "ncclSend");
    require(nccl->receive(at(received, from), size_t(count), type, from, comm,
                          side.handle()),
            "ncclRecv");
  }
  require(nccl->groupEnd(), "ncclGroupEnd");
}

/// One kernel, which adds from left to right in fp32 and rounds once.
Tensor NcclCommunicator::sumOf(const Tensor &rows) const {
  kernels::Expression sum = rows.select(0, 0);
  for (int r = 1; r < size(); ++r) {
    sum = sum + rows.select(0, r);
  }
  return sum;
}

void NcclCommunicator::reduceScatter(const Tensor &parts, const Tensor &sum) {
  checkSummed("reduceScatter", parts, false);
  checkParts("reduceScatter", sum, parts, size(), false);
  begin();
  StreamGuard guard(side);
  if (!isNarrow(parts)) {
    require(nccl->reduceScatter(parts.data(), sum.data(), size_t(sum.numel()),
                                typeOf("reduceScatter", parts), Nccl::sum, comm,
                                side.handle()),
            "ncclReduceScatter");
    return;
  }
  if (!received.defined() || received.bytes() < parts.bytes()) {
    received = empty({parts.bytes()}, u8, device);
  }
  exchange(parts);
  Tensor rows =
      Tensor::adopt(std::make_shared<Tensor>(received), received.data(),
                    {size(), sum.numel()}, parts.dtype(), device);
  held.push_back(sumOf(rows));
  sum.flatten().copyFrom(held.back());
}

void NcclCommunicator::allGather(const Tensor &part, const Tensor &all) {
  checkParts("allGather", part, all, size(), false);
  begin();
  require(nccl->allGather(part.data(), all.data(), size_t(part.numel()),
                          typeOf("allGather", part), comm, side.handle()),
          "ncclAllGather");
}

void NcclCommunicator::broadcast(const Tensor &tensor, int root) {
  checkRoot(tensor, root, size(), false);
  begin();
  require(nccl->broadcast(tensor.data(), tensor.data(), size_t(tensor.numel()),
                          typeOf("broadcast", tensor), root, comm,
                          side.handle()),
          "ncclBroadcast");
}

std::unique_ptr<Communicator>
gpt2::makeNcclCommunicator(const Processes &processes, Device device) {
  return std::make_unique<NcclCommunicator>(processes, device,
                                            valueOrThrow(openNccl()));
}
