//===- NanoGpt.cpp - Checkpoints of nanoGPT -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/NanoGpt.h"

#include "apps/gpt2/checkpoint/TorchFile.h"
#include "apps/gpt2/checkpoint/WeightCollection.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;
using Kind = PickleValue::Kind;

namespace {

class Reader {
public:
  explicit Reader(const std::string &path) : file(path) {
    if (!root().is(Kind::Dict) || !root().find("model")) {
      refuse("expected a checkpoint of nanoGPT, a dictionary with 'model' and "
             "'model_args', got " +
             (root().is(Kind::Dict) ? std::string("one without 'model'")
                                    : describe(root())));
    }
    weights.addAll(file, *root().find("model"));
  }

  ImportedModel model() {
    ImportedModel result =
        weights.finish(config(), file.path(), WeightCollection::Layout::Ours);
    result.options = options();
    return result;
  }

  Checkpoint checkpoint() {
    ImportedModel imported = model();
    Checkpoint result;
    result.weights = std::move(imported.weights);
    result.optimizer = optimizer();
    result.state.step = uint64_t(step());
    result.state.options = imported.options;
    json perStep =
        imported.options.value("gradient_accumulation_steps", json());
    result.state.dataStep =
        result.state.step * (perStep.is_number_integer() && perStep > 0
                                 ? perStep.get<uint64_t>()
                                 : 1);
    std::optional<double> best = number(required(root(), "best_val_loss"));
    if (!best) {
      refuse("'best_val_loss': expected a number, got " +
             describe(required(root(), "best_val_loss")));
    }
    // It saves after an evaluation alone, and keeps the loss of that one.
    result.state.bestLoss = *best;
    result.state.loss = *best;
    result.state.bestStep = result.state.step;
    imported.config.dtype = f32;
    result.state.model = toJson(imported.config);
    return result;
  }

private:
  struct Group {
    std::vector<int64_t> numbers;
    double beta1, beta2;
  };

  [[noreturn]] void refuse(const std::string &why) const {
    raise({ErrorCode::IoError, "'" + file.path() + "': " + why, {}});
  }
  const PickleValue &root() const { return file.value(); }
  const PickleValue &required(const PickleValue &of, const char *key) const {
    const PickleValue *value = of.find(key);
    if (!value) {
      refuse(std::string("expected the key '") + key +
             "', as nanoGPT's checkpoints have it, got none");
    }
    return *value;
  }
  /// Also one that is a tensor of one element.
  std::optional<double> number(const PickleValue &value) {
    Tensor tensor = file.tensor(value);
    return tensor.defined() && tensor.numel() == 1
               ? std::optional(tensor.item())
               : value.asNumber();
  }
  int64_t size(const PickleValue &of, const char *key) const {
    const PickleValue &value = required(of, key);
    if (!value.is(Kind::Integer) || value.integer < 1 ||
        value.integer > 1 << 24) {
      refuse(std::string("'") + key + "': expected a number from 1 on, got " +
             describe(value));
    }
    return value.integer;
  }

  GptConfig config() const {
    const PickleValue &sizes = required(root(), "model_args");
    GptConfig config;
    config.layers = size(sizes, "n_layer");
    config.heads = size(sizes, "n_head");
    config.width = size(sizes, "n_embd");
    config.context = size(sizes, "block_size");
    config.vocabulary = size(sizes, "vocab_size");
    config.tanhGelu = false;
    // Before it had the option there were always biases.
    const PickleValue *bias = sizes.find("bias"),
                      *dropout = sizes.find("dropout");
    config.bias = !bias || !bias->is(Kind::Bool) || bias->integer != 0;
    config.dropout = dropout ? dropout->asNumber().value_or(0) : 0;
    try {
      checkConfig(config);
    } catch (const Error &error) {
      refuse("'model_args': " + error.message());
    }
    return config;
  }

  /// Of its program and of the machine that it ran on, not of the run.
  static bool isOfItsMachine(const std::string &name) {
    constexpr std::string_view names[] = {"out_dir",   "init_from", "device",
                                          "eval_only", "dtype",     "compile",
                                          "backend"};
    return name.starts_with("wandb_") ||
           std::find(std::begin(names), std::end(names), name) !=
               std::end(names);
  }

  /// Numbers, truth values and texts of the run's configuration.
  json options() const {
    json result = json::object();
    const PickleValue *config = root().find("config");
    for (size_t i = 0; config && i + 1 < config->items.size(); i += 2) {
      const PickleValue &key = *config->items[i], &one = *config->items[i + 1];
      if (!config->is(Kind::Dict) || !key.is(Kind::Text) ||
          isOfItsMachine(key.text)) {
        continue;
      }
      switch (one.kind) {
      case Kind::Bool:
        result[key.text] = one.integer != 0;
        break;
      case Kind::Integer:
        result[key.text] = one.integer;
        break;
      case Kind::Float:
        result[key.text] = one.number;
        break;
      case Kind::Text:
        result[key.text] = one.text;
        break;
      default:
        break;
      }
    }
    return result;
  }

