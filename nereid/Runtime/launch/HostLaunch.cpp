//===- HostLaunch.cpp - Programs of a grid on the CPU's threads -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads are only woken for work that is worth it: the cost of a program is
// measured as launches go by, and grids that are done in some microseconds run
// on the calling thread: waking a sleeping oneTBB worker takes longer.
//
// A failing check leaves generated code with longjmp, which is sound there:
// that code owns nothing. The other threads stop at their next slice.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/HostLaunch.h"

#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/fault/Crash.h"
#include "nereid/Runtime/fault/Fault.h"
#include "nereid/Support/Log.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>

namespace nereid {
namespace {

struct Run;

/// Threads of a launch whose programs wait for each other. Every program gets a
/// turn whatever the number of threads: one that waits for long has another
/// thread started in its place, as a GPU would have it resident.
class WaitingThreads {
public:
  static constexpr size_t maxThreads = 4096;

  WaitingThreads(Run &run, int64_t programs) : run(run), programs(programs) {}
  /// Returns when all programs have run.
  void runAll();
  /// One more thread, if there are programs that none has begun. False when
  /// there are too many.
  bool add();
  size_t count();

private:
  void work();

  Run &run;
  int64_t programs;
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
};

/// What all threads of one launch share.
struct Run {
  const HostLaunch &launch;
  const LoadedImage &loaded;
  std::atomic<bool> stopped = false;
  std::atomic<int64_t> busyNs = 0;
  std::vector<AddressRange> ranges; ///< under bounds checking
  std::mutex faultMutex;
  std::optional<Fault> fault;
  int64_t faultProgram = 0;
  std::optional<KernelSignal> signal; ///< with installFaultHandler
  std::string scene;                  ///< the same, on `interp`
  bool outOfMemory = false;
  size_t tooManyWaiting = 0;         ///< threads that there are then
  WaitingThreads *waiting = nullptr; ///< for images with programsWait

  explicit Run(const HostLaunch &launch)
      : launch(launch), loaded(*launch.specialization.loaded) {}
};

/// One thread's part. Generated code sees the frame; services get back to the
/// rest from its address.
struct Worker {
  LaunchFrame frame;
  Run *run;
  uint32_t waits = 0; ///< calls of `wait` by the program being run
  std::jmp_buf escape;
};
static_assert(std::is_standard_layout_v<Worker>);

Worker *workerOf(const LaunchFrame *frame) {
  return reinterpret_cast<Worker *>(const_cast<LaunchFrame *>(frame));
}

std::array<int32_t, 3> programOf(const LaunchFrame *frame) {
  return {frame->programId[0], frame->programId[1], frame->programId[2]};
}

/// Faults of what the runtime does for a kernel are not the kernel's.
class ServiceCall {
public:
  ServiceCall() : guard(FaultGuard::current()) {
    FaultGuard::setCurrent(nullptr);
  }
  ~ServiceCall() { FaultGuard::setCurrent(guard); }

private:
  FaultGuard *guard;
};

void printService(const LaunchFrame *frame, uint32_t site, const void *elements,
                  int64_t count) {
  ServiceCall call;
  const KernelImage &image = workerOf(frame)->run->loaded.image;
  if (site >= image.sites.size()) {
    return;
  }
  std::string text =
      formatPrint(image.sites[site], programOf(frame), elements, count);
  std::fwrite(text.data(), 1, text.size(), stdout); // locks: tiles do not mix
}

void failService(const LaunchFrame *frame, uint32_t site, int64_t element,
                 uint64_t value) {
  Worker *worker = workerOf(frame);
  Run &run = *worker->run;
  const auto &grid = run.launch.grid;
  auto id = programOf(frame);
  int64_t program =
      id[0] + int64_t{grid[0]} * (id[1] + int64_t{grid[1]} * id[2]);
  {
    // Of several threads' faults, the one of the first program is reported.
    std::lock_guard lock(run.faultMutex);
    if (!run.fault || program < run.faultProgram) {
      run.fault = Fault{site, element, value, id};
      run.faultProgram = program;
    }
  }
  run.stopped.store(true, std::memory_order_relaxed);
  std::longjmp(worker->escape, 1);
}

uint8_t inBoundsService(const LaunchFrame *frame, uint64_t address,
                        uint32_t bytes) {
  for (const AddressRange &range : workerOf(frame)->run->ranges) {
    if (address >= range.begin && address < range.end &&
        bytes <= range.end - address) {
      return 1;
    }
  }
  return 0;
}

void waitService(const LaunchFrame *frame) {
  Worker *worker = workerOf(frame);
  Run &run = *worker->run;
  // A lock that is free soon is not worth a thread.
  constexpr uint32_t patience = 256;
  std::this_thread::yield();
  if (run.stopped.load(std::memory_order_relaxed)) {
    std::longjmp(worker->escape, 1);
  }
  if (run.waiting && ++worker->waits == patience && !run.waiting->add()) {
    {
      std::lock_guard lock(run.faultMutex);
      run.tooManyWaiting = run.waiting->count();
    }
    run.stopped.store(true, std::memory_order_relaxed);
    std::longjmp(worker->escape, 1);
  }
}

constexpr HostServices services = {printService, failService, inBoundsService,
                                   waitService};

/// A thread's scratch memory: grows to the largest kernel it ran.
struct Scratch {
  std::byte *memory = nullptr;
  size_t bytes = 0;
  ~Scratch() { std::free(memory); }

