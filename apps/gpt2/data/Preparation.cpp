//===- Preparation.cpp - From texts to a data set -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Preparation.h"

#include "apps/gpt2/data/BytePairTrainer.h"
#include "apps/gpt2/data/CharacterTokenizer.h"
#include "apps/gpt2/data/Dataset.h"
#include "apps/gpt2/data/DatasetMeta.h"
#include "apps/gpt2/data/ParallelChunks.h"
#include "apps/gpt2/data/PieceScanner.h"
#include "apps/gpt2/data/ProgressBar.h"
#include "apps/gpt2/data/StagedFolder.h"
#include "apps/gpt2/data/TextInput.h"
#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <future>

namespace nereid::gpt2 {

namespace fs = std::filesystem;

/// A chunk is encoded by one thread; two waves of them are in memory, one that
/// is encoded and one that is written.
static constexpr size_t chunkBytes = size_t{1} << 20, waveChunks = 64;

[[noreturn]] static void refuse(ErrorCode code, const std::string &message) {
  raise({code, message, {}});
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
struct Chunk {
  size_t input; ///< the text's number
  size_t begin; ///< in it
  std::string_view text;
  CharacterCount count;
};

/// What all inputs have.
struct Scan {
  std::vector<Chunk> chunks;
  uint64_t bytes = 0, characters = 0, invalid = 0;
  std::unique_ptr<CharacterSet> set = std::make_unique<CharacterSet>();
};

/// A part of one text that is encoded by itself.
struct Segment {
  std::string_view text;
  bool endsText; ///< <|endoftext|> follows
};

struct Split {
  std::vector<Segment> train, val;
};
} // namespace

/// Past `chunkBytes`, not inside of a character.
static size_t characterCut(std::string_view text, size_t from) {
  while (from < text.size() && (text[from] & 0xC0) == 0x80) {
    ++from;
  }
  return from;
}

template <typename Cut>
static std::vector<std::string_view> cutText(std::string_view text, Cut cut) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end =
        text.size() <= chunkBytes ? text.size() : cut(text, chunkBytes);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

static Scan scan(const std::vector<TextInput> &inputs) {
  Scan scan;
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t begin = 0;
    for (std::string_view part : cutText(inputs[i].text(), characterCut)) {
      scan.chunks.push_back({i, begin, part, {}});
      begin += part.size();
    }
    scan.bytes += begin;
  }
  ProgressBar progress("read", scan.bytes, "MB");
  std::mutex mutex;
  uint64_t done = 0;
  forEachInParallel(scan.chunks.size(), [&](size_t i) {
    Chunk &chunk = scan.chunks[i];
    auto set = std::make_unique<CharacterSet>();
    set->add(chunk.text);
    chunk.count = countCharacters(chunk.text);
    std::lock_guard lock(mutex);
    scan.set->add(*set);
    progress.advanceTo(done += chunk.text.size());
  });
  for (const Chunk &chunk : scan.chunks) {
    scan.characters += chunk.count.characters;
    scan.invalid += chunk.count.invalid;
  }
  return scan;
}

static bool isUtf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

static constexpr const char *convertUtf16 = "iconv -f UTF-16 -t UTF-8";

/// What a byte order mark at the beginning of a text means.
static void warnOfMarks(const std::vector<TextInput> &inputs) {
  for (const TextInput &input : inputs) {
    if (input.text().starts_with("\xEF\xBB\xBF")) {
      warn(input.name() +
           ":1:1: it begins with a byte order mark, which becomes a character "
           "as any other; sed '1s/^\\xEF\\xBB\\xBF//' takes it away");
    } else if (isUtf16(input.text())) {
      warn(input.name() +
           ":1:1: it is UTF-16, whose bytes are taken as they "
           "are; " +
           convertUtf16 + " makes UTF-8 of it");
    }
  }
}

/// "input.txt:3:7: error: ", where the first byte is that is not UTF-8.
static std::string placeOfInvalid(const Scan &scan,
                                  const std::vector<TextInput> &inputs) {
  for (const Chunk &chunk : scan.chunks) {
    if (chunk.count.invalid) {
      return inputs[chunk.input].placeOf(chunk.begin +
                                         chunk.count.firstInvalid);
    }
  }
  return "";
}

static void checkCharacters(const Scan &scan,
                            const std::vector<TextInput> &inputs,
                            const std::vector<std::string> &known,
                            const std::string &folder) {
  for (const TextInput &input : inputs) {
    if (isUtf16(input.text())) {
      refuse(ErrorCode::IoError, input.placeOf(0) +
                                     "expected UTF-8, got UTF-16, as its byte "
                                     "order mark says; " +
                                     convertUtf16 + " converts it");
    }
  }
  if (scan.invalid) {
    refuse(ErrorCode::IoError,
           placeOfInvalid(scan, inputs) +
               "expected UTF-8, got a byte that is none; --tokenizer=bpe takes "
               "any bytes");
  }
  for (const std::string &character : scan.set->characters()) {
    if (std::find(known.begin(), known.end(), character) != known.end()) {
      continue;
    }
    for (const TextInput &input : inputs) {
      size_t at = input.text().find(character);
      if (at != std::string_view::npos) {
        refuse(ErrorCode::IoError, input.placeOf(at) + "expected one of the " +
                                       std::to_string(known.size()) +
                                       " characters of " + folder + ", got '" +
                                       printable(character) + "'");
      }
    }
  }
}

