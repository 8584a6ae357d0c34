//===- WeightCollection.cpp - A GPT-2 from named tensors ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/WeightCollection.h"

#include "apps/gpt2/checkpoint/TorchFile.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cstring>

using namespace nereid;
using namespace nereid::gpt2;

[[noreturn]] static void refuse(const std::string &path, const std::string &why,
                                ErrorCode code = ErrorCode::IoError) {
  raise({code, "'" + path + "': " + why, {}});
}

void WeightCollection::add(const NamedTensor &one, const std::string &path) {
  std::string name = one.name;
  // torch.compile's.
  if (constexpr std::string_view prefix = "_orig_mod.";
      name.starts_with(prefix)) {
    name.erase(0, prefix.size());
  }
  // Masks of older versions, which hold no weights.
  if (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")) {
    return;
  }
  if (name == "lm_head.weight") {
    head = one.tensor;
    return;
  }
  if (!name.starts_with("transformer.")) {
    name = "transformer." + name;
  }
  if (!names.insert(name).second) {
    refuse(path, "tensor '" + one.name + "' is there twice");
  }
  if (!isFloat(one.tensor.dtype())) {
    refuse(path, "tensor '" + one.name + "': expected floats, got " +
                     one.tensor.str());
  }
  tensors.push_back({name, one.tensor});
}

void WeightCollection::addAll(TorchFile &file, const PickleValue &dictionary) {
  if (!dictionary.is(PickleValue::Kind::Dict)) {
    refuse(file.path(), "expected a dictionary of names and tensors, got " +
                            describe(dictionary));
  }
  for (size_t i = 0; i < dictionary.items.size(); i += 2) {
    const PickleValue &name = *dictionary.items[i],
                      &value = *dictionary.items[i + 1];
    Tensor tensor = file.tensor(value);
    if (!name.is(PickleValue::Kind::Text) || !tensor.defined()) {
      refuse(file.path(), "expected a dictionary of names and tensors, got " +
                              describe(value) + " under " + describe(name));
    }
    // Masks and lm_head.weight, which may be another name of an embedding, are
    // not kept.
    size_t before = tensors.size();
    add({name.text, tensor}, file.path());
    if (tensors.size() > before) {
      file.take(tensor);
    }
  }
}

/// What the configuration says, each missing name and wrong shape.
static void checkShapes(ImportedModel &model, const std::string &path) {
  GptConfig &c = model.config;
  std::map<std::string, Shape> expected = {
      {"transformer.wte.weight", {c.vocabulary, c.width}},
      {"transformer.wpe.weight", {c.context, c.width}},
      {"transformer.ln_f.weight", {c.width}}};
  for (int64_t i = 0; i < c.layers; ++i) {
    std::string of = "transformer.h." + std::to_string(i) + ".";
    expected[of + "ln_1.weight"] = expected[of + "ln_2.weight"] = {c.width};
    expected[of + "attn.c_attn.weight"] = {3 * c.width, c.width};
    expected[of + "attn.c_proj.weight"] = {c.width, c.width};
    expected[of + "mlp.c_fc.weight"] = {4 * c.width, c.width};
    expected[of + "mlp.c_proj.weight"] = {c.width, 4 * c.width};
  }
  std::map<std::string, Shape> biases;
  for (const auto &[name, shape] : expected) {
    if (!name.starts_with("transformer.w")) {
      biases[name.substr(0, name.size() - 6) + "bias"] = {shape[0]};
    }
  }
  // Of a model without biases, files may have some that are 0.
  expected.insert(biases.begin(), biases.end());
  std::map<DType, int64_t> elements;
  for (const NamedTensor &one : model.weights) {
    auto place = expected.find(one.name);
    if (place == expected.end()) {
      refuse(path, "tensor '" + one.name +
                       "': a GPT-2 of this configuration has none of this "
                       "name");
    }
    if (one.tensor.shape() != place->second) {
      std::string shape;
      for (int64_t size : place->second) {
        shape += (shape.empty() ? "" : ", ") + std::to_string(size);
      }
      refuse(path, "tensor '" + one.name +
                       "': expected, with weights as [out, in], the shape [" +
                       shape + "] of its configuration, got " +
                       one.tensor.str());
    }
    elements[one.tensor.dtype()] += one.tensor.numel();
    expected.erase(place);
  }
  if (!c.bias) {
    std::erase_if(expected, [&](const auto &one) {
      return biases.count(one.first) != 0;
    });
  }
  if (!expected.empty()) {
    refuse(path, "expected a tensor '" + expected.begin()->first +
                     "', as a GPT-2 of this configuration has, got none");
  }
  auto most = std::max_element(
      elements.begin(), elements.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  c.dtype = most->first;
}

/// A model whose last product is not the embedding is another model.
void WeightCollection::checkHead(const ImportedModel &model,
                                 const std::string &path) const {
  if (!head.defined()) {
    return;
  }
  for (const NamedTensor &one : model.weights) {
    if (one.name == "transformer.wte.weight") {
      Tensor wte = one.tensor.contiguous(), same = head.contiguous();
      if (wte.shape() != same.shape() || wte.dtype() != same.dtype() ||
          std::memcmp(wte.data(), same.data(), size_t(wte.bytes())) != 0) {
        refuse(path,
               "tensor 'lm_head.weight': expected the same values as "
               "'transformer.wte.weight', got others; models whose last "
               "product has weights of its own are not supported",
               ErrorCode::Unsupported);
      }
    }
  }
}

ImportedModel WeightCollection::finish(const GptConfig &config,
                                       const std::string &path, Layout layout) {
  ImportedModel model;
  model.config = config;
  model.weights = layout == Layout::HuggingFace ? transposed(tensors) : tensors;
  checkShapes(model, path);
  checkHead(model, path);
  return model;
}
