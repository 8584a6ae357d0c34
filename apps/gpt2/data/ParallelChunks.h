//===- ParallelChunks.h - Work on the chunks of a text ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_PARALLELCHUNKS_H
#define NEREID_APPS_GPT2_DATA_PARALLELCHUNKS_H

#include "nereid/Runtime/device/ThreadPool.h"

#include <exception>
#include <mutex>

namespace nereid::gpt2 {

/// Calls work(i) for 0 <= i < count on all threads. An exception of the work is
/// thrown on by the caller's thread; the other calls still happen.
template <typename Work>
void forEachInParallel(size_t count, const Work &work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      try {
        work(static_cast<size_t>(i));
      } catch (...) {
        std::lock_guard lock(mutex);
        thrown = thrown ? thrown : std::current_exception();
      }
    }
  };
  parallelRanges(static_cast<int64_t>(count), 1, range);
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_PARALLELCHUNKS_H
