//===- train.h - What the programs of this folder share ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PROGRAM FOLDER: loads weights.safetensors and batch.safetensors, which
// PyTorch wrote (beside_pytorch.py), and writes the gradients of the first
// loss, the losses of twenty steps, and the weights after them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_MODELS_TRAIN_H
#define NEREID_TEST_MODELS_TRAIN_H

#include "nereid/kernels.h"

#include <iostream>

using Batch = nereid::nn::StateDict;

/// `loss`: of the model and a batch. `step`: after a backward, with the number
/// of the step.
template <typename Model, typename Loss, typename Step>
void train(const std::string &folder, const Model &model, const Loss &loss,
           const Step &step) {
  using namespace nereid;
  nn::loadModel(model, folder + "/weights.safetensors");
  Batch batch = nn::loadFile(folder + "/batch.safetensors");
  for (auto &[name, tensor] : batch) {
    tensor = tensor.to(Device::best());
  }
  loss(model, batch).backward();
  nn::StateDict gradients;
  for (const auto &[name, parameter] : model.namedParameters()) {
    gradients[name] = parameter.grad().clone();
  }
  nn::saveFile(gradients, folder + "/gradients.safetensors");
  model.zeroGrad();
  std::vector<double> losses;
  for (int i = 0; i < 20; ++i) {
    Variable now = loss(model, batch);
    losses.push_back(now.item());
    now.backward();
    step(i);
    model.zeroGrad();
  }
  nn::saveFile({{"losses", Tensor::fromVector(losses)}},
               folder + "/losses.safetensors");
  nn::saveModel(model, folder + "/trained.safetensors");
}

/// `body` of the folder that the command line names.
template <typename Body>
int runWithFolder(int argc, char **argv, const Body &body) {
  try {
    body(std::string(argc > 1 ? argv[1] : "."));
    return 0;
  } catch (const nereid::Error &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

#endif // NEREID_TEST_MODELS_TRAIN_H
