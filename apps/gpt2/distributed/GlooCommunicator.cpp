//===- GlooCommunicator.cpp - Tensors of hosts, over Gloo -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread calls Gloo, in the order of the calls here. Its sums go around a
// ring: which process adds what in which order depends on their number and the
// tensor's size alone. Sums of bf16 and fp16 are of fp32 numbers, rounded once.
//
// Each call's messages have a tag of the call's number, name and size: those of
// processes at different calls never meet. They wait, until signs of life,
// which say at which calls each is, show the difference (ControlChannel).
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/GlooCommunicator.h"

#include "apps/gpt2/distributed/GlooContext.h"
#include "apps/gpt2/distributed/TensorChecks.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/FloatFormats.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/reduce.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

class GlooCommunicator final : public Communicator {
public:
  explicit GlooCommunicator(const Processes &processes);
  ~GlooCommunicator() override;

  std::string describe() const override {
    return std::to_string(size()) + " processes over Gloo";
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
  /// `task` gets the tag of its messages; no call has another's.
  using Task = std::function<void(uint32_t tag)>;
  void queue(const std::string &what, int64_t bytes, Task task);
  void run();
  /// Throws what `task` does, as Error.
  void attempt(const std::function<void()> &work);

  template <typename T>
  void sumAll(T *data, int64_t count, uint32_t tag);
  template <typename T>
  void sumParts(T *parts, int64_t count, T *sum, uint32_t tag);

  std::shared_ptr<GlooContext> context; ///< outlives the threads of `peers`
  ControlChannel peers;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> works; ///< the first one is being done
  std::exception_ptr error;
  uint64_t calls = 0, done = 0; ///< those of `queue`
  bool stops = false;
  std::thread thread;
};

} // namespace

/// Where all live and one wait is longer, a connection is broken.
static constexpr auto longestWait = std::chrono::hours(1);

GlooCommunicator::GlooCommunicator(const Processes &processes)
    : Communicator(processes.rank, processes.size), peers(processes) {
  // Gloo writes to connections that the other side may have closed. Its threads
  // are made by this one and inherit what is blocked here.
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  thread = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  {
    std::lock_guard lock(mutex);
    works.emplace_back([this] { context = GlooContext::connect(peers); });
  }
  changed.notify_all();
  try {
    join();
  } catch (...) {
    {
      std::lock_guard lock(mutex);
      stops = true;
    }
    changed.notify_all();
    thread.join();
    throw;
  }
  peers.watch([this] { context->end(); });
}

GlooCommunicator::~GlooCommunicator() {
  if (std::uncaught_exceptions() > 0) {
    // The others may wait for what is queued here, or this process for them.
    context->end();
  } else {
    // A connection stays open while another process still reads it.
    try {
      barrier();
    } catch (const Error &) { // the others' own calls report it
    }
  }
  {
    std::lock_guard lock(mutex);
    stops = true;
  }
  changed.notify_all();
  thread.join();
}

void GlooCommunicator::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stops || !works.empty(); });
    if (works.empty()) {
      return;
    }
    if (!error) {
      const std::function<void()> &work = works.front();
      lock.unlock();
      std::exception_ptr thrown;
      try {
        attempt(work);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      error = thrown;
    }
    works.pop_front();
    done = calls - works.size();
    changed.notify_all();
  }
}

void GlooCommunicator::attempt(const std::function<void()> &work) {
  std::string wrong;
  try {
    work();
    return;
  } catch (const gloo::Exception &thrown) {
    wrong = thrown.what();
  } catch (const gloo::EnforceNotMet &thrown) {
    wrong = thrown.what();
  }
  peers.raiseFailure("process " + std::to_string(rank()) + " of " +
                     std::to_string(size()) + ": Gloo: " + wrong);
}

/// FNV-1a.
static uint32_t hashOf(const std::string &text) {
  uint32_t hash = 2166136261U;
  for (char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

void GlooCommunicator::queue(const std::string &what, int64_t bytes,
                             Task task) {
  peers.check();
  {
    std::lock_guard lock(mutex);
    uint64_t call = ++calls;
    works.emplace_back([this, what, bytes, call, task = std::move(task)] {
      std::string text = what + " of " + std::to_string(bytes) + " bytes";
      peers.note(call, text);
      task(hashOf(std::to_string(call) + " " + text));
    });
  }
  changed.notify_all();
}

void GlooCommunicator::join() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return works.empty(); });
  if (error) {
    std::rethrow_exception(error); // it stays: nothing works after it
  }
}

size_t GlooCommunicator::mark() {
  std::lock_guard lock(mutex);
  return calls;
}

void GlooCommunicator::join(size_t mark) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= mark; });
  if (error) {
    std::rethrow_exception(error);
  }
}

void GlooCommunicator::check() {
  peers.check();
  std::lock_guard lock(mutex);
  if (error) {
    std::rethrow_exception(error);
  }
}

template <typename T>
static void add(void *sum, const void *a, const void *b, size_t count) {
  const T *left = static_cast<const T *>(a), *right = static_cast<const T *>(b);
  T *to = static_cast<T *>(sum);
  for (size_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(left[i] + right[i]);
  }
}

template <typename T>
void GlooCommunicator::sumAll(T *data, int64_t count, uint32_t tag) {
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  options.setOutput(data, size_t(count));
  options.setReduceFunction(add<T>);
  options.setTag(tag);
  options.setTimeout(longestWait);
  gloo::allreduce(options);
}

