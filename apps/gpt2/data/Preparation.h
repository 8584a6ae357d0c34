//===- Preparation.h - From texts to a data set -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The characters of all texts count as one sequence, whose first part is for
// training and whose end is for validation, as in nanoGPT's prepare.py. Each
// part is encoded by itself. BPE puts <|endoftext|> after every text but the
// last; characters have nothing between texts.
//
// All cores work: texts are cut where no token can span the cut (cutAfter of
// PieceScanner.h), so that the tokens do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_PREPARATION_H
#define NEREID_APPS_GPT2_DATA_PREPARATION_H

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::gpt2 {

struct PrepareOptions {
  std::vector<std::string> inputs; ///< files, URLs or "-"
  std::string dataset;             ///< empty: data/ and the first input's name
  std::string tokenizer;           ///< "char", "bpe" or a folder; empty: "char"
  std::string vocab, merges;       ///< vocab.json and merges.txt
  int64_t trainBpe = 0;            ///< size of the vocabulary; 0: no training
  double valFraction = 0.1;
  int64_t shardTokens = int64_t{1} << 30;
  int threads = 0; ///< 0: all cores
};

/// What was made, in sentences for the user.
std::string prepare(const PrepareOptions &options);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_PREPARATION_H