static Split splitInputs(const Scan &scan, const std::vector<TextInput> &inputs,
                         double valFraction) {
  uint64_t left = static_cast<uint64_t>(static_cast<double>(scan.characters) *
                                        (1 - valFraction));
  // The input and the place in it where validation begins.
  size_t splitInput = inputs.size(), place = 0;
  for (const Chunk &chunk : scan.chunks) {
    if (left < chunk.count.characters) {
      splitInput = chunk.input;
      place = chunk.begin + prefixOf(chunk.text, left);
      break;
    }
    left -= chunk.count.characters;
  }
  Split split;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string_view text = inputs[i].text();
    bool endsText = i + 1 < inputs.size();
    if (i < splitInput) {
      split.train.push_back({text, endsText});
    } else if (i > splitInput) {
      split.val.push_back({text, endsText});
    } else {
      split.train.push_back({text.substr(0, place), false});
      split.val.push_back({text.substr(place), endsText});
    }
  }
  return split;
}

//===----------------------------------------------------------------------===//
// Tokenizers
//===----------------------------------------------------------------------===//

static TokenizerPtr trainBytePairs(const std::vector<Segment> &segments,
                                   int32_t size) {
  std::vector<std::string_view> chunks;
  for (const Segment &segment : segments) {
    for (std::string_view part : cutText(segment.text, cutAfter)) {
      chunks.push_back(part);
    }
  }
  // One count a thread, taken by whichever chunk comes.
  std::mutex mutex;
  std::vector<std::unique_ptr<BytePairTrainer>> idle;
  forEachInParallel(chunks.size(), [&](size_t i) {
    std::unique_ptr<BytePairTrainer> trainer;
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        trainer = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!trainer) {
      trainer = std::make_unique<BytePairTrainer>();
    }
    trainer->add(chunks[i]);
    std::lock_guard lock(mutex);
    idle.push_back(std::move(trainer));
  });
  BytePairTrainer all;
  for (std::unique_ptr<BytePairTrainer> &trainer : idle) {
    all.add(std::move(*trainer));
  }
  ProgressBar progress("train BPE", static_cast<uint64_t>(size), "tokens");
  return all.train(size, [&](int32_t tokens) {
    progress.advanceTo(static_cast<uint64_t>(tokens));
  });
}

static TokenizerPtr makeTokenizer(const PrepareOptions &options,
                                  const Scan &scan, const Split &split,
                                  const std::vector<TextInput> &inputs) {
  if (options.trainBpe) {
    TokenizerPtr made =
        trainBytePairs(split.train, static_cast<int32_t>(options.trainBpe));
    if (made->size() < options.trainBpe) {
      warn("--train-bpe=" + std::to_string(options.trainBpe) +
           ": the text has pairs for " + std::to_string(made->size()) +
           " tokens only, which the vocabulary now has");
    }
    return made;
  }
  if (!options.vocab.empty()) {
    return BytePairTokenizer::read(options.vocab, options.merges);
  }
  if (options.tokenizer.empty() || options.tokenizer == "char") {
    std::vector<std::string> characters = scan.set->characters();
    checkCharacters(scan, inputs, characters, "");
    return std::make_shared<CharacterTokenizer>(std::move(characters));
  }
  TokenizerPtr tokenizer = openTokenizer(options.tokenizer);
  if (std::string_view(tokenizer->kind()) == "char") {
    checkCharacters(scan, inputs, tokenizer->characters(), options.tokenizer);
  }
  return tokenizer;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Shards of one part of the data set.
class PartWriter {
public:
  PartWriter(std::string folder, std::string name, const Tokenizer &tokenizer,
             uint64_t shardTokens)
      : folder(std::move(folder)), name(std::move(name)), tokenizer(tokenizer),
        shardTokens(shardTokens) {
    open();
  }
  void append(std::span<const int32_t> tokens) {
    meta.tokens += tokens.size();
    while (!tokens.empty()) {
      if (writers.back().size() == shardTokens) {
        writers.back().finish();
        open();
      }
      size_t count = static_cast<size_t>(std::min<uint64_t>(
          tokens.size(), shardTokens - writers.back().size()));
      writers.back().append(tokens.first(count));
      tokens = tokens.subspan(count);
    }
  }
  void finish() { writers.back().finish(); }
  void commit() {
    for (ShardWriter &writer : writers) {
      writer.commit();
    }
  }
  PartMeta meta;

private:
  void open() {
    char number[16];
    std::snprintf(number, sizeof(number), "-%05zu", writers.size());
    meta.shards.push_back(name + number + ".tokens");
    writers.emplace_back(folder + "/" + meta.shards.back(), tokenizer.size(),
                         tokenizer.hash());
  }

  std::string folder, name;
  const Tokenizer &tokenizer;
  uint64_t shardTokens;
  std::vector<ShardWriter> writers;
};
} // namespace