  int64_t step() const {
    const PickleValue &value = required(root(), "iter_num");
    if (!value.is(Kind::Integer) || value.integer < 0 ||
        value.integer > int64_t{1} << 50) {
      refuse("'iter_num': expected a number of steps, got " + describe(value));
    }
    return value.integer;
  }

  Group groupOf(const PickleValue &value) const {
    Group group;
    const PickleValue &numbers = required(value, "params"),
                      &betas = required(value, "betas");
    for (const PickleValue *one : numbers.items) {
      if (!one->is(Kind::Integer)) {
        refuse("'params': expected numbers of parameters, got " +
               describe(*one));
      }
      group.numbers.push_back(one->integer);
    }
    std::array<double, 2> beta{};
    bool isPair = betas.items.size() == 2;
    for (size_t i = 0; i < 2 && isPair; ++i) {
      std::optional<double> one = betas.items[i]->asNumber();
      isPair = one && *one >= 0 && *one < 1;
      beta[i] = one.value_or(0);
    }
    if (!isPair) {
      refuse("'betas': expected two numbers from 0 to below 1, got " +
             describe(betas));
    }
    group.beta1 = beta[0];
    group.beta2 = beta[1];
    return group;
  }

  /// In the order of the optimiser's numbers.
  std::vector<const NamedTensor *> numbered() const {
    std::vector<const NamedTensor *> result;
    for (bool isMatrix : {true, false}) {
      for (const NamedTensor &one : weights.all()) {
        if ((one.tensor.rank() >= 2) == isMatrix) {
          result.push_back(&one);
        }
      }
    }
    return result;
  }

  Tensor moment(const PickleValue &of, const char *key,
                const NamedTensor &parameter) {
    Tensor tensor = file.tensor(required(of, key));
    if (!tensor.defined() || !isFloat(tensor.dtype()) ||
        tensor.shape() != parameter.tensor.shape()) {
      refuse(std::string("the optimiser's '") + key + "' of '" +
             parameter.name + "': expected the shape of the parameter, " +
             parameter.tensor.str() + ", got " +
             (tensor.defined() ? tensor.str() : describe(required(of, key))));
    }
    file.take(tensor);
    return tensor.to(f32);
  }

  std::vector<NamedTensor> optimizer() {
    const PickleValue *all = root().find("optimizer");
    if (!all) {
      refuse("expected the state of its optimiser, 'optimizer', got none; "
             "--init_from=" +
             file.path() + " takes the weights alone");
    }
    const PickleValue &groups = required(*all, "param_groups"),
                      &states = required(*all, "state");
    std::vector<const NamedTensor *> parameters = numbered();
    std::vector<int64_t> numbers;
    double beta1 = 0, beta2 = 0;
    for (const PickleValue *one : groups.items) {
      Group group = groupOf(*one);
      numbers.insert(numbers.end(), group.numbers.begin(), group.numbers.end());
      beta1 = group.beta1;
      beta2 = group.beta2;
    }
    if (numbers.size() != parameters.size()) {
      refuse("the optimiser: expected the state of " +
             std::to_string(parameters.size()) + " parameters, got that of " +
             std::to_string(numbers.size()));
    }
    std::map<int64_t, const PickleValue *> byNumber;
    for (size_t i = 0; states.is(Kind::Dict) && i < states.items.size();
         i += 2) {
      if (states.items[i]->is(Kind::Integer)) {
        byNumber[states.items[i]->integer] = states.items[i + 1];
      }
    }
    std::vector<NamedTensor> result;
    std::optional<double> steps;
    for (size_t i = 0; i < parameters.size(); ++i) {
      auto found = byNumber.find(numbers[i]);
      if (found == byNumber.end()) {
        refuse("the optimiser: expected the state of '" + parameters[i]->name +
               "', number " + std::to_string(numbers[i]) + ", got none");
      }
      const PickleValue &state = *found->second;
      std::optional<double> own = number(required(state, "step"));
      if (!own || *own < 1 || *own != std::floor(*own) ||
          (steps && *own != *steps)) {
        refuse(
            "the optimiser's 'step' of '" + parameters[i]->name +
            "': expected the steps that all parameters have had, got " +
            (own ? std::to_string(*own) : describe(required(state, "step"))));
      }
      steps = own;
      result.push_back({"m." + parameters[i]->name,
                        moment(state, "exp_avg", *parameters[i])});
      result.push_back({"v." + parameters[i]->name,
                        moment(state, "exp_avg_sq", *parameters[i])});
    }
    if (steps) {
      result.push_back(
          {"powers",
           Tensor::fromVector(std::vector<double>{std::pow(beta1, *steps),
                                                  std::pow(beta2, *steps)},
                              std::nullopt, Device::cpu())});
    }
    return result;
  }

  TorchFile file;
  WeightCollection weights;
};

} // namespace

ImportedModel gpt2::importNanoGpt(const std::string &path) {
  return Reader(path).model();
}

Checkpoint gpt2::loadNanoGpt(const std::string &path) {
  return Reader(path).checkpoint();
}
