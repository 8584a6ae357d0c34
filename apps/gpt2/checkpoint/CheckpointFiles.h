//===- CheckpointFiles.h - The three files of a checkpoint -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between Checkpoint.cpp, which reads, and CheckpointWriter.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINTFILES_H
#define NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINTFILES_H

#include "apps/gpt2/checkpoint/Checkpoint.h"

namespace nereid::gpt2 {

/// A tensor file, as state.json names it.
struct NamedFile {
  std::string name;
  uint64_t bytes = 0;
  std::string digest; ///< hexadecimal
};

/// The whole of a state.json.
struct StateFile {
  TrainingState state;
  NamedFile weights, optimizer;
};

std::string stateText(const StateFile &file);
/// `path`: for messages. Throws InvalidArgument.
StateFile parseState(const std::string &text, const std::string &path);

/// Is this a name that the writer gives to tensor files?
bool isTensorFileName(const std::string &name);

/// Writes the set, and removes what it replaces. For one process at a time.
void writeCheckpoint(const std::string &folder, const Checkpoint &checkpoint);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINTFILES_H
