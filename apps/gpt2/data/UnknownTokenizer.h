//===- UnknownTokenizer.h - Tokens without their texts ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_UNKNOWNTOKENIZER_H
#define NEREID_APPS_GPT2_DATA_UNKNOWNTOKENIZER_H

#include "apps/gpt2/data/Tokenizer.h"

namespace nereid::gpt2 {

/// For data that says how many tokens there are, and not which: enough to train
/// and to evaluate. Functions that need texts throw NotFound.
class UnknownTokenizer : public Tokenizer {
public:
  /// `folder`: where the tokenizer's files would be looked for.
  UnknownTokenizer(int32_t vocabulary, std::string folder);

  const char *kind() const override { return "unknown"; }
  int32_t size() const override { return vocabulary; }
  using Tokenizer::encode;
  void encode(std::string_view text,
              std::vector<int32_t> &tokens) const override;
  std::optional<int32_t> endOfText() const override { return std::nullopt; }
  void save(const std::string &) const override {}

private:
  int32_t vocabulary;
  std::string folder;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_UNKNOWNTOKENIZER_H
