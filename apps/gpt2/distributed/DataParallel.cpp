//===- DataParallel.cpp - One model in several processes ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/DataParallel.h"

#include "apps/gpt2/distributed/DataParallelState.h"

#include "kernels/accumulate/Accumulate.h"
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

/// Of one process: a block for all.
void DataParallel::State::makeSums() {
  constexpr int64_t alignment = 64; // elements
  std::vector<int64_t> begins;
  int64_t count = 0;
  for (const TrainedParameter &one : parameters) {
    begins.push_back(count);
    int64_t size = one.variable.value().numel();
    count += (size + alignment - 1) / alignment * alignment;
  }
  sumsMemory = {zeros({count}, f32, parameters.front().variable.device())};
  for (size_t i = 0; i < parameters.size(); ++i) {
    sums.push_back(
        placeIn(sumsMemory[0], begins[i], parameters[i].variable.shape()));
  }
}

void DataParallel::State::watchGradients() {
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].variable.onGradient(
        [weak = weak_from_this(), i](const Variable &) {
          if (auto state = weak.lock()) {
            state->complete(i);
          }
        });
  }
}

void DataParallel::State::makeBuckets() {
  std::vector<PlannedParameter> planned;
  for (const TrainedParameter &one : parameters) {
    planned.push_back({one.variable.dtype(), one.variable.value().numel()});
  }
  Device device = parameters.front().variable.device();
  bool hasSums = options.microSteps > 1;
  int rank = communicator.rank(), size = communicator.size();
  places.resize(parameters.size());
  sums.resize(hasSums ? parameters.size() : 0);
  for (BucketPlan &plan :
       planBuckets(planned, options.bucketBytes, communicator.size())) {
    Bucket bucket;
    bucket.values = zeros({plan.count}, plan.dtype, device);
    bucket.gradients = zeros({plan.count}, hasSums ? f32 : plan.dtype, device);
    for (const BucketPlan::Place &place : plan.places) {
      const Variable &variable = parameters[place.parameter].variable;
      places[place.parameter] = {buckets.size(), place};
      Tensor value = placeIn(bucket.values, place.begin, variable.shape());
      value.copyFrom(variable.value());
      variable.setValue(value);
      variable.zeroGrad();
      if (hasSums) {
        sums[place.parameter] =
            placeIn(bucket.gradients, place.begin, variable.shape());
      }
    }
    communicator.broadcast(bucket.values, 0);
    communicator.join();
    bucket.plan = std::move(plan);
    bucket.sum = bucket.gradients.dtype() == f32
                     ? bucket.part(bucket.gradients, rank, size)
                     : zeros({bucket.partSize(size)}, f32, device);
    if (hasSums) {
      sumsMemory.push_back(bucket.gradients);
    }
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
      piece.setGrad(placeIn(bucket.sum, begin - from, {end - begin}));
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
  if (options.microSteps <= 0) {
    raise({ErrorCode::InvalidArgument,
           "microSteps: expected a positive number, got " +
               std::to_string(options.microSteps),
           {}});
  }
  if (state->isAlone()) {
    for (size_t i = 0; i < state->parameters.size(); ++i) {
      const TrainedParameter &one = state->parameters[i];
      state->adamw->add(one.variable, one.weightDecay);
      state->pieces.push_back({i, 0, 0, 0, one.variable.value().numel()});
    }
    if (options.microSteps > 1) {
      state->makeSums();
      state->watchGradients();
    }
    return;
  }
  state->checkAgreement();
  state->makeBuckets();
  state->makePieces();
  state->watchGradients();
}

DataParallel::~DataParallel() = default;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

void DataParallel::zeroGrad() {
  for (const TrainedParameter &one : state->parameters) {
    one.variable.zeroGrad();
  }
  for (const Tensor &memory : state->sumsMemory) {
    memory.zero();
  }
}

bool DataParallel::hasSums() const { return !state->sums.empty(); }

void DataParallel::begin() { state->reduces = !state->isAlone(); }

/// A micro-step's gradient is where backward has left it: it is added to its
/// sum. Where a step has one, it is copied to the bucket, and what another
/// backward pass finds is added there.
void DataParallel::State::complete(size_t i) {
  const Variable &variable = parameters[i].variable;
  if (!sums.empty()) {
    kernels::accumulate(sums[i], variable.grad(), /*inPlace=*/true);
    variable.zeroGrad();
  } else {
    auto &[b, place] = places[i];
    Tensor home = placeIn(buckets[b].gradients, place.begin, variable.shape());
    if (variable.grad().data() != home.data()) {
      home.copyFrom(variable.grad());
      variable.setGrad(std::move(home));
    }
  }
  if (reduces) {
    ++buckets[places[i].first].complete;
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
    communicator.reduceScatter(bucket.gradients, bucket.sum);
  }
}

void DataParallel::finish() {
  State &s = *state;
  if (!s.reduces) {
    return;
  }
  for (size_t i = 0; i < s.parameters.size() && s.sums.empty(); ++i) {
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

void DataParallel::State::showSums() {
  for (size_t i = 0; i < sums.size() && isAlone(); ++i) {
    parameters[i].variable.setGrad(sums[i]);
  }
}

kernels::ClippedNorm DataParallel::clippedNorm(double most) {
  State &s = *state;
  s.showSums();
  if (s.isAlone()) {
    return s.adamw->clippedNorm(most);
  }
  int size = s.communicator.size();
  Device device = s.parameters.front().variable.device();
  Tensor own =
      s.pieces.empty() ? zeros({1}, f64, device) : s.adamw->gradSquares();
  Tensor all = empty({size}, f64, device);
  s.communicator.allGather(own, all);
  s.communicator.join();
  return kernels::AdamW::clippedNormOf(all, most);
}

void DataParallel::step(const Tensor &factor) {
  State &s = *state;
  s.showSums();
  s.adamw->step(factor);
  if (!s.isAlone() && !s.options.gathersLater) {
    gather();
  }
}

void DataParallel::beginGather() {
  State &s = *state;
  int rank = s.communicator.rank(), size = s.communicator.size();
  s.marks.resize(s.buckets.size());
  s.awaited = s.buckets.size();
  // The weights that the forward pass needs first lie in the last bucket.
  for (size_t b = s.buckets.size(); b-- > 0;) {
    const Bucket &bucket = s.buckets[b];
    s.communicator.allGather(bucket.part(bucket.values, rank, size),
                             bucket.values);
    s.marks[b] = s.communicator.mark();
  }
}

void DataParallel::awaitWeights(size_t count) {
  State &s = *state;
  if (s.isAlone() || count == 0) {
    return;
  }
  size_t needed = s.awaited;
  for (size_t i = 0; i < count; ++i) {
    needed = std::min(needed, s.places[i].first);
  }
  if (needed < s.awaited) {
    s.communicator.join(s.marks[needed]);
    s.awaited = needed;
  }
}

void DataParallel::gather() {
  beginGather();
  state->communicator.join();
}

void DataParallel::setLearningRate(double rate) {
  state->options.optimizer.learningRate = rate;
  state->adamw->setLearningRate(rate);
}

void DataParallel::prepare() {
  state->showSums();
  state->adamw->prepare();
}

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
