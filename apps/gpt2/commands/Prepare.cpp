//===- Prepare.cpp - nereid-gpt2 prepare ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/data/BytePairTrainer.h"
#include "apps/gpt2/data/Preparation.h"

#include "nereid/Runtime/Error.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

namespace nereid::gpt2 {

[[noreturn]] static void usageError(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

static void check(const PrepareOptions &options) {
  bool readsPairs = !options.vocab.empty() || !options.merges.empty();
  if (options.vocab.empty() != options.merges.empty()) {
    usageError(std::string("expected --vocab and --merges together, got ") +
               (options.vocab.empty() ? "--merges" : "--vocab") + " alone");
  }
  if (readsPairs && options.trainBpe) {
    usageError("expected either --train-bpe or --vocab and --merges, got both");
  }
  bool isBytePairs = readsPairs || options.trainBpe != 0;
  if (options.tokenizer == "bpe" && !isBytePairs) {
    usageError("--tokenizer=bpe: expected --vocab=vocab.json and "
               "--merges=merges.txt, or --train-bpe=N, got neither");
  }
  if (isBytePairs && !options.tokenizer.empty() && options.tokenizer != "bpe") {
    usageError("--tokenizer=" + options.tokenizer +
               ": expected bpe beside --train-bpe or --vocab, got '" +
               options.tokenizer + "'");
  }
  constexpr int64_t most = 1 << 24;
  if (options.trainBpe != 0 &&
      (options.trainBpe < leastBytePairVocabulary || options.trainBpe > most)) {
    usageError("--train-bpe: expected the size of the vocabulary, " +
               std::to_string(leastBytePairVocabulary) +
               " (the bytes and <|endoftext|>) to " + std::to_string(most) +
               ", got " + std::to_string(options.trainBpe));
  }
  if (!(options.valFraction >= 0 && options.valFraction < 1)) {
    usageError("--val-fraction: expected a number from 0 to below 1, got " +
               std::to_string(options.valFraction));
  }
  constexpr int mostThreads = 4096;
  if (options.threads < 0 || options.threads > mostThreads) {
    usageError("--threads: expected 1 to " + std::to_string(mostThreads) +
               ", got " + std::to_string(std::max(options.threads, 0)));
  }
  if (options.shardTokens < 1) {
    usageError("--shard-tokens: expected at least 1, got " +
               std::to_string(options.shardTokens));
  }
}

void addPrepareCommand(CLI::App &app) {
  auto options = std::make_shared<PrepareOptions>();
  CLI::App *command =
      app.add_subcommand("prepare", "Turns text into the tokens of a data set");
  command
      ->add_option("TEXT", options->inputs,
                   "Text files, http(s) addresses (fetched with curl), or - "
                   "for the standard input; several are joined")
      ->required();
  command->add_option("--dataset", options->dataset,
                      "Name of a folder in data/, or a path with a slash "
                      "(default: data/ and the name of the first text)");
  command->add_option("--tokenizer", options->tokenizer,
                      "char: a token for each character (default); bpe: "
                      "GPT-2's byte pairs; or a folder whose tokenizer is "
                      "taken: a data set, or one with vocab.json and "
                      "merges.txt");
  command->add_option("--vocab", options->vocab, "vocab.json of byte pairs");
  command->add_option("--merges", options->merges, "merges.txt of byte pairs");
  auto *train =
      command->add_option("--train-bpe,--train_bpe", options->trainBpe,
                          "Learns byte pairs from the training text: a "
                          "vocabulary of so many tokens");
  command->add_option("--val-fraction,--val_fraction", options->valFraction,
                      "How much of the text, at its end, is for validation "
                      "(default 0.1)");
  command->add_option("--shard-tokens,--shard_tokens", options->shardTokens,
                      "Most tokens in a file (default 1073741824)");
  auto *threads = command->add_option("--threads", options->threads,
                                      "How many cores work (default: all)");
  command->callback([options, train, threads] {
    if (train->count() && options->trainBpe == 0) {
      options->trainBpe = -1; // not what leaving it out means
    }
    if (threads->count() && options->threads == 0) {
      options->threads = -1;
    }
    check(*options);
    std::fputs(prepare(*options).c_str(), stdout);
  });
}

} // namespace nereid::gpt2
