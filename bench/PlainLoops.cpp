//===- PlainLoops.cpp - What plain C++ reaches on this machine -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops a programmer would write, compiled with -O3 -march=native and split
// evenly over the threads: the yardsticks of bench/compare_pytorch.py that are
// not PyTorch. Loaded with ctypes. The threads are oneTBB's, which Nereid uses
// too, so that no idle pool spins beside the one being measured.
//
//===----------------------------------------------------------------------===//

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <cstring>
#include <memory>

namespace {

using Vector = float __attribute__((ext_vector_type(16)));

std::unique_ptr<tbb::task_arena> arena;
int threads = 1;

/// body(begin, end) on every thread, shares rounded to whole cache lines.
template <typename Body>
void split(int64_t count, Body body) {
  constexpr int64_t line = 64;
  int64_t share = (count / threads + line - 1) / line * line;
  arena->execute([&] {
    tbb::parallel_for(
        0, threads,
        [&](int thread) {
          int64_t begin = std::min(count, share * thread);
          body(begin,
               thread + 1 == threads ? count : std::min(count, begin + share));
        },
        tbb::static_partitioner());
  });
}

} // namespace

extern "C" {

void plainSetThreads(int32_t count) {
  threads = count;
  arena = std::make_unique<tbb::task_arena>(count);
}

void plainAdd(float *__restrict z, const float *__restrict x,
              const float *__restrict y, int64_t count) {
  split(count, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      z[i] = x[i] + y[i];
    }
  });
}

void plainCopy(float *__restrict to, const float *__restrict from,
               int64_t count) {
  split(count, [=](int64_t begin, int64_t end) {
    // As vectors, so that it stays a loop of loads and stores: a call of memcpy
    // would choose non-temporal stores for large sizes.
    auto *out = reinterpret_cast<Vector *>(to);
    auto *in = reinterpret_cast<const Vector *>(from);
    for (int64_t i = begin / 16; i < end / 16; ++i) {
      out[i] = in[i];
      asm volatile("" ::: "memory");
    }
  });
}

void plainCopyNonTemporal(float *__restrict to, const float *__restrict from,
                          int64_t count) {
  split(count, [=](int64_t begin, int64_t end) {
    auto *out = reinterpret_cast<Vector *>(to);
    auto *in = reinterpret_cast<const Vector *>(from);
    for (int64_t i = begin / 16; i < end / 16; ++i) {
      __builtin_nontemporal_store(in[i], out + i);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  });
}
}
