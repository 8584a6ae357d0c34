//===- TokenFiles.h - Tokens that nanoGPT and llm.c wrote -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nanoGPT   train.bin, val.bin: u16, nothing else; meta.pkl of characters:
//             {"vocab_size": 65, "itos": {0: "\n", ...}, "stoi": ...}
//   llm.c     NAME_train*.bin, NAME_val*.bin: 256 words of i32, that is
//             20240520, 1 and how many tokens, then u16; or 20240801, 7 (Llama
//             3), then u32
//
// Where the folder has no tokenizer, the vocabulary is GPT-2's (50257), or
// Llama 3's (128256).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_TOKENFILES_H
#define NEREID_APPS_GPT2_DATA_TOKENFILES_H

#include "apps/gpt2/data/Dataset.h"

namespace nereid::gpt2 {

/// Are there such files?
bool hasTokenFiles(const std::string &folder);
/// Throws IoError for a file that is damaged or of another kind.
Dataset openTokenFiles(const std::string &folder);

/// The characters of a meta.pkl; unknown ones where it has no itos, or one of
/// something else. Throws IoError.
TokenizerPtr readMetaPickle(const std::string &folder);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_TOKENFILES_H
