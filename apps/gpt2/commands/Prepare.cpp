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
#include "nereid/Support/Log.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>

namespace nereid::gpt2 {

[[noreturn]] static void usageError(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

namespace {
/// Numbers as they were typed; empty: not given.
struct Typed {
  std::string trainBpe, valFraction, shardTokens, threads;
};
} // namespace

template <typename T>
static void take(T &value, const char *name, const std::string &typed,
                 const std::string &what, T low, T high) {
  if (typed.empty()) {
    return;
  }
  const char *end = typed.data() + typed.size();
  T number{};
  auto [stop, error] = std::from_chars(typed.data(), end, number);
  if (error != std::errc() || stop != end || !(number >= low) ||
      !(number <= high)) {
    usageError(std::string(name) + ": expected " + what + ", got " +
               printable(typed));
  }
  value = number;
}

static void takeNumbers(PrepareOptions &options, const Typed &typed) {
  constexpr int64_t most = 1 << 24;
  take<int64_t>(options.trainBpe, "--train-bpe", typed.trainBpe,
                "the size of the vocabulary, " +
                    std::to_string(leastBytePairVocabulary) +
                    " (the bytes and <|endoftext|>) to " + std::to_string(most),
                leastBytePairVocabulary, most);
  take(options.valFraction, "--val-fraction", typed.valFraction,
       "a number from 0 to below 1", 0.0, std::nextafter(1.0, 0.0));
  take<int64_t>(options.shardTokens, "--shard-tokens", typed.shardTokens,
                "a number of tokens, 1 to 2^47", 1, int64_t{1} << 47);
  take(options.threads, "--threads", typed.threads,
       "a number of cores, 1 to 4096", 1, 4096);
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
    usageError("--tokenizer: expected bpe beside --train-bpe or --vocab, got " +
               printable(options.tokenizer));
  }
}

void addPrepareCommand(CLI::App &app) {
  auto options = std::make_shared<PrepareOptions>();
  auto typed = std::make_shared<Typed>();
  CLI::App *command =
      app.add_subcommand("prepare", "Turns text into the tokens of a data set");
  auto add = [&](const char *names, std::string &value, const char *type,
                 const char *help) {
    command->add_option(names, value, help)->type_name(type);
  };
  command
      ->add_option("TEXT", options->inputs,
                   "Text files, http(s) addresses (fetched with curl), or - "
                   "for the standard input; several are joined")
      ->required()
      ->type_name("");
  add("--dataset", options->dataset, "NAME",
      "A folder of data/, or a path with a slash, which train takes as its "
      "--dataset (default: the first text's name)");
  add("--tokenizer", options->tokenizer, "KIND",
      "char: a token for each character (default); bpe: GPT-2's byte pairs; "
      "or whose tokenizer is taken: the folder of a data set, or with "
      "vocab.json and merges.txt, tokenizer.json, encoder.json and vocab.bpe, "
      "or meta.pkl; or a file tokenizer.json or NAME.tiktoken");
  add("--vocab", options->vocab, "FILE", "vocab.json of byte pairs");
  add("--merges", options->merges, "FILE", "merges.txt of byte pairs");
  add("--train-bpe,--train_bpe", typed->trainBpe, "N",
      "Learns byte pairs from the training text: a vocabulary of so many "
      "tokens");
  add("--val-fraction,--val_fraction", typed->valFraction, "X",
      "How much of the text, at its end, is for validation (default 0.1)");
  add("--shard-tokens,--shard_tokens", typed->shardTokens, "N",
      "Most tokens in a file (default 1073741824)");
  add("--threads", typed->threads, "N", "How many cores work (default: all)");
  command->callback([options, typed] {
    takeNumbers(*options, *typed);
    check(*options);
    std::fputs(prepare(*options).c_str(), stdout);
  });
}

} // namespace nereid::gpt2
