//===- DataParallelCheckpoint.cpp - The optimiser's tensors, whole --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/checkpoint/OptimizerState.h"
#include "apps/gpt2/distributed/DataParallelState.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::gpt2;

namespace {
struct Kind {
  const char *name;
  Tensor kernels::AdamW::Moments::*tensor;
};
constexpr Kind kinds[] = {{"m.", &kernels::AdamW::Moments::m},
                          {"v.", &kernels::AdamW::Moments::v},
                          {"master.", &kernels::AdamW::Moments::master}};

bool hasMaster(const TrainedParameter &one, const DataParallelOptions &o) {
  return o.optimizer.masterWeights && one.variable.dtype() != f32;
}
} // namespace

std::vector<NamedTensor> DataParallel::optimizerState() {
  State &s = *state;
  if (s.isAlone()) {
    return optimizerTensors(*s.adamw, s.names());
  }
  int rank = s.communicator.rank(), size = s.communicator.size();
  std::vector<std::vector<NamedTensor>> whole(s.parameters.size());
  for (const Kind &kind : kinds) {
    bool isMaster = kind.tensor == &kernels::AdamW::Moments::master;
    for (size_t b = 0; b < s.buckets.size(); ++b) {
      const Bucket &bucket = s.buckets[b];
      if (isMaster && !hasMaster(s.parameters[bucket.plan.places[0].parameter],
                                 s.options)) {
        continue;
      }
      Tensor all = zeros({bucket.plan.count}, f32, bucket.values.device());
      Tensor part = bucket.part(all, rank, size);
      for (size_t i = 0; i < s.pieces.size(); ++i) {
        const Piece &piece = s.pieces[i];
        if (piece.bucket == b) {
          part.slice(0, piece.place, piece.place + piece.count)
              .copyFrom((s.adamw->moments()[i].*kind.tensor).flatten());
        }
      }
      s.communicator.allGather(part, all);
      s.communicator.join();
      if (rank == 0) {
        Tensor host = all.onHost();
        for (const BucketPlan::Place &place : bucket.plan.places) {
          const TrainedParameter &one = s.parameters[place.parameter];
          whole[place.parameter].push_back(
              {kind.name + one.name,
               host.slice(0, place.begin, place.begin + place.count)
                   .view(one.variable.shape())});
        }
      }
      s.communicator.check();
    }
  }
  // In the order that one process has.
  std::vector<NamedTensor> result;
  for (const std::vector<NamedTensor> &some : whole) {
    result.insert(result.end(), some.begin(), some.end());
  }
  if (rank == 0 && s.adamw->powers().defined()) {
    result.push_back({"powers", s.adamw->powers().onHost()});
  }
  return result;
}

void DataParallel::loadOptimizerState(std::span<const NamedTensor> all,
                                      const std::string &path) {
  State &s = *state;
  if (s.isAlone()) {
    copyInto(optimizerTensors(*s.adamw, s.names()), all, "optimiser", path);
    return;
  }
  auto fail = [&](const std::string &expected, const std::string &got) {
    raise({ErrorCode::InvalidArgument,
           path + ": expected " + expected + ", got " + got,
           {}});
  };
  auto find = [&](const std::string &name, const Shape &shape, DType dtype) {
    auto found = std::ranges::find(all, name, &NamedTensor::name);
    std::string expected = "the optimiser's tensor '" + name + "'";
    if (found == all.end()) {
      fail(expected, "none");
    }
    if (found->tensor.shape() != shape || found->tensor.dtype() != dtype) {
      fail(expected + " as " + zeros(shape, dtype, Device::cpu()).str(),
           found->tensor.str());
    }
    return found->tensor;
  };
  // All are looked at before the first one is changed, in every process, also
  // those that it has no part of.
  for (const Kind &kind : kinds) {
    for (const TrainedParameter &one : s.parameters) {
      if (kind.tensor != &kernels::AdamW::Moments::master ||
          hasMaster(one, s.options)) {
        find(kind.name + one.name, one.variable.shape(), f32);
      }
    }
  }
  Tensor powers = find("powers", {2}, f64);
  for (const Kind &kind : kinds) {
    for (size_t i = 0; i < s.pieces.size(); ++i) {
      const Piece &piece = s.pieces[i];
      const TrainedParameter &one = s.parameters[piece.parameter];
      Tensor own = s.adamw->moments()[i].*kind.tensor;
      if (own.defined()) {
        own.flatten().copyFrom(
            find(kind.name + one.name, one.variable.shape(), f32)
                .flatten()
                .slice(0, piece.begin, piece.begin + piece.count));
      }
    }
  }
  if (!s.pieces.empty()) {
    s.adamw->powers().copyFrom(powers);
  }
}
