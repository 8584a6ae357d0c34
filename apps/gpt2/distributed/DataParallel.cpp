//===- DataParallel.cpp - One model in several processes ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/DataParallel.h"

#include "apps/gpt2/distributed/DataParallelState.h"

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

/// A sum of tensors that differ would be nonsense: names, shapes, types and
/// options are compared by a hash.
void DataParallel::State::checkAgreement() {
  std::string text = std::to_string(options.bucketBytes) + options.agreement;
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
  for (size_t r = 0; r < hashes.size(); ++r) {
    if (hashes[r] != hashes[0]) {
      raise({ErrorCode::InvalidArgument,
             "process " + std::to_string(r) +
                 ": expected the parameters and options of process 0, got "
                 "others; hint: have all processes the same options, and the "
                 "same checkpoint to go on from?",
             {}});
    }
  }
  communicator.check();
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
  // NaN where the norm is not finite: AdamW skips such a step.
  Tensor factor =
      kernels::minimum(kernels::Expression(most) /
                           (kernels::Expression(norm) + noDivisionByZero),
                       1.0) +
      (kernels::Expression(norm) - norm);
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
