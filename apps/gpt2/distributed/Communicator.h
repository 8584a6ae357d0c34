//===- Communicator.h - Tensors between processes --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   auto processes = processesFromEnvironment();         // Processes.h
//   auto all = makeCommunicator(processes, device);
//   all->allReduce(loss);                                // queued
//   all->join();                                         // before it is read
//
// Every process makes the same calls in the same order. A call queues work that
// begins after what the current stream has been given so far, and runs beside
// what comes after: on a GPU on a stream of its own, on a host in a thread.
// `join` puts an end to that, also up to a mark alone. Tensors are contiguous,
// and must be left alone until then.
//
// Sums of bf16 and fp16 are of fp32 numbers, rounded once at most. All
// processes have the same bits of a sum, however fast each is: on a host the
// order of its additions depends on the number of processes and the tensor's
// size, on GPUs on the machine's links, too.
//
// When a process dies or hangs, every call in the others throws IoError, at
// once or after `silenceSeconds`; a call that waits is ended.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_COMMUNICATOR_H
#define NEREID_APPS_GPT2_DISTRIBUTED_COMMUNICATOR_H

#include "apps/gpt2/distributed/Processes.h"

#include "nereid/Runtime/Tensor.h"

#include <memory>

namespace nereid::gpt2 {

class Communicator {
public:
  virtual ~Communicator() = default;
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "one process", "4 processes over Gloo", "2 GPUs over NCCL 2.27.7".
  virtual std::string describe() const = 0;

  /// The sum over all processes, in every process.
  virtual void allReduce(const Tensor &tensor) = 0;
  /// Part r of the sum, in process r: [size * n] in, [n] out. `sum` may be that
  /// part of `parts`; the other parts of `parts` are undefined then. Of bf16
  /// and fp16 `sum` may be fp32: it has then what is added in the order of the
  /// processes on GPUs.
  virtual void reduceScatter(const Tensor &parts, const Tensor &sum) = 0;
  /// [n] of each process, as [size * n] in every process. `part` may be part r
  /// of `all`.
  virtual void allGather(const Tensor &part, const Tensor &all) = 0;
  /// What process `root` has.
  virtual void broadcast(const Tensor &tensor, int root) = 0;

  /// What was queued is done before whatever follows: before this returns on a
  /// host, before later work of the current stream on a GPU.
  virtual void join() = 0;
  /// A place after what has been queued so far, until the next `join` of all.
  virtual size_t mark() = 0;
  /// `join` for what was queued before the mark.
  virtual void join(size_t mark) = 0;
  /// All processes have called it. Waits for the device as well.
  virtual void barrier() = 0;
  /// Throws if another process is gone. Call it where the host has waited for
  /// the device, before a result is used.
  virtual void check() = 0;

protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}

private:
  int rank_, size_;
};

/// Meets the other processes; collective. For one process nothing is set up.
/// `device`: of all tensors. A host's go through Gloo, a GPU's through NCCL.
/// Throws NotFound where there is no NCCL, IoError where the others cannot be
/// reached in time.
std::unique_ptr<Communicator> makeCommunicator(const Processes &processes,
                                               Device device);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_COMMUNICATOR_H