  std::byte *atLeast(size_t wanted) {
    if (wanted > bytes) {
      std::free(memory);
      bytes = (wanted + 4095) / 4096 * 4096;
      memory = static_cast<std::byte *>(std::aligned_alloc(64, bytes));
      bytes = memory ? bytes : 0;
    }
    return memory;
  }
};
thread_local Scratch scratch;

} // namespace

static void callCode(Worker &worker, int64_t begin, int64_t end) {
  Run &run = *worker.run;
  const HostCode &code = run.loaded.code;
  if (!run.loaded.canFail) {
    code.entry(code.self, &worker.frame, begin, end);
    return;
  }
  // In slices, so that a fault elsewhere stops this thread soon.
  constexpr int64_t slice = 16;
  if (setjmp(worker.escape) == 0) {
    for (int64_t p = begin; p < end; p += slice) {
      if (run.stopped.load(std::memory_order_relaxed)) {
        return;
      }
      code.entry(code.self, &worker.frame, p, std::min(end, p + slice));
    }
  }
}

/// The same; a signal ends this thread's part.
static void callGuarded(Worker &worker, int64_t begin, int64_t end) {
  Run &run = *worker.run;
  if (run.stopped.load(std::memory_order_relaxed)) {
    return;
  }
  FaultGuard guard;
  guard.scene = run.scene.c_str();
  if (sigsetjmp(guard.escape, 0) != 0) {
    guard.landed();
    std::lock_guard lock(run.faultMutex);
    run.signal = run.signal ? run.signal : guard.signal;
    run.stopped.store(true, std::memory_order_relaxed);
    return;
  }
  guard.canEscape = run.scene.empty();
  callCode(worker, begin, end);
}

/// Programs [begin, end) on this thread.
static void runRange(Run &run, int64_t begin, int64_t end) {
  const LoadedImage &loaded = run.loaded;
  const HostLaunch &launch = run.launch;
  Worker worker;
  worker.run = &run;
  LaunchFrame &frame = worker.frame;
  frame.arguments = launch.slots;
  std::copy(launch.grid.begin(), launch.grid.end(), frame.grid);
  frame.flags = launch.flags;
  frame.services = &services;
  frame.scratch = scratch.atLeast(loaded.image.scratchBytes);
  std::fill_n(frame.programId, 3, 0);
  if (!frame.scratch && loaded.image.scratchBytes) [[unlikely]] {
    std::lock_guard lock(run.faultMutex);
    run.outOfMemory = true;
    return;
  }
  if (hasFaultHandler()) [[unlikely]] {
    callGuarded(worker, begin, end);
  } else {
    callCode(worker, begin, end);
  }
}

void WaitingThreads::work() {
  for (int64_t p = next.fetch_add(1); p < programs; p = next.fetch_add(1)) {
    runRange(run, p, p + 1);
  }
}

bool WaitingThreads::add() {
  std::lock_guard lock(mutex);
  if (next.load() >= programs) {
    return true;
  }
  if (threads.size() >= maxThreads) {
    return false;
  }
  try {
    threads.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
    return false; // a limit of the user or of the container
  }
  return true;
}

size_t WaitingThreads::count() {
  std::lock_guard lock(mutex);
  return threads.size() + 1; // with the calling one
}

void WaitingThreads::runAll() {
  int most = run.launch.binding.kernel.context.pool().threads();
  for (int64_t t = 1; t < std::min<int64_t>(most, programs); ++t) {
    add();
  }
  work();
  // A running thread may still add others after the one being joined.
  for (size_t i = 0;; ++i) {
    std::thread thread;
    {
      std::lock_guard lock(mutex);
      if (i == threads.size()) {
        return;
      }
      thread = std::move(threads[i]);
    }
    thread.join();
  }
}

static void timedRange(Run &run, int64_t begin, int64_t end) {
  Clock &clock = *run.launch.binding.kernel.context.clock;
  int64_t start = clock.now();
  runRange(run, begin, end);
  run.busyNs.fetch_add(clock.now() - start, std::memory_order_relaxed);
}

/// Work below this runs on the calling thread.
static constexpr float wakeUpNs = 20000;
/// Handing out a range is a small part of this (docs/decisions/Host.md).
static constexpr float rangeNs = 5000;

static void runManyPrograms(Run &run, int64_t programs) {
  std::atomic<float> &estimate = run.launch.specialization.programNs;
  float programNs = estimate.load(std::memory_order_relaxed);
  int64_t done = 0;
  if (programNs == 0) {
    timedRange(run, 0, 1);
    programNs = static_cast<float>(
        std::max<int64_t>(run.busyNs.load(std::memory_order_relaxed), 1));
    done = 1;
  }
  int64_t left = programs - done;
  if (static_cast<float>(left) * programNs < wakeUpNs) {
    timedRange(run, done, programs);
  } else {
    // Long enough to pay for themselves, short enough to balance the tail.
    int64_t worthwhile = static_cast<int64_t>(rangeNs / programNs);
    ThreadPool &pool = run.launch.binding.kernel.context.pool();
    int64_t balanced = left / (4 * pool.threads());
    int64_t grain = std::max<int64_t>(1, std::min(worthwhile, balanced));
    pool.runRanges(
        left, grain,
        [&](int64_t begin, int64_t end) {
          timedRange(run, done + begin, done + end);
        },
        run.launch.watch);
  }
  float measured =
      static_cast<float>(run.busyNs.load()) / static_cast<float>(programs);
  float old = estimate.load(std::memory_order_relaxed);
  estimate.store(old == 0 ? measured : 0.75f * old + 0.25f * measured,
                 std::memory_order_relaxed);
}

Status runOnHost(const HostLaunch &launch) {
  Run run(launch);
  if (hasFaultHandler() && launch.binding.device.kind() == Device::Kind::Interp)
      [[unlikely]] {
    run.scene = crashScene(launch.binding);
  }
  int64_t programs = int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  if (launch.binding.options.checks & CheckBounds) [[unlikely]] {
    run.ranges = tensorRanges(launch.binding);
  }
  if (run.loaded.image.programsWait && programs > 1) [[unlikely]] {
    WaitingThreads waiting(run, programs);
    run.waiting = &waiting;
    waiting.runAll();
  } else if (programs == 1 || launch.sequential) {
    // The reference executor takes memory for every value.
    try {
      runRange(run, 0, programs);
    } catch (const std::bad_alloc &) {
      return {ErrorCode::OutOfMemory,
              launch.binding.kernel.description.name +
                  ": no memory for the values of a program; use smaller blocks "
                  "or raise the limit"};
    }
  } else {
    runManyPrograms(run, programs);
  }
  if (run.signal) [[unlikely]] {
    return crashFailure(launch.binding, launch.specialization, *run.signal);
  }
  if (run.fault) [[unlikely]] {
    return faultFailure(launch.binding, launch.specialization, *run.fault);
  }
  if (run.tooManyWaiting) [[unlikely]] {
    return {
        ErrorCode::Unsupported,
        launch.binding.kernel.description.name + ": more than " +
            std::to_string(run.tooManyWaiting) +
            " programs wait for others that have not begun, and no more "
            "threads can be started; use a smaller grid, or raise ulimit -u"};
  }
  if (run.outOfMemory) [[unlikely]] {
    return {ErrorCode::OutOfMemory,
            launch.binding.kernel.description.name + ": no memory for " +
                std::to_string(run.loaded.image.scratchBytes) +
                " bytes of scratch a thread"};
  }
  return Status::success();
}

uint64_t distinctBytes(const LaunchBinding &binding) {
  uint64_t total = 0;
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *a = binding.get(i);
    if (a->kind != Argument::Kind::Tensor) {
      continue; // tuples and descriptors: only a hint is at stake
    }
    bool seen = false;
    for (size_t j = 0; j < i && !seen; ++j) {
      const Argument *b = binding.get(j);
      seen = b->kind == Argument::Kind::Tensor &&
             b->tensor->data() == a->tensor->data();
    }
    total += seen ? 0 : static_cast<uint64_t>(a->tensor->bytes());
  }
  return total;
}

} // namespace nereid
