//===- FakeCupti.h - A CUPTI without a GPU ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: the entry points that nereid/Prof loads, in a shared library. A
// test says what the GPU did; a flush hands it over in buffers, as records of
// the size that CUDA 12 gives them, on a clock of their own.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_TESTING_FAKECUPTI_H
#define NEREID_PROF_TESTING_FAKECUPTI_H

#include "nereid/Machine/Clock.h"
#include "nereid/Prof/Cupti.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nereid::prof::cupti {

struct FakeActivity {
  int kind = ConcurrentKernel;
  int64_t beginNs = 0, endNs = 0; ///< of the host's clock
  std::string name;
  std::array<int32_t, 3> grid = {1, 1, 1};
  uint64_t bytes = 0;
  uint8_t copyKind = 0;
  uint32_t device = 0, stream = 0;
};

struct FakeCupti {
  uint32_t version = 24;
  std::shared_ptr<Clock> clock = steadyClock(); ///< the host's
  int64_t clockOffset = 5'000'000'000;          ///< of its own from that
  std::map<std::string, Result> failNext;       ///< by symbol, once
  std::set<int> enabled;
  std::vector<FakeActivity> waiting;
  size_t dropped = 0;
  size_t recordsPerBuffer = 2;

  void reset() { *this = FakeCupti(); }
  /// The number it has for a stream.
  uint32_t streamId(gpu::StreamHandle stream);
};

/// The one in the library.
__attribute__((visibility("default"))) FakeCupti &fakeCupti();

} // namespace nereid::prof::cupti

#endif // NEREID_PROF_TESTING_FAKECUPTI_H
