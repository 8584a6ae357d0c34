//===- WeightCollection.h - A GPT-2 from named tensors ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_WEIGHTCOLLECTION_H
#define NEREID_APPS_GPT2_CHECKPOINT_WEIGHTCOLLECTION_H

#include "apps/gpt2/checkpoint/HuggingFace.h"

#include <set>

namespace nereid::gpt2 {

struct PickleValue;
class TorchFile;

/// Tensors of one or several files, under our names.
class WeightCollection {
public:
  /// How the four products of a layer are stored: HuggingFace has [in, out], we
  /// and nanoGPT [out, in].
  enum class Layout { HuggingFace, Ours };

  /// Masks are left out, and the prefix of compiled models. `path`: for
  /// messages. Throws IoError for a name that is there twice, and for
  /// elements that are no floats.
  void add(const NamedTensor &one, const std::string &path);
  /// Adds a dictionary of names and tensors.
  void addAll(TorchFile &file, const PickleValue &dictionary);
  /// Names in their order, masks and the tied head left out.
  const std::vector<NamedTensor> &all() const { return tensors; }

  /// Throws where names and shapes are not what the configuration says, or the
  /// head is not the embedding.
  ImportedModel finish(const GptConfig &config, const std::string &path,
                       Layout layout);

private:
  void checkHead(const ImportedModel &model, const std::string &path) const;

  std::vector<NamedTensor> tensors;
  std::set<std::string> names;
  Tensor head;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_WEIGHTCOLLECTION_H
