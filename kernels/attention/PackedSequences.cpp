//===- PackedSequences.cpp --------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/PackedSequences.h"

#include "kernels/operator/Checks.h"

using namespace nereid;
using namespace nereid::kernels;

/// On a host device; reading others would wait for the GPU.
static void checkOrder(const Checks &checks, const char *name,
                       const Tensor &starts, int64_t total) {
  if (!starts.device().isHost()) {
    return;
  }
  std::vector<int64_t> all = starts.toVector<int64_t>();
  if (all.front() == 0 && all.back() == total && std::ranges::is_sorted(all)) {
    return;
  }
  std::string got;
  for (size_t i = 0; i < std::min<size_t>(all.size(), 8); ++i) {
    got += (i ? ", " : "") + std::to_string(all[i]);
  }
  checks.fail(name,
              "numbers that ascend from 0 to the " + std::to_string(total) +
                  (name[0] == 'q' ? " queries" : " keys"),
              got + (all.size() > 8 ? ", ..." : "") +
                  "; hint: sums of lengths, with 0 in front");
}

void kernels::checkPackedSequences(const char *op, const Tensor &q,
                                   const Tensor &k,
                                   const AttentionOptions &options) {
  Checks checks(op);
  checks.any("q", q);
  if (!options.queryStarts.defined()) {
    if (options.keyStarts.defined()) {
      checks.fail("queryStarts", "a tensor, as keyStarts is",
                  "an undefined tensor");
    }
    return;
  }
  checks.integers("queryStarts", options.queryStarts).rank(1, 1);
  int64_t count = options.queryStarts.size(0);
  checks.require(count >= 2, "queryStarts",
                 "an element for each sequence and one more", count);
  checks.require(q.size(0) == 1, "q",
                 "a batch of 1, since its sequences are packed", q.size(0));
  const Tensor &keyStarts =
      options.keyStarts.defined() ? options.keyStarts : options.queryStarts;
  checks.integers("keyStarts", keyStarts).shape({count}, "that of queryStarts");
  checkOrder(checks, "queryStarts", options.queryStarts, q.size(2));
  checkOrder(checks, "keyStarts", keyStarts, k.size(2));
  if (options.bias.defined()) {
    checks.fail("bias", "none of packed sequences", options.bias.str());
  }
  if (!hasCompiler()) {
    checks.require(options.dropout.p == 0, "dropout",
                   "0 for packed sequences in a program without a compiler",
                   options.dropout.p);
  }
}

PackedSequences::PackedSequences(const AttentionOptions &options) {
  if (!options.queryStarts.defined()) {
    return;
  }
  queryStarts = options.queryStarts.to(i32).contiguous();
  keyStarts = options.keyStarts.defined()
                  ? options.keyStarts.to(i32).contiguous()
                  : queryStarts;
  sequences = queryStarts.size(0) - 1;
}

void kernels::forEachSequence(
    const AttentionOptions &options,
    const std::function<void(const Sequence &)> &one) {
  std::vector<int64_t> queries = options.queryStarts.toVector<int64_t>(),
                       keys = options.keyStarts.defined()
                                  ? options.keyStarts.toVector<int64_t>()
                                  : queries;
  Sequence sequence = {options, 0, 0, 0, 0};
  sequence.options.queryStarts = sequence.options.keyStarts = {};
  for (size_t i = 0; i + 1 < queries.size(); ++i) {
    sequence.firstQuery = queries[i];
    sequence.lastQuery = queries[i + 1];
    sequence.firstKey = keys[i];
    sequence.lastKey = keys[i + 1];
    one(sequence);
  }
}
