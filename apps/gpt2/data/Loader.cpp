//===- Loader.cpp - Batches of a data set ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Loader.h"

#include "apps/gpt2/train/Philox.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace nereid::gpt2 {

/// In [0, bound), from the upper half of a product of 64 bits each: the
/// deviation from uniform is below bound / 2^64.
static uint64_t uniformBelow(uint64_t bound, uint64_t index, uint64_t step,
                             uint64_t seed) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(
      static_cast<Wide>(philox(seed, step, index)) * bound >> 64);
}

namespace {
struct Request {
  uint64_t step;
  int rank, ranks;
  bool operator==(const Request &) const = default;
};
} // namespace

struct Loader::State {
  std::vector<Shard> shards;
  std::vector<uint64_t> ends; ///< tokens before the end of each shard
  int64_t batch, block;
  uint64_t seed;

  // One request is ahead of the caller: asked for, then done.
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Request> asked;
  std::optional<Request> done;
  Batch result;
  std::exception_ptr thrown;
  bool isStopping = false;
  std::thread thread;

  ~State() {
    {
      std::lock_guard lock(mutex);
      isStopping = true;
    }
    changed.notify_all();
    if (thread.joinable()) {
      thread.join();
    }
  }

  uint64_t tokens() const { return ends.empty() ? 0 : ends.back(); }

  /// Of all shards one after another.
  void copy(uint64_t first, size_t count, int32_t *to) const {
    size_t shard = static_cast<size_t>(
        std::upper_bound(ends.begin(), ends.end(), first) - ends.begin());
    while (count > 0) {
      uint64_t begin = ends[shard] - shards[shard].size();
      size_t here =
          static_cast<size_t>(std::min<uint64_t>(count, ends[shard] - first));
      shards[shard].read(first - begin, here, to);
      first += here;
      to += here;
      count -= here;
      ++shard;
    }
  }

  Batch read(const Request &request) const {
    int64_t rows = batch / request.ranks;
    Batch result{empty({rows, block}, i32, Device::cpu()),
                 empty({rows, block}, i32, Device::cpu())};
    std::vector<int32_t> row(static_cast<size_t>(block) + 1);
    for (int64_t i = 0; i < rows; ++i) {
      uint64_t index = static_cast<uint64_t>(request.rank * rows + i);
      uint64_t starts = tokens() - static_cast<uint64_t>(block);
      copy(uniformBelow(starts, index, request.step, seed), row.size(),
           row.data());
      std::copy(row.begin(), row.end() - 1,
                result.inputs.data<int32_t>() + i * block);
      std::copy(row.begin() + 1, row.end(),
                result.targets.data<int32_t>() + i * block);
    }
    return result;
  }

  /// False when the system has no thread; batches are then read when they are
  /// asked for.
  bool startThread() {
    if (!thread.joinable()) {
      try {
        thread = std::thread([this] { readAhead(); });
      } catch (const std::system_error &) {
        return false;
      }
    }
    return true;
  }

  void readAhead() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return isStopping || asked; });
      if (isStopping) {
        return;
      }
      Request request = *asked;
      lock.unlock();
      Batch ready;
      std::exception_ptr failed;
      try {
        ready = read(request);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      asked.reset();
      done = request;
      result = std::move(ready);
      thrown = failed;
      changed.notify_all();
    }
  }
};

Loader::Loader(std::vector<Shard> shards, int64_t batch, int64_t block,
               uint64_t seed)
    : state(std::make_unique<State>()) {
  if (batch < 1 || block < 1) {
    raise({ErrorCode::InvalidArgument,
           "expected a batch and a block of at least 1, got a batch of " +
               std::to_string(batch) + " and a block of " +
               std::to_string(block),
           {}});
  }
  uint64_t end = 0;
  for (const Shard &shard : shards) {
    state->ends.push_back(end += shard.size());
  }
  if (end < static_cast<uint64_t>(block) + 1) {
    raise({ErrorCode::InvalidArgument,
           (shards.empty() ? std::string("data") : shards[0].path()) +
               ": expected at least " + std::to_string(block + 1) +
               " tokens, one more than the block, got " + std::to_string(end) +
               "; a smaller --block_size or more text will do",
           {}});
  }
  state->shards = std::move(shards);
  state->batch = batch;
  state->block = block;
  state->seed = seed;
}

Loader::Loader(Loader &&) noexcept = default;
Loader::~Loader() = default;

uint64_t Loader::tokens() const { return state->tokens(); }

Batch Loader::batch(uint64_t step, int rank, int ranks, uint64_t stride) {
  if (ranks < 1 || rank < 0 || rank >= ranks || state->batch % ranks != 0) {
    raise({ErrorCode::InvalidArgument,
           "expected a batch that divides by the number of processes, got " +
               std::to_string(state->batch) + " rows for process " +
               std::to_string(rank) + " of " + std::to_string(ranks),
           {}});
  }
  Request request{step, rank, ranks};
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return !state->asked; });
  Batch batch;
  std::exception_ptr thrown;
  if (state->done == request) {
    batch = std::exchange(state->result, {});
    thrown = std::exchange(state->thrown, nullptr);
  } else {
    try {
      batch = state->read(request);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  state->done.reset();
  if (thrown) {
    std::rethrow_exception(thrown);
  }
  if (state->startThread()) {
    state->asked = Request{step + stride, rank, ranks};
  }
  lock.unlock();
  state->changed.notify_all();
  return batch;
}

} // namespace nereid::gpt2
