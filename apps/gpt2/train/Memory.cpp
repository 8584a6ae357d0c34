//===- Memory.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Memory.h"

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Stream.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

StepMemory gpt2::stepMemory(const GptConfig &c, int64_t block,
                            bool recomputes) {
  auto element = static_cast<int64_t>(byteSize(c.dtype));
  // Weights and gradients in the model's type, two means in fp32, and a master.
  int64_t ofOne = 2 * element + 8 + (c.dtype == f32 ? 0 : 4);
  // Of a layer: both norms' results, query, key and value, attention's result
  // and its projection, the stream, and twice the wide part.
  int64_t layer = 16 * c.width * element + 4 * (c.heads + 4);
  // Kept of each layer: its two inputs, then one layer's own at a time.
  int64_t layers =
      recomputes ? c.layers * 2 * c.width * element + layer : c.layers * layer;
  // After the layers: the stream's ends, logits and their gradient.
  int64_t ends = (5 * c.width + 2 * c.vocabulary) * element;
  return {parameterCount(c) * ofOne, block * (layers + ends)};
}

int64_t StepMemory::largestBatch(int64_t bytes) const {
  return std::max<int64_t>(0, (bytes - parameters) / sequence);
}

/// The number after `key` in a file of the kernel's; the first one for "".
static std::optional<int64_t> numberOf(const std::string &path,
                                       const std::string &key = "") {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (!key.empty()) {
      if (word != key || !(file >> word)) {
        continue;
      }
    }
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

/// Of this process, in the second version's single tree of groups.
static std::string controlGroup() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) {
      return "/sys/fs/cgroup" + line.substr(3);
    }
  }
  return "/sys/fs/cgroup";
}

static int64_t freeHostBytes() {
  int64_t least = std::numeric_limits<int64_t>::max();
  if (auto kilobytes = numberOf("/proc/meminfo", "MemAvailable:")) {
    least = *kilobytes * 1024;
  }
  std::string group = controlGroup();
  auto most = numberOf(group + "/memory.max"),
       used = numberOf(group + "/memory.current");
  if (most && used) {
    least = std::min(least, *most - *used);
  }
  rlimit limit{};
  auto pages = numberOf("/proc/self/statm");
  if (pages && ::getrlimit(RLIMIT_AS, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    // The pool's, and three of a training's own: batches, signals, checkpoints.
    int64_t threads = numThreads() + 3;
    int64_t left = int64_t(limit.rlim_cur) -
                   *pages * int64_t(::sysconf(_SC_PAGESIZE)) -
                   threads * addressesOfThread;
    // A large tensor has up to 2 MiB in front, where it is aligned to a page of
    // that size.
    least = std::min(least, left / 6 * 5);
  }
  return std::max<int64_t>(least, 0);
}

int64_t gpt2::freeBytes(Device device) {
  if (device.isHost()) {
    return freeHostBytes();
  }
  MemoryUse use = memoryUse(device);
  return int64_t(use.free + use.cached);
}

static std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f GB", bytes < 1e9 ? 3 : 1,
                bytes / 1e9);
  return text;
}

StepMemory StepFit::memory(bool recomputes) const {
  StepMemory memory = stepMemory(config, block, recomputes);
  if (device.isHost()) {
    int64_t gradients =
        parameterCount(config) * int64_t(byteSize(config.dtype));
    memory.parameters += memory.parameters - gradients;
  }
  return memory;
}

Failure StepFit::failure() const {
  StepMemory memory = this->memory(recomputes);
  // Where the estimate has said that it fits, it knows no better batch: half is
  // a step that ends soon.
  bool wasToFit = memory.total(batch) <= double(available);
  auto largest = [&](bool again) {
    int64_t most = wasToFit               ? batch / 2
                   : again && !recomputes ? batch
                                          : batch - 1;
    return std::min(this->memory(again).largestBatch(available), most);
  };
  int64_t fits = largest(recomputes), again = largest(true);
  bool helps = !recomputes && again > fits;
  std::string takes = gigabytes(memory.total(batch)),
              there = device.str() + (wasToFit ? " had " : " has ") +
                      gigabytes(double(available)) + " free";
  std::string message =
      "out of memory: a step of " + std::to_string(batch) + " sequences of " +
      std::to_string(block) + " tokens takes " +
      (wasToFit ? "more than the " + takes + " that were expected, and " +
                      there + " at the start; "
                : "about " + takes + ", and " + there + "; ");
  std::string more = "; more --gradient_accumulation_steps make up for it";
  if (wasToFit && batch > 1) {
    message += "try --batch_size=" + std::to_string(fits) +
               (recomputes ? "" : " or --recompute") + more;
  } else if (fits > 0) {
    message +=
        "--batch_size=" + std::to_string(fits) + " would fit" +
        (helps ? ", or " + std::to_string(again) + " with --recompute" : "") +
        more;
  } else if (helps) {
    message += "--batch_size=" + std::to_string(again) +
               " with --recompute would fit" + more;
  } else {
    message +=
        "of this model no batch fits: its parameters " +
        std::string(device.isHost() ? "and a checkpoint's copy of them " : "") +
        "take " + gigabytes(double(memory.parameters)) + ", a sequence " +
        gigabytes(double(memory.sequence)) +
        "; a smaller --block_size, --n_layer or --n_embd will do";
  }
  return {ErrorCode::OutOfMemory, message, {}};
}

void StepFit::check() const {
  StepMemory memory = this->memory(recomputes);
  if (memory.total(device.isHost() ? batch : 1) > double(available)) {
    raise(failure());
  }
}
