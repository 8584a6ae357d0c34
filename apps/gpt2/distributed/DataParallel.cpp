//===- DataParallel.cpp - One model in several processes ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/DataParallel.h"

#include "apps/gpt2/distributed/BucketPlan.h"

#include "kernels/expression/Expression.h"
#include "kernels/reduce/Reduce.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::gpt2;

/// Elements of a flat tensor, as a tensor that says of itself that nothing else
/// sees its memory: autograd then adds to it in place.
static Tensor placeIn(const Tensor &flat, int64_t begin, const Shape &shape) {
  auto *data = static_cast<std::byte *>(flat.data()) +
               begin * int64_t(byteSize(flat.dtype()));
  return Tensor::adopt(std::make_shared<Tensor>(flat), data, shape,
                       flat.dtype(), flat.device());
}

namespace {

struct Bucket {
  BucketPlan plan;
  Tensor values, gradients; ///< flat
  size_t complete = 0;      ///< gradients, of this step

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

} // namespace

struct DataParallel::State : std::enable_shared_from_this<State> {
  State(Communicator &communicator, std::vector<TrainedParameter> parameters,
        const DataParallelOptions &options)
      : communicator(communicator), parameters(std::move(parameters)),
        options(options),
        adamw(std::make_unique<kernels::AdamW>(options.optimizer)) {}

  bool isAlone() const { return communicator.size() == 1; }
  void makeBuckets();
  void makePieces();
  void checkAgreement();
  void complete(size_t parameter);
  void queueReady(bool all);

