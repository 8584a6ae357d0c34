//===- DataParallelState.h - What DataParallel keeps -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_DATAPARALLELSTATE_H
#define NEREID_APPS_GPT2_DISTRIBUTED_DATAPARALLELSTATE_H

#include "apps/gpt2/distributed/BucketPlan.h"
#include "apps/gpt2/distributed/DataParallel.h"

namespace nereid::gpt2 {

struct Bucket {
  BucketPlan plan;
  Tensor values;    ///< flat
  Tensor gradients; ///< flat: of the values' type, or sums in fp32
  Tensor sum; ///< fp32, of this process's part: may be that of `gradients`
  size_t complete = 0; ///< gradients, of this step

  int64_t partSize(int processes) const { return plan.count / processes; }
  Tensor part(const Tensor &flat, int rank, int processes) const {
    int64_t size = partSize(processes);
    return flat.slice(0, rank * size, (rank + 1) * size);
  }
};

/// What of a parameter this process updates.
struct Piece {
  size_t parameter, bucket;
  int64_t begin; ///< of the parameter's elements
  int64_t place; ///< of the part's elements
  int64_t count;
};

struct DataParallel::State : std::enable_shared_from_this<State> {
  State(Communicator &communicator, std::vector<TrainedParameter> parameters,
        const DataParallelOptions &options)
      : communicator(communicator), parameters(std::move(parameters)),
        options(options),
        adamw(std::make_unique<kernels::AdamW>(options.optimizer)) {}

  bool isAlone() const { return communicator.size() == 1; }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const TrainedParameter &one : parameters) {
      result.push_back(one.name);
    }
    return result;
  }
  void makeSums();
  void makeBuckets();
  void makePieces();
  void checkAgreement();
  void watchGradients();
  void complete(size_t parameter);
  void queueReady(bool all);
  /// Has AdamW read the sums.
  void showSums();

  Communicator &communicator;
  std::vector<TrainedParameter> parameters;
  DataParallelOptions options;
  std::unique_ptr<kernels::AdamW> adamw;
  std::vector<Bucket> buckets;
  /// The fp32 sums over several micro-steps, for each parameter, and the memory
  /// that they lie in.
  std::vector<Tensor> sums, sumsMemory;
  /// The bucket of each parameter, and its place there.
  std::vector<std::pair<size_t, BucketPlan::Place>> places;
  std::vector<Piece> pieces; ///< in the order of `adamw`
  /// Marks of the gathers, by bucket, and the bucket whose gather was awaited
  /// last: the number of buckets before the first one.
  std::vector<size_t> marks;
  size_t awaited = 0;
  size_t nextBucket = 0;
  bool reduces = false;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_DATAPARALLELSTATE_H
