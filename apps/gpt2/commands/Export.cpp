//===- Export.cpp - nereid-gpt2 export ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/commands/LoadedModel.h"
#include "apps/gpt2/data/Dataset.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"
#include "nereid/Weights/AtomicFile.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {
struct ExportOptions {
  std::string from = "out", to, dtype = "float32", tokenizer, checkpoint;
  int64_t vocabulary = 0;
};
} // namespace

static bool isThere(const std::string &path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The folder with the tokenizer's files, as --tokenizer says or the model.
static std::string tokenizerOf(const ExportOptions &options,
                               const ImportedModel &model) {
  if (options.tokenizer.empty()) {
    return tokenizerFolder(options.from, model.options);
  }
  return options.tokenizer;
}

/// Tokens that there are: rows after them are padding.
static int64_t vocabularyOf(const ExportOptions &options,
                            const ImportedModel &model,
                            const std::string &folder,
                            const TokenizerPtr &tokenizer) {
  int64_t rows = model.config.vocabulary;
  if (options.vocabulary) {
    return options.vocabulary;
  }
  if (tokenizer) {
    int64_t size = tokenizer->size();
    if (size > rows) {
      raise({ErrorCode::InvalidArgument,
             "'" + folder + "': expected a tokenizer of at most the model's " +
                 std::to_string(rows) + " tokens, got " + std::to_string(size) +
                 "; name the right one with --tokenizer",
             {}});
    }
    return size;
  }
  if (rows != 50257 && rows % 64 == 0) {
    std::fprintf(stderr,
                 "note: no tokenizer is known, so that all %lld rows of the "
                 "embedding are written, padding too; --vocab_size says how "
                 "many are tokens\n",
                 static_cast<long long>(rows));
  }
  return rows;
}

/// `from`: a folder, or a tokenizer's file.
static void writeTokenizer(const std::string &from, const Tokenizer &tokenizer,
                           const std::string &to) {
  auto copy = [&](const char *name) {
    if (isThere(from + "/" + name)) {
      writeAtomically(to + "/" + name,
                      valueOrThrow(readFile(from + "/" + name)));
    }
  };
  bool isPairs = std::string_view(tokenizer.kind()) == "bpe";
  if (!isPairs) {
    // Of characters: transformers has no such tokenizer, `sample` does.
    copy("meta.json");
    copy("meta.pkl");
    return;
  }
  for (const char *name :
       {"vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json", "added_tokens.json"}) {
    copy(name);
  }
  if (!isThere(from + "/vocab.json")) {
    tokenizer.save(to);
  }
}

static void run(const ExportOptions &options) {
  std::optional<DType> dtype = parseDType(options.dtype);
  if (!dtype || (*dtype != f32 && *dtype != bf16 && *dtype != f16)) {
    raise({ErrorCode::InvalidArgument,
           "--dtype: expected float32, bfloat16 or float16, got '" +
               options.dtype + "'",
           {}});
  }
  std::error_code error;
  if (fs::equivalent(options.from, options.to, error)) {
    raise({ErrorCode::InvalidArgument,
           "--to: expected another folder than the checkpoint's, got '" +
               options.to + "'",
           {}});
  }
  ImportedModel model = importModel(options.from, options.checkpoint);
  noteChoice(options.from, model);
  std::string folder = tokenizerOf(options, model);
  TokenizerPtr tokenizer = folder.empty() ? nullptr : openTokenizer(folder);
  int64_t vocabulary = vocabularyOf(options, model, folder, tokenizer);
  exportModel(options.to, model.config, model.weights, vocabulary, *dtype,
              tokenizer ? tokenizer->endOfText() : std::nullopt);
  if (tokenizer) {
    writeTokenizer(folder, *tokenizer, options.to);
  }
  GptConfig written = model.config;
  written.vocabulary = vocabulary;
  std::printf("%s: %.2fM parameters, %lld tokens, %s; load it with "
              "GPT2LMHeadModel.from_pretrained(\"%s\")\n",
              options.to.c_str(), double(parameterCount(written)) / 1e6,
              static_cast<long long>(vocabulary), options.dtype.c_str(),
              options.to.c_str());
}

void gpt2::addExportCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "export", "writes a model as Hugging Face's transformers reads it");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("--out_dir,--from", options->from,
                      "a folder of checkpoints, one of transformers, a "
                      ".safetensors file, or nanoGPT's ckpt.pt (out)");
  command->add_option("--to", options->to, "the folder to write")->required();
  command->add_option("--checkpoint", options->checkpoint,
                      "of a folder of checkpoints: best, last, or a step "
                      "(best)");
  command->add_option("--dtype", options->dtype,
                      "float32, bfloat16 or float16 (float32)");
  command->add_option("--tokenizer", options->tokenizer,
                      "the folder with vocab.json and merges.txt, meta.json or "
                      "another tokenizer, or its file (that of the data)");
  command
      ->add_option("--vocab_size", options->vocabulary,
                   "tokens that there are; rows of the embedding after them "
                   "are left out (the tokenizer's)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  command->callback([options] { run(*options); });
}
