//===- CheckpointFiles.h - The files of a checkpoint --- -----*- C++ -*-===//
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

/// A checkpoint, as state.json has it.
struct SavedSet {
  TrainingState state;
  NamedFile weights, optimizer;
};

/// The whole of a state.json. Sets may share their files.
struct StateFile {
  SavedSet last;
  std::optional<SavedSet> best;
  std::vector<SavedSet> older; ///< the newest one first
};

std::string stateText(const StateFile &file);
/// `path`: for messages. Throws IoError, Unsupported for another version.
StateFile parseState(const std::string &text, const std::string &path);

/// Is this a name that the writer gives to tensor files?
bool isTensorFileName(const std::string &name);

/// What state.json of this folder says; nothing where there is none. Throws
/// where it cannot be read: what it names must stay.
std::optional<StateFile> findState(const std::string &folder);

/// Writes the set, and removes what it replaces. For one process at a time.
/// The path of the weights.
std::string writeCheckpoint(const std::string &folder,
                            const Checkpoint &checkpoint,
                            const SaveOptions &options);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINTFILES_H
