//===- Checkpoint.h - What a training run goes on from ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   CheckpointWriter writer(outDir);          // makes and locks the folder
//   writer.save({weights, optimizer, state}); // copies; training goes on
//   ...
//   writer.wait();                            // at the end
//
//   Checkpoint last = loadCheckpoint(outDir);
//
// The folder holds
//   state.json                     names the files of each checkpoint, with
//                                  their checksums: the last one, the best one,
//                                  and older ones that are to be kept
//   ckpt-STEP.safetensors          weights, names and layout as Hugging Face's
//   optimizer-STEP.safetensors     m.NAME, v.NAME, master.NAME, powers
//   ckpt.safetensors, best.safetensors   links to the weights of last and best
//
// The last checkpoint and the best one may be one set of files. A save writes
// both tensor files under new names, flushes them to the disk, then replaces
// state.json by a rename, and removes what no checkpoint names any more.
// Whenever the process is killed, state.json names whole sets.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINT_H
#define NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINT_H

#include "nereid/Weights/Safetensors.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace nereid::gpt2 {

/// Everything beside the tensors. What `options`, `model`, `generator` and
/// `schedule` hold is up to the trainer; numbers come back bit for bit.
struct TrainingState {
  uint64_t step = 0;     ///< steps that are done
  uint64_t dataStep = 0; ///< batches that the loader has given
  uint64_t seed = 0;
  /// The loss on the validation part after this step; nothing where a run was
  /// stopped there before it was evaluated.
  std::optional<double> loss;
  /// The lowest of the run so far, and the step that had it.
  double bestLoss = std::numeric_limits<double>::infinity();
  uint64_t bestStep = 0;
  nlohmann::json options = nlohmann::json::object();
  /// As a config.json of Hugging Face (HuggingFace.h: toJson).
  nlohmann::json model = nlohmann::json::object();
  nlohmann::json generator = nlohmann::json::object();
  nlohmann::json schedule = nlohmann::json::object();
  /// Which tokens, and their tokenizer (RunData.h).
  nlohmann::json data = nlohmann::json::object();
};

struct Checkpoint {
  /// The model's parameters, in its own layout ([out, in]); the files have
  /// Hugging Face's.
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> optimizer;
  TrainingState state;
  /// Which of its folder's checkpoints was loaded, in words.
  std::string choice = {};
  /// It is of another program: the folder has none of ours yet.
  bool isTakenOver = false;
};

/// Is there a state.json, or else a ckpt.pt of nanoGPT (NanoGpt.h)? Training
/// goes on from either, and writes ours beside it.
bool hasCheckpoint(const std::string &folder);

/// `which` of a folder's: "last", "best", a step, or nothing, which is the best
/// one, or the last of a run that was never evaluated. Tensors are views of the
/// mapped files, on the host. Throws NotFound where there is none; IoError
/// where a file is damaged, cut off, missing, or no checkpoint of this program.
/// Messages say what to do.
Checkpoint loadCheckpoint(const std::string &folder,
                          const std::string &which = "last");
/// Without the optimiser's tensors, but for master weights, which are the exact
/// ones of weights in 16 bits. Where those cannot be read, a note on standard
/// error says so.
Checkpoint loadWeights(const std::string &folder, const std::string &which);
/// state.json alone.
TrainingState loadTrainingState(const std::string &folder,
                                const std::string &which = "last");

/// The steps after `step` that a folder has checkpoints of, the newest one
/// first, but for the best: a save of a run that goes back to `step` removes
/// them.
std::vector<uint64_t> stepsBehind(const std::string &folder, uint64_t step);

/// What a save does beside writing the last checkpoint.
struct SaveOptions {
  bool isBest = false;   ///< it is the best one, too
  int64_t keep = 0;      ///< so many of the ones before stay
  std::string said = {}; ///< of it, for the message that it is written
  /// What the folder has is of another run, and goes.
  bool isNewRun = false;
};

/// Saves and waits. What `CheckpointWriter` does in its thread.
void saveCheckpoint(const std::string &folder, const Checkpoint &checkpoint,
                    const SaveOptions &options = {});

/// Copies values into tensors of the same names, in place: addresses stay, so
/// that a captured step stays valid. Throws InvalidArgument for a name without
/// a value, a value without a name, and shapes or types that differ. `what` and
/// `path` are for messages ("weights", where they come from).
void copyInto(std::span<const NamedTensor> to,
              std::span<const NamedTensor> values, const std::string &what,
              const std::string &path);

/// One process at a time writes to a folder: the second one is refused.
class CheckpointWriter {
public:
  /// Called by the writer's thread when a save is on the disk: the file of the
  /// weights, and what they are.
  using Written = std::function<void(const std::string &, const TrainingState &,
                                     const SaveOptions &)>;

  /// Makes the folder. Throws IoError where it cannot be written to.
  explicit CheckpointWriter(std::string folder, Written written = {});
  CheckpointWriter(const CheckpointWriter &) = delete;
  /// Waits. An error that no caller has asked for is printed.
  ~CheckpointWriter();

  /// Copies all tensors to the host and returns; a thread writes them. Waits
  /// for an earlier save that is not done. Throws the error of that one.
  void save(const Checkpoint &checkpoint, const SaveOptions &options = {});
  /// Until everything is on the disk. Throws the error of the last save, once:
  /// the checkpoint before it is still there.
  void wait();
  /// Does the thread write at this moment?
  bool isBusy() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_CHECKPOINT_H