  Communicator &communicator;
  std::vector<TrainedParameter> parameters;
  DataParallelOptions options;
  std::unique_ptr<kernels::AdamW> adamw;
  std::vector<Bucket> buckets;
  /// Of each parameter: its bucket, and its place there.
  std::vector<std::pair<size_t, BucketPlan::Place>> places;
  std::vector<Piece> pieces; ///< in the order of `adamw`
  size_t nextBucket = 0;
  bool reduces = false;
};

/// A sum of tensors that differ would be nonsense: names, shapes, types and
/// options are compared by a hash.
void DataParallel::State::checkAgreement() {
  std::string text = std::to_string(options.bucketBytes);
  for (const TrainedParameter &one : parameters) {
    text += one.name + one.variable.value().str() +
            std::to_string(one.weightDecay) + ";";
  }
  uint64_t hash = 1469598103934665603u; // FNV-1a
  for (char c : text) {
    hash = (hash ^ uint8_t(c)) * 1099511628211u;
  }
  Device device = parameters.front().variable.device();
  Tensor own = Tensor::fromVector(std::vector{int64_t(hash)}, Shape{1}, device);
  Tensor all = zeros({communicator.size()}, i64, device);
  communicator.allGather(own, all);
  communicator.join();
  std::vector<int64_t> hashes = all.toVector<int64_t>();
  communicator.check();
  for (size_t r = 0; r < hashes.size(); ++r) {
    if (hashes[r] != hashes[0]) {
      raise({ErrorCode::InvalidArgument,
             "process " + std::to_string(r) +
                 ": expected the parameters of process 0, got others; hint: do "
                 "all processes have the same options?",
             {}});
    }
  }
}

void DataParallel::State::makeBuckets() {
  std::vector<PlannedParameter> planned;
  for (const TrainedParameter &one : parameters) {
    planned.push_back({one.variable.dtype(), one.variable.value().numel()});
  }
  Device device = parameters.front().variable.device();
  places.resize(parameters.size());
  for (BucketPlan &plan :
       planBuckets(planned, options.bucketBytes, communicator.size())) {
    Bucket bucket;
    bucket.values = zeros({plan.count}, plan.dtype, device);
    bucket.gradients = zeros({plan.count}, plan.dtype, device);
    for (const BucketPlan::Place &place : plan.places) {
      const Variable &variable = parameters[place.parameter].variable;
      places[place.parameter] = {buckets.size(), place};
      Tensor value = placeIn(bucket.values, place.begin, variable.shape());
      value.copyFrom(variable.value());
      variable.setValue(value);
      variable.zeroGrad();
      variable.onGradient(
          [weak = weak_from_this(), i = place.parameter](const Variable &) {
            if (auto state = weak.lock()) {
              state->complete(i);
            }
          });
    }
    communicator.broadcast(bucket.values, 0);
    communicator.join();
    bucket.plan = std::move(plan);
    buckets.push_back(std::move(bucket));
  }
}

void DataParallel::State::makePieces() {
  int rank = communicator.rank(), size = communicator.size();
  adamw = std::make_unique<kernels::AdamW>(options.optimizer);
  pieces.clear();
  for (size_t b = 0; b < buckets.size(); ++b) {
    const Bucket &bucket = buckets[b];
    int64_t from = rank * bucket.partSize(size);
    int64_t to = from + bucket.partSize(size);
    for (const BucketPlan::Place &place : bucket.plan.places) {
      int64_t begin = std::max(from, place.begin);
      int64_t end = std::min(to, place.begin + place.count);
      if (begin >= end) {
        continue;
      }
      Variable piece(placeIn(bucket.values, begin, {end - begin}), true);
      piece.setGrad(placeIn(bucket.gradients, begin, {end - begin}));
      adamw->add(piece, parameters[place.parameter].weightDecay);
      pieces.push_back(
          {place.parameter, b, begin - place.begin, begin - from, end - begin});
    }
  }
}

DataParallel::DataParallel(Communicator &communicator,
                           std::vector<TrainedParameter> parameters,
                           const DataParallelOptions &options)
    : state(std::make_shared<State>(communicator, std::move(parameters),
                                    options)) {
  if (options.bucketBytes <= 0) {
    raise({ErrorCode::InvalidArgument,
           "bucketBytes: expected a positive number, got " +
               std::to_string(options.bucketBytes),
           {}});
  }
  if (state->isAlone()) {
    for (size_t i = 0; i < state->parameters.size(); ++i) {
      const TrainedParameter &one = state->parameters[i];
      state->adamw->add(one.variable, one.weightDecay);
      state->pieces.push_back({i, 0, 0, 0, one.variable.value().numel()});
    }
    return;
  }
  state->checkAgreement();
  state->makeBuckets();
  state->makePieces();
}

DataParallel::~DataParallel() = default;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

void DataParallel::zeroGrad() {
  for (const TrainedParameter &one : state->parameters) {
    one.variable.zeroGrad();
  }
}

void DataParallel::begin() { state->reduces = !state->isAlone(); }

/// The first gradient of a step is where backward has left it: it is copied to
/// the bucket. Later ones are added there.
void DataParallel::State::complete(size_t i) {
  const Variable &variable = parameters[i].variable;
  auto &[b, place] = places[i];
  Tensor home = placeIn(buckets[b].gradients, place.begin, variable.shape());
  if (variable.grad().data() != home.data()) {
    home.copyFrom(variable.grad());
    variable.setGrad(std::move(home));
  }
  if (reduces) {
    ++buckets[b].complete;
    queueReady(false);
  }
}

/// In the order of the buckets, which is the same in all processes.
void DataParallel::State::queueReady(bool all) {
  for (; nextBucket < buckets.size(); ++nextBucket) {
    Bucket &bucket = buckets[nextBucket];
    if (!all && bucket.complete < bucket.plan.places.size()) {
      return;
    }
    communicator.reduceScatter(
        bucket.gradients, bucket.part(bucket.gradients, communicator.rank(),
                                      communicator.size()));
  }
}

void DataParallel::finish() {
  State &s = *state;
  if (!s.reduces) {
    return;
  }
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    if (!s.parameters[i].variable.grad().defined()) {
      auto &[b, place] = s.places[i];
      s.buckets[b]
          .gradients.slice(0, place.begin, place.begin + place.count)
          .zero();
    }
  }
  s.queueReady(true);
  s.communicator.join();
  s.reduces = false;
  s.nextBucket = 0;
  for (Bucket &bucket : s.buckets) {
    bucket.complete = 0;
  }
}