/// Adds the bytes that it encoded to `done`.
static void encodeSegments(const std::vector<Segment> &segments,
                           const Tokenizer &tokenizer, PartWriter &writer,
                           ProgressBar &progress, uint64_t &done) {
  struct Job {
    std::string_view text;
    bool endsText;
  };
  std::vector<Job> jobs;
  for (const Segment &segment : segments) {
    std::vector<std::string_view> parts =
        cutText(segment.text, [&](std::string_view text, size_t from) {
          return tokenizer.cutAfter(text, from);
        });
    for (size_t i = 0; i < parts.size(); ++i) {
      jobs.push_back({parts[i], segment.endsText && i + 1 == parts.size()});
    }
  }
  std::future<void> writing;
  for (size_t first = 0; first < jobs.size(); first += waveChunks) {
    size_t count = std::min(waveChunks, jobs.size() - first);
    std::vector<std::vector<int32_t>> tokens(count);
    std::mutex mutex;
    forEachInParallel(count, [&](size_t i) {
      const Job &job = jobs[first + i];
      tokens[i].reserve(job.text.size() / 2);
      tokenizer.encode(job.text, tokens[i]);
      if (job.endsText && tokenizer.endOfText()) {
        tokens[i].push_back(*tokenizer.endOfText());
      }
      std::lock_guard lock(mutex);
      progress.advanceTo(done += job.text.size());
    });
    if (writing.valid()) {
      writing.get();
    }
    writing = std::async([&, tokens = std::move(tokens)] {
      for (const std::vector<int32_t> &part : tokens) {
        writer.append(part);
      }
    });
  }
  if (writing.valid()) {
    writing.get();
  }
}

static std::string nameOfInput(const std::string &input) {
  std::string path = input.substr(0, input.find_first_of("?#"));
  std::string name = fs::path(path).stem().string();
  return name.empty() || name == "-" ? "text" : name;
}

static std::string folderOf(const PrepareOptions &options) {
  if (options.dataset.empty()) {
    return "data/" + nameOfInput(options.inputs[0]);
  }
  bool isPath = options.dataset.find('/') != std::string::npos ||
                options.dataset == "." || options.dataset == "..";
  std::string folder = isPath ? options.dataset : "data/" + options.dataset;
  folder.erase(std::max<size_t>(1, folder.find_last_not_of('/') + 1));
  return folder;
}

std::string prepare(const PrepareOptions &options) {
  setNumThreads(options.threads);
  std::string folder = folderOf(options);
  StagedFolder staged(folder);
  std::vector<TextInput> inputs;
  for (const std::string &name : options.inputs) {
    inputs.emplace_back(name, staged.staging());
  }
  Scan texts = scan(inputs);
  Split split = splitInputs(texts, inputs, options.valFraction);
  TokenizerPtr tokenizer = makeTokenizer(options, texts, split, inputs);
  warnOfMarks(inputs);
  if (texts.invalid) {
    std::string place = placeOfInvalid(texts, inputs);
    warn(place.substr(0, place.size() - std::strlen(": error: ")) + ": " +
         "bytes that are not UTF-8: " + std::to_string(texts.invalid) +
         ", the first one here; they are taken as they are");
  }
  auto start = std::chrono::steady_clock::now();
  uint64_t shardTokens = static_cast<uint64_t>(options.shardTokens);
  PartWriter train(staged.staging(), "train", *tokenizer, shardTokens);
  PartWriter val(staged.staging(), "val", *tokenizer, shardTokens);
  {
    ProgressBar progress("encode", texts.bytes, "MB");
    uint64_t done = 0;
    encodeSegments(split.train, *tokenizer, train, progress, done);
    encodeSegments(split.val, *tokenizer, val, progress, done);
  }
  train.finish();
  val.finish();
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  DatasetMeta meta{
      tokenizer->kind(),       tokenizer->size(), tokenizer->hash().hex(),
      tokenizer->characters(), train.meta,        val.meta};
  train.commit();
  val.commit();
  tokenizer->save(staged.staging());
  writeMeta(staged.staging(), meta);
  staged.commit();
  char speed[64];
  std::snprintf(speed, sizeof(speed), "%.2f s, %.0f MB/s", seconds,
                static_cast<double>(texts.bytes) / 1e6 / seconds);
  bool isCharacters = meta.tokenizer == "char";
  return "text: " + std::to_string(texts.characters) + " characters, " +
         std::to_string(texts.bytes) +
         " bytes\nvocabulary: " + std::to_string(tokenizer->size()) +
         (isCharacters ? " characters" : " byte pair tokens") +
         "\ntrain: " + std::to_string(train.meta.tokens) +
         " tokens\nval: " + std::to_string(val.meta.tokens) +
         (val.meta.tokens == 0
              ? " tokens; train and eval need some, of a --val-fraction above 0"
              : " tokens") +
         "\nencoded in " + speed + " to " + folder + "\n";
}

} // namespace nereid::gpt2