void GlooCommunicator::barrier() {
  // No process has the sum before all have begun.
  queue("barrier", 0, [this](uint32_t tag) {
    uint8_t none = 0;
    sumAll(&none, 1, tag);
  });
  join();
}

/// Gloo of 2022 has no reduce-scatter of any number of processes: a sum to each
/// in turn, whose ring has all of them at work.
template <typename T>
void GlooCommunicator::sumParts(T *parts, int64_t count, T *sum, uint32_t tag) {
  bool isInPlace = sum == parts + rank() * count;
  std::vector<T> unused(isInPlace ? 0 : size_t(count));
  for (int r = 0; r < size(); ++r) {
    gloo::ReduceOptions options(context);
    if (isInPlace) {
      options.setOutput(parts + r * count, size_t(count));
    } else {
      options.setInput(parts + r * count, size_t(count));
      options.setOutput(r == rank() ? sum : unused.data(), size_t(count));
    }
    options.setReduceFunction(add<T>);
    options.setRoot(r);
    options.setTag(tag);
    options.setTimeout(longestWait);
    gloo::reduce(options);
  }
}

/// Calls `work` with a pointer of the type whose sums are those of `dtype`.
template <typename Work>
static void withNumbers(DType dtype, const Work &work) {
  switch (dtype) {
  case DType::Float32:
    return work(static_cast<float *>(nullptr));
  case DType::Float64:
    return work(static_cast<double *>(nullptr));
  case DType::Int8:
  case DType::UInt8:
    return work(static_cast<uint8_t *>(nullptr));
  case DType::Int16:
  case DType::UInt16:
    return work(static_cast<uint16_t *>(nullptr));
  case DType::Int32:
  case DType::UInt32:
    return work(static_cast<uint32_t *>(nullptr));
  default: // the rest has no sum (TensorChecks)
    return work(static_cast<uint64_t *>(nullptr));
  }
}

static std::vector<float> widened(const Tensor &tensor) {
  const auto *bits = static_cast<const uint16_t *>(tensor.data());
  std::vector<float> wide(size_t(tensor.numel()));
  auto decode = tensor.dtype() == bf16 ? decodeBFloat16 : decodeFloat16;
  for (size_t i = 0; i < wide.size(); ++i) {
    wide[i] = decode(bits[i]);
  }
  return wide;
}

static void narrowInto(const Tensor &tensor, const float *wide) {
  auto *bits = static_cast<uint16_t *>(tensor.data());
  auto encode = tensor.dtype() == bf16 ? encodeBFloat16 : encodeFloat16;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    bits[i] = encode(wide[i]);
  }
}

void GlooCommunicator::allReduce(const Tensor &tensor) {
  checkSummed("allReduce", tensor, true);
  queue("all-reduce", tensor.bytes(), [this, tensor](uint32_t tag) {
    if (isNarrow(tensor)) {
      std::vector<float> wide = widened(tensor);
      sumAll(wide.data(), tensor.numel(), tag);
      narrowInto(tensor, wide.data());
      return;
    }
    withNumbers(tensor.dtype(), [&](auto *type) {
      sumAll(static_cast<decltype(type)>(tensor.data()), tensor.numel(), tag);
    });
  });
}

void GlooCommunicator::reduceScatter(const Tensor &parts, const Tensor &sum) {
  checkSummed("reduceScatter", parts, true);
  checkSumOfParts("reduceScatter", sum, parts, size(), true);
  queue("reduce-scatter", parts.bytes(), [this, parts, sum](uint32_t tag) {
    if (isNarrow(parts)) {
      std::vector<float> wide = widened(parts);
      float *own = wide.data() + rank() * sum.numel();
      sumParts(wide.data(), sum.numel(), own, tag);
      if (isNarrow(sum)) {
        narrowInto(sum, own);
      } else {
        std::copy_n(own, sum.numel(), static_cast<float *>(sum.data()));
      }
      return;
    }
    withNumbers(parts.dtype(), [&](auto *type) {
      using Pointer = decltype(type);
      sumParts(static_cast<Pointer>(parts.data()), sum.numel(),
               static_cast<Pointer>(sum.data()), tag);
    });
  });
}

void GlooCommunicator::allGather(const Tensor &part, const Tensor &all) {
  checkParts("allGather", part, all, size(), true);
  queue("all-gather", part.bytes(), [this, part, all](uint32_t tag) {
    if (part.bytes() == 0) {
      return;
    }
    auto *from = static_cast<uint8_t *>(part.data());
    auto *to = static_cast<uint8_t *>(all.data());
    gloo::AllgatherOptions options(context);
    if (from != to + rank() * part.bytes()) {
      options.setInput(from, size_t(part.bytes()));
    }
    options.setOutput(to, size_t(all.bytes()));
    options.setTag(tag);
    options.setTimeout(longestWait);
    gloo::allgather(options);
  });
}

void GlooCommunicator::broadcast(const Tensor &tensor, int root) {
  checkRoot(tensor, root, size(), true);
  queue("broadcast from " + std::to_string(root), tensor.bytes(),
        [this, tensor, root](uint32_t tag) {
          gloo::BroadcastOptions options(context);
          options.setOutput(static_cast<uint8_t *>(tensor.data()),
                            size_t(tensor.bytes()));
          options.setRoot(root);
          options.setTag(tag);
          options.setTimeout(longestWait);
          gloo::broadcast(options);
        });
}

std::unique_ptr<Communicator>
gpt2::makeGlooCommunicator(const Processes &processes) {
  return std::make_unique<GlooCommunicator>(processes);
}
