//===- NanoGpt.h - Checkpoints of nanoGPT -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its train.py writes OUT_DIR/ckpt.pt, of torch.save:
//
//   {"model": names and tensors, perhaps after "_orig_mod.",
//    "optimizer": AdamW's state_dict: of each parameter by its number "step",
//                 "exp_avg", "exp_avg_sq"; matrices are numbered first, then
//                 vectors, each in the order of the model,
//    "model_args": {"n_layer", "n_head", "n_embd", "block_size", "bias",
//                   "vocab_size", "dropout"},
//    "iter_num", "best_val_loss", "config": the options}
//
// Its GELU is that by erf. What it drew its batches from is not in the file:
// who goes on sees batches of this program.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_NANOGPT_H
#define NEREID_APPS_GPT2_CHECKPOINT_NANOGPT_H

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"

namespace nereid::gpt2 {

/// The file's name in a folder of nanoGPT's.
inline constexpr const char *nanoGptFile = "ckpt.pt";

/// Weights, configuration and options. Throws as TorchFile, and where
/// something is missing or does not fit.
ImportedModel importNanoGpt(const std::string &path);
/// With the optimiser: what training goes on from.
Checkpoint loadNanoGpt(const std::string &path);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_NANOGPT_H
