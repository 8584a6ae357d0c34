//===- SampledText.h - A text while a model is trained ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_SAMPLEDTEXT_H
#define NEREID_APPS_GPT2_TRAIN_SAMPLEDTEXT_H

#include "apps/gpt2/data/Tokenizer.h"
#include "apps/gpt2/model/Model.h"

namespace nereid::gpt2 {

/// 200 tokens of the model as it is, from the end of a text or the first token
/// on. Throws what the generator throws.
std::string sampledText(const Model &model, const Tokenizer &tokenizer,
                        int64_t seed);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_SAMPLEDTEXT_H
