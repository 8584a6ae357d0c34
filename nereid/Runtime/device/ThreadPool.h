//===- ThreadPool.h - The threads that run programs -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One oneTBB arena of numThreads() slots, the calling thread being one of
// them. Work is handed out in contiguous ranges and stolen when a thread runs
// dry, so that programs of unequal cost balance.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_THREADPOOL_H
#define NEREID_RUNTIME_DEVICE_THREADPOOL_H

#include <cstdint>
#include <memory>
#include <type_traits>

namespace nereid {

/// A reference to a callable void(int64_t begin, int64_t end).
class RangeBody {
public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>)
  RangeBody(const F &function)
      : object(&function), call([](const void *f, int64_t b, int64_t e) {
          (*static_cast<const F *>(f))(b, e);
        }) {}
  void operator()(int64_t begin, int64_t end) const {
    call(object, begin, end);
  }

private:
  const void *object;
  void (*call)(const void *, int64_t, int64_t);
};

/// Calls body on disjoint ranges that cover [0, count), on all threads, none
/// shorter than `grain` except the last ones. Returns when all are done. The
/// body must not throw. Start-up costs some microseconds: small work is better
/// done by the caller itself.
void parallelRanges(int64_t count, int64_t grain, RangeBody body);

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_THREADPOOL_H