//===----------------------------------------------------------------------===//
// Optimiser
//===----------------------------------------------------------------------===//

kernels::ClippedNorm DataParallel::clippedNorm(double most) {
  State &s = *state;
  if (s.isAlone()) {
    return s.adamw->clippedNorm(most);
  }
  int size = s.communicator.size();
  Device device = s.parameters.front().variable.device();
  Tensor own = s.pieces.empty() ? zeros({1}, f32, device) : s.adamw->gradNorm();
  Tensor all = empty({size}, f32, device);
  s.communicator.allGather(own, all);
  s.communicator.join();
  Tensor squares = kernels::Expression(all) * all;
  Tensor norm = kernels::sqrt(kernels::sumTo(squares, {1}));
  constexpr double noDivisionByZero = 1e-6; // as in AdamW::clipFactor
  Tensor factor =
      kernels::minimum(kernels::Expression(most) /
                           (kernels::Expression(norm) + noDivisionByZero),
                       1.0);
  return {norm, factor};
}

void DataParallel::step(const Tensor &factor) {
  State &s = *state;
  s.adamw->step(factor);
  if (s.isAlone()) {
    return;
  }
  int rank = s.communicator.rank(), size = s.communicator.size();
  // The weights that the forward pass needs first lie in the last bucket.
  for (size_t b = s.buckets.size(); b-- > 0;) {
    const Bucket &bucket = s.buckets[b];
    s.communicator.allGather(bucket.part(bucket.values, rank, size),
                             bucket.values);
  }
  s.communicator.join();
}

void DataParallel::setLearningRate(double rate) {
  state->options.optimizer.learningRate = rate;
  state->adamw->setLearningRate(rate);
}

void DataParallel::prepare() { state->adamw->prepare(); }

void DataParallel::weightsChanged() {
  State &s = *state;
  for (size_t i = 0; i < s.pieces.size(); ++i) {
    kernels::AdamW::Moments own = s.adamw->moments()[i];
    const Piece &piece = s.pieces[i];
    if (own.master.defined()) {
      Tensor value = s.parameters[piece.parameter].variable.value().flatten();
      own.master.flatten().copyFrom(
          value.slice(0, piece.begin, piece.begin + piece.count));
    }
  }
}

int64_t DataParallel::elementsKept() const {
  int64_t count = 0;
  for (const Piece &piece : state->pieces) {
    count += piece.count;
  }
  return count;
}

size_t DataParallel::buckets() const { return state->buckets.size(); }

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

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
  int rank = s.communicator.rank(), size = s.communicator.size();
  std::vector<NamedTensor> result;
  for (const Kind &kind : kinds) {
    bool isMaster = kind.tensor == &kernels::AdamW::Moments::master;
    if (s.isAlone()) {
      for (size_t i = 0; i < s.pieces.size(); ++i) {
        Tensor whole = s.adamw->moments()[i].*kind.tensor;
        if (whole.defined()) {
          result.push_back({kind.name + s.parameters[i].name, whole});
        }
      }
      continue;
    }
    std::vector<Tensor> whole(s.parameters.size());
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
          whole[place.parameter] =
              host.slice(0, place.begin, place.begin + place.count)
                  .view(s.parameters[place.parameter].variable.shape());
        }
      }
      s.communicator.check();
    }
    for (size_t i = 0; i < whole.size(); ++i) {
      if (whole[i].defined()) {
        result.push_back({kind.name + s.parameters[i].name, whole[i]});
      }
    }
  }
  if (rank == 0 && s.adamw->powers().defined()) {
    result.push_back({"powers", s.adamw->powers().onHost()});
  }
  return result;
}

void DataParallel::loadOptimizerState(std::span<const NamedTensor> all,
                                      const std::string &path) {
  State &s = *state;
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
